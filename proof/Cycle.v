(** * The cycle time is max(n/m, d), and states repeat

    With room, every process releases m tokens in n rounds; in a jam, every process
    releases one token in d rounds ([docs/research/forecast.md]). Either way the state repeats
    from some round on. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes WorstCase Lateness Unroll Closure Bound Theorems Forecast.
Import ListNotations.
Local Open Scope Z_scope.

Section Line.
  Variable e : execution.
  Import Line.
  Notation weight := (weight e). Notation slope := (slope e).

  Lemma turns : forall j t x, F t (x + j * n) = F t x - j * m.
  Proof.
    assert (N : forall i t x, F t (x + Z.of_nat i * n) = F t x - Z.of_nat i * m).
    { induction i; intros t x; [replace (x + Z.of_nat 0 * n) with x; lia|].
      destruct (turn e t (x + Z.of_nat i * n)) as [P _]. rewrite IHi in P.
      replace (x + Z.of_nat (S i) * n) with (x + Z.of_nat i * n + n) by lia. lia. }
    intros j t x. destruct (Z.le_gt_cases 0 j).
    - specialize (N (Z.to_nat j) t x). rewrite Z2Nat.id in N by lia. assumption.
    - specialize (N (Z.to_nat (- j)) t (x + j * n)). rewrite Z2Nat.id in N by lia.
      replace (x + j * n + - j * n) with x in N by lia. lia.
  Qed.

  (** *** In a jam every turn is alike

      Three turns after it has started, a token is released d rounds after the one
      before it, wherever it is. *)
  Lemma jam_release : n <= m * d -> forall t x k, l x + 3 * m <= k ->
    k < F t x <-> k + 1 < F (t + Z.to_nat d) x.
  Proof.
    intros Full t x k K. pose proof (n_positive e). pose proof (m_positive e). pose proof (d_positive e).
    assert (L2 : forall y, x - n < y <= x -> l y + 2 * m <= k).
    { intros y Y. pose proof (turns (-1) 0 x). pose proof (passed_behind e 0 (x - n) y).
      replace (x + -1 * n) with (x - n) in * by lia. lia. }
    assert (Turn : forall y, l (y + n) = l y - m /\ c0 (y + n) = c0 y)
      by (intro y; split; [apply start_turn | apply start_count_turn]).
    rewrite (release_times e t x k), (release_times e (t + Z.to_nat d) x (k + 1)) by lia.
    rewrite Nat2Z.inj_add, Z2Nat.id by lia.
    split; intros A x' X L.
    - destruct (Z.eq_dec (l x') (k + 1)) as [E|E].
      + (* a source that counts for k + 1 only: it counts for k a turn later *)
        destruct (Turn x') as [Lt Ct].
        assert (x' < x - n).
        { destruct (Z.lt_ge_cases x' (x - n)) as [|N]; [assumption|exfalso].
          pose proof (passed_behind e 0 (x - n) x' N). pose proof (turns (-1) 0 x).
          replace (x + -1 * n) with (x - n) in * by lia. lia. }
        specialize (A (x' + n) ltac:(lia) ltac:(lia)).
        assert (D1 : slope (x' + n) x = d).
        { destruct (Z.le_gt_cases (x' + 2 * n) (x + 1)) as [Far|Near].
          - destruct (delay_in_turn e (x' + n)) as (z & Z & D). apply (slope_delay e _ _ z); [lia | assumption].
          - exfalso. pose proof (turns 2 0 x') as T2. pose proof (passed_behind e 0 x (x' + 2 * n) ltac:(lia)). lia. }
        unfold ReleaseTimes.weight in *. rewrite D1, Lt, Ct in A. rewrite E. nia.
      + specialize (A x' X ltac:(lia)). pose proof (slope_cases e x' x X) as S.
        unfold ReleaseTimes.weight in *. destruct S as [(S & _) | (S & _)]; rewrite S in *; nia.
    - destruct (slope_cases e x' x X) as [(S & _) | (S & Rel)].
      + specialize (A x' X ltac:(lia)). unfold ReleaseTimes.weight in *. rewrite S in *. nia.
      + destruct (Z.eq_dec d 1) as [One|Two].
        { specialize (A x' X ltac:(lia)). unfold ReleaseTimes.weight in *. rewrite S in *. lia. }
        (* among relays: the source a turn before weighs as much *)
        assert (Near : x - n < x').
        { destruct (Z.lt_ge_cases (x - n) x') as [|N]; [assumption|exfalso].
          destruct (delay_in_turn e (x - n + 1)) as (z & Z & D). rewrite Rel in D by lia. discriminate. }
        pose proof (L2 x' ltac:(lia)) as L'. destruct (earlier_turn e x') as [Lt Ct].
        specialize (A (x' - n) ltac:(lia) ltac:(lia)).
        assert (D1 : slope (x' - n) x = d).
        { destruct (delay_in_turn e (x' - n)) as (z & Z & D). apply (slope_delay e _ _ z); [lia | assumption]. }
        pose proof (start_count e x') as C. rewrite spacing_relay in C by (apply Rel; lia).
        unfold ReleaseTimes.weight in *. rewrite D1, Lt, Ct in A. rewrite S. nia.
  Qed.

  Lemma jam_period : n <= m * d -> forall t x, l x + 3 * m < F t x -> F (t + Z.to_nat d) x = F t x + 1.
  Proof.
    intros Full t x P.
    pose proof (proj1 (jam_release Full t x (F t x - 1) ltac:(lia)) ltac:(lia)).
    pose proof (jam_release Full t x (F t x) ltac:(lia)) as B. lia.
  Qed.

  (** Every token is released from everywhere, some time. *)
  Lemma released_some_time : forall x k, exists t, k < F t x.
  Proof.
    intros x k. set (k' := Z.max k (l x)).
    exists (Z.to_nat (release_round d delay l c0 n x k')).
    assert (k' < F (Z.to_nat (release_round d delay l c0 n x k')) x); [|lia].
    apply release_round_right; lia.
  Qed.

  Lemma jam_begins : exists T, forall t x, (T <= t)%nat -> l x + 3 * m < F t x.
  Proof.
    pose proof (n_positive e).
    assert (G : forall j, exists T, forall t i, (T <= t)%nat -> (i < j)%nat ->
              l (Z.of_nat i) + 3 * m < F t (Z.of_nat i)).
    { induction j as [|j (T & IH)]; [exists 0%nat; intros; lia|].
      destruct (released_some_time (Z.of_nat j) (l (Z.of_nat j) + 3 * m)) as (u & U).
      exists (Nat.max T u). intros t i Ht I. destruct (Nat.eq_dec i j) as [E|E].
      - subst i. pose proof (passed_later e u t (Z.of_nat j) ltac:(lia)). lia.
      - apply IH; lia. }
    destruct (G (Z.to_nat n)) as (T & GT). exists T. intros t x Ht.
    pose proof (Z.mod_pos_bound x n ltac:(lia)) as B. pose proof (Z.div_mod x n ltac:(lia)) as E.
    specialize (GT t (Z.to_nat (x mod n)) Ht ltac:(lia)). rewrite Z2Nat.id in GT by lia.
    pose proof (turns (x / n) t (x mod n)) as Tt. pose proof (turns (x / n) 0 (x mod n)) as T0.
    replace (x mod n + x / n * n) with x in * by lia. lia.
  Qed.

  (** *** Counters repeat where releases do *)
  Lemma counts_repeat : forall P R T x, 1 <= R ->
    (forall t, (T <= t)%nat -> F (t + P) x = F t x + R) ->
    forall t, (T + P <= t)%nat -> c (t + P) x = c t x.
  Proof.
    intros P R T x R1 Per.
    assert (A : forall j, F T x < F (T + j) x -> exists a, (a < j)%nat /\ F (T + a) x < F (S (T + a)) x).
    { induction j; intro H2; [replace (T + 0)%nat with T in H2; lia|].
      destruct (Z.lt_ge_cases (F (T + j) x) (F (S (T + j)) x)) as [C|C].
      - exists j; split; [lia | assumption].
      - destruct IHj as (a & Ha & Fa); [replace (T + S j)%nat with (S (T + j)) in H2 by lia; lia|].
        exists a; split; [lia | assumption]. }
    destruct (A P) as (a & Ha & Fa); [rewrite Per by lia; lia|].
    assert (G : forall j, c (S (T + a) + j + P) x = c (S (T + a) + j) x).
    { induction j as [|j IH].
      - replace (S (T + a) + 0 + P)%nat with (S (T + a + P)) by lia.
        replace (S (T + a) + 0)%nat with (S (T + a)) by lia.
        pose proof (Per (T + a)%nat ltac:(lia)) as P0. pose proof (Per (S (T + a)) ltac:(lia)) as P1.
        replace (S (T + a) + P)%nat with (S (T + a + P)) in P1 by lia.
        destruct (one_round e (T + a) x) as [(_ & _ & _ & C) | (_ & F0 & _)]; [|lia].
        destruct (one_round e (T + a + P) x) as [(_ & _ & _ & C') | (_ & F0 & _)]; [|lia]. lia.
      - replace (S (T + a) + S j + P)%nat with (S (S (T + a) + j + P)) by lia.
        replace (S (T + a) + S j)%nat with (S (S (T + a) + j)) by lia.
        set (u := (S (T + a) + j)%nat) in *.
        pose proof (Per u ltac:(lia)) as P0. pose proof (Per (S u) ltac:(lia)) as P1.
        replace (S u + P)%nat with (S (u + P)) in P1 by lia.
        destruct (one_round e u x) as [(_ & _ & F1 & C) | (_ & F1 & C)];
          destruct (one_round e (u + P) x) as [(_ & _ & F2 & C') | (_ & F2 & C')]; lia. }
    intros t Ht. specialize (G (t - S (T + a))%nat).
    replace (S (T + a) + (t - S (T + a)))%nat with t in G by lia. assumption.
  Qed.
End Line.

Section Runs.
  Variables (d : nat) (programs : list program) (start : list process) (m : nat).
  Hypothesis V : valid d programs start m.
  Notation after t := (run d programs t start).
  Let e := line_of d programs start m V.

  Lemma states_repeat : forall P R T, 1 <= R ->
    (forall t x, (T <= t)%nat -> passed e (t + P) x = passed e t x + R) ->
    forall t, (T + P < t)%nat -> after (t + P) = after t.
  Proof.
    intros P R T R1 Per t Ht. pose proof (admits_length _ _ _ (valid_admits _ _ _ _ V)) as Len.
    destruct t as [|t]; [lia|].
    apply (nth_ext _ _ idle idle); [rewrite !run_length by assumption; reflexivity|].
    intros i I. rewrite run_length in I by assumption.
    rewrite <- !process_at_nat by (rewrite run_length by assumption; assumption).
    set (x := Z.of_nat i).
    pose proof (fun t => unroll_queued d programs start (valid_d _ _ _ _ V) (valid_admits _ _ _ _ V)
      (valid_delay _ _ _ _ V) (m_pos _ _ _ _ V) t x) as Q.
    pose proof (fun t => unroll_resting d programs start (valid_d _ _ _ _ V) (valid_admits _ _ _ _ V)
      (valid_delay _ _ _ _ V) (m_pos _ _ _ _ V) t x) as Rs.
    fold (line_of d programs start m V) in Q, Rs. fold e in Q, Rs. unfold state in Q, Rs.
    pose proof (Q t) as Q0. pose proof (Q (t + P)%nat) as Q1. pose proof (Rs t) as R0. pose proof (Rs (t + P)%nat) as R2.
    pose proof (counts_repeat e P R T x R1 (fun t Ht => Per t x Ht) (S t) ltac:(lia)) as C.
    change (count e (S t + P) x) with (Z.of_nat (counter (process_at (after (S t + P)) x))) in C.
    change (count e (S t) x) with (Z.of_nat (counter (process_at (after (S t)) x))) in C.
    replace (S t + P)%nat with (S (t + P)) in * by lia.
    pose proof (Per t x ltac:(lia)) as A. pose proof (Per (S t) x ltac:(lia)) as B.
    pose proof (Per t (x - 1) ltac:(lia)) as D.
    replace (S t + P)%nat with (S (t + P)) in B by lia.
    destruct (process_at (after (S (t + P))) x) as [q1 r1 c1], (process_at (after (S t)) x) as [q2 r2 c2].
    cbn [queued resting counter] in *. f_equal; lia.
  Qed.

  (** How many tokens process i releases in rounds t + 1 to t + k. *)
  Fixpoint releases (i t k : nat) : nat :=
    match k with
    | O => 0
    | S k => releases i t k + queued (nth i (after (t + S k)) idle)
    end.

  Lemma releases_on_line : forall i t k, (i < length programs)%nat ->
    Z.of_nat (releases i t k) = passed e (t + k) (Z.of_nat i) - passed e t (Z.of_nat i).
  Proof.
    intros i t k I. pose proof (admits_length _ _ _ (valid_admits _ _ _ _ V)) as Len.
    induction k; cbn [releases]; [replace (t + 0)%nat with t by lia; lia|].
    rewrite <- process_at_nat by (rewrite run_length, <- Len by assumption; assumption).
    replace (t + S k)%nat with (S (t + k)) by lia.
    pose proof (unroll_queued d programs start (valid_d _ _ _ _ V) (valid_admits _ _ _ _ V)
      (valid_delay _ _ _ _ V) (m_pos _ _ _ _ V) (t + k) (Z.of_nat i)) as Q.
    change (state d programs start (S (t + k)) (Z.of_nat i)) with (process_at (after (S (t + k))) (Z.of_nat i)) in Q.
    unfold e, line_of in *. lia.
  Qed.

  (** ** With room: m releases in n rounds, and states repeat after n rounds *)
  Theorem circulation : feasible d programs m -> exists T, forall t, (T <= t)%nat ->
    after (t + length programs) = after t /\
    forall i, (i < length programs)%nat -> releases i t (length programs) = m.
  Proof.
    intro Feas. set (B := worst_legitimate_at m d (gaps programs)).
    assert (Calm : calm e B).
    { apply calm_on_line. intros t Ht R. apply (legitimate_never_rests d programs (after t) m); [|assumption].
      apply theorem3_bound; [assumption | assumption | fold B; lia]. }
    assert (Per : forall t x, (B <= t)%nat -> passed e (t + length programs) x = passed e t x + Z.of_nat m).
    { intros t x Ht. pose proof (visits_equal_on_line e B t x Calm Ht) as Vq.
      unfold e in Vq. rewrite line_n, line_m, Nat2Z.id in Vq. assumption. }
    pose proof (valid_m _ _ _ _ V).
    exists (B + length programs + 1)%nat. intros t Ht. split.
    - apply (states_repeat (length programs) (Z.of_nat m) B); [lia | assumption | lia].
    - intros i I. pose proof (releases_on_line i t (length programs) I) as Rl. rewrite Per in Rl by lia. lia.
  Qed.

  (** ** In a jam: one release in d rounds, and states repeat after d rounds *)
  Theorem jam_repeats : (length programs <= m * d)%nat -> exists T, forall t, (T <= t)%nat ->
    after (t + d) = after t /\ forall i, (i < length programs)%nat -> releases i t d = 1%nat.
  Proof.
    intro Full. destruct (jam_begins e) as (T & HT).
    assert (Per : forall t x, (T <= t)%nat -> passed e (t + d) x = passed e t x + 1).
    { intros t x Ht. specialize (HT t x Ht).
      assert (Fe : n e <= ReleaseTimes.m e * ReleaseTimes.d e).
      { unfold e. rewrite line_n, line_m. change (ReleaseTimes.d _) with (Z.of_nat d). lia. }
      pose proof (jam_period e Fe t x HT) as J. change (ReleaseTimes.d e) with (Z.of_nat d) in J.
      rewrite Nat2Z.id in J. assumption. }
    exists (T + d + 1)%nat. intros t Ht. split.
    - apply (states_repeat d 1 T); [lia | assumption | lia].
    - intros i I. pose proof (releases_on_line i t d I) as Rl. rewrite Per in Rl by lia. lia.
  Qed.
End Runs.
