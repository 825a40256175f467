(** * Theorems 2 and 3 on the unrolled ring, equal visits, and the jam

    [docs/research/worst-case.md]: how much later than the last rest a state is
    legitimate, and the slowest of all. *)

From Coq Require Import ZArith Lia Bool.
From Headway Require Import ReleaseTimes WorstCase.
Local Open Scope Z_scope.

(** The legitimacy predicate of [Legitimate.v] on the unrolled ring. *)
Record lifted_legitimate (d : Z) (delay : Z -> bool) (q r c : Z -> Z) : Prop := {
  leg0_rest : forall x, r x = 0;
  leg0_queue : forall x, 0 <= q x <= 1;
  leg1 : forall x y, x < y -> q x = 1 -> q y = 1 -> d <= y - x;
  leg2 : forall x, delay x = true -> 0 < c x -> q x = 0 -> q (x + (d - 1 - c x)) = 1;
  leg3 : forall x y, delay x = true -> q x = 0 -> y < x -> q y = 1 -> c x < x - y;
  leg4 : forall x, delay x = true -> q x = 1 -> c x = d - 1
}.

Lemma lifted_ext : forall d delay q r c q' r' c',
  (forall x, q x = q' x) -> (forall x, r x = r' x) -> (forall x, c x = c' x) ->
  lifted_legitimate d delay q r c -> lifted_legitimate d delay q' r' c'.
Proof.
  intros d delay q r c q' r' c' Q R C [G0 G0' G1 G2 G3 G4].
  constructor; intros; rewrite <- ?Q, <- ?R, <- ?C in *; auto.
Qed.

