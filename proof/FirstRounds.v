(** * Theorem 2 when tokens rest in the initial state only, or never

    The second bound of theorem 2, d - 1, is attained if m·d < n; if m·d = n and
    d ≥ 3 it is d - 2. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes WorstCase Lateness Unroll Closure Bound Theorems.
Import ListNotations.
Local Open Scope Z_scope.

Section Line.
  Variable e : execution.
  Import Line.

  (** Without rests, a window of d positions holds at most one token ... *)
  Lemma one_in_window : calm e 0 -> forall w, l w - l (w + d) <= 1.
  Proof.
    intros Calm w. pose proof (d_positive e).
    destruct (delay_in_turn e (w + d)) as (z & Z & D).
    set (j := Z.to_nat (z - w - d)). set (dn := Z.to_nat d).
    pose proof (rigid e 0 j 0 (w + d) Calm ltac:(lia)) as A.
    pose proof (rigid e 0 (j + dn) 0 w Calm ltac:(lia)) as B.
    replace (w + d + Z.of_nat j) with z in A by lia. replace (w + Z.of_nat (j + dn)) with z in B by lia.
    destruct (Z.le_gt_cases (l w - l (w + d)) 1) as [|N]; [assumption|exfalso].
    pose proof (passed_later e 0 (0 + j) z ltac:(lia)).
    destruct (releases_apart e (0 + (j + dn)) z (F (0 + j) z + 1)) as [R1 R2]; [lia|lia|].
    rewrite spacing_delay in R2 by assumption.
    replace (0 + (j + dn) - Z.to_nat d)%nat with (0 + j)%nat in R2 by (unfold dn; lia). lia.
  Qed.

  Lemma few_in_windows : calm e 0 -> forall j w, l w - l (w + Z.of_nat j * d) <= Z.of_nat j.
  Proof.
    intros Calm j w. induction j as [|j IH].
    - replace (w + Z.of_nat 0 * d) with w by lia. lia.
    - pose proof (one_in_window Calm (w + Z.of_nat j * d)).
      replace (w + Z.of_nat (S j) * d) with (w + Z.of_nat j * d + d) by lia. lia.
  Qed.

  (** ... and exactly one, if the ring is full. *)
  Lemma full_window : calm e 0 -> m * d = n -> forall w, l w - l (w + d) = 1.
  Proof.
    intros Calm Full w. pose proof (m_positive e).
    pose proof (one_in_window Calm w). pose proof (few_in_windows Calm (Z.to_nat (m - 1)) (w + d)) as Few.
    rewrite Z2Nat.id in Few by lia. replace (w + d + (m - 1) * d) with (w + n) in Few by lia.
    rewrite start_turn in Few. lia.
  Qed.

  Lemma legitimate_if_full : calm e 0 -> m * d = n -> 3 <= d ->
    forall t, d - 2 <= Z.of_nat (S t) -> legitimate_after e t.
  Proof.
    intros Calm Full D3 t T.
    destruct (Z.le_gt_cases (d - 1) (Z.of_nat (S t))) as [Late|Early].
    { apply (legitimate_soon_on_line e 0); auto; lia. }
    apply legitimate_when; [intros u x U; apply Calm; lia|].
    intros x D C Q. pose proof (start_count e x) as C0. rewrite spacing_delay in C0 by assumption.
    destruct (count_origin e (S t) x C) as [(E & L) | (u & U & E & P1 & P2)].
    - (* an initial counter of d - 1: the one token of the window has passed x in time *)
      unfold q.
      pose proof (rigid e 0 (S t) 0 x Calm ltac:(lia)) as A.
      pose proof (rigid e 0 t 0 (x + 1) Calm ltac:(lia)) as B.
      pose proof (rigid e 0 (S t) 0 (x - Z.of_nat (S t)) Calm ltac:(lia)) as A'.
      pose proof (rigid e 0 (S (S t)) 0 (x - Z.of_nat (S (S t))) Calm ltac:(lia)) as B'.
      pose proof (count_holds e 1 (S t) x ltac:(lia)) as H.
      pose proof (full_window Calm Full (x + 1 - d)) as W.
      replace (S t + 1)%nat with (S (S t)) in H by lia. cbn [Nat.add] in *.
      replace (x + 1 - d + d) with (x + 1) in W by lia.
      replace (x - Z.of_nat (S t) + Z.of_nat (S t)) with x in A' by lia.
      replace (x - Z.of_nat (S (S t)) + Z.of_nat (S (S t))) with x in B' by lia.
      replace (x - Z.of_nat (S (S t))) with (x + 1 - d) in B' by lia.
      replace (x + (d - 1 - c (S t) x)) with (x + Z.of_nat (S t)) by lia.
      replace (x + 1 + Z.of_nat t) with (x + Z.of_nat (S t)) in B by lia. lia.
    - unfold q. rewrite spacing_delay in E by assumption.
      pose proof (rigid e 0 (S t - u) u x Calm ltac:(lia)) as A.
      pose proof (rigid e 0 (S t - u) (u - 1) x Calm ltac:(lia)) as B.
      replace (u + (S t - u))%nat with (S t) in A by lia.
      replace (u - 1 + (S t - u))%nat with t in B by lia.
      replace (x + (d - 1 - c (S t) x)) with (x + Z.of_nat (S t - u)) by lia. lia.
  Qed.

  (** Tokens that start d apart or more, and meet no counter, never rest. *)
  Lemma calm_from_start :
    (forall x, l (x - 1) - l x <= 1) ->
    (forall x y, x < y -> l x < l (x - 1) -> l y < l (y - 1) -> d <= y - x) ->
    (forall x y, x <= y -> l x < l (x - 1) -> c0 y <= y - x) ->
    calm e 0.
  Proof.
    intros One Apart Meet.
    assert (G : forall t x, F t x = l (x - Z.of_nat t)).
    { induction t as [t IH] using (well_founded_induction Wf_nat.lt_wf). intro x.
      destruct t as [|t]; [f_equal; lia|].
      assert (It : F t x = l (x - Z.of_nat t)) by (apply IH; lia).
      assert (Ip : F t (x - 1) = l (x - Z.of_nat (S t))) by (rewrite IH by lia; f_equal; lia).
      specialize (One (x - Z.of_nat t)). pose proof (start_sorted e (x - Z.of_nat t)) as Sorted.
      replace (x - Z.of_nat t - 1) with (x - Z.of_nat (S t)) in * by lia.
      destruct (one_round e t x) as [(_ & B & P & _) | (B & P & _)]; [lia|].
      destruct (Z.eq_dec (l (x - Z.of_nat (S t))) (l (x - Z.of_nat t))) as [|N]; [lia|exfalso].
      destruct B as [B|B]; [|lia]. pose proof (count_nonnegative e t x).
      assert (Here : l (x - Z.of_nat t) < l (x - Z.of_nat t - 1))
        by (replace (x - Z.of_nat t - 1) with (x - Z.of_nat (S t)) by lia; lia).
      destruct (count_origin e t x ltac:(lia)) as [(E & _) | (u & U & E & P1 & P2)].
      - specialize (Meet (x - Z.of_nat t) x ltac:(lia) Here). lia.
      - rewrite (IH u) in P1 by lia. rewrite (IH (u - 1)%nat) in P2 by lia.
        replace (x - Z.of_nat (u - 1)) with (x - Z.of_nat u + 1) in P2 by lia.
        specialize (Apart (x - Z.of_nat t) (x - Z.of_nat u + 1) ltac:(lia) Here).
        replace (x - Z.of_nat u + 1 - 1) with (x - Z.of_nat u) in Apart by lia.
        specialize (Apart ltac:(lia)).
        assert (s x <= d) by (unfold spacing; pose proof (d_positive e); destruct (delay x); lia). lia. }
    intros t x _. rewrite (G (S t) x), (G t (x - 1)). f_equal. lia.
  Qed.

  (** A counter of d - 1 for a token that is not there is wrong until round d - 1. *)
  Lemma wrong_from_start : calm e 0 -> 2 <= d ->
    forall x, delay x = true -> c0 x = d - 1 -> l x = l (x + 1) ->
    forall t, Z.of_nat (S t) = d - 2 -> ~ legitimate_after e t.
  Proof.
    intros Calm D2 x D C0 L t T Leg.
    pose proof (count_down e (S t) 0 x ltac:(lia)) as Cd.
    pose proof (count_holds e (S t) 0 x ltac:(lia)) as H1.
    pose proof (count_holds e t 0 x ltac:(lia)) as H0. cbn [Nat.add] in *.
    pose proof (leg2 _ _ _ _ _ Leg x D ltac:(lia) ltac:(unfold q; lia)) as Q. unfold q in Q.
    replace (x + (d - 1 - c (S t) x)) with (x + Z.of_nat (S t)) in Q by lia.
    pose proof (rigid e 0 (S t) 0 x Calm ltac:(lia)) as A.
    pose proof (rigid e 0 t 0 (x + 1) Calm ltac:(lia)) as B. cbn [Nat.add] in *.
    replace (x + 1 + Z.of_nat t) with (x + Z.of_nat (S t)) in B by lia. lia.
  Qed.
End Line.

(** ** If m·d = n, the second bound is d - 2 *)
Theorem theorem2_full : forall d programs start m, valid d programs start m ->
  (m * d = length programs)%nat -> (3 <= d)%nat ->
  (forall t, (0 < t)%nat -> ~ rests (run d programs t start)) ->
  forall t, (d - 2 <= t)%nat -> legitimate d programs (run d programs t start) m = true.
Proof.
  intros d programs start m V Full D3 Calm t T. destruct t as [|t]; [lia|].
  apply (legitimate_on_line _ _ _ _ V). apply legitimate_if_full.
  - apply calm_on_line, Calm.
  - rewrite line_m, line_n. change (ReleaseTimes.d _) with (Z.of_nat d). lia.
  - change (ReleaseTimes.d _) with (Z.of_nat d). lia.
  - change (ReleaseTimes.d _) with (Z.of_nat d). lia.
Qed.

(** ** If m·d < n, the second bound is attained

    The last process delays and counts d - 1, and the tokens rest d - 1, 2·d - 1, …,
    m·d - 1 before it. (Any ring can be numbered so that its last process delays.) *)
Section Attained.
  Variables (d : nat) (programs : list program) (m : nat).
  Hypothesis d_two : (2 <= d)%nat.
  Hypothesis m_pos : (1 <= m)%nat.
  Let n := length programs.
  Hypothesis room : (m * d < n)%nat.
  Hypothesis last_delays : is_delay programs (n - 1) = true.

  (** [o] is one more than the distance to the last process. *)
  Definition occupied (o : nat) : bool := (o mod d =? 0)%nat && (o <=? m * d)%nat.

  Definition spread : list process :=
    map (fun i => Process 0 (if occupied (n - i) then 1 else 0) (if (i =? n - 1)%nat then d - 1 else 0))
      (seq 0 n).

  Lemma spread_length : length spread = n.
  Proof. unfold spread. rewrite map_length, seq_length. reflexivity. Qed.

  Lemma spread_nth : forall i, (i < n)%nat -> nth i spread idle
    = Process 0 (if occupied (n - i) then 1 else 0) (if (i =? n - 1)%nat then d - 1 else 0).
  Proof.
    intros i I. unfold spread. set (f := fun i : nat => _).
    rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; assumption).
    rewrite map_nth, seq_nth by assumption. reflexivity.
  Qed.

  Lemma occupied_iff : forall o, occupied o = true <-> (o mod d = 0 /\ o <= m * d)%nat.
  Proof. intro o. unfold occupied. rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le. reflexivity. Qed.

  Lemma occupied_times : forall o, (1 <= o)%nat -> occupied o = true -> exists j, (1 <= j <= m)%nat /\ o = (j * d)%nat.
  Proof.
    intros o O H. apply occupied_iff in H. destruct H as [M L].
    pose proof (Nat.div_mod o d ltac:(lia)) as E. rewrite M in E. exists (o / d)%nat. split; nia.
  Qed.

  Lemma spread_total : total spread = m.
  Proof.
    assert (G : forall k a, (a + k = n)%nat -> list_sum (map tokens (map (fun i =>
        Process 0 (if occupied (n - i) then 1 else 0) (if (i =? n - 1)%nat then d - 1 else 0)) (seq a k)))
        = Nat.min m (k / d)).
    { induction k as [|k IH]; intros a A.
      - cbn. rewrite Nat.div_small by lia. lia.
      - cbn [seq map list_sum fold_right]. change (fold_right Nat.add 0 ?l)%nat with (list_sum l).
        rewrite IH by lia. unfold tokens; cbn [queued resting].
        replace (n - a)%nat with (S k) by lia.
        pose proof (Nat.div_mod k d ltac:(lia)) as E. pose proof (Nat.mod_upper_bound k d ltac:(lia)) as B.
        destruct (Nat.eq_dec (k mod d + 1) d) as [W|W].
        + assert (Q : (S k / d = k / d + 1)%nat) by (symmetry; apply (Nat.div_unique _ d _ 0); nia).
          assert (R : (S k mod d = 0)%nat) by (symmetry; apply (Nat.mod_unique _ d (k / d + 1)); nia).
          rewrite Q. destruct (occupied (S k)) eqn:O.
          * apply occupied_iff in O. assert (k / d + 1 <= m)%nat by nia. lia.
          * assert (~ (S k <= m * d))%nat by (intro; assert (occupied (S k) = true) by (apply occupied_iff; auto); congruence).
            assert (m <= k / d)%nat by nia. lia.
        + assert (Q : (S k / d = k / d)%nat) by (symmetry; apply (Nat.div_unique _ d _ (k mod d + 1)); nia).
          assert (R : (S k mod d = k mod d + 1)%nat) by (symmetry; apply (Nat.mod_unique _ d (k / d)); nia).
          rewrite Q. destruct (occupied (S k)) eqn:O; [apply occupied_iff in O; lia | lia]. }
    unfold total, spread. rewrite G by lia. pose proof (Nat.div_le_lower_bound n d m ltac:(lia) ltac:(nia)). lia.
  Qed.

  Lemma spread_valid : valid d programs spread m.
  Proof.
    constructor; try lia.
    - unfold is_delay in last_delays. destruct (nth (n - 1) programs Relay) eqn:E; [|discriminate].
      rewrite <- E. apply nth_In. fold n. lia.
    - unfold admits, spread. fold n.
      assert (G : forall qs a, (a + length qs = n)%nat -> (forall i, nth i qs Relay = nth (a + i) programs Relay) ->
        Forall2 (fun program process => (counter process <= top d program)%nat) qs
          (map (fun i => Process 0 (if occupied (n - i) then 1 else 0) (if (i =? n - 1)%nat then d - 1 else 0))
            (seq a (length qs)))).
      { induction qs as [|q qs IH]; intros a A Eq; cbn [length seq map] in *; constructor.
        - cbn [counter]. destruct (a =? n - 1)%nat eqn:E; [|lia]. apply Nat.eqb_eq in E.
          specialize (Eq 0%nat). cbn in Eq. rewrite Nat.add_0_r, E in Eq.
          unfold is_delay in last_delays. rewrite <- Eq in last_delays. destruct q; [cbn; lia | discriminate].
        - apply IH; [lia|]. intro i. specialize (Eq (S i)). cbn in Eq. rewrite Eq. f_equal. lia. }
      apply (G programs 0%nat); [reflexivity | intro; reflexivity].
    - apply spread_total.
  Qed.

  Let e := line_of d programs spread m spread_valid.
  Let N := Z.of_nat n.
  (** One more than the distance from x to the last process ahead. *)
  Definition ahead (x : Z) : nat := (n - Z.to_nat (x mod N))%nat.

  Lemma spread_at : forall x, process_at spread x
    = Process 0 (if occupied (ahead x) then 1 else 0) (if (ahead x =? 1)%nat then d - 1 else 0).
  Proof.
    intro x. unfold process_at. rewrite spread_length. fold N.
    pose proof (Z.mod_pos_bound x N ltac:(unfold N; lia)) as B.
    rewrite spread_nth by (unfold N in *; lia). unfold ahead. f_equal.
    replace (Z.to_nat (x mod N) =? n - 1)%nat with (n - Z.to_nat (x mod N) =? 1)%nat; [reflexivity|].
    apply eq_true_iff_eq. rewrite !Nat.eqb_eq. unfold N in *. lia.
  Qed.

  Lemma spread_step : forall x,
    passed e 0 (x - 1) - passed e 0 x = if occupied (ahead x) then 1 else 0.
  Proof.
    intro x. unfold e, line_of. rewrite unroll_held. unfold state; cbn [run].
    rewrite !spread_at. cbn [queued resting]. destruct (occupied _); reflexivity.
  Qed.

  Lemma ahead_bounds : forall x, (1 <= ahead x <= n)%nat /\ exists a, x = N * a + (N - Z.of_nat (ahead x)).
  Proof.
    intro x. pose proof (Z.mod_pos_bound x N ltac:(unfold N; lia)) as B.
    pose proof (Z.div_mod x N ltac:(lia)) as E. unfold ahead. unfold N in *.
    split; [lia|]. exists (x / Z.of_nat n). lia.
  Qed.

  Lemma spread_calm : calm e 0.
  Proof.
    assert (Occ : forall x, passed e 0 x < passed e 0 (x - 1) -> exists j, (1 <= j <= m)%nat /\ ahead x = (j * d)%nat).
    { intros x H. pose proof (spread_step x) as S. destruct (occupied (ahead x)) eqn:O; [|lia].
      destruct (ahead_bounds x) as (B & _). apply occupied_times; [lia | assumption]. }
    apply calm_from_start.
    - intro x. rewrite spread_step. destruct (occupied _); lia.
    - intros x y X Ox Oy. change (ReleaseTimes.d e) with (Z.of_nat d).
      destruct (Occ x Ox) as (i & I & Ex). destruct (Occ y Oy) as (j & J & Ey).
      destruct (ahead_bounds x) as (_ & a & Xa). destruct (ahead_bounds y) as (_ & b & Yb).
      rewrite Ex in Xa. rewrite Ey in Yb. rewrite Nat2Z.inj_mul in Xa, Yb.
      destruct (Z.lt_trichotomy a b) as [L|[L|L]].
      + unfold N in *. nia.
      + subst b. assert (Z.of_nat j < Z.of_nat i) by nia. nia.
      + unfold N in *. nia.
    - intros x y X Ox. destruct (Occ x Ox) as (i & I & Ex).
      change (count e 0 y) with (Z.of_nat (counter (process_at spread y))). rewrite spread_at. cbn [counter].
      destruct (ahead y =? 1)%nat eqn:Ey; [|lia]. apply Nat.eqb_eq in Ey.
      destruct (ahead_bounds x) as (_ & a & Xa). destruct (ahead_bounds y) as (_ & b & Yb).
      rewrite Ex in Xa. rewrite Ey in Yb. rewrite Nat2Z.inj_mul in Xa.
      assert (Z.of_nat d <= Z.of_nat i * Z.of_nat d <= Z.of_nat m * Z.of_nat d) by nia.
      destruct (Z.lt_ge_cases b a) as [L|L].
      + exfalso. unfold N in *. nia.
      + unfold N in *. nia.
  Qed.

  Theorem theorem2_start_attained : exists start, valid d programs start m /\
    (forall t, (0 < t)%nat -> ~ rests (run d programs t start)) /\
    forall t, (t < d - 1)%nat -> legitimate d programs (run d programs t start) m = false.
  Proof.
    exists spread. split; [apply spread_valid|]. split.
    - intros t T R. destruct t as [|t]; [lia|]. apply (rests_on_line _ _ _ _ spread_valid) in R.
      destruct R as (x & R). unfold rests_at in R. fold e in R. rewrite (spread_calm t x) in R by lia. lia.
    - assert (L : legitimate d programs (run d programs (d - 2) spread) m = false).
      { apply not_true_iff_false. destruct (d - 2)%nat as [|t] eqn:T.
        - (* d = 2: tokens rest in the initial state *)
          intro L. apply (legitimate_never_rests _ _ _ _ L). cbn [run].
          exists (nth (n - d) spread idle). rewrite spread_nth by lia. split.
          + rewrite <- spread_nth by lia. apply nth_In. rewrite spread_length. lia.
          + replace (n - (n - d))%nat with d by lia.
            replace (occupied d) with true; [cbn; lia|]. symmetry. apply occupied_iff.
            rewrite Nat.mod_same by lia. nia.
        - rewrite (legitimate_on_line _ _ _ _ spread_valid). fold e.
          apply (wrong_from_start e spread_calm) with (x := N - 1); change (ReleaseTimes.d e) with (Z.of_nat d); try lia.
          + change (ReleaseTimes.delay e) with (delay_at programs). rewrite delay_at_index. fold n. fold N.
            rewrite Z.mod_small by (unfold N; lia).
            replace (Z.to_nat (N - 1)) with (n - 1)%nat by (unfold N; lia). assumption.
          + change (count e 0 (N - 1)) with (Z.of_nat (counter (process_at spread (N - 1)))).
            rewrite spread_at. unfold ahead. rewrite Z.mod_small by (unfold N; lia).
            replace (n - Z.to_nat (N - 1))%nat with 1%nat by (unfold N; lia). cbn [counter Nat.eqb]. lia.
          + pose proof (spread_step (N - 1 + 1)) as St. replace (N - 1 + 1 - 1) with (N - 1) in St by lia.
            replace (occupied (ahead (N - 1 + 1))) with false in St; [lia|]. symmetry. apply not_true_iff_false.
            rewrite occupied_iff. unfold ahead. replace (N - 1 + 1) with (0 + N) by lia.
            rewrite mod_turn, Z.mod_0_l by (unfold N; lia). cbn [Z.to_nat]. lia. }
      intros t T. apply not_true_iff_false. intro Lt. apply not_true_iff_false in L. apply L.
      apply (closure_for_ever d programs spread m t); try lia; [|assumption].
      apply (valid_admits _ _ _ _ spread_valid).
  Qed.
End Attained.
