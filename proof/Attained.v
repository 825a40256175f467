(** * The bounds are attained

    The initial states of [docs/research/worst-case.md] under "Attained": all tokens rest at
    one process, and the counters are chosen. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes WorstCase Lateness Unroll Closure Bound Theorems.
Import ListNotations.
Local Open Scope Z_scope.

(** m tokens rest at process p of n; process i counts [counts i]. *)
Definition piled (n m p : nat) (counts : nat -> nat) : list process :=
  map (fun i => Process 0 (if (i =? p)%nat then m else 0) (counts i)) (seq 0 n).

Lemma piled_length : forall n m p counts, length (piled n m p counts) = n.
Proof. intros; unfold piled. rewrite map_length, seq_length. reflexivity. Qed.

Lemma piled_nth : forall n m p counts i, (i < n)%nat ->
  nth i (piled n m p counts) idle = Process 0 (if (i =? p)%nat then m else 0) (counts i).
Proof.
  intros n m p counts i I. unfold piled.
  set (f := fun i => Process 0 (if (i =? p)%nat then m else 0) (counts i)).
  rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Lemma piled_total : forall n m p counts, (p < n)%nat -> total (piled n m p counts) = m.
Proof.
  intros n m p counts P. unfold piled, total.
  assert (G : forall k a, list_sum (map tokens (map (fun i =>
      Process 0 (if (i =? p)%nat then m else 0) (counts i)) (seq a k)))
      = if (a <=? p)%nat && (p <? a + k)%nat then m else 0%nat).
  { induction k as [|k IH]; intro a; cbn [seq map list_sum fold_right].
    - destruct (a <=? p)%nat eqn:A, (p <? a + 0)%nat eqn:B; cbn; try reflexivity.
      rewrite Nat.leb_le, Nat.ltb_lt in *. lia.
    - change (fold_right Nat.add 0 ?l)%nat with (list_sum l). rewrite IH. unfold tokens; cbn [queued resting].
      destruct (a =? p)%nat eqn:E, (a <=? p)%nat eqn:A, (S a <=? p)%nat eqn:A',
        (p <? S a + k)%nat eqn:B, (p <? a + S k)%nat eqn:B'; cbn;
        rewrite ?Nat.eqb_eq, ?Nat.eqb_neq, ?Nat.leb_le, ?Nat.leb_gt, ?Nat.ltb_lt, ?Nat.ltb_ge in *; lia. }
  rewrite G. replace (p <? 0 + n)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity.
Qed.

Lemma piled_admits : forall d programs m p counts,
  (forall i, (i < length programs)%nat -> (counts i <= top d (nth i programs Relay))%nat) ->
  admits d programs (piled (length programs) m p counts).
Proof.
  intros d programs m p counts H. unfold admits, piled.
  assert (G : forall qs a, (forall i, (i < length qs)%nat -> (counts (a + i) <= top d (nth i qs Relay))%nat) ->
    Forall2 (fun program process => (counter process <= top d program)%nat) qs
      (map (fun i => Process 0 (if (i =? p)%nat then m else 0) (counts i)) (seq a (length qs)))).
  { induction qs as [|q qs IH]; intros a Hq; cbn [length seq map]; constructor.
    - specialize (Hq 0%nat). cbn in *. replace (a + 0)%nat with a in Hq by lia. apply Hq. lia.
    - apply IH. intros i I. specialize (Hq (S i)). cbn in Hq. replace (S a + i)%nat with (a + S i)%nat by lia.
      apply Hq. lia. }
  apply (G programs 0%nat). assumption.
Qed.

Lemma mod_differs : forall N x j, 0 < j < N -> (x + j) mod N <> x mod N.
Proof.
  intros N x j J E. pose proof (Z.div_mod x N ltac:(lia)) as A.
  pose proof (Z.div_mod (x + j) N ltac:(lia)) as B. rewrite E in B.
  assert (C : j = N * ((x + j) / N - x / N)) by (rewrite Z.mul_sub_distr_l; lia).
  assert (0 < (x + j) / N - x / N < 1) by nia. lia.
Qed.

Section Piles.
  Variables (d : nat) (programs : list program) (m : nat).
  Hypothesis d_pos : (1 <= d)%nat.
  Hypothesis m_pos : (1 <= m)%nat.
  Hypothesis some : In Delay programs.
  Hypothesis room : feasible d programs m.

  Notation size := (length programs).
  Let N := Z.of_nat size.
  Definition wrapped (x : Z) : nat := Z.to_nat (x mod N).

  Lemma N_positive : 0 < N.
  Proof. unfold N. destruct programs; [destruct some | cbn; lia]. Qed.

  Lemma wrapped_small : forall x, (wrapped x < size)%nat.
  Proof. intro x. pose proof N_positive. pose proof (Z.mod_pos_bound x N H). unfold wrapped, N in *. lia. Qed.

  Lemma piled_valid : forall P counts,
    (forall i, (i < size)%nat -> (counts i <= top d (nth i programs Relay))%nat) ->
    valid d programs (piled size m (wrapped P) counts) m.
  Proof.
    intros P counts H. constructor; try assumption.
    - apply piled_admits, H.
    - apply piled_total, wrapped_small.
  Qed.

  Section Pile.
    Variables (P : Z) (counts : nat -> nat).
    Let start := piled size m (wrapped P) counts.
    Hypothesis V : valid d programs start m.
    Let e := line_of d programs start m V.

    Lemma piled_at : forall x, process_at start x
      = Process 0 (if (wrapped x =? wrapped P)%nat then m else 0) (counts (wrapped x)).
    Proof.
      intro x. unfold process_at. unfold start at 1. rewrite piled_length.
      apply piled_nth, wrapped_small.
    Qed.

    Lemma pile_count : forall x, count e 0 x = Z.of_nat (counts (wrapped x)).
    Proof.
      intro x. change (count e 0 x) with (Z.of_nat (counter (process_at start x))).
      rewrite piled_at. reflexivity.
    Qed.

    Lemma pile_step : forall x, passed e 0 (x - 1) - passed e 0 x
      = if (wrapped x =? wrapped P)%nat then Z.of_nat m else 0.
    Proof.
      intro x. unfold e, line_of. rewrite unroll_held. unfold state; cbn [run].
      rewrite !piled_at. cbn [queued resting]. destruct (_ =? _)%nat; lia.
    Qed.

    Lemma pile_here : passed e 0 (P - 1) = passed e 0 P + Z.of_nat m.
    Proof. pose proof (pile_step P) as H. rewrite Nat.eqb_refl in H. lia. Qed.

    Lemma pile_ahead : forall x, P <= x < P + N -> passed e 0 x = passed e 0 P.
    Proof.
      intros x X. replace x with (P + Z.of_nat (Z.to_nat (x - P))) by lia.
      assert (J : Z.of_nat (Z.to_nat (x - P)) < N) by lia. revert J.
      induction (Z.to_nat (x - P)) as [|j IH]; intro J; [f_equal; lia|].
      pose proof (pile_step (P + Z.of_nat (S j))) as H.
      replace (wrapped (P + Z.of_nat (S j)) =? wrapped P)%nat with false in H.
      - replace (P + Z.of_nat (S j) - 1) with (P + Z.of_nat j) in H by lia. rewrite IH in H by lia. lia.
      - symmetry. apply Nat.eqb_neq. unfold wrapped. pose proof N_positive as NP.
        pose proof (mod_differs N P (Z.of_nat (S j)) ltac:(lia)).
        pose proof (Z.mod_pos_bound P N NP). pose proof (Z.mod_pos_bound (P + Z.of_nat (S j)) N NP). lia.
    Qed.

    Lemma pile_rests_at_start : rests start.
    Proof.
      exists (process_at start P). split.
      - apply process_at_in. unfold start. intro E. apply (f_equal (@length process)) in E.
        rewrite piled_length in E. pose proof N_positive. unfold N in *. cbn in E. lia.
      - rewrite piled_at, Nat.eqb_refl. cbn. lia.
    Qed.
  End Pile.

  Lemma delay_top : forall x, delay_at programs x = true -> top d (nth (wrapped x) programs Relay) = (d - 1)%nat.
  Proof.
    intros x D. unfold delay_at, program_at in D. unfold wrapped, N.
    destruct (nth (Z.to_nat (x mod Z.of_nat size)) programs Relay); [reflexivity | discriminate].
  Qed.

  (** From every gap g comes a rest after round (m - 1)·d + reach g - 1. *)
  Lemma rest_from_gap : forall g, In g (gaps programs) -> exists start,
    valid d programs start m /\ rests (run d programs ((m - 1) * d + reach m d g - 1) start).
  Proof.
    intros g I. destruct (gap_somewhere programs g I) as (x & X & D & Eg).
    pose proof N_positive as NP.
    destruct (gap_before programs x ltac:(unfold N in *; lia) D) as (G & Prev & Between & _).
    rewrite <- Eg in *. clear Eg.
    assert (A : (reach m d g = d)%nat \/ (reach m d g = g /\ d < g /\ 1 < d /\ 1 < m)%nat).
    { unfold reach. destruct (d =? 1)%nat eqn:E1, (m =? 1)%nat eqn:E2; cbn; auto.
      rewrite Nat.eqb_neq in *. lia. }
    destruct A as [E | (E & Lg & D1 & M1)]; rewrite E.
    - (* a pile at the delay x, which counts d - 1 *)
      set (counts := fun i => if (i =? wrapped x)%nat then (d - 1)%nat else 0%nat).
      assert (V : valid d programs (piled size m (wrapped x) counts) m).
      { apply piled_valid. intros i I'. unfold counts. destruct (i =? wrapped x)%nat eqn:Ei; [|lia].
        apply Nat.eqb_eq in Ei. subst i. rewrite delay_top by assumption. lia. }
      exists (piled size m (wrapped x) counts). split; [assumption|].
      destruct ((m - 1) * d + d - 1)%nat as [|t] eqn:T; [apply pile_rests_at_start|].
      apply (rests_on_line _ _ _ _ V). exists x. apply attained_at_delay.
      + assumption.
      + rewrite pile_count. unfold counts. rewrite Nat.eqb_refl.
        change (ReleaseTimes.d _) with (Z.of_nat d). lia.
      + rewrite pile_here, line_m. reflexivity.
      + rewrite line_m. change (ReleaseTimes.d _) with (Z.of_nat d). nia.
    - (* a pile at the relay after the previous delay, all counters 0 *)
      set (P := x - Z.of_nat g + 1).
      assert (V : valid d programs (piled size m (wrapped P) (fun _ => 0%nat)) m).
      { apply piled_valid. intros; lia. }
      exists (piled size m (wrapped P) (fun _ => 0%nat)). split; [assumption|].
      destruct ((m - 1) * d + g - 1)%nat as [|t] eqn:T; [nia|].
      apply (rests_on_line _ _ _ _ V). exists x.
      apply attained_after_gap with (L := Z.of_nat g);
        rewrite ?line_n, ?line_m; change (ReleaseTimes.d _) with (Z.of_nat d); try lia.
      + assumption.
      + assumption.
      + intros z Hz. rewrite pile_count. reflexivity.
      + fold P. replace (x - Z.of_nat g) with (P - 1) by lia. rewrite pile_here. reflexivity.
      + intros z Hz. fold P. apply pile_ahead. unfold N. lia.
  Qed.

  (** ** Theorem 1, attained *)
  Theorem theorem1_attained : exists start, valid d programs start m /\
    rests (run d programs (worst_last_rest m d (widest_gap programs)) start).
  Proof.
    destruct (rest_from_gap (widest_gap programs)) as (start & V & R).
    - apply list_max_in, gaps_nonempty, some.
    - exists start. split; assumption.
  Qed.

  Lemma stale_from_gap : forall g, In g (gaps programs) -> (g + 3 <= d)%nat -> exists start,
    valid d programs start m /\
    legitimate d programs (run d programs (m * d + d - 3 - g) start) m = false /\
    forall t, rests (run d programs t start) -> (t <= m * d - 1)%nat.
  Proof.
    intros g I Gd. destruct (gap_somewhere programs g I) as (x & X & D & Eg).
    pose proof N_positive as NP.
    destruct (gap_before programs x ltac:(unfold N in *; lia) D) as (G & Prev & Between & _).
    rewrite <- Eg in *. clear Eg. unfold feasible in room.
    set (P := x - Z.of_nat g) in *.
    set (counts := fun i => if (i =? wrapped P)%nat then (d - 2 - g)%nat
                            else if (i =? wrapped x)%nat then (d - 1)%nat else 0%nat).
    assert (V : valid d programs (piled size m (wrapped P) counts) m).
    { apply piled_valid. intros i I'. unfold counts.
      destruct (i =? wrapped P)%nat eqn:E1; [|destruct (i =? wrapped x)%nat eqn:E2; [|lia]];
        rewrite ?Nat.eqb_eq in *; subst i; rewrite delay_top by assumption; lia. }
    exists (piled size m (wrapped P) counts). split; [assumption|].
    assert (Other : (wrapped x =? wrapped P)%nat = false).
    { apply Nat.eqb_neq.
      unfold wrapped. pose proof (mod_differs N P (Z.of_nat g) ltac:(unfold N; nia)).
      pose proof (Z.mod_pos_bound P N NP). pose proof (Z.mod_pos_bound (P + Z.of_nat g) N NP).
      replace (P + Z.of_nat g) with x in * by lia. lia. }
    split.
    2:{ intros t Rest. destruct t as [|t]; [lia|]. apply (rests_on_line _ _ _ _ V) in Rest.
        destruct Rest as (y & Rest).
        apply (stale_last_rest _) with (i := P) (g := Z.of_nat g) in Rest;
          rewrite ?line_m, ?line_n; change (ReleaseTimes.d _) with (Z.of_nat d);
          replace (P + Z.of_nat g) with x by lia; try assumption; try lia.
        - rewrite line_m in Rest. change (ReleaseTimes.d _) with (Z.of_nat d) in Rest. nia.
        - rewrite pile_count. unfold counts. rewrite Nat.eqb_refl. lia.
        - rewrite pile_count. unfold counts. rewrite Nat.eqb_refl, Other. lia.
        - intros z Hz. apply pile_ahead. assumption.
        - intros z Hz Z1 Z2. rewrite pile_count. unfold counts.
          assert (forall y, P <= y < P + N -> z <> y -> (wrapped z =? wrapped y)%nat = false) as Diff.
          { intros w Hw Ne. apply Nat.eqb_neq. unfold wrapped.
            pose proof (Z.mod_pos_bound z N NP). pose proof (Z.mod_pos_bound w N NP).
            destruct (Z.lt_trichotomy z w) as [Lt|[Eq|Gt]]; [|contradiction|].
            - pose proof (mod_differs N z (w - z) ltac:(unfold N in *; lia)). replace (z + (w - z)) with w in * by lia. lia.
            - pose proof (mod_differs N w (z - w) ltac:(unfold N in *; lia)). replace (w + (z - w)) with z in * by lia. lia. }
          rewrite (Diff P), (Diff x) by (unfold N in *; nia). reflexivity. }
    apply not_true_iff_false. destruct (m * d + d - 3 - g)%nat as [|t] eqn:T; [nia|].
    rewrite (legitimate_on_line _ _ _ _ V). apply (attained_stale _) with (i := P) (g := Z.of_nat g).
    - change (ReleaseTimes.d _) with (Z.of_nat d). lia.
    - assumption.
    - replace (P + Z.of_nat g) with x by lia. assumption.
    - rewrite pile_count. unfold counts. rewrite Nat.eqb_refl. change (ReleaseTimes.d _) with (Z.of_nat d). lia.
    - replace (P + Z.of_nat g) with x by lia. rewrite pile_count. unfold counts. rewrite Nat.eqb_refl, Other.
      change (ReleaseTimes.d _) with (Z.of_nat d). lia.
    - rewrite pile_here, line_m. reflexivity.
    - apply pile_ahead. unfold N. nia.
    - rewrite line_m. change (ReleaseTimes.d _) with (Z.of_nat d). nia.
  Qed.

  (** ** Theorem 3, attained *)
  Theorem theorem3_attained : exists start, valid d programs start m /\
    forall t, (t < worst_legitimate_at m d (gaps programs))%nat ->
    legitimate d programs (run d programs t start) m = false.
  Proof.
    set (term := fun g => (reach m d g + Nat.max 1 (d - 1 - g))%nat).
    assert (I : In (list_max (map term (gaps programs))) (map term (gaps programs))).
    { apply list_max_in. intro E. apply map_eq_nil in E. apply (gaps_nonempty programs some E). }
    apply in_map_iff in I. destruct I as (g & Eg & I).
    set (B := worst_legitimate_at m d (gaps programs)).
    assert (EB : B = ((m - 1) * d + term g - 1)%nat) by (unfold B, worst_legitimate_at; fold term; lia).
    assert (R : (d <= reach m d g)%nat) by (unfold reach; destruct (_ || _); lia).
    assert (A : exists start, valid d programs start m /\
                legitimate d programs (run d programs (B - 1) start) m = false).
    { destruct (Nat.le_gt_cases (d - 1 - g) 1) as [Le|Gt].
      - destruct (rest_from_gap g I) as (start & V & Rest). exists start. split; [assumption|].
        replace (B - 1)%nat with ((m - 1) * d + reach m d g - 1)%nat by (unfold term in EB; lia).
        apply not_true_iff_false. intro L. apply (legitimate_never_rests _ _ _ _ L Rest).
      - destruct (stale_from_gap g I) as (start & V & L & _); [lia|]. exists start. split; [assumption|].
        rewrite <- L. f_equal. f_equal.
        assert (reach m d g = d) by (unfold reach; destruct (_ || _); lia). unfold term in EB. nia. }
    destruct A as (start & V & L). exists start. split; [assumption|]. intros t Ht.
    apply not_true_iff_false. intro Lt. apply not_true_iff_false in L. apply L.
    apply (closure_for_ever d programs start m t); auto.
    - apply (valid_admits _ _ _ _ V).
    - lia.
  Qed.

  (** ** Theorem 2, attained on every ring with two delays next to each other

      For d at most 3 on every ring: there the bound is the round after the last rest. *)
  Theorem theorem2_attained : (2 <= d)%nat -> In 1%nat (gaps programs) \/ (d <= 3)%nat ->
    exists start T, (1 <= T)%nat /\ valid d programs start m /\
    (forall t, (T < t)%nat -> ~ rests (run d programs t start)) /\
    forall t, (t < T + 1 + (d - 3))%nat -> legitimate d programs (run d programs t start) m = false.
  Proof.
    intros D2 Where.
    assert (A : exists start T, (1 <= T)%nat /\ valid d programs start m /\
      (forall t, rests (run d programs t start) -> (t <= T)%nat) /\
      legitimate d programs (run d programs (T + (d - 3)) start) m = false).
    { destruct (Nat.le_gt_cases d 3) as [Le|Gt].
      - destruct theorem1_attained as (start & V & Rest).
        exists start, (worst_last_rest m d (widest_gap programs)).
        assert (R : (d <= reach m d (widest_gap programs))%nat) by (unfold reach; destruct (_ || _); lia).
        split; [unfold worst_last_rest; nia|]. split; [assumption|]. split.
        + apply (theorem1_bound _ _ _ _ V room).
        + replace (d - 3)%nat with 0%nat by lia. rewrite Nat.add_0_r. apply not_true_iff_false. intro L.
          apply (legitimate_never_rests _ _ _ _ L Rest).
      - destruct Where as [I|]; [|lia]. destruct (stale_from_gap 1%nat I) as (start & V & L & Rest); [lia|].
        exists start, (m * d - 1)%nat. split; [nia|]. split; [assumption|]. split; [assumption|].
        rewrite <- L. f_equal. f_equal. nia. }
    destruct A as (start & T & T1 & V & Last & L). exists start, T.
    split; [assumption|]. split; [assumption|]. split.
    - intros t Ht Rest. specialize (Last t Rest). lia.
    - intros t Ht. apply not_true_iff_false. intro Lt. apply not_true_iff_false in L. apply L.
      apply (closure_for_ever d programs start m t); auto.
      + apply (valid_admits _ _ _ _ V).
      + lia.
  Qed.
End Piles.
