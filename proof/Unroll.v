(** * Every run of a ring is an execution on the line

    [docs/research/forecast.md], "Unrolling the ring": position x stands for process
    x mod n. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring ReleaseTimes.
Import ListNotations.
Local Open Scope Z_scope.

(** The process at position x of the line. *)
Definition process_at (ps : list process) (x : Z) : process :=
  nth (Z.to_nat (x mod Z.of_nat (length ps))) ps idle.
Definition program_at (programs : list program) (x : Z) : program :=
  nth (Z.to_nat (x mod Z.of_nat (length programs))) programs Relay.
Definition delay_at (programs : list program) (x : Z) : bool :=
  match program_at programs x with Delay => true | Relay => false end.

Lemma mod_before : forall x N, 0 < N ->
  (x mod N = 0 /\ (x - 1) mod N = N - 1 /\ (x - 1) / N = x / N - 1) \/
  (0 < x mod N /\ (x - 1) mod N = x mod N - 1 /\ (x - 1) / N = x / N).
Proof.
  intros x N H. pose proof (Z.mod_pos_bound x N H). pose proof (Z.div_mod x N ltac:(lia)).
  assert (U : forall q r, 0 <= r < N -> x - 1 = N * q + r -> (x - 1) mod N = r /\ (x - 1) / N = q).
  { intros q r R E. split; symmetry; [apply (Z.mod_unique_pos _ _ q r) | apply (Z.div_unique_pos _ _ q r)]; assumption. }
  destruct (Z.eq_dec (x mod N) 0) as [E|E]; [left|right]; split; try lia.
  - apply U; lia.
  - apply U; lia.
Qed.

Lemma mod_turn : forall x N, 0 < N -> (x + N) mod N = x mod N.
Proof. intros; rewrite <- (Z_mod_plus_full x 1 N); f_equal; lia. Qed.

Lemma process_turn : forall ps x, process_at ps (x + Z.of_nat (length ps)) = process_at ps x.
Proof.
  intros [|p ps] x; unfold process_at.
  - destruct (Z.to_nat _), (Z.to_nat _); reflexivity.
  - rewrite mod_turn by (cbn; lia). reflexivity.
Qed.

Lemma process_at_in : forall ps x, ps <> [] -> In (process_at ps x) ps.
Proof.
  intros ps x H. apply nth_In.
  assert (0 < Z.of_nat (length ps)) by (destruct ps; [congruence | cbn; lia]).
  pose proof (Z.mod_pos_bound x _ H0). lia.
Qed.

Lemma in_process_at : forall ps p, In p ps -> exists x, process_at ps x = p.
Proof.
  intros ps p H. destruct (In_nth ps p idle H) as (i & I & E).
  exists (Z.of_nat i). unfold process_at. rewrite Z.mod_small by lia. rewrite Nat2Z.id. assumption.
Qed.

Lemma process_at_nat : forall ps i, (i < length ps)%nat -> process_at ps (Z.of_nat i) = nth i ps idle.
Proof. intros; unfold process_at. rewrite Z.mod_small by lia. rewrite Nat2Z.id. reflexivity. Qed.

(** Every counter is in its domain. *)
Lemma admits_at : forall d programs ps x, admits d programs ps -> ps <> [] ->
  (counter (process_at ps x) <= top d (program_at programs x))%nat.
Proof.
  intros d programs ps x A E. unfold process_at, program_at. rewrite (admits_length _ _ _ A).
  assert (N : 0 < Z.of_nat (length ps)) by (destruct ps; [congruence | cbn; lia]).
  pose proof (Z.mod_pos_bound x _ N) as B. clear E N.
  assert (I : (Z.to_nat (x mod Z.of_nat (length ps)) < length ps)%nat) by lia.
  revert I. generalize (Z.to_nat (x mod Z.of_nat (length ps))). clear B.
  unfold admits in A. induction A; intros i I; cbn [length] in I; [lia|].
  destruct i as [|i]; [assumption|]. apply IHA. lia.
Qed.

Lemma sweep_nth : forall d programs processes a i,
  length programs = length processes -> (i < length processes)%nat ->
  nth i (sweep d programs processes a) idle
  = step (nth i processes idle) (match i with O => a | S j => queued (nth j processes idle) end)
         (top d (nth i programs Relay)).
Proof.
  intros d. induction programs as [|p ps IH]; intros [|b bs] a i H I; cbn [length] in *; try lia.
  destruct i as [|i]; [reflexivity|]. cbn [sweep nth]. rewrite IH by lia.
  destruct i; reflexivity.
Qed.

(** One round, seen from position x. *)
Theorem round_at : forall d programs ps x, length programs = length ps ->
  process_at (round d programs ps) x
  = step (process_at ps x) (queued (process_at ps (x - 1))) (top d (program_at programs x)).
Proof.
  intros d programs ps x H. destruct ps as [|p ps'].
  { destruct programs; [|discriminate]. unfold process_at, program_at; cbn.
    destruct (Z.to_nat (x mod 0)), (Z.to_nat ((x - 1) mod 0)); reflexivity. }
  set (ps := p :: ps') in *.
  assert (N : 0 < Z.of_nat (length ps)) by (cbn; lia).
  unfold process_at, program_at. rewrite round_length by assumption. rewrite H.
  pose proof (Z.mod_pos_bound x _ N). unfold round. rewrite sweep_nth by (auto; lia).
  destruct (mod_before x _ N) as [(E & E' & _) | (E & E' & _)]; rewrite E'.
  - rewrite E. cbn [Z.to_nat]. f_equal. f_equal.
    replace (Z.to_nat (Z.of_nat (length ps) - 1)) with (length ps - 1)%nat by lia.
    clear. unfold ps; clear ps. revert p. induction ps' as [|b bs IH]; intro p; [reflexivity|].
    change (last (p :: b :: bs) idle) with (last (b :: bs) idle). rewrite IH.
    cbn [length]. replace (S (S (length bs)) - 1)%nat with (S (S (length bs) - 1)) by lia. reflexivity.
  - destruct (Z.to_nat (x mod Z.of_nat (length ps))) as [|i] eqn:I; [lia|].
    replace (Z.to_nat (x mod Z.of_nat (length ps) - 1)) with i by lia. reflexivity.
Qed.

Section Unroll.
  Variables (d : nat) (programs : list program) (start : list process).
  Hypothesis d_pos : (1 <= d)%nat.
  Hypothesis fits : admits d programs start.
  Hypothesis some : In Delay programs.
  Hypothesis m_pos : (1 <= total start)%nat.

  Let N := Z.of_nat (length start).
  Let M := Z.of_nat (total start).
  Definition state (t : nat) (x : Z) : process := process_at (run d programs t start) x.

  Lemma N_pos : 1 <= N.
  Proof.
    pose proof (admits_length d programs start fits). subst N.
    destruct programs; [destruct some | cbn in *; lia].
  Qed.

  Let lengths : length programs = length start := admits_length d programs start fits.

  Lemma state_round : forall t x,
    state (S t) x = step (state t x) (queued (state t (x - 1))) (top d (program_at programs x)).
  Proof. intros; apply round_at. rewrite run_length; assumption. Qed.

  Lemma state_turn : forall t x, state t (x + N) = state t x.
  Proof.
    intros t x. unfold state, N. rewrite <- (run_length d programs t start lengths). apply process_turn.
  Qed.

  (** l(x), the first token to be released at x: turns, tokens before x in this
      turn, and those that rest at x. *)
  Definition first_token (x : Z) : Z :=
    - (x / N) * M - Z.of_nat (total (firstn (Z.to_nat (x mod N)) start))
    - Z.of_nat (resting (state 0 x)).

  Lemma total_firstn : forall ps i, (i < length ps)%nat ->
    total (firstn (S i) ps) = (total (firstn i ps) + tokens (nth i ps idle))%nat.
  Proof.
    induction ps as [|p ps IH]; intros i I; cbn [length] in I; [lia|].
    destruct i as [|i]; [cbn; lia|].
    change (total (firstn (S (S i)) (p :: ps))) with (tokens p + total (firstn (S i) ps))%nat.
    change (total (firstn (S i) (p :: ps))) with (tokens p + total (firstn i ps))%nat.
    cbn [nth]. rewrite IH by lia. lia.
  Qed.

  Lemma first_token_step : forall x,
    first_token (x - 1) - first_token x
    = Z.of_nat (resting (state 0 x)) + Z.of_nat (queued (state 0 (x - 1))).
  Proof.
    intro x. pose proof N_pos as NP. unfold first_token.
    assert (T : forall y, total (firstn (S (Z.to_nat (y mod N))) start)
                = (total (firstn (Z.to_nat (y mod N)) start) + tokens (state 0 y))%nat).
    { intro y. pose proof (Z.mod_pos_bound y N ltac:(lia)). apply total_firstn. unfold N in *; lia. }
    specialize (T (x - 1)). unfold tokens in T.
    destruct (mod_before x N ltac:(lia)) as [(E & E' & D) | (E & E' & D)]; rewrite D.
    - rewrite E. rewrite E' in *.
      replace (S (Z.to_nat (N - 1))) with (length start) in T by (unfold N in *; lia).
      rewrite firstn_all in T. cbn [Z.to_nat firstn]. unfold total at 2; cbn [map list_sum fold_right].
      unfold M. lia.
    - rewrite E' in *. replace (S (Z.to_nat (x mod N - 1))) with (Z.to_nat (x mod N)) in T by lia. lia.
  Qed.

  Lemma first_token_turn : forall x, first_token (x + N) = first_token x - M.
  Proof.
    intro x. unfold first_token. pose proof N_pos. rewrite state_turn, mod_turn by lia.
    replace ((x + N) / N) with (x / N + 1); [lia|].
    rewrite <- (Z_div_plus_full x 1 N) by lia. f_equal; lia.
  Qed.

  (** The first token not yet released from x. *)
  Fixpoint line (t : nat) (x : Z) : Z :=
    match t with
    | O => first_token x
    | S t => line t x + Z.of_nat (queued (state (S t) x))
    end.

  (** What is held at x is what has passed x - 1 but not x. *)
  Lemma line_held : forall t x, line t (x - 1) - line t x
    = Z.of_nat (resting (state t x)) + Z.of_nat (queued (state t (x - 1))).
  Proof.
    induction t; intro x; cbn [line]; [apply first_token_step|].
    specialize (IHt x). assert (H : tokens (state (S t) x) = (resting (state t x) + queued (state t (x - 1)))%nat)
      by (rewrite state_round; apply step_tokens).
    unfold tokens in H. lia.
  Qed.

  Let line_leaves t x :=
    (Z.of_nat (counter (state t x)) =? 0) && (line t x <? line t (x - 1)).

  Lemma line_leaves_step : forall t x, line_leaves t x =
    (0 <? resting (state t x) + queued (state t (x - 1)))%nat && (counter (state t x) =? 0)%nat.
  Proof.
    intros t x. unfold line_leaves. pose proof (line_held t x) as H.
    rewrite andb_comm. f_equal; apply eq_true_iff_eq.
    - rewrite Z.ltb_lt, Nat.ltb_lt. lia.
    - rewrite Z.eqb_eq, Nat.eqb_eq. lia.
  Qed.

  Lemma line_round : forall t x, line (S t) x = if line_leaves t x then line t x + 1 else line t x.
  Proof.
    intros t x. cbn [line]. rewrite line_leaves_step, state_round.
    unfold step; cbn [queued]. destruct (_ && _); lia.
  Qed.

  Lemma line_counter : forall t x, Z.of_nat (counter (state (S t) x))
    = if line_leaves t x then (if delay_at programs x then Z.of_nat d else 1) - 1
      else Z.max 0 (Z.of_nat (counter (state t x)) - 1).
  Proof.
    intros t x. rewrite line_leaves_step, state_round. unfold step; cbn [counter].
    destruct (_ && _); [|lia]. unfold delay_at, top. destruct (program_at programs x); lia.
  Qed.

  Lemma line_turn : forall x, line 0 (x + N) = line 0 x - M.
  Proof. apply first_token_turn. Qed.

  Lemma start_in_domain : forall x,
    0 <= Z.of_nat (counter (state 0 x)) <= (if delay_at programs x then Z.of_nat d else 1) - 1.
  Proof.
    intro x. pose proof N_pos as NP. pose proof (Z.mod_pos_bound x N ltac:(lia)).
    assert (counter (state 0 x) <= top d (program_at programs x))%nat.
    { apply admits_at; [assumption|]. intro E. cbn [run] in E. unfold N in NP. rewrite E in NP. cbn in NP. lia. }
    unfold delay_at, top in *. destruct (program_at programs x); lia.
  Qed.

  Lemma delay_at_turn : forall x, delay_at programs (x + N) = delay_at programs x.
  Proof.
    intro x. pose proof N_pos. unfold delay_at, program_at. rewrite lengths. fold N.
    rewrite mod_turn by lia. reflexivity.
  Qed.

  Lemma delay_at_some : exists x, delay_at programs x = true.
  Proof.
    destruct (In_nth programs Delay Relay some) as (i & I & E). exists (Z.of_nat i).
    unfold delay_at, program_at. rewrite Z.mod_small by lia. rewrite Nat2Z.id, E. reflexivity.
  Qed.

  (** The run as an execution. *)
  Definition unroll : execution.
  Proof.
    refine {|
      ReleaseTimes.n := N; ReleaseTimes.m := M; ReleaseTimes.d := Z.of_nat d;
      ReleaseTimes.delay := delay_at programs;
      passed := line; count := fun t x => Z.of_nat (counter (state t x));
      one_round_passed := line_round; one_round_count := line_counter;
      n_positive := N_pos; start_count := start_in_domain; start_turn := line_turn;
      delay_turn := delay_at_turn; some_delay := delay_at_some |}.
    - unfold M; lia.
    - lia.
    - intro x. pose proof (line_held 0 x). lia.
    - intro x. rewrite state_turn. reflexivity.
  Defined.

  (** What the execution says of the states. *)
  Lemma unroll_queued : forall t x,
    Z.of_nat (queued (state (S t) x)) = passed unroll (S t) x - passed unroll t x.
  Proof. intros; cbn [unroll passed line]. lia. Qed.

  Lemma unroll_resting : forall t x,
    Z.of_nat (resting (state (S t) x)) = passed unroll t (x - 1) - passed unroll (S t) x.
  Proof.
    intros t x. pose proof (line_held (S t) x) as H. cbn [line] in H.
    change (passed unroll (S t) x) with (line t x + Z.of_nat (queued (state (S t) x))).
    change (passed unroll t (x - 1)) with (line t (x - 1)). lia.
  Qed.

  Lemma unroll_held : forall x, passed unroll 0 (x - 1) - passed unroll 0 x
    = Z.of_nat (resting (state 0 x)) + Z.of_nat (queued (state 0 (x - 1))).
  Proof. intro x. apply (line_held 0 x). Qed.
End Unroll.