Section Lateness.
  Variable e : execution.
  Import Line.
  Notation rests_at := (rests_at e).

  (** After round t + 1, [q x] tokens are queued at x and [r x] rest there. *)
  Definition q (t : nat) (x : Z) : Z := F (S t) x - F t x.
  Definition r (t : nat) (x : Z) : Z := F t (x - 1) - F (S t) x.

  (** The state after round t + 1 is legitimate. *)
  Definition legitimate_after (t : nat) : Prop :=
    lifted_legitimate d delay (q t) (r t) (c (S t)).

  (** No token rests after any round later than T (and not later than U). *)
  Definition calm_until (T U : nat) : Prop :=
    forall t x, (T <= t < U)%nat -> F (S t) x = F t (x - 1).
  Definition calm (T : nat) : Prop := forall t x, (T <= t)%nat -> F (S t) x = F t (x - 1).

  Lemma not_resting : forall t x, ~ rests_at t x -> F (S t) x = F t (x - 1).
  Proof. intros t x H. unfold WorstCase.rests_at in H. pose proof (hop e t x). lia. Qed.

  (** While nobody rests all tokens move as one. *)
  Lemma rigid_until : forall T U j t x, calm_until T U -> (T <= t)%nat -> (t + j <= U)%nat ->
    F (t + j) (x + Z.of_nat j) = F t x.
  Proof.
    induction j; intros t x Calm Ht Hu.
    - f_equal; lia.
    - replace (t + S j)%nat with (S (t + j)) by lia.
      rewrite Calm by lia. rewrite <- (IHj t x Calm Ht) by lia. f_equal; lia.
  Qed.

  Lemma rigid : forall T j t x, calm T -> (T <= t)%nat -> F (t + j) (x + Z.of_nat j) = F t x.
  Proof.
    intros T j t x Calm Ht. apply (rigid_until T (t + j)); [|assumption|lia].
    intros v y Hv; apply Calm; lia.
  Qed.

  (** *** Visits are equal (D4): in n rounds every process releases every token once *)
  Theorem visits_equal_on_line : forall T t x, calm T -> (T <= t)%nat ->
    F (t + Z.to_nat n) x = F t x + m.
  Proof.
    intros T t x Calm Ht. pose proof (n_positive e).
    pose proof (rigid T (Z.to_nat n) t x Calm Ht) as R.
    rewrite Z2Nat.id in R by lia. destruct (turn e (t + Z.to_nat n) x) as [P _]. lia.
  Qed.

  (** *** The jam: if nobody rests for two turns, the tokens fit *)
  Theorem no_jam_on_line : forall T, calm_until T (T + 2 * Z.to_nat n) -> m * d <= n.
  Proof.
    intros T Calm. pose proof (n_positive e). pose proof (m_positive e). pose proof (d_positive e).
    destruct (some_delay e) as (x & D).
    assert (V : forall t, (T <= t <= T + Z.to_nat n)%nat -> F (t + Z.to_nat n) x = F t x + m).
    { intros t Ht. pose proof (rigid_until T _ (Z.to_nat n) t x Calm) as R.
      rewrite Z2Nat.id in R by lia. destruct (turn e (t + Z.to_nat n) x) as [P _]. lia. }
    (* some token is released at x in round T + a + 1 <= T + n, and again n rounds later *)
    assert (A : forall j, F T x < F (T + j) x -> exists a, (a < j)%nat /\ F (T + a) x < F (S (T + a)) x).
    { induction j; intro H2; [replace (T + 0)%nat with T in H2; lia|].
      destruct (Z.lt_ge_cases (F (T + j) x) (F (S (T + j)) x)) as [C|C].
      - exists j; split; [lia | assumption].
      - destruct IHj as (a & Ha & Fa); [replace (T + S j)%nat with (S (T + j)) in H2 by lia; lia|].
        exists a; split; [lia | assumption]. }
    destruct (A (Z.to_nat n)) as (a & Ha & Fa); [rewrite V by lia; lia|].
    pose proof (V (T + a)%nat ltac:(lia)) as V0. pose proof (V (S (T + a)) ltac:(lia)) as V1.
    replace (S (T + a) + Z.to_nat n)%nat with (S (T + a + Z.to_nat n)) in V1 by lia.
    pose proof (passed_later e 0 (T + a) x).
    destruct (ups e (Z.to_nat m) (S (T + a + Z.to_nat n)) x (F (T + a) x + m)) as [U1 U2]; [lia|lia|].
    rewrite spacing_delay in U1, U2 by assumption. rewrite Z2Nat.id in U1, U2 by lia.
    (* the first of them cannot have been released before round T + a + 1 *)
    destruct (Z.le_gt_cases (m * d) n) as [|N]; [assumption|exfalso].
    pose proof (passed_later e (S (T + a + Z.to_nat n) - Z.to_nat m * Z.to_nat d) (T + a) x) as L.
    assert (Z.of_nat (Z.to_nat m * Z.to_nat d) = m * d) by nia. lia.
  Qed.

  (** ** Theorem 2 *)

  (** All clauses but leg:2 hold as soon as nobody rests any more. *)
  Lemma gaps_when_calm : forall t x y, calm t ->
    x < y -> q t x = 1 -> q t y = 1 -> d <= y - x.
  Proof.
    unfold q; intros t x y Calm X Qx Qy.
    destruct (Z.le_gt_cases d (y - x)) as [|N]; [assumption|exfalso].
    destruct (delay_in_turn e y) as (z & Z & D).
    pose proof (rigid t (Z.to_nat (z - y)) t y Calm ltac:(lia)) as Y0.
    pose proof (rigid t (Z.to_nat (z - y)) (S t) y Calm ltac:(lia)) as Y1.
    pose proof (rigid t (Z.to_nat (z - x)) (S t) x Calm ltac:(lia)) as X1.
    replace (y + Z.of_nat (Z.to_nat (z - y))) with z in * by lia.
    replace (x + Z.of_nat (Z.to_nat (z - x))) with z in * by lia.
    pose proof (passed_behind e t x y). pose proof (hop e t (x + 1)).
    pose proof (passed_behind e (S t) (x + 1) y).
    replace (x + 1 - 1) with x in * by lia.
    pose proof (passed_later e 0 (t + Z.to_nat (z - y)) z).
    destruct (releases_apart e (S t + Z.to_nat (z - x)) z (F t x)) as [R1 R2]; [lia|lia|].
    rewrite spacing_delay in R1, R2 by assumption.
    pose proof (passed_later e (S t + Z.to_nat (z - x) - Z.to_nat d) (t + Z.to_nat (z - y)) z). lia.
  Qed.

  Lemma soon_when_calm : forall t x y, calm t -> delay x = true ->
    q t x = 0 -> y < x -> q t y = 1 -> c (S t) x < x - y.
  Proof.
    unfold q; intros t x y Calm D Qx Y Qy.
    destruct (Z.lt_ge_cases (c (S t) x) (x - y)) as [|N]; [assumption|exfalso].
    pose proof (count_holds e (Z.to_nat (x - y)) (S t) x ltac:(lia)) as H.
    pose proof (rigid t (Z.to_nat (x - y)) t y Calm ltac:(lia)) as Y0.
    pose proof (rigid t (Z.to_nat (x - y)) (S t) y Calm ltac:(lia)) as Y1.
    replace (y + Z.of_nat (Z.to_nat (x - y))) with x in * by lia.
    pose proof (passed_later e (S t) (t + Z.to_nat (x - y)) x). lia.
  Qed.

  Lemma set_when_queued : forall t x, delay x = true -> q t x = 1 -> c (S t) x = d - 1.
  Proof.
    unfold q; intros t x D Q. destruct (one_round e t x) as [(_ & _ & _ & N) | (_ & P & _)]; [|lia].
    rewrite spacing_delay in N; assumption.
  Qed.

  Lemma legitimate_when : forall t, calm t ->
    (forall x, delay x = true -> 0 < c (S t) x -> q t x = 0 -> q t (x + (d - 1 - c (S t) x)) = 1) ->
    legitimate_after t.
  Proof.
    intros t Calm Two. constructor.
    - intro x; unfold r; rewrite Calm by lia; lia.
    - intro x; unfold q; pose proof (passed_step e t x); lia.
    - intros; eapply gaps_when_calm; eassumption.
    - assumption.
    - intros; eapply soon_when_calm; eassumption.
    - intros; apply set_when_queued; assumption.
  Qed.

  (** A token released from x in round u has moved on in every round since, or
      has rested. *)
  Lemma walks_or_rests : forall j u x k, k < F u x ->
    k < F (u + j) (x + Z.of_nat j) \/
    exists i, (1 <= i <= j)%nat /\ rests_at (u + i - 1) (x + Z.of_nat i).
  Proof.
    induction j; intros u x k H.
    - left. replace (x + Z.of_nat 0) with x by lia. replace (u + 0)%nat with u by lia. assumption.
    - destruct (IHj u x k H) as [W | (i & I & R)].
      + destruct (Z.lt_ge_cases k (F (u + S j) (x + Z.of_nat (S j)))) as [|N]; [left; assumption|].
        right; exists (S j); split; [lia|]. unfold WorstCase.rests_at.
        replace (u + S j - 1)%nat with (u + j)%nat by lia.
        replace (S (u + j)) with (u + S j)%nat by lia.
        replace (x + Z.of_nat (S j) - 1) with (x + Z.of_nat j) by lia. lia.
      + right; exists i; split; [lia | assumption].
  Qed.

  Lemma no_faster : forall j u x, F (u + j) (x + Z.of_nat j) <= F u x.
  Proof.
    induction j; intros u x.
    - replace (x + Z.of_nat 0) with x by lia. replace (u + 0)%nat with u by lia. lia.
    - pose proof (hop e (u + j) (x + Z.of_nat (S j))) as H. specialize (IHj u x).
      replace (u + S j)%nat with (S (u + j)) by lia.
      replace (x + Z.of_nat (S j) - 1) with (x + Z.of_nat j) in H by lia. lia.
  Qed.

  (** Where a counter violates leg:2: it is left from the start, or it was set by a
      release in round u, and the token released has rested since, in round u + i. *)
  Lemma stale_counter : forall t x, delay x = true -> 0 < c (S t) x -> q t x = 0 ->
    d - 1 <= Z.of_nat (S t) ->
    q t (x + (d - 1 - c (S t) x)) = 1 \/
    exists u i, (1 <= u)%nat /\ (1 <= i)%nat /\ (u + i <= S t)%nat /\
      Z.of_nat (S t) <= Z.of_nat u + d - 2 /\ rests_at (u + i - 1) (x + Z.of_nat i).
  Proof.
    intros t x D C Q T. pose proof (start_count e x) as C0.
    rewrite spacing_delay in C0 by assumption.
    destruct (count_origin e (S t) x C) as [(E & _) | (u & U & E & P1 & P2)]; [lia|].
    rewrite spacing_delay in E by assumption.
    assert (u <> S t). { intro. subst u. replace (S t - 1)%nat with t in P2 by lia. unfold q in Q. lia. }
    destruct (walks_or_rests (S t - u) u x (F (u - 1) x)) as [W | (i & I & R)]; [lia| |].
    - left. replace (u + (S t - u))%nat with (S t) in W by lia.
      replace (x + (d - 1 - c (S t) x)) with (x + Z.of_nat (S t - u)) by lia.
      pose proof (no_faster (S t - u) (u - 1) x) as N.
      replace (u - 1 + (S t - u))%nat with t in N by lia.
      pose proof (passed_step e t (x + Z.of_nat (S t - u))). unfold q. lia.
    - right. exists u, i. repeat split; try lia. assumption.
  Qed.

  Theorem legitimate_soon_on_line : forall T t, calm T -> (T <= t)%nat ->
    d - 1 <= Z.of_nat (S t) -> T = 0%nat \/ Z.of_nat T + d - 2 <= Z.of_nat (S t) ->
    legitimate_after t.
  Proof.
    intros T t Calm Ht Hd Hl. apply legitimate_when.
    { intros u x Hu; apply Calm; lia. }
    intros x D C Q. destruct (stale_counter t x D C Q Hd) as [|(u & i & U & I & UI & Hu & R)]; [assumption|].
    exfalso. unfold WorstCase.rests_at in R.
    destruct (Nat.le_gt_cases T (u + i - 1)) as [L|L].
    - rewrite Calm in R by assumption. lia.
    - lia.
  Qed.

  (** ** Theorem 3 *)

  Hypothesis feasible : m * d <= n.

  Theorem legitimate_at_last_on_line : forall B,
    (forall x, delay x = true -> exists g, 1 <= g /\ delay (x - g) = true /\
       (forall z, x - g < z < x -> delay z = false) /\
       (m - 1) * d - 1 + reach e g + Z.max 1 (d - 1 - g) <= B) ->
    forall t, B <= Z.of_nat (S t) -> legitimate_after t.
  Proof.
    intros B HB t Ht. pose proof (m_positive e). pose proof (d_positive e).
    assert (B0 : m * d <= B).
    { destruct (some_delay e) as (x & D). destruct (HB x D) as (g & G & _ & _ & Hg).
      pose proof (reach_at_least e g). nia. }
    apply legitimate_when.
    - intros u x Hu. apply not_resting; intro R. destruct (delay x) eqn:D.
      + destruct (HB x D) as (g & G & P & _ & Hg).
        pose proof (last_rest_at_delay e feasible u x g D P G R). lia.
      + pose proof (relays_are_quick e feasible u x (or_introl D) R). nia.
    - intros x D C Q.
      destruct (stale_counter t x D C Q) as [|(u & i & U & I & UI & Hu & R)]; [nia|assumption|exfalso].
      destruct (delay (x + Z.of_nat i)) eqn:Dy.
      + destruct (HB _ Dy) as (g & G & P & Between & Hg).
        pose proof (last_rest_at_delay e feasible _ _ g Dy P G R).
        (* the delay before it is not before x *)
        assert (g <= Z.of_nat i).
        { destruct (Z.le_gt_cases g (Z.of_nat i)); [assumption|].
          rewrite (Between x) in D by lia. discriminate. }
        lia.
      + pose proof (relays_are_quick e feasible _ _ (or_introl Dy) R). nia.
  Qed.

