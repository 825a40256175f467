(** * Theorem 1 on the unrolled ring: the worst case over all initial states

    [docs/research/worst-case.md], lemmas 2 and 3 and theorem 1. *)

From Coq Require Import ZArith Lia Bool.
From Headway Require Import ReleaseTimes.
Local Open Scope Z_scope.

Section WorstCase.
  Variable e : execution.
  Import Line.
  Notation weight := (weight e). Notation slope := (slope e).

  (** A token rests at x after round t + 1: it has come from x - 1 by round t, and
      is not released by round t + 1. *)
  Definition rests_at (t : nat) (x : Z) : Prop := F (S t) x < F t (x - 1).

  Lemma delay_turns : forall j x, delay (x + j * n) = delay x.
  Proof.
    assert (N : forall i x, delay (x + Z.of_nat i * n) = delay x).
    { induction i; intro x; [f_equal; lia|].
      replace (x + Z.of_nat (S i) * n) with (x + Z.of_nat i * n + n) by lia.
      rewrite delay_turn; apply IHi. }
    intros j x. destruct (Z.le_gt_cases 0 j).
    - rewrite <- (N (Z.to_nat j) x), Z2Nat.id by lia; reflexivity.
    - rewrite <- (N (Z.to_nat (- j)) (x + j * n)), Z2Nat.id by lia; f_equal; lia.
  Qed.

  (** There is a delay in every turn. *)
  Lemma delay_in_turn : forall x, exists z, x <= z < x + n /\ delay z = true.
  Proof.
    intro x. destruct (some_delay e) as (z & D). pose proof (n_positive e).
    exists (x + (z - x) mod n). pose proof (Z.mod_pos_bound (z - x) n). split; [lia|].
    rewrite <- D. replace z with (x + (z - x) mod n + (z - x) / n * n) at 2.
    - rewrite delay_turns; reflexivity.
    - pose proof (Z.div_mod (z - x) n). lia.
  Qed.

  Lemma earlier_turn : forall x, l (x - n) = l x + m /\ c0 (x - n) = c0 x.
  Proof.
    intro x. pose proof (start_turn e (x - n)). pose proof (start_count_turn e (x - n)).
    replace (x - n + n) with x in * by lia. lia.
  Qed.

  (** Whom to blame for a wait: a source x' that weighs enough at x, while none
      weighs as much at x - 1. *)
  Lemma blame : forall t x, rests_at t x -> exists k x',
    x' <= x /\ l x' <= k /\ Z.of_nat (S t) < weight x' x k /\
    (forall y, y <= x - 1 -> l y <= k -> weight y (x - 1) k + 1 < weight x' x k).
  Proof.
    intros t x R. unfold rests_at in R. set (k := F (S t) x) in *.
    assert (L : l x <= k) by (apply passed_later; lia).
    destruct (weight_at_least e (S t) x k L) as (x' & X & Lx & W); [lia|].
    exists k, x'. repeat split; try assumption.
    intros y Y Ly. pose proof (weight_at_most e t (x - 1) k y Y Ly R). lia.
  Qed.

  (** The source is x itself, or a relay after the previous delay that counts
      with slope d only from x on. *)
  Lemma blame_near : forall x x' k, x' < x -> l x' <= k ->
    weight x' (x - 1) k + 1 < weight x' x k ->
    1 < d /\ delay x = true /\ l x' < k /\ forall z, x' <= z < x -> delay z = false.
  Proof.
    intros x x' k X L W. unfold ReleaseTimes.weight in W.
    destruct (slope_cases e x' (x - 1)) as [(E & z & Z & D) | (E & R)]; [lia| |].
    - rewrite (slope_delay e x' x z), E in W by (auto; lia). lia.
    - destruct (slope_cases e x' x) as [(E' & z & Z & D) | (E' & _)]; [lia| |lia].
      rewrite E, E' in W.
      assert (z = x) by (destruct (Z.eq_dec z x); [assumption | rewrite R in D by lia; discriminate]).
      subst z. split; [nia|]. split; [assumption|].
      split; [|intros; apply R; lia].
      destruct (Z.eq_dec k (l x')) as [K|]; [rewrite K, Z.sub_diag in W|]; lia.
  Qed.

  Hypothesis feasible : m * d <= n.

  (** *** Lemma 2 (one turn is enough) *)
  Lemma one_turn_is_enough : forall t x, delay x = true -> rests_at t x -> exists k x',
    x' <= x /\ l x' <= k /\ k - l x' <= m - 1 /\ Z.of_nat (S t) < weight x' x k /\
    (forall y, y <= x - 1 -> l y <= k -> weight y (x - 1) k + 1 < weight x' x k) /\
    (x' = x \/ (1 < d /\ 1 < m /\ x' < x /\ forall z, x' <= z < x -> delay z = false)).
  Proof.
    intros t x D R. destruct (blame t x R) as (k & x' & X & L & W & Less).
    exists k, x'.
    pose proof (n_positive e). pose proof (d_positive e).
    assert (K : k - l x' <= m - 1).
    { destruct (Z.le_gt_cases (k - l x') (m - 1)) as [|K]; [assumption|exfalso].
      destruct (earlier_turn x') as [Lt Ct].
      assert (A : weight (x' - n) (x - 1) k + 1 < weight x' x k) by (apply Less; lia).
      unfold ReleaseTimes.weight in A. rewrite Lt, Ct in A.
      rewrite (slope_delay e x' x x) in A by (auto; lia).
      rewrite (slope_delay e (x' - n) (x - 1) (x - n)) in A.
      - nia.
      - lia.
      - rewrite <- D. rewrite <- (delay_turn e (x - n)). f_equal; lia. }
    repeat split; try assumption.
    destruct (Z.eq_dec x' x) as [|N]; [left; assumption|right].
    destruct (blame_near x x' k) as (D1 & _ & Lk & Rel); [lia|assumption|apply Less; lia|].
    repeat split; try assumption; try lia.
  Qed.

  (** *** Lemma 3 (relays) *)
  Lemma relays_are_quick : forall t x, delay x = false \/ d = 1 -> rests_at t x ->
    Z.of_nat (S t) <= m - 1.
  Proof.
    intros t x D R. destruct (blame t x R) as (k & x' & X & L & W & Less).
    pose proof (n_positive e). pose proof (d_positive e). pose proof (m_positive e).
    assert (x' = x).
    { destruct (Z.eq_dec x' x) as [|N]; [assumption|exfalso].
      destruct (blame_near x x' k) as (D1 & D2 & _); [lia|assumption|apply Less; lia|].
      destruct D; [congruence | lia]. }
    subst x'.
    assert (S1 : slope x x = 1).
    { rewrite slope_here. unfold spacing. destruct (delay x); [destruct D; [discriminate | lia] | reflexivity]. }
    assert (C1 : c0 x = 0).
    { pose proof (start_count e x). rewrite slope_here in S1. lia. }
    destruct (Z.le_gt_cases (k - l x) (m - 1)) as [K|K].
    { unfold ReleaseTimes.weight in W. rewrite S1, C1 in W. lia. }
    exfalso. destruct (earlier_turn x) as [Lt Ct].
    assert (A : weight (x - n) (x - 1) k + 1 < weight x x k) by (apply Less; lia).
    unfold ReleaseTimes.weight in A. rewrite Lt, Ct, S1, C1 in A.
    destruct (delay_in_turn (x - n)) as (z & Z & Dz).
    rewrite (slope_delay e (x - n) (x - 1) z) in A by (auto; lia). nia.
  Qed.

  (** With one token or separation 1 a gap between delays costs nothing. *)
  Definition reach (g : Z) : Z := if (d =? 1) || (m =? 1) then d else Z.max g d.

  Lemma reach_at_least : forall g, d <= reach g.
  Proof. intro g; unfold reach; destruct (_ || _); lia. Qed.

  (** *** Theorem 1, upper bound, for a delay whose predecessor is g before it *)
  Lemma last_rest_at_delay : forall t x g, delay x = true -> delay (x - g) = true -> 1 <= g ->
    rests_at t x -> Z.of_nat (S t) <= (m - 1) * d + reach g - 1.
  Proof.
    intros t x g D P G R. pose proof (reach_at_least g).
    destruct (one_turn_is_enough t x D R) as (k & x' & X & L & K & W & _ & [E | (D1 & M1 & Xs & Rel)]);
      unfold ReleaseTimes.weight in W; rewrite (slope_delay e x' x x) in W by (auto; lia);
      pose proof (d_positive e).
    - subst x'. pose proof (start_count e x) as C. rewrite spacing_delay in C by assumption. nia.
    - (* a relay between x - g and x *)
      assert (x - g < x').
      { destruct (Z.lt_ge_cases (x - g) x'); [assumption|]. rewrite Rel in P by lia. discriminate. }
      pose proof (start_count e x') as C. rewrite spacing_relay in C by (apply Rel; lia).
      assert (reach g = Z.max g d).
      { unfold reach. replace (d =? 1) with false by lia. replace (m =? 1) with false by lia. reflexivity. }
      nia.
  Qed.

  (** *** Theorem 1, upper bound, when no gap is wider than L *)
  Theorem no_rest_later : forall L,
    (forall x, delay x = true -> exists g, 1 <= g <= L /\ delay (x - g) = true) ->
    forall t x, rests_at t x -> Z.of_nat (S t) <= (m - 1) * d + reach L - 1.
  Proof.
    intros L Gaps t x R. pose proof (reach_at_least L). pose proof (d_positive e). pose proof (m_positive e).
    destruct (delay x) eqn:D.
    - destruct (Gaps x D) as (g & G & P).
      pose proof (last_rest_at_delay t x g D P ltac:(lia) R).
      assert (reach g <= reach L) by (unfold reach; destruct (_ || _); lia). lia.
    - pose proof (relays_are_quick t x (or_introl D) R). nia.
  Qed.

End WorstCase.

(** ** Attained: all tokens rest in one place *)
Section Attained.
  Variable e : execution.
  Import Line.

  (** From a pile at a delay that counts d - 1: the last leaves in round m·d. *)
  Lemma attained_at_delay : forall x, delay x = true -> c0 x = d - 1 -> l (x - 1) = l x + m ->
    forall t, Z.of_nat (S t) = m * d - 1 -> rests_at e t x.
  Proof.
    intros x D C P t T. unfold rests_at. pose proof (m_positive e).
    pose proof (passed_later e 0 t (x - 1)).
    assert (N : ~ l x + m - 1 < F (S t) x); [|lia].
    intro A. apply (weight_at_most e (S t) x (l x + m - 1) x) in A; [|lia..].
    unfold ReleaseTimes.weight in A. rewrite (slope_delay e x x x) in A by (auto; lia). nia.
  Qed.

  (** From a pile at the relay that follows a delay with the gap L after it, all
      counters 0: the last passes the next delay in round L + (m - 1)·d. *)
  Lemma attained_after_gap : forall x L, d < L -> L <= n -> 1 < m -> 1 < d ->
    delay x = true -> (forall z, x - L < z < x -> delay z = false) ->
    (forall z, x - L < z < x -> c0 z = 0) ->
    l (x - L) = l (x - L + 1) + m ->
    (forall z, x - L < z < x -> l z = l (x - L + 1)) ->
    forall t, Z.of_nat (S t) = (m - 1) * d + L - 1 -> rests_at e t x.
  Proof.
    intros x L Ld Ln M1 D1 D Rel C P Pile t T. unfold rests_at.
    set (p := x - L + 1) in *. set (k := l p + m - 1).
    assert (A : k < F t (x - 1)).
    { apply release_times.
      - rewrite Pile by lia. lia.
      - intros y Y Ly.
        assert (x - L < y).
        { destruct (Z.lt_ge_cases (x - L) y); [assumption|].
          pose proof (passed_behind e 0 y (x - L)). lia. }
        unfold ReleaseTimes.weight. rewrite C, Pile by lia.
        destruct (slope_cases e y (x - 1)) as [(_ & z & Z & Dz) | (E & _)]; [lia| |].
        + rewrite Rel in Dz by lia. discriminate.
        + rewrite E. nia. }
    assert (B : ~ k < F (S t) x); [|lia].
    intro B. apply (weight_at_most e (S t) x k p) in B; [|lia..].
    unfold ReleaseTimes.weight in B. rewrite (slope_delay e p x x), C in B by (auto; lia). nia.
  Qed.
End Attained.
