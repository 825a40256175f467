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
    - [messages_safe]: news and hand-overs are messages, and news may be lost,
      repeated and overtaken;
    - [some_token_may_move]: with n > m·d, fresh news lets some token move.

    Steps are relations, which cannot be run: nothing here is extracted, and that
    [crates/core/src/moving_block.rs] takes only such steps is not tested against this
    file. The last theorem is about one state, and says neither that the news becomes
    fresh nor that the token moves: that all tokens go on for ever is proved on paper
    only, in [docs/moving-block.md], theorem 2. *)

From Coq Require Import ZArith Lia.
Local Open Scope Z_scope.

(** ** Processes read each other's news *)

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

(** ** News and hand-overs are messages *)

Module Messages.
  Section Model.
  Variable d : Z.
  Hypothesis d_positive : 1 <= d.

  (** Link x leads from process x, the giver, to process x + 1. A hand-over is under
      way from when x gives until x + 1 receives. It is sent again until it is received,
      and told apart by its number, so it is received once. *)
  Record state := {
    from : Z -> Z;      (** the process that token k was last received at *)
    towards : Z -> Z;   (** the same, or the next one while it is under way *)
    given : Z -> Z;     (** hand-overs that x has given *)
    received : Z -> Z;  (** hand-overs that x + 1 has received from x *)
    belief : Z -> Z;    (** what x believes of the distance from x + 1 to a token *)
    waits : Z -> bool;  (** since x gave or restarted, it has heard no news with its count *)
    (** News to x that was ever sent: a distance, and the count of hand-overs that
        x + 1 had received. Nothing is ever taken away: news may be lost, repeated
        and overtaken. *)
    sent : Z -> Z -> Z -> Prop
  }.

  Definition gives (a b : state) (k : Z) : Prop :=
    towards a k = from a k /\ from a k < from a (k + 1) /\ d <= belief a (from a k) /\
    towards b k = towards a k + 1 /\ from b k = from a k.

  Definition receives (a b : state) (k : Z) : Prop :=
    from a k < towards a k /\ towards b k = towards a k /\ from b k = towards a k.

  (** What process x may tell: 0 while it holds a token or waits, else its belief
      plus 1. *)
  Definition may_tell (a : state) (x v : Z) : Prop :=
    v <= 0 \/ ((forall k, towards a k = x -> from a k <> x) /\ waits a x = false /\ v <= belief a x + 1).

  Record step (a b : state) : Prop := {
    step_token : forall k,
      (towards b k = towards a k /\ from b k = from a k) \/ gives a b k \/ receives a b k;
    (** The giver: it gives; or nothing happens to it; or it restarts; or it hears news
        with its own count. A restart leaves nothing but the count: it believes nothing
        and waits. (If it did not wait, it would tell 1 although what it gave may still be
        under way, and a token could enter where that one still counts.) *)
    step_giver : forall x,
      ((exists k, from a k = x /\ gives a b k) /\
       given b x = given a x + 1 /\ belief b x = 0 /\ waits b x = true) \/
      ((forall k, from a k = x -> ~ gives a b k) /\ given b x = given a x /\
       ((belief b x = belief a x /\ waits b x = waits a x) \/
        (belief b x = 0 /\ waits b x = true) \/
        (exists v, sent a x v (given a x) /\ belief b x = v /\ waits b x = false)));
    step_receiver : forall x,
      ((exists k, from a k = x /\ receives a b k) /\ received b x = received a x + 1) \/
      ((forall k, from a k = x -> ~ receives a b k) /\ received b x = received a x);
    step_sent : forall x v count, sent b x v count ->
      sent a x v count \/ (count = received a x /\ may_tell a (x + 1) v)
  }.

  (** No token from x on is nearer than v. *)
  Definition free (a : state) (x v : Z) : Prop := forall k, x <= from a k -> v <= from a k - x.

  Record invariant (a : state) : Prop := {
    under_way : forall k, from a k <= towards a k <= from a k + 1;
    in_order : forall k, towards a k <= from a (k + 1);
    counts : forall x, given a x = received a x \/ given a x = received a x + 1;
    on_link : forall k, from a k < towards a k -> given a (from a k) = received a (from a k) + 1;
    link_empty : forall x, given a x <> received a x -> exists k, from a k = x /\ towards a k = x + 1;
    waiting : forall x, given a x <> received a x -> waits a x = true /\ belief a x <= 0;
    news_old : forall x v count, sent a x v count -> count <= received a x;
    news_true : forall x v, sent a x v (received a x) -> free a (x + 1) v;
    belief_true : forall x, free a (x + 1) (belief a x)
  }.

  Lemma from_sorted : forall a, invariant a -> forall j k, 0 <= j -> from a k <= from a (k + j).
  Proof.
    intros a I j k J. replace j with (Z.of_nat (Z.to_nat j)) by lia.
    induction (Z.to_nat j) as [|i IH].
    - replace (k + Z.of_nat 0) with k by lia. lia.
    - pose proof (under_way a I (k + Z.of_nat i)). pose proof (in_order a I (k + Z.of_nat i)).
      replace (k + Z.of_nat (S i)) with (k + Z.of_nat i + 1) by lia. lia.
  Qed.

  (** On a link at most one token is under way. *)
  Lemma alone : forall a, invariant a -> forall j k,
    from a j < towards a j -> from a k < towards a k -> from a j = from a k -> j = k.
  Proof.
    intros a I j k Uj Uk E. pose proof (under_way a I j). pose proof (under_way a I k).
    destruct (Z.lt_trichotomy j k) as [L|[L|L]]; [exfalso| assumption |exfalso].
    - pose proof (in_order a I j). pose proof (from_sorted a I (k - (j + 1)) (j + 1) ltac:(lia)).
      replace (j + 1 + (k - (j + 1))) with k in * by lia. lia.
    - pose proof (in_order a I k). pose proof (from_sorted a I (j - (k + 1)) (k + 1) ltac:(lia)).
      replace (k + 1 + (j - (k + 1))) with j in * by lia. lia.
  Qed.

  (** Who gives has an empty link. *)
  Lemma giver_ready : forall a b, invariant a -> forall k, gives a b k ->
    given a (from a k) = received a (from a k).
  Proof.
    intros a b I k (_ & _ & B & _). destruct (Z.eq_dec (given a (from a k)) (received a (from a k))) as [|N];
      [assumption|]. destruct (waiting a I _ N). lia.
  Qed.

  (** A giver that gives leaves room for d. *)
  Lemma room : forall a b, invariant a -> forall k, gives a b k -> d <= from a (k + 1) - towards b k.
  Proof.
    intros a b I k (E & First & B & T & _).
    pose proof (belief_true a I (from a k) (k + 1) ltac:(lia)). lia.
  Qed.

  Lemma from_step : forall a b, step a b -> invariant a -> forall k, from a k <= from b k <= from a k + 1.
  Proof.
    intros a b S I k. pose proof (under_way a I k).
    destruct (step_token a b S k) as [(_ & F) | [(_ & _ & _ & _ & F) | (_ & _ & F)]]; lia.
  Qed.

  (** What was free stays free where no token is received. *)
  Lemma free_step : forall a b, step a b -> invariant a -> forall x v, free a x v ->
    (forall k, from b k = x -> from a k = x \/ v <= 0) -> free b x v.
  Proof.
    intros a b S I x v Fr New k X. pose proof (from_step a b S I k).
    destruct (Z.eq_dec (from b k) x) as [E|E].
    - destruct (New k E) as [At|Zero]; [specialize (Fr k); lia | lia].
    - specialize (Fr k). lia.
  Qed.

  Lemma invariant_step : forall a b, invariant a -> step a b -> invariant b.
  Proof.
    intros a b I S.
    assert (Recv : forall x, received b x = received a x \/
              (exists k, from a k = x /\ receives a b k /\ received b x = received a x + 1)).
    { intro x. destruct (step_receiver a b S x) as [((k & E & R) & N) | (_ & N)];
        [right; exists k; auto | left; assumption]. }
    assert (Entered : forall x k, from b k = x + 1 -> from a k <> x + 1 -> received b x = received a x + 1).
    { intros x k E N. pose proof (under_way a I k).
      destruct (step_token a b S k) as [(_ & F) | [(_ & _ & _ & _ & F) | R]]; [lia|lia|].
      destruct R as (U & T & F) eqn:Er. assert (from a k = x) by lia.
      destruct (step_receiver a b S x) as [(_ & Nr) | (No & _)]; [assumption|].
      exfalso. apply (No k); [assumption | repeat split; assumption]. }
    assert (Link : forall x,
       (given b x = received b x /\ forall k, from b k = x -> towards b k = x) \/
       (given b x = received b x + 1 /\ waits b x = true /\ belief b x <= 0 /\
        exists k, from b k = x /\ towards b k = x + 1)).
    { intro x. destruct (step_giver a b S x) as [((k & E & G) & N & B & W) | (NoG & N & Bel)].
      - (* x gives k *)
        right. pose proof (giver_ready a b I k G) as Ready. rewrite E in Ready.
        assert (R : received b x = received a x).
        { destruct (Recv x) as [|(j & Ej & (U & _) & _)]; [assumption|exfalso].
          pose proof (on_link a I j U) as Oj. rewrite Ej in Oj. lia. }
        repeat split; try lia; try assumption.
        exists k. destruct G as (T0 & _ & _ & T1 & F1). split; lia.
      - destruct (Z.eq_dec (given a x) (received a x)) as [Empty|Full].
        + (* nothing was under way, nothing is *)
          left. assert (R : received b x = received a x).
          { destruct (Recv x) as [|(j & Ej & (U & _) & _)]; [assumption|exfalso].
            pose proof (on_link a I j U) as Oj. rewrite Ej in Oj. lia. }
          split; [lia|]. intros k F. pose proof (under_way a I k).
          destruct (step_token a b S k) as [(T & F') | [G | (U & T & F')]].
          * destruct (Z.eq_dec (towards a k) (from a k)) as [|N']; [lia|].
            pose proof (on_link a I k ltac:(lia)) as O. replace (from a k) with x in O by lia. lia.
          * exfalso. assert (from a k = x) as E by (destruct G as (_ & _ & _ & _ & F'); lia).
            apply (NoG k E G).
          * lia.
        + (* a token was under way: it is received, or still under way *)
          destruct (link_empty a I x Full) as (k & F & T).
          destruct (counts a I x) as [|C]; [lia|].
          destruct (waiting a I x Full) as [W B0].
          destruct (step_receiver a b S x) as [((j & Ej & Rj) & Nr) | (NoR & Nr)].
          * left. split; [lia|]. intros i Fi. pose proof (under_way a I i).
            destruct (step_token a b S i) as [(Ti & F') | [G | (U & Ti & F')]].
            -- destruct (Z.eq_dec (towards a i) (from a i)) as [|N']; [lia|].
               (* i would be the token that is received *)
               destruct Rj as (Uj & Tj & Fj).
               assert (i = j) by (apply (alone a I); lia). subst i. lia.
            -- exfalso. assert (from a i = x) as E by (destruct G as (_ & _ & _ & _ & F'); lia).
               apply (NoG i E G).
            -- lia.
          * right. repeat split.
            -- lia.
            -- destruct Bel as [(_ & W') | [(_ & W') | (v & Sv & _)]]; [congruence|congruence|].
               pose proof (news_old a I x v _ Sv). lia.
            -- destruct Bel as [(B' & _) | [(B' & _) | (v & Sv & _)]]; [lia|lia|].
               pose proof (news_old a I x v _ Sv). lia.
            -- exists k. destruct (step_token a b S k) as [(T' & F') | [(E' & _) | R]]; [lia|lia|].
               exfalso. apply (NoR k F R). }
    constructor.
    - (* under_way *)
      intro k. pose proof (under_way a I k).
      destruct (step_token a b S k) as [(T & F) | [(E & _ & _ & T & F) | (U & T & F)]]; lia.
    - (* in_order *)
      intro k. pose proof (from_step a b S I (k + 1)). pose proof (in_order a I k).
      destruct (step_token a b S k) as [(T & F) | [G | (U & T & F)]]; [lia| |lia].
      pose proof (room a b I k G). lia.
    - intro x. destruct (Link x) as [(E & _) | (E & _)]; [left | right]; assumption.
    - (* on_link *)
      intros k U. destruct (Link (from b k)) as [(_ & Z) | (E & _)]; [|assumption].
      specialize (Z k eq_refl). lia.
    - intros x N. destruct (Link x) as [(E & _) | (_ & _ & _ & Ex)]; [lia | assumption].
    - intros x N. destruct (Link x) as [(E & _) | (_ & W & B & _)]; [lia | split; assumption].
    - (* news_old *)
      intros x v count Sv. assert (received a x <= received b x).
      { destruct (Recv x) as [|(k & _ & _ & N)]; lia. }
      destruct (step_sent a b S x v count Sv) as [Old | (E & _)]; [|lia].
      pose proof (news_old a I x v count Old). lia.
    - (* news_true *)
      intros x v Sv. destruct (Recv x) as [E | (k & _ & _ & N)].
      2:{ exfalso. destruct (step_sent a b S x v _ Sv) as [Old | (E & _)]; [|lia].
          pose proof (news_old a I x v _ Old). lia. }
      rewrite E in Sv. apply (free_step a b S I).
      + destruct (step_sent a b S x v _ Sv) as [Old | (_ & Tell)]; [apply (news_true a I), Old|].
        intros k X. destruct Tell as [Zero | (Holds & Wt & Vb)]; [lia|].
        pose proof (under_way a I k).
        destruct (Z.eq_dec (from a k) (x + 1)) as [At|At].
        * exfalso. destruct (Z.eq_dec (towards a k) (x + 1)) as [T|T]; [apply (Holds k); assumption|].
          pose proof (on_link a I k ltac:(lia)) as O. rewrite At in O.
          destruct (waiting a I (x + 1) ltac:(lia)) as [W _]. congruence.
        * pose proof (belief_true a I (x + 1) k ltac:(lia)). lia.
      + intros k F. destruct (Z.eq_dec (from a k) (x + 1)); [left; assumption|].
        pose proof (Entered x k F ltac:(assumption)). lia.
    - (* belief_true *)
      intro x.
      assert (New : forall k, from b k = x + 1 -> from a k = x + 1 \/ belief b x <= 0).
      { intros k F. destruct (Z.eq_dec (from a k) (x + 1)) as [|N]; [left; assumption|right].
        pose proof (Entered x k F N) as R.
        assert (Full : given a x <> received a x).
        { destruct (step_receiver a b S x) as [((j & Ej & (U & _)) & _) | (_ & N')]; [|lia].
          pose proof (on_link a I j U) as O. rewrite Ej in O. lia. }
        destruct (waiting a I x Full) as [_ B0].
        destruct (counts a I x) as [|C]; [lia|].
        destruct (step_giver a b S x) as [(_ & _ & B & _) | (_ & _ & Bel)]; [lia|].
        destruct Bel as [(B & _) | [(B & _) | (v & Sv & _)]]; [lia|lia|].
        pose proof (news_old a I x v _ Sv). lia. }
      apply (free_step a b S I); [|assumption].
      destruct (step_giver a b S x) as [(_ & _ & B & _) | (_ & _ & Bel)].
      + rewrite B. intros k X. lia.
      + destruct Bel as [(B & _) | [(B & _) | (v & Sv & B & _)]].
        * rewrite B. apply (belief_true a I).
        * rewrite B. intros k X. lia.
        * rewrite B. pose proof (news_old a I x v _ Sv).
          destruct (counts a I x) as [E|E]; [|lia]. rewrite E in Sv. apply (news_true a I), Sv.
  Qed.

  (** A distance below d only grows, and one of at least d stays so. The token behind
      counts where it may already be, the one ahead where it may still be. *)
  Theorem distance_step : forall a b k, invariant a -> step a b ->
    d <= from b (k + 1) - towards b k \/
    from a (k + 1) - towards a k <= from b (k + 1) - towards b k.
  Proof.
    intros a b k I S. pose proof (from_step a b S I (k + 1)).
    destruct (step_token a b S k) as [(T & F) | [G | (U & T & F)]]; [right; lia| |right; lia].
    left. pose proof (room a b I k G). lia.
  Qed.

  Inductive reachable (start : state) : state -> Prop :=
    | reachable_start : reachable start start
    | reachable_step : forall a b, reachable start a -> step a b -> reachable start b.

  (** A clean start: nothing is under way, counts agree, nobody believes anything, no
      news was sent. *)
  Record clean (a : state) : Prop := {
    clean_tokens : forall k, towards a k = from a k;
    clean_order : forall k, from a k <= from a (k + 1);
    clean_counts : forall x, given a x = received a x;
    clean_belief : forall x, belief a x <= 0;
    clean_news : forall x v count, ~ sent a x v count
  }.

  Lemma clean_invariant : forall a, clean a -> invariant a.
  Proof.
    intros a C. constructor; intros.
    - rewrite (clean_tokens a C). lia.
    - rewrite (clean_tokens a C). apply (clean_order a C).
    - left. apply (clean_counts a C).
    - pose proof (clean_tokens a C k). lia.
    - pose proof (clean_counts a C x). lia.
    - pose proof (clean_counts a C x). lia.
    - exfalso. apply (clean_news a C x v count). assumption.
    - exfalso. apply (clean_news a C x v (received a x)). assumption.
    - intros k X. pose proof (clean_belief a C x). lia.
  Qed.

  Theorem messages_safe : forall start, clean start ->
    (forall k, d <= from start (k + 1) - from start k) ->
    forall a, reachable start a -> forall k, d <= from a (k + 1) - towards a k.
  Proof.
    intros start C D a R.
    assert (G : invariant a /\ forall k, d <= from a (k + 1) - towards a k); [|apply G].
    induction R as [|a b R [Ia Da] S].
    - split; [apply clean_invariant, C|]. intro k. rewrite (clean_tokens start C). apply D.
    - split; [apply (invariant_step a b); assumption|].
      intro k. specialize (Da k). destruct (distance_step a b k Ia S); lia.
  Qed.
  End Model.
End Messages.
