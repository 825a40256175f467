(** * Separation without lock-step: the moving block is safe

    Every process tells its predecessor how far ahead the next token is, at most d:
    0 if it holds one, else what its successor told it plus 1. A token moves on only
    if the next one is then at least d ahead. No clock, no rounds: any set of
    processes may act at once.

    As elsewhere the ring is unrolled: tokens are numbered along the line, token
    k + 1 is the next one ahead of token k, and an action of a process is one of all
    its copies. The theorems hold for any line of tokens, so in particular for one
    that repeats every turn.

    - [shared_memory_safe]: processes read each other's news;
    - [some_token_may_move]: with n > m·d, fresh news lets some token move.

    Safety by messages is [Stations.moving_block_safe]: one process in every station.

    Steps are relations, which cannot be run; [MovingRing.v] has the moving block by messages
    as functions, which the Rust code is compared with. The last theorem is about one state, and says neither that the news becomes
    fresh nor that the token moves: that all tokens go on for ever is proved on paper
    only, in [docs/research/moving-block.md], theorem 2. *)

From Coq Require Import ZArith Lia.
Local Open Scope Z_scope.

Module SharedMemory.
  Section Model.
  (** The separation to keep. *)
  Variable d : Z.

  Record state := {
    place : Z -> Z;  (** where token k is *)
    news : Z -> Z    (** what x tells: no token is nearer than this, from x on *)
  }.

  (** Token k may move: it is the first of those at its process, and the successor
      says that the next one is at least d ahead of it. *)
  Definition may_move (a : state) (k : Z) : Prop :=
    place a k < place a (k + 1) /\ d <= news a (place a k + 1).

  (** Any tokens that may move do so; a process that a token enters tells 0; others
      tell what they told before, or look again. *)
  Record step (a b : state) : Prop := {
    step_place : forall k, place b k = place a k \/ (may_move a k /\ place b k = place a k + 1);
    step_enter : forall k, place b k <> place a k -> news b (place b k) <= 0;
    step_news : forall x, news b x <= news a x \/
      ((exists k, place b k <> place a k /\ place b k = x) /\ news b x <= 0) \/
      ((forall k, place a k = x -> news b x <= 0) /\ news b x <= news a (x + 1) + 1)
  }.

  (** Old news errs on the safe side. *)
  Definition truthful (a : state) : Prop :=
    forall x k, x <= place a k -> news a x <= place a k - x.

  Lemma truthful_step : forall a b, truthful a -> step a b -> truthful b.
  Proof.
    intros a b T S x k X.
    destruct (Z.eq_dec (place b k) x) as [E|E].
    - (* the token is at x *)
      destruct (Z.eq_dec (place b k) (place a k)) as [Stay|Moved].
      + destruct (step_news a b S x) as [Old | [(_ & Zero) | (Here & _)]].
        * specialize (T x k). lia.
        * lia.
        * specialize (Here k). lia.
      + pose proof (step_enter a b S k Moved) as En. rewrite E in En. lia.
    - assert (place a k <= place b k <= place a k + 1) by (destruct (step_place a b S k); lia).
      assert (x <= place a k) by lia.
      destruct (step_news a b S x) as [Old | [(_ & Zero) | (Here & On)]].
      + specialize (T x k). lia.
      + lia.
      + destruct (Z.eq_dec (place a k) x) as [At|At].
        * specialize (Here k At). lia.
        * specialize (T (x + 1) k). lia.
  Qed.

  (** A distance below d only grows, and one of at least d stays so. *)
  Theorem distance_step : forall a b k, truthful a -> step a b ->
    d <= place b (k + 1) - place b k \/
    place a (k + 1) - place a k <= place b (k + 1) - place b k.
  Proof.
    intros a b k T S.
    assert (place a (k + 1) <= place b (k + 1)) by (destruct (step_place a b S (k + 1)); lia).
    destruct (step_place a b S k) as [Stay | ((First & Free) & Moved)]; [right; lia|].
    left. specialize (T (place a k + 1) (k + 1) ltac:(lia)). lia.
  Qed.

  Inductive reachable (start : state) : state -> Prop :=
    | reachable_start : reachable start start
    | reachable_step : forall a b, reachable start a -> step a b -> reachable start b.

  Theorem shared_memory_safe : forall start, truthful start ->
    (forall k, d <= place start (k + 1) - place start k) ->
    forall a, reachable start a -> forall k, d <= place a (k + 1) - place a k.
  Proof.
    intros start T D a R.
    assert (G : truthful a /\ forall k, d <= place a (k + 1) - place a k); [|apply G].
    induction R as [|a b R [Ta Da] S]; [split; assumption|].
    split; [apply (truthful_step a b); assumption|].
    intro k. specialize (Da k). destruct (distance_step a b k Ta S); lia.
  Qed.

  (** ** Not stuck: in a state with n > m·d and fresh news some token may move *)

  Lemma some_gap : forall (f : Z -> Z) (j : nat) (k : Z), f (k + Z.of_nat j) - f k > Z.of_nat j * d ->
    exists i, d < f (i + 1) - f i.
  Proof.
    intros f. induction j as [|j IH]; intros k H.
    - replace (k + Z.of_nat 0) with k in H by lia. lia.
    - destruct (Z.lt_ge_cases d (f (k + Z.of_nat j + 1) - f (k + Z.of_nat j))) as [|Small].
      + exists (k + Z.of_nat j). assumption.
      + apply (IH k). replace (k + Z.of_nat (S j)) with (k + Z.of_nat j + 1) in H by lia. lia.
  Qed.

  Theorem some_token_may_move : forall a n m, 0 <= d -> 1 <= m -> m * d < n ->
    (forall k, place a (k + m) = place a k + n) ->
    (forall k, place a k <= place a (k + 1)) ->
    (* fresh: news is cut off at d, but not smaller than it has to be *)
    (forall x k, place a k < x -> x + d <= place a (k + 1) -> d <= news a x) ->
    exists k, may_move a k.
  Proof.
    intros a n m D M Room Turn Sorted Fresh.
    destruct (some_gap (place a) (Z.to_nat m) 0) as (k & K).
    { rewrite Z2Nat.id by lia. rewrite Turn. lia. }
    exists k. split; [lia|]. apply (Fresh _ k); lia.
  Qed.
  End Model.
End SharedMemory.
