(** * The paper's theorem, whole

    Section 2 of the paper asks five things of a protocol, D1 to D5, in words. Here is
    each as a statement about an execution, and then the theorem at the end of section 5:
    delay/relay has them all. The proof puts together what the other files prove. *)

From Coq Require Import List Arith ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes Lateness Unroll Closure Bound Theorems.
Import ListNotations.

(** An execution: the state of all processes after each round, [e 0] at first. *)
Definition behavior := nat -> list process.
Definition execution d programs (start : list process) : behavior :=
  fun t => run d programs t start.
Definition from_round (T : nat) (e : behavior) : behavior := fun t => e (T + t).

(** A state that the ring may be in, or be put in by a transient failure: every variable
    within its domain, and m tokens, which no failure makes or destroys (section 5.2). *)
Definition possible d programs m (state : list process) : Prop :=
  admits d programs state /\ total state = m.

Section Desiderata.
  Variables (n m d : nat) (e : behavior).
  (** Process i in the state after round t. *)
  Notation process_after t i := (nth i (e t) idle).
  Notation has_token t i := (1 <= tokens (process_after t i)).

  (** D1. At any time, m tokens are present. *)
  Definition D1 : Prop := forall t, total (e t) = m.

  (** D2. The distance between any two tokens is at least d: no two are at one process,
      and from one process with a token to another it is d hops clockwise or more (as the
      two may change places, counterclockwise too). *)
  Definition clockwise (i j : nat) : nat := (j + n - i) mod n.
  Definition D2 : Prop := forall t,
    (forall i, i < n -> tokens (process_after t i) <= 1) /\
    (forall i j, i < n -> j < n -> i <> j -> has_token t i -> has_token t j -> d <= clockwise i j).

  (** D3. Every token moves in every round: none rests, and what is queued at a process
      is at its successor one round later. *)
  Definition D3 : Prop := forall t i, i < n ->
    resting (process_after t i) = 0 /\
    tokens (process_after (S t) ((i + 1) mod n)) = queued (process_after t i).

  (** In how many of the rounds t + 1 to t + k a token is at process i. *)
  Fixpoint visits_in (i t k : nat) : nat :=
    match k with
    | O => 0
    | S k => visits_in i t k + tokens (process_after (t + S k) i)
    end.

  (** D4. Every process has a token equally often: exactly m times in any n successive
      rounds, so that in any k of them it differs from k·m/n by less than m. *)
  Definition D4 : Prop := forall t i, i < n ->
    visits_in i t n = m /\
    forall k, k * m < n * (visits_in i t k + m) /\ n * visits_in i t k < (k + n) * m.

  Record D1_to_D4 : Prop := { d1 : D1; d2 : D2; d3 : D3; d4 : D4 }.
End Desiderata.

(** D5. After a failure that corrupts any variables of any processes, D1 to D4 hold again,
    after [rounds] rounds at most, and from then on. *)
Definition D5 d programs m rounds : Prop := forall corrupted, possible d programs m corrupted ->
  exists T, T <= rounds /\
    D1_to_D4 (length programs) m d (from_round T (execution d programs corrupted)).

(** ** D1 to D4 hold from a legitimate state on *)

Lemma visits_add : forall e i t j k,
  visits_in e i t (j + k) = visits_in e i t j + visits_in e i (t + j) k.
Proof.
  induction k; cbn [visits_in]; [rewrite Nat.add_0_r; lia|].
  rewrite Nat.add_succ_r. cbn [visits_in]. rewrite IHk.
  replace (t + S (j + k)) with (t + j + S k) by lia. lia.
Qed.

(** Who is visited m times in any n rounds is visited about k·m/n times in any k. *)
Lemma visits_about : forall n m e i, 1 <= m -> (forall t, visits_in e i t n = m) ->
  forall t k, k * m < n * (visits_in e i t k + m) /\ n * visits_in e i t k < (k + n) * m.
