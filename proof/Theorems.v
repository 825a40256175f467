(** * The theorems about rings

    Everything here is about lists of processes and [round]; the arguments are in
    the files about the unrolled ring. The names are those of [docs/research/proof.md]. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes WorstCase Lateness Unroll Closure Bound.
Import ListNotations.

(** What is assumed of a ring and its initial state: separation at least 1, at least
    one delay, all variables in their domains, and m ≥ 1 tokens. *)
Record valid (d : nat) (programs : list program) (start : list process) (m : nat) : Prop := {
  valid_d : 1 <= d;
  valid_delay : In Delay programs;
  valid_admits : admits d programs start;
  valid_total : total start = m;
  valid_m : 1 <= m
}.

(** There is room: m·d ≤ n. *)
Definition feasible (d : nat) (programs : list program) (m : nat) : Prop := m * d <= length programs.

Section Runs.
  Variables (d : nat) (programs : list program) (start : list process) (m : nat).
  Hypothesis V : valid d programs start m.
  Notation after t := (run d programs t start).
  Local Open Scope Z_scope.

  Let d_pos := valid_d _ _ _ _ V.
  Let fits := valid_admits _ _ _ _ V.
  Let some := valid_delay _ _ _ _ V.
  Lemma m_pos : (1 <= total start)%nat.
  Proof. rewrite (valid_total _ _ _ _ V). apply (valid_m _ _ _ _ V). Qed.
  Definition line_of : execution := unroll d programs start d_pos fits some m_pos.

  Lemma line_n : n line_of = Z.of_nat (length programs).
  Proof. rewrite (admits_length _ _ _ fits). reflexivity. Qed.
  Lemma line_m : ReleaseTimes.m line_of = Z.of_nat m.
  Proof. rewrite <- (valid_total _ _ _ _ V). reflexivity. Qed.

  Lemma rests_on_line : forall t, rests (after (S t)) <-> exists x, rests_at line_of t x.
  Proof.
    intro t. split.
    - intros (p & I & R). destruct (in_process_at _ _ I) as (x & E). exists x.
      unfold rests_at. pose proof (unroll_resting d programs start d_pos fits some m_pos t x) as U.
      unfold state in U. rewrite E in U. unfold line_of. lia.
    - intros (x & R). exists (process_at (after (S t)) x). split.
      + apply process_at_in. apply (nonempty_of_delay d programs); [apply admits_run, fits | apply some].
      + unfold rests_at in R. pose proof (unroll_resting d programs start d_pos fits some m_pos t x) as U.
        unfold state in U. unfold line_of in R. lia.
  Qed.

  Lemma calm_on_line : forall T, (forall t, (T < t)%nat -> ~ rests (after t)) -> calm line_of T.
  Proof.
    intros T H t x Ht. apply not_resting. intro R. apply (H (S t)); [lia|].
    apply rests_on_line. exists x; assumption.
  Qed.

  Lemma lifted_on_line : forall t, legitimate_after line_of t <-> lifted d programs (after (S t)).
  Proof.
    intro t. unfold legitimate_after, lifted.
    assert (Q : forall x, Lateness.q line_of t x = Z.of_nat (queued (process_at (after (S t)) x))).
    { intro x. unfold Lateness.q, line_of. rewrite <- unroll_queued. reflexivity. }
    assert (R : forall x, Lateness.r line_of t x = Z.of_nat (resting (process_at (after (S t)) x))).
    { intro x. unfold Lateness.r, line_of. rewrite <- unroll_resting. reflexivity. }
    split; apply lifted_ext; intro x; cbv beta; auto.
  Qed.

  Lemma legitimate_on_line : forall t,
    legitimate d programs (after (S t)) m = true <-> legitimate_after line_of t.
  Proof.
    intro t. rewrite lifted_on_line, legitimate_lifted.
    - rewrite tokens_conserved_for_ever by (apply (admits_length _ _ _ fits)).
      rewrite (valid_total _ _ _ _ V). tauto.
    - apply d_pos.
    - apply admits_run, fits.
    - apply (nonempty_of_delay d programs); [apply admits_run, fits | apply some].
    - apply (valid_m _ _ _ _ V).
  Qed.

  Lemma n_pos : (0 < length programs)%nat.
  Proof. pose proof some. destruct programs; [contradiction | cbn; lia]. Qed.

  (** Every delay of the line has a gap before it that [gaps] lists. *)
  Lemma gap_on_line : forall x, ReleaseTimes.delay line_of x = true -> exists g,
    1 <= Z.of_nat g <= Z.of_nat (length programs) /\
    ReleaseTimes.delay line_of (x - Z.of_nat g) = true /\
    (forall z, x - Z.of_nat g < z < x -> ReleaseTimes.delay line_of z = false) /\
    In g (gaps programs).
  Proof.
    intros x D. exists (gap programs (Z.to_nat (x mod Z.of_nat (length programs)))).
    apply gap_before; [apply n_pos | assumption].
  Qed.

  Lemma reach_on_line : forall g, WorstCase.reach line_of (Z.of_nat g) = Z.of_nat (reach m d g).
  Proof.
    intro g. unfold WorstCase.reach, reach. rewrite line_m. change (ReleaseTimes.d line_of) with (Z.of_nat d).
    destruct (d =? 1)%nat eqn:D, (m =? 1)%nat eqn:M;
      rewrite ?Nat.eqb_eq, ?Nat.eqb_neq in *;
      destruct (Z.of_nat d =? 1) eqn:D', (Z.of_nat m =? 1) eqn:M'; cbn; lia.
  Qed.

  (** ** Theorem 1, upper bound *)
  Theorem theorem1_bound : feasible d programs m ->
    forall t, rests (after t) -> (t <= worst_last_rest m d (widest_gap programs))%nat.
  Proof.
    intros Feas t R. destruct t as [|t]; [lia|]. apply rests_on_line in R. destruct R as (x & R).
    assert (Fe : ReleaseTimes.m line_of * ReleaseTimes.d line_of <= n line_of).
    { rewrite line_m, line_n. change (ReleaseTimes.d line_of) with (Z.of_nat d). unfold feasible in Feas. lia. }
    pose proof (no_rest_later line_of Fe (Z.of_nat (widest_gap programs))) as Th.
    rewrite reach_on_line, line_m in Th. change (ReleaseTimes.d line_of) with (Z.of_nat d) in Th.
    specialize (Th ltac:(intros y D; destruct (gap_on_line y D) as (g & G & P & _ & I);
      exists (Z.of_nat g); pose proof (list_max_above _ _ I); unfold widest_gap; split; [lia | assumption]) t x R).
    unfold worst_last_rest. pose proof d_pos. pose proof (valid_m _ _ _ _ V).
    replace (Z.of_nat m - 1) with (Z.of_nat (m - 1)) in Th by lia. nia.
  Qed.

  (** ** Theorem 2: how much later the full predicate is met

      T is a round after which no token rests any more. *)
  Theorem theorem2 : forall T, (1 <= T)%nat -> (forall t, (T < t)%nat -> ~ rests (after t)) ->
    forall t, (T + 1 + (d - 3) <= t)%nat -> legitimate d programs (after t) m = true.
  Proof.
    intros T T1 Calm t Ht. destruct t as [|t]; [lia|]. apply legitimate_on_line.
    pose proof d_pos.
    apply (legitimate_soon_on_line line_of T); [apply calm_on_line, Calm|lia| |];
      change (ReleaseTimes.d line_of) with (Z.of_nat d); lia.
  Qed.

  (** Tokens rest in the initial state only, or never. *)
  Theorem theorem2_start : (forall t, (0 < t)%nat -> ~ rests (after t)) ->
    forall t, (1 <= t)%nat -> (d - 1 <= t)%nat -> legitimate d programs (after t) m = true.
  Proof.
    intros Calm t T1 Ht. destruct t as [|t]; [lia|]. apply legitimate_on_line.
    pose proof d_pos.
    apply (legitimate_soon_on_line line_of 0); [apply calm_on_line, Calm|lia| |left; reflexivity].
    change (ReleaseTimes.d line_of) with (Z.of_nat d); lia.
  Qed.

  (** ** Theorem 3, upper bound: the slowest of all *)
  Theorem theorem3_bound : feasible d programs m ->
    forall t, (worst_legitimate_at m d (gaps programs) <= t)%nat -> legitimate d programs (after t) m = true.
  Proof.
    intros Feas t Ht. pose proof d_pos. pose proof (valid_m _ _ _ _ V).
    assert (Slow : forall g, In g (gaps programs) ->
      ((m - 1) * d + reach m d g + Nat.max 1 (d - 1 - g) - 1 <= worst_legitimate_at m d (gaps programs))%nat).
    { intros g I. unfold worst_legitimate_at.
      pose proof (list_max_above _ _ (in_map (fun g => reach m d g + Nat.max 1 (d - 1 - g))%nat _ _ I)).
      cbv beta in *. lia. }
    assert (R : forall g, (d <= reach m d g)%nat) by (intro g; unfold reach; destruct (_ || _); lia).
    destruct t as [|t].
    { destruct (gaps programs) as [|g gs] eqn:E; [exfalso; apply (gaps_nonempty programs some E)|].
      specialize (Slow g (or_introl eq_refl)). specialize (R g). nia. }
    apply legitimate_on_line.
    apply (legitimate_at_last_on_line line_of) with (B := Z.of_nat (worst_legitimate_at m d (gaps programs))).
    - rewrite line_m, line_n. change (ReleaseTimes.d line_of) with (Z.of_nat d). unfold feasible in Feas. lia.
    - intros x D. destruct (gap_on_line x D) as (g & G & P & B & I). exists (Z.of_nat g).
      split; [lia|]. split; [assumption|]. split; [assumption|].
      rewrite reach_on_line, line_m. change (ReleaseTimes.d line_of) with (Z.of_nat d).
      specialize (Slow g I). specialize (R g).
      replace (Z.of_nat m - 1) with (Z.of_nat (m - 1)) by lia. nia.
    - lia.
  Qed.

  (** ** Convergence (the paper's theorem), with a bound *)
  Corollary convergence : feasible d programs m ->
    exists T, forall t, (T <= t)%nat -> legitimate d programs (after t) m = true.
  Proof. intro Feas. exists (worst_legitimate_at m d (gaps programs)). apply theorem3_bound, Feas. Qed.

  (** ** The jam: if m·d > n, some token rests after one of any 2n successive rounds *)
  Definition rests_now (ps : list process) : bool := existsb (fun p => 0 <? resting p)%nat ps.

  Lemma rests_now_iff : forall ps, rests_now ps = true <-> rests ps.
  Proof.
    intro ps. unfold rests_now, rests. rewrite existsb_exists.
    split; intros (p & I & H); exists p; (split; [assumption|]); apply Nat.ltb_lt; assumption.
  Qed.

  Theorem jam : (length programs < m * d)%nat ->
    forall T, exists t, (T < t <= T + 2 * length programs)%nat /\ rests (after t).
  Proof.
    intros Full T.
    destruct (existsb (fun t => rests_now (after t)) (seq (S T) (2 * length programs))) eqn:E.
    - apply existsb_exists in E. destruct E as (t & I & R). apply in_seq in I.
      exists t; split; [lia|]. apply rests_now_iff, R.
    - exfalso.
      assert (Fe : ReleaseTimes.m line_of * ReleaseTimes.d line_of <= n line_of).
      { apply no_jam_on_line with (T := T). intros t x Ht. apply not_resting. intro R.
        rewrite line_n, Nat2Z.id in Ht.
        assert (A : existsb (fun t => rests_now (after t)) (seq (S T) (2 * length programs)) = true);
          [|congruence].
        apply existsb_exists. exists (S t). split; [apply in_seq; lia|].
        apply rests_now_iff, rests_on_line. exists x; assumption. }
      rewrite line_m, line_n in Fe. change (ReleaseTimes.d line_of) with (Z.of_nat d) in Fe. lia.
  Qed.

  (** ** Visits are equal (D4) *)

  (** In how many of the rounds t + 1 to t + k a token is at process i. *)
  Fixpoint visits (i t k : nat) : nat :=
    match k with
    | O => 0
    | S k => visits i t k + tokens (nth i (after (t + S k)) idle)
    end.

  Theorem visits_equal : forall T, (forall t, (T < t)%nat -> ~ rests (after t)) ->
    forall t i, (T <= t)%nat -> (i < length programs)%nat -> visits i t (length programs) = m.
  Proof.
    intros T Calm t i Ht I.
    pose proof (admits_length _ _ _ fits) as Len.
    assert (Count : forall k, Z.of_nat (visits i t k) = passed line_of (t + k) (Z.of_nat i) - passed line_of t (Z.of_nat i)).
    { induction k; cbn [visits]; [replace (t + 0)%nat with t by lia; lia|].
      rewrite <- process_at_nat by (rewrite run_length, <- Len by assumption; assumption).
      replace (t + S k)%nat with (S (t + k)) by lia.
      pose proof (unroll_queued d programs start d_pos fits some m_pos (t + k) (Z.of_nat i)) as Q.
      change (state d programs start (S (t + k)) (Z.of_nat i)) with (process_at (after (S (t + k))) (Z.of_nat i)) in Q.
      assert (R : resting (process_at (after (S (t + k))) (Z.of_nat i)) = 0%nat).
      { destruct (resting (process_at (after (S (t + k))) (Z.of_nat i))) eqn:E; [reflexivity|exfalso].
        apply (Calm (S (t + k)) ltac:(lia)). exists (process_at (after (S (t + k))) (Z.of_nat i)).
        split; [|lia]. apply process_at_in.
        apply (nonempty_of_delay d programs); [apply admits_run, fits | apply some]. }
      unfold tokens. rewrite R. unfold line_of in *. lia. }
    pose proof (visits_equal_on_line line_of T t (Z.of_nat i) (calm_on_line T Calm) Ht) as Vq.
    rewrite line_n, line_m, Nat2Z.id in Vq. specialize (Count (length programs)). lia.
  Qed.
End Runs.