End Lateness.

Section Attained.
  Variable e : execution.
  Import Line.
  Notation q := (q e).

  Lemma step_down : forall t x k j, k < F t x -> F t (x + Z.of_nat j) <= k ->
    exists i, (i < j)%nat /\ k < F t (x + Z.of_nat i) /\ F t (x + Z.of_nat i + 1) <= k.
  Proof.
    intros t x k j A B. induction j.
    - replace (x + Z.of_nat 0) with x in B by lia. lia.
    - destruct (Z.lt_ge_cases k (F t (x + Z.of_nat j))) as [C|C].
      + exists j; repeat split; [lia|assumption|].
        replace (x + Z.of_nat j + 1) with (x + Z.of_nat (S j)) by lia. assumption.
      + destruct (IHj C) as (i & I & R). exists i; split; [lia | assumption].
  Qed.

  (** Attained: all tokens rest at a delay i that counts d - 2 - g, and the next
      delay i + g counts d - 1. *)
  Lemma attained_stale : forall i g, 1 <= g <= d - 2 -> delay i = true -> delay (i + g) = true ->
    c0 i = d - 2 - g -> c0 (i + g) = d - 1 -> l (i - 1) = l i + m -> l (i + g) = l i ->
    forall t, Z.of_nat (S t) = m * d + d - 3 - g -> ~ legitimate_after e t.
  Proof.
    intros i g G Di Dx Ci Cx P L t T Leg.
    pose proof (m_positive e). pose proof (d_positive e).
    set (k := l i + m - 1). set (u := Z.to_nat (m * d - 2 - g)).
    assert (U : Z.of_nat (S u) = m * d - 1 - g) by (unfold u; nia).
    (* the last token leaves i in round u + 1 *)
    assert (A : k < F (S u) i).
    { apply release_times; [lia|]. intros y Y Ly.
      assert (y = i).
      { destruct (Z.eq_dec y i); [assumption|]. pose proof (passed_behind e 0 y (i - 1)). lia. }
      subst y. unfold ReleaseTimes.weight. rewrite (slope_delay e i i i) by (auto; lia). nia. }
    assert (A' : F u i <= k).
    { destruct (Z.le_gt_cases (F u i) k) as [|N]; [assumption|exfalso].
      pose proof (weight_at_most e u i k i ltac:(lia) ltac:(lia) ltac:(lia)) as W.
      unfold ReleaseTimes.weight in W. rewrite (slope_delay e i i i) in W by (auto; lia). nia. }
    destruct (one_round e u i) as [(_ & _ & Pu & Cu) | (_ & Pu & _)]; [|lia].
    rewrite spacing_delay in Cu by assumption.
    (* so that its counter is at 1 after round t + 1 *)
    pose proof (count_down e (t - u) (S u) i ltac:(lia)) as C1.
    pose proof (count_holds e (t - u) (S u) i ltac:(lia)) as P1.
    pose proof (count_holds e (t - S u) (S u) i ltac:(lia)) as P0.
    replace (S u + (t - u))%nat with (S t) in * by lia.
    replace (S u + (t - S u))%nat with t in * by lia.
    assert (Q0 : q t i = 0) by (unfold Lateness.q; lia).
    pose proof (leg2 _ _ _ _ _ Leg i Di ltac:(lia) Q0) as Q1.
    replace (i + (d - 1 - c (S t) i)) with (i + Z.of_nat (Z.to_nat (d - 2))) in Q1 by lia.
    (* but the token has rested at i + g *)
    assert (B : F (S t) (i + Z.of_nat (Z.to_nat (d - 2))) <= k).
    { destruct (Z.le_gt_cases (F (S t) (i + Z.of_nat (Z.to_nat (d - 2)))) k) as [|N]; [assumption|exfalso].
      pose proof (weight_at_most e (S t) (i + Z.of_nat (Z.to_nat (d - 2))) k (i + g)
        ltac:(lia) ltac:(lia) ltac:(lia)) as W.
      unfold ReleaseTimes.weight in W. rewrite (slope_delay e (i + g) _ (i + g)) in W by (auto; lia). nia. }
    destruct (step_down (S t) i k _ ltac:(lia) B) as (j & J & K1 & K2).
    pose proof (leg0_rest _ _ _ _ _ Leg (i + Z.of_nat j + 1)) as R0.
    pose proof (leg0_queue _ _ _ _ _ Leg (i + Z.of_nat j)) as R1.
    unfold r in R0. replace (i + Z.of_nat j + 1 - 1) with (i + Z.of_nat j) in R0 by lia.
    pose proof (leg1 _ _ _ _ _ Leg (i + Z.of_nat j) (i + Z.of_nat (Z.to_nat (d - 2)))) as D1.
    unfold Lateness.q in *. lia.
  Qed.

  (** In that state tokens wait at i and at i + g only. *)
  Lemma stale_last_rest : m * d <= n -> forall i g, 1 <= g <= d - 2 ->
    delay i = true -> delay (i + g) = true ->
    c0 i = d - 2 - g -> c0 (i + g) = d - 1 ->
    (forall z, i <= z < i + n -> l z = l i) ->
    (forall z, i <= z < i + n -> z <> i -> z <> i + g -> c0 z = 0) ->
    forall t x, rests_at e t x -> Z.of_nat (S t) <= m * d - 1.
  Proof.
    intros Feas i g G Di Dx Ci Cx Pile Zero t x R.
    pose proof (m_positive e). pose proof (n_positive e).
    destruct (delay x) eqn:D.
    2:{ pose proof (relays_are_quick e Feas t x (or_introl D) R). nia. }
    destruct (one_turn_is_enough e Feas t x D R) as (k & x' & X & L & K & W & Less & Here).
    (* the pile of the turn that x' is in *)
    set (a := (x' - i) / n). set (I := i + a * n).
    assert (Ix : I <= x' < I + n).
    { unfold I, a. pose proof (Z.div_mod (x' - i) n ltac:(lia)).
      pose proof (Z.mod_pos_bound (x' - i) n ltac:(lia)). lia. }
    assert (Turn : forall z, l (z + a * n) = l z - a * m /\ c0 (z + a * n) = c0 z).
    { assert (N : forall j z, l (z + Z.of_nat j * n) = l z - Z.of_nat j * m /\ c0 (z + Z.of_nat j * n) = c0 z).
      { induction j; intro z; [replace (z + Z.of_nat 0 * n) with z; lia|].
        replace (z + Z.of_nat (S j) * n) with (z + Z.of_nat j * n + n) by lia.
        rewrite start_turn, start_count_turn. destruct (IHj z). lia. }
      intro z. destruct (Z.le_gt_cases 0 a) as [P|P].
      - specialize (N (Z.to_nat a) z). rewrite Z2Nat.id in N by lia. assumption.
      - specialize (N (Z.to_nat (- a)) (z + a * n)). rewrite Z2Nat.id in N by lia.
        replace (z + a * n + - a * n) with z in N by lia. lia. }
    assert (Pl : l x' = l I).
    { destruct (Turn (x' - a * n)) as [T1 _]. destruct (Turn i) as [T2 _].
      replace (x' - a * n + a * n) with x' in T1 by lia. fold I in T2.
      rewrite (Pile (x' - a * n)) in T1 by (unfold I in Ix; lia). lia. }
    assert (DI : delay I = true) by (unfold I; rewrite delay_turns; assumption).
    assert (CI : c0 I = d - 2 - g) by (unfold I; rewrite (proj2 (Turn i)); assumption).
    unfold ReleaseTimes.weight in W, Less. rewrite (slope_delay e x' x x) in W, Less by (auto; lia).
    destruct (Z.eq_dec x' I) as [E1|E1]; [|destruct (Z.eq_dec x' (I + g)) as [E2|E2]].
    - assert (x' = x).
      { destruct Here as [|(_ & _ & Xs & Rel)]; [assumption|].
        rewrite <- E1, (Rel x') in DI by lia. discriminate. }
      rewrite E1, CI in W. rewrite E1 in *. nia.
    - assert (DX : delay x' = true).
      { rewrite E2. unfold I. replace (i + a * n + g) with (i + g + a * n) by lia.
        rewrite delay_turns. assumption. }
      assert (x' = x) by (destruct Here as [|(_ & _ & Xs & Rel)]; [assumption|];
        rewrite (Rel x') in DX by lia; discriminate).
      assert (CX : c0 x' = d - 1).
      { rewrite E2. unfold I. replace (i + a * n + g) with (i + g + a * n) by lia.
        rewrite (proj2 (Turn (i + g))). assumption. }
      rewrite CX in W. nia.
    - exfalso. assert (C0 : c0 x' = 0).
      { destruct (Turn (x' - a * n)) as [_ T2]. replace (x' - a * n + a * n) with x' in T2 by lia.
        rewrite T2. apply Zero; unfold I in *; lia. }
      specialize (Less I ltac:(lia) ltac:(lia)). rewrite (slope_delay e I (x - 1) I) in Less by (auto; lia).
      rewrite Pl, C0, CI in Less. lia.
  Qed.
End Attained.