Proof.
  intros n m e i M Turn t k.
  assert (N : 0 < n) by (destruct n; [specialize (Turn 0); cbn in Turn; lia | lia]).
  assert (Turns : forall q t, visits_in e i t (q * n) = q * m).
  { induction q; intro t'; [reflexivity|]. cbn [Nat.mul]. rewrite visits_add, Turn, IHq. reflexivity. }
  pose proof (Nat.div_mod k n ltac:(lia)) as K. pose proof (Nat.mod_upper_bound k n ltac:(lia)) as Rest.
  set (q := k / n) in *. set (r := k mod n) in *.
  assert (V : visits_in e i t k = q * m + visits_in e i (t + q * n) r).
  { replace k with (q * n + r) by lia. rewrite visits_add, Turns. reflexivity. }
  assert (Part : visits_in e i (t + q * n) r <= m).
  { pose proof (Turn (t + q * n)) as Whole. pose proof (visits_add e i (t + q * n) r (n - r)) as Sum.
    replace (r + (n - r)) with n in Sum by lia. lia. }
  assert (None : r = 0 -> visits_in e i (t + q * n) r = 0) by (intros ->; reflexivity).
  rewrite V. set (v := visits_in e i (t + q * n) r) in *. clearbody v q r. subst k. split; [nia|].
  destruct r; [rewrite None by reflexivity; nia | nia].
Qed.

Section Legitimate.
  Variables (d : nat) (programs : list program) (m : nat) (state : list process).
  Hypothesis d_pos : 1 <= d.
  Hypothesis m_pos : 1 <= m.
  Hypothesis delay : In Delay programs.
  Hypothesis fits : possible d programs m state.
  Hypothesis good : legitimate d programs state m = true.
  Let n := length programs.
  Notation e := (execution d programs state).

  Lemma n_positive : 0 < n.
  Proof. unfold n. destruct programs; [destruct delay | cbn; lia]. Qed.

  Lemma length_after : forall t, length (e t) = n.
  Proof.
    intro t. unfold execution. pose proof (admits_length _ _ _ (proj1 fits)).
    rewrite run_length by assumption. symmetry. assumption.
  Qed.

  Lemma legitimate_after_all : forall t, legitimate d programs (e t) m = true.
  Proof. intro t. apply (closure_for_ever d programs state m 0 t); try assumption; [apply fits | lia]. Qed.

  Lemma lifted_after : forall t, lifted d programs (e t).
  Proof.
    intro t. apply (legitimate_lifted d programs (e t) d_pos) with (m := m); try assumption.
    - apply admits_run, fits.
    - apply (nonempty_of_delay d programs); [apply admits_run, fits | assumption].
    - apply legitimate_after_all.
  Qed.

  (** All tokens are queued, one to a process. *)
  Lemma queued_only : forall t i, i < n ->
    resting (nth i (e t) idle) = 0 /\ queued (nth i (e t) idle) <= 1.
  Proof.
    intros t i I. pose proof (lifted_after t) as [R Q _ _ _ _]. cbv beta in R, Q.
    specialize (R (Z.of_nat i)). specialize (Q (Z.of_nat i)).
    rewrite process_at_nat in R, Q by (rewrite length_after; assumption). lia.
  Qed.

  Lemma tokens_queued : forall t i, i < n -> tokens (nth i (e t) idle) = queued (nth i (e t) idle).
  Proof. intros t i I. unfold tokens. destruct (queued_only t i I). lia. Qed.

  Lemma D1_from_legitimate : D1 m e.
  Proof.
    intro t. unfold execution. rewrite tokens_conserved_for_ever; [apply fits|].
    apply (admits_length d), fits.
  Qed.

  Lemma D2_from_legitimate : D2 n d e.
  Proof.
    intro t. split.
    - intros i I. rewrite tokens_queued by assumption. apply queued_only, I.
    - intros i j I J Other Hi Hj. rewrite tokens_queued in Hi, Hj by assumption.
      pose proof (queued_only t i I). pose proof (queued_only t j J). pose proof n_positive.
      assert (Far : 0 < clockwise n i j /\
                Z.to_nat ((Z.of_nat i + Z.of_nat (clockwise n i j)) mod Z.of_nat n) = j).
      { rewrite <- Nat2Z.inj_add, <- Nat2Z.inj_mod, Nat2Z.id. unfold clockwise.
        destruct (Nat.lt_trichotomy i j) as [L|[L|L]]; [|lia|].
        - replace (j + n - i) with (j - i + 1 * n) by lia. rewrite Nat.mod_add, (Nat.mod_small (j - i)) by lia.
          rewrite Nat.mod_small by lia. lia.
        - rewrite (Nat.mod_small (j + n - i)) by lia. replace (i + (j + n - i)) with (j + 1 * n) by lia.
          rewrite Nat.mod_add, Nat.mod_small by lia. lia. }
      destruct Far as [Pos There].
      pose proof (leg1 _ _ _ _ _ (lifted_after t) (Z.of_nat i) (Z.of_nat i + Z.of_nat (clockwise n i j))) as Apart.
      cbv beta in Apart. rewrite process_at_nat in Apart by (rewrite length_after; assumption).
      unfold process_at in Apart. rewrite length_after, There in Apart. lia.
  Qed.

  Lemma D3_from_legitimate : D3 n e.
  Proof.
    intros t i I. split; [apply queued_only, I|]. pose proof n_positive.
    assert (Next : (i + 1) mod n < n) by (apply Nat.mod_upper_bound; lia).
    rewrite tokens_queued by assumption.
    pose proof (every_token_moves d programs (e t) m (Z.of_nat (i + 1)) d_pos m_pos
      ltac:(apply admits_run, fits) (legitimate_after_all t)) as Moves.
    change (round d programs (e t)) with (e (S t)) in Moves.
    replace (Z.of_nat (i + 1) - 1)%Z with (Z.of_nat i) in Moves by lia.
    rewrite (process_at_nat (e t)) in Moves by (rewrite length_after; assumption).
    unfold process_at in Moves. rewrite length_after, <- Nat2Z.inj_mod, Nat2Z.id in Moves. assumption.
  Qed.

  Lemma visits_same : forall i t k, visits_in e i t k = visits d programs state i t k.
  Proof. induction k; [reflexivity|]. cbn [visits_in visits]. rewrite IHk. reflexivity. Qed.

  Lemma D4_from_legitimate : D4 n m e.
  Proof.
    intros t i I.
    assert (V : valid d programs state m) by (destruct fits; constructor; assumption).
    assert (Turn : forall t, visits_in e i t n = m).
    { intro u. rewrite visits_same. apply (visits_equal d programs state m V 0); try assumption; [|lia].
      intros s _. apply (legitimate_never_rests d programs _ m), (legitimate_after_all s). }
    split; [apply Turn|]. intro k. apply visits_about; assumption.
  Qed.

  Lemma D1_to_D4_from_legitimate : D1_to_D4 n m d e.
  Proof.
    constructor; [apply D1_from_legitimate | apply D2_from_legitimate | apply D3_from_legitimate |
      apply D4_from_legitimate].
  Qed.
End Legitimate.

Lemma run_add : forall d programs T t start,
  run d programs t (run d programs T start) = run d programs (T + t) start.
Proof.
  induction t; intro start; [rewrite Nat.add_0_r; reflexivity|].
  rewrite Nat.add_succ_r. cbn [run]. rewrite IHt. reflexivity.
Qed.

Lemma visits_ext : forall (e f : behavior) i, (forall t, e t = f t) ->
  forall t k, visits_in e i t k = visits_in f i t k.
Proof. intros e f i E t k. induction k; cbn [visits_in]; [|rewrite IHk, E]; reflexivity. Qed.

Lemma D1_to_D4_ext : forall n m d (e f : behavior), (forall t, e t = f t) ->
  D1_to_D4 n m d e -> D1_to_D4 n m d f.
Proof.
  intros n m d e f E [A B C D]. constructor.
  - intro t. rewrite <- E. apply A.
  - intro t. rewrite <- E. apply B.
  - intros t i. rewrite <- !E. apply C.
  - intros t i I. destruct (D t i I) as [Turn About].
    split; [|intro k; specialize (About k)]; rewrite <- (visits_ext e f) by assumption; assumption.
Qed.

(** ** The theorem

    The paper asks for n > 1 and m > 1; n ≥ 1 and m ≥ 1 are enough. *)
Theorem separation_of_circulating_tokens : forall C programs m,
  let d := C + 1 in
  In Delay programs -> 1 <= m -> m * d <= length programs ->
  (* Closure: a round leads from legitimate states to legitimate ones. *)
  (forall state, possible d programs m state -> legitimate d programs state m = true ->
    legitimate d programs (round d programs state) m = true) /\
  (* In them all is as desired. *)
  (forall state, possible d programs m state -> legitimate d programs state m = true ->
    D1_to_D4 (length programs) m d (execution d programs state)) /\
  (* Convergence: from any state the ring is legitimate in time. *)
  (forall state, possible d programs m state ->
    legitimate d programs (execution d programs state (worst_legitimate_at m d (gaps programs))) m = true) /\
  (* So no failure lasts. *)
  D5 d programs m (worst_legitimate_at m d (gaps programs)).
Proof.
  intros C programs m d Delays M Room. assert (D : 1 <= d) by (unfold d; lia).
  assert (Converge : forall state, possible d programs m state ->
    legitimate d programs (execution d programs state (worst_legitimate_at m d (gaps programs))) m = true).
  { intros state [A Tot]. apply (theorem3_bound d programs state m); [constructor; assumption | assumption | lia]. }
  split; [|split; [|split; [assumption|]]].
  - intros state P L. apply closure; try assumption. apply P.
  - intros state P L. apply D1_to_D4_from_legitimate; assumption.
  - intros state P. exists (worst_legitimate_at m d (gaps programs)). split; [lia|].
    set (W := worst_legitimate_at m d (gaps programs)) in *.
    apply (D1_to_D4_ext _ _ _ (execution d programs (run d programs W state))).
    + intro t. apply run_add.
    + apply D1_to_D4_from_legitimate; try assumption; [|apply Converge, P].
      destruct P as [A Tot]. split; [apply admits_run, A|].
      rewrite tokens_conserved_for_ever; [assumption | apply (admits_length d), A].
Qed.

(** Without room it is impossible: no state leads to D1 to D4. *)
Theorem room_is_needed : forall d programs m start T,
  1 <= d -> In Delay programs -> 1 <= m -> possible d programs m start ->
  D1_to_D4 (length programs) m d (from_round T (execution d programs start)) ->
  m * d <= length programs.
Proof.
  intros d programs m start T D Delays M [A Tot] All.
  destruct (Nat.le_gt_cases (m * d) (length programs)) as [|Full]; [assumption|exfalso].
  assert (V : valid d programs start m) by (constructor; assumption).
  destruct (jam d programs start m V Full T) as (t & Later & p & I & Rests).
  destruct (In_nth _ _ idle I) as (i & Bound & At).
  rewrite run_length in Bound by (apply (admits_length d), A).
  rewrite <- (admits_length _ _ _ A) in Bound.
  pose proof (proj1 (d3 _ _ _ _ All (t - T) i Bound)) as Still.
  unfold from_round, execution in Still. replace (T + (t - T)) with t in Still by lia.
  rewrite At in Still. lia.
Qed.
