(** * Stations: a token lets a whole group work at once

    The processes of the ring are cut into stations of consecutive processes. A process
    that a token visits may begin work under it. Inside a station the token goes on
    without waiting for the end of the work; into the next station it goes only when the
    station that it leaves has ended all its work, and the next token is then at least d
    stations ahead. With one process in every station that is the moving block.

    As elsewhere the ring is unrolled, and an action of a process is one of all its copies:
    token k + 1 is the next one ahead of token k, and token k visits every station of the
    line once. The theorems hold for any line, so in particular for one that repeats every
    turn.

    Messages may be lost, repeated and overtaken, and processes may restart and forget what
    they heard: a process may act on any news that was ever told to it, or on none. What is
    on disk stays: numbers, own work, tokens and counts of hand-overs.

    - [distance_step]: a distance of at least d stations stays so, a smaller one only grows;
    - [messages_safe]: from clean starts all tokens stay at least d stations apart;
    - [works_apart]: and two works in progress are under the same visit of one token in the
      same station, or in stations at least d apart.

    Steps are relations, which cannot be run. That work goes on for ever is not said here:
    docs/research/stations.md. *)

From Coq Require Import ZArith Lia.
Local Open Scope Z_scope.

(** A visit's work: whether to begin it is open, it is under way under this token, or it
    has ended or was declined. *)
Inductive work := Undecided | Working (token : Z) | Ended.

Section Model.
  (** Which station a process of the line belongs to. *)
  Variable station : Z -> Z.
  Hypothesis station_next : forall x, station x <= station (x + 1) <= station x + 1.

  (** The separation to keep, in stations. *)
  Variable d : Z.

  Definition first (x : Z) : Prop := station (x - 1) <> station x.

  Record state := {
    from : Z -> Z;      (** who received token k last *)
    towards : Z -> Z;   (** the same, or its successor, which the token is under way to *)
    given : Z -> Z;     (** how many tokens x has given *)
    received : Z -> Z;  (** how many of these its successor has received *)
    (** [ahead x v count number]: process x + 1 has told x that no token is nearer to it
        than v stations, that it had received count tokens from x by then, and its
        number. *)
    ahead : Z -> Z -> Z -> Z -> Prop;
    number : Z -> Z;    (** the entry that x was visited in last *)
    carried : Z -> Z;   (** the number of who gave token k *)
    own : Z -> work;
    (** [ended x g]: process x has told x + 1 that it and all before it in its station
        have ended the work of entry g. *)
    ended : Z -> Z -> Prop
  }.

  (** News counts if it includes the last hand-over of x. *)
  Definition knows (a : state) (x v : Z) : Prop := exists g, ahead a x v (given a x) g.

  (** Up to x the station has ended the work of x's entry. *)
  Definition prefix_ended (a : state) (x : Z) : Prop :=
    own a x = Ended /\ (first x \/ exists g, ended a (x - 1) g /\ number a x <= g).

  (** Token k leaves its process. *)
  Definition gives (a b : state) (k : Z) : Prop :=
    towards a k = from a k /\ from a k < from a (k + 1) /\ own a (from a k) <> Undecided /\
    (exists v, knows a (from a k) v /\
      (station (from a k + 1) = station (from a k) \/ (d <= v /\ prefix_ended a (from a k)))) /\
    towards b k = towards a k + 1 /\ from b k = from a k /\ carried b k = number a (from a k).

  Definition receives (a b : state) (k : Z) : Prop :=
    from a k < towards a k /\ towards b k = towards a k /\ from b k = towards a k /\
    carried b k = carried a k.

  (** What x may tell of the way ahead: 0, or, if it has no token, what it knows. *)
  Definition may_tell (a : state) (x v : Z) : Prop :=
    v <= 0 \/ ((forall k, towards a k = x -> from a k <> x) /\
      exists u, knows a x u /\ v <= u + (station (x + 1) - station x)).

  (** What a visit does to the number and the work of x. Who still works declines. *)
  Definition visited (a b : state) (x k : Z) : Prop :=
    (first x -> number b x = Z.max (carried a k) (number a x) + 1) /\
    (~ first x -> number b x = Z.max (carried a k) (number a x + 1)) /\
    own b x = match own a x with Working j => Working j | _ => Undecided end.

  (** Work begins under a token that is here, and ends. *)
  Definition worked (a b : state) (x : Z) : Prop :=
    own b x = own a x \/
    (own a x = Undecided /\
      (own b x = Ended \/ exists k, from a k = x /\ towards a k = x /\ own b x = Working k)) \/
    (exists k, own a x = Working k /\ own b x = Ended).

  (** x takes over a larger number of its successor in the station. *)
  Definition adopts (a b : state) (x : Z) : Prop :=
    exists v count, ahead a x v count (number b x) /\ number a x < number b x /\
      station (x + 1) = station x.

  Record step (a b : state) : Prop := {
    step_token : forall k,
      (towards b k = towards a k /\ from b k = from a k /\ carried b k = carried a k) \/
      gives a b k \/ receives a b k;
    step_given : forall x,
      ((exists k, from a k = x /\ gives a b k) /\ given b x = given a x + 1) \/
      ((forall k, from a k = x -> ~ gives a b k) /\ given b x = given a x);
    step_received : forall x,
      ((exists k, from a k = x /\ receives a b k) /\ received b x = received a x + 1) \/
      ((forall k, from a k = x -> ~ receives a b k) /\ received b x = received a x);
    step_ahead : forall x v count g, ahead b x v count g -> ahead a x v count g \/
      (count = received a x /\ g = number a (x + 1) /\ may_tell a (x + 1) v);
    step_work : forall x,
      (exists k, receives a b k /\ towards a k = x /\ visited a b x k) \/
      ((forall k, receives a b k -> towards a k <> x) /\ worked a b x /\
        (number b x = number a x \/ adopts a b x));
    step_ended : forall x g, ended b x g -> ended a x g \/ (g = number a x /\ prefix_ended a x)
  }.

  Lemma station_grows : forall x y, x <= y -> station x <= station y.
  Proof.
    intros x y L. replace y with (x + Z.of_nat (Z.to_nat (y - x))) by lia.
    induction (Z.to_nat (y - x)) as [|i IH].
    - replace (x + Z.of_nat 0) with x by lia. lia.
    - pose proof (station_next (x + Z.of_nat i)).
      replace (x + Z.of_nat (S i)) with (x + Z.of_nat i + 1) by lia. lia.
  Qed.

  (** ** Tokens keep their distance *)

  (** No token from x on is nearer than v stations. *)
  Definition free (a : state) (x v : Z) : Prop :=
    forall k, x <= from a k -> v <= station (from a k) - station x.

  (** Nothing is under way from x, or one token is. *)
  Definition link (a : state) (x : Z) : Prop :=
    (given a x = received a x /\ forall k, from a k = x -> towards a k = x) \/
    (given a x = received a x + 1 /\ exists k, from a k = x /\ towards a k = x + 1).

  Record truthful (a : state) : Prop := {
    under_way : forall k, from a k <= towards a k <= from a k + 1;
    in_order : forall k, towards a k <= from a (k + 1);
    links : forall x, link a x;
    news_old : forall x v count g, ahead a x v count g -> count <= received a x;
    news_true : forall x v g, ahead a x v (received a x) g -> free a (x + 1) v
  }.

  Lemma from_sorted : forall a, truthful a -> forall j k, j < k -> towards a j <= from a k.
  Proof.
    intros a I j k L. replace k with (j + 1 + Z.of_nat (Z.to_nat (k - j - 1))) by lia.
    induction (Z.to_nat (k - j - 1)) as [|i IH].
    - replace (j + 1 + Z.of_nat 0) with (j + 1) by lia. apply (in_order a I).
    - replace (j + 1 + Z.of_nat (S i)) with (j + 1 + Z.of_nat i + 1) by lia.
      pose proof (under_way a I (j + 1 + Z.of_nat i)).
      pose proof (in_order a I (j + 1 + Z.of_nat i)). lia.
  Qed.

  (** On a link at most one token is under way. *)
  Lemma alone : forall a, truthful a -> forall j k,
    from a j < towards a j -> from a k < towards a k -> from a j = from a k -> j = k.
  Proof.
    intros a I j k Uj Uk E. destruct (Z.lt_trichotomy j k) as [L|[L|L]].
    - pose proof (from_sorted a I j k L). lia.
    - assumption.
    - pose proof (from_sorted a I k j L). lia.
  Qed.

  (** Who knows the way ahead has an empty link, and what it knows is true. *)
  Lemma known : forall a, truthful a -> forall x v, knows a x v ->
    given a x = received a x /\ (forall k, from a k = x -> towards a k = x) /\ free a (x + 1) v.
  Proof.
    intros a I x v (g & A). pose proof (news_old a I x v _ g A).
    destruct (links a I x) as [(E & N) | (E & _)]; [|lia].
    repeat split; try assumption. apply (news_true a I x v g). rewrite <- E. exact A.
  Qed.

  Lemma given_known : forall a b, truthful a -> forall k, gives a b k ->
    given a (from a k) = received a (from a k) /\
    (forall j, from a j = from a k -> towards a j = from a k).
  Proof.
    intros a b I k (_ & _ & _ & (v & K & _) & _). destruct (known a I _ v K) as (E & N & _). auto.
  Qed.

  Lemma from_step : forall a b, step a b -> truthful a -> forall k,
    (from b k = from a k /\ from a k <= towards a k <= towards b k) \/
    (receives a b k /\ from b k = from a k + 1).
  Proof.
    intros a b S I k. pose proof (under_way a I k).
    destruct (step_token a b S k) as [(T & F & _) | [(_ & _ & _ & _ & T & F & _) | R]];
      [left; lia | left; lia | right]. split; [assumption|]. destruct R as (U & _ & F & _). lia.
  Qed.

  (** Who enters x + 1 is counted. *)
  Lemma entered : forall a b, step a b -> truthful a -> forall x k,
    from b k = x + 1 -> from a k <> x + 1 -> received b x = received a x + 1.
  Proof.
    intros a b S I x k E N. destruct (from_step a b S I k) as [(F & _) | (R & F)]; [lia|].
    destruct (step_received a b S x) as [(_ & C) | (No & _)]; [assumption|].
    exfalso. apply (No k); [lia | assumption].
  Qed.

  Lemma link_step : forall a b, step a b -> truthful a -> forall x, link b x.
  Proof.
    intros a b S I x.
    destruct (step_given a b S x) as [((k & E & G) & Ng) | (NoG & Ng)].
    - (* x gives k *)
      destruct (given_known a b I k G) as (Eq & Here). rewrite E in *. right.
      destruct (step_received a b S x) as [((j & Ej & (U & _)) & _) | (_ & Nr)].
      { specialize (Here j Ej). lia. }
      split; [lia|]. exists k. destruct G as (T & _ & _ & _ & T' & F' & _). lia.
    - destruct (links a I x) as [(Eq & Here) | (Eq & (k & F & T))].
      + (* nothing was under way, nothing is *)
        left. destruct (step_received a b S x) as [((j & Ej & (U & _)) & _) | (_ & Nr)].
        { specialize (Here j Ej). lia. }
        split; [lia|]. intros k Fk. pose proof (under_way a I k).
        destruct (step_token a b S k) as [(T' & F' & _) | [G | (U & T' & F' & _)]].
        * specialize (Here k ltac:(lia)). lia.
        * exfalso. apply (NoG k); [destruct G as (_ & _ & _ & _ & _ & F' & _); lia | assumption].
        * lia.
      + (* a token was under way: it is received, or still under way *)
        destruct (step_received a b S x) as [((j & Ej & Rj) & Nr) | (NoR & Nr)].
        * left. split; [lia|]. intros i Fi. pose proof (under_way a I i).
          destruct (step_token a b S i) as [(Ti & F' & _) | [G | (U & Ti & F' & _)]].
          -- destruct (Z.eq_dec (towards a i) (from a i)) as [|N']; [lia|].
             destruct Rj as (Uj & Tj & Fj & _).
             assert (i = j) by (apply (alone a I); lia). subst i. lia.
          -- exfalso. apply (NoG i); [destruct G as (_ & _ & _ & _ & _ & F' & _); lia | assumption].
          -- lia.
        * right. split; [lia|]. exists k.
          destruct (step_token a b S k) as [(T' & F' & _) | [(E' & _) | R]]; [lia|lia|].
          exfalso. apply (NoR k F R).
  Qed.

  Lemma truthful_step : forall a b, truthful a -> step a b -> truthful b.
  Proof.
    intros a b I S.
    assert (Grows : forall x, received a x <= received b x).
    { intro x. destruct (step_received a b S x) as [(_ & E) | (_ & E)]; lia. }
    constructor.
    - intro k. pose proof (under_way a I k).
      destruct (step_token a b S k) as [(T & F & _) | [(E & _ & _ & _ & T & F & _) | (U & T & F & _)]]; lia.
    - intro k. pose proof (in_order a I k).
      destruct (from_step a b S I (k + 1)) as [(F & _) | (_ & F)];
        destruct (step_token a b S k) as [(T & _) | [(E & L & _ & _ & T & _) | (_ & T & _)]]; lia.
    - apply (link_step a b S I).
    - intros x v count g A. specialize (Grows x).
      destruct (step_ahead a b S x v count g A) as [Old | (E & _)]; [|lia].
      pose proof (news_old a I x v count g Old). lia.
    - intros x v g A.
      assert (Same : received b x = received a x).
      { destruct (step_received a b S x) as [(_ & E) | (_ & E)]; [exfalso | assumption].
        destruct (step_ahead a b S x v _ g A) as [Old | (E' & _)]; [|lia].
        pose proof (news_old a I x v _ g Old). lia. }
      assert (F : free a (x + 1) v).
      { rewrite Same in A. destruct (step_ahead a b S x v _ g A) as [Old | (_ & _ & Tell)].
        - apply (news_true a I x v g Old).
        - intros k X. pose proof (station_grows _ _ X).
          destruct Tell as [Zero | (Holds & u & K & V)]; [lia|].
          destruct (known a I _ u K) as (_ & Here & Fr).
          assert (from a k <> x + 1) by (intro E; apply (Holds k); [apply Here|]; assumption).
          specialize (Fr k ltac:(lia)). lia. }
      intros k X. destruct (Z_le_gt_dec (x + 1) (from a k)) as [L|L].
      + specialize (F k L).
        assert (from a k <= from b k) as M by (destruct (from_step a b S I k) as [(E & _) | (_ & E)]; lia).
        pose proof (station_grows _ _ M). lia.
      + exfalso. destruct (from_step a b S I k) as [(E & _) | (_ & E)]; [lia|].
        pose proof (entered a b S I x k ltac:(lia) ltac:(lia)). lia.
  Qed.

  (** A distance below d only grows, and one of at least d stays so. The token behind
      counts where it may already be, the one ahead where it may still be. *)
  Theorem distance_step : forall a b k, truthful a -> step a b ->
    d <= station (from b (k + 1)) - station (towards b k) \/
    station (from a (k + 1)) - station (towards a k) <= station (from b (k + 1)) - station (towards b k).
  Proof.
    intros a b k I S.
    assert (from a (k + 1) <= from b (k + 1)) as M
      by (destruct (from_step a b S I (k + 1)) as [(E & _) | (_ & E)]; lia).
    pose proof (station_grows _ _ M).
    destruct (step_token a b S k) as [(T & _) | [(E & L & _ & (v & K & May) & T & _) | (_ & T & _)]];
      [right; rewrite T; lia | | right; rewrite T; lia].
    rewrite T, E. destruct May as [Same | (V & _)]; [right; rewrite Same; lia|].
    left. destruct (known a I _ v K) as (_ & _ & Fr). specialize (Fr (k + 1) ltac:(lia)). lia.
  Qed.

  Definition apart (a : state) : Prop :=
    forall k, d <= station (from a (k + 1)) - station (towards a k).

  Inductive reachable (start : state) : state -> Prop :=
    | reachable_start : reachable start start
    | reachable_step : forall a b, reachable start a -> step a b -> reachable start b.

  Lemma apart_step : forall a b, truthful a -> apart a -> step a b -> apart b.
  Proof.
    intros a b I D S k. specialize (D k). destruct (distance_step a b k I S); lia.
  Qed.

  (** A clean start: nothing is under way, nothing was told, nobody works, counts agree.
      Numbers do not grow along a station, and behind a token they are equal and larger
      than in front of it: so all may be zero if tokens start in the last processes of
      stations. *)
  Record clean (a : state) : Prop := {
    clean_tokens : forall k, towards a k = from a k;
    clean_order : forall k, from a k <= from a (k + 1);
    clean_counts : forall x, given a x = received a x;
    clean_news : forall x v count g, ~ ahead a x v count g;
    clean_ended : forall x g, ~ ended a x g;
    clean_own : forall x k, own a x <> Working k;
    clean_descend : forall x y, x <= y -> station x = station y -> number a y <= number a x;
    clean_behind : forall k z, z <= from a k -> station z = station (from a k) ->
      number a z <= number a (from a k);
    clean_in_front : forall k z, from a k < z -> station z = station (from a k) ->
      number a z < number a (from a k)
  }.

  Lemma clean_truthful : forall a, clean a -> truthful a.
  Proof.
    intros a C. constructor.
    - intro k. rewrite (clean_tokens a C). lia.
    - intro k. rewrite (clean_tokens a C). apply (clean_order a C).
    - intro x. left. split; [apply (clean_counts a C)|]. intros k <-. apply (clean_tokens a C).
    - intros x v count g A. destruct (clean_news a C x v count g A).
    - intros x v g A. destruct (clean_news a C x v _ g A).
  Qed.

  Theorem messages_safe : forall start, clean start -> apart start ->
    forall a, reachable start a -> truthful a /\ apart a.
  Proof.
    intros start C D a R. induction R as [|a b R (I & Da) S].
    - split; [apply clean_truthful, C | exact D].
    - split; [apply (truthful_step a b) | apply (apart_step a b)]; assumption.
  Qed.

  (** ** Work stays where its token is *)

  Definition busy (a : state) (x : Z) : Prop := own a x <> Ended.

  Record numbered (a : state) : Prop := {
    (** Numbers do not grow along a station: *)
    descend : forall x y, x <= y -> station x = station y -> number a y <= number a x;
    (** the token's visit left the same number up to where it is, *)
    behind : forall k z, z <= from a k -> station z = station (from a k) ->
      number a z <= number a (from a k);
    (** and a smaller one is in front of it. *)
    in_front : forall k z, from a k < z -> station z = station (from a k) ->
      number a z < number a (from a k);
    carries : forall k, from a k < towards a k -> carried a k = number a (from a k);
    told_number : forall x v count g, ahead a x v count g -> g <= number a (x + 1);
    (** Who has told that entry g has ended is believed rightly: busy is only who was
        visited later. *)
    told_ended : forall x g, ended a x g -> forall z, z <= x -> station z = station x ->
      g <= number a z /\ (busy a z -> g < number a z);
    (** Work is in the station of its token. *)
    work_here : forall x k, own a x = Working k ->
      x <= from a k /\ station x = station (from a k) /\ station (towards a k) = station x
  }.

  Hypothesis d_positive : 1 <= d.

  (** In a station is one token at most. *)
  Lemma one_token : forall a, truthful a -> apart a -> forall j k x y,
    x = from a j \/ x = towards a j -> y = from a k \/ y = towards a k ->
    station x = station y -> j = k.
  Proof.
    intros a I D.
    assert (Less : forall j k x y, j < k -> x = from a j \/ x = towards a j ->
              y = from a k \/ y = towards a k -> station x < station y).
    { intros j k x y L X Y. specialize (D j).
      pose proof (under_way a I j) as Uj. pose proof (under_way a I k) as Uk.
      assert (from a (j + 1) <= from a k) as M.
      { destruct (Z.eq_dec (j + 1) k) as [<-|]; [lia|].
        pose proof (from_sorted a I (j + 1) k ltac:(lia)). pose proof (under_way a I (j + 1)). lia. }
      pose proof (station_grows (from a j) (towards a j) ltac:(lia)).
      pose proof (station_grows (from a k) (towards a k) ltac:(lia)).
      pose proof (station_grows _ _ M). destruct X, Y; subst; lia. }
    intros j k x y X Y E. destruct (Z.lt_trichotomy j k) as [L|[L|L]]; [|assumption|].
    - specialize (Less j k x y L X Y). lia.
    - specialize (Less k j y x L Y X). lia.
  Qed.

  (** What happens to the number of x: nothing, unless a token visits it. Nobody adopts a
      number. *)
  Lemma number_step : forall a b, step a b -> numbered a -> forall x,
    (number b x = number a x /\ worked a b x) \/
    (exists k, receives a b k /\ towards a k = x /\ visited a b x k).
  Proof.
    intros a b S N x. destruct (step_work a b S x) as [V | (_ & W & [E | (v & c & A & L & Same)])];
      [right; assumption | left; auto | exfalso].
    pose proof (told_number a N x v c _ A). pose proof (descend a N x (x + 1) ltac:(lia) (eq_sym Same)). lia.
  Qed.

  (** A visit leaves the number of the predecessor, or, in the first of a station, a new
      one. *)
  Lemma visit_number : forall a b, truthful a -> numbered a -> forall k x,
    receives a b k -> towards a k = x -> visited a b x k ->
    from a k = x - 1 /\ number a x < number b x /\ (~ first x -> number b x = number a (x - 1)).
  Proof.
    intros a b I N k x (U & _) T (Vf & Vn & _). pose proof (under_way a I k).
    assert (E : from a k = x - 1) by lia. split; [assumption|].
    unfold first in *. destruct (Z.eq_dec (station (x - 1)) (station x)) as [Same|New].
    - specialize (Vn ltac:(lia)). pose proof (carries a N k U) as C. rewrite E in C.
      pose proof (in_front a N k x ltac:(lia) ltac:(rewrite E; lia)) as L. rewrite E in L. lia.
    - specialize (Vf New). split; [lia | intro; lia].
  Qed.

  Lemma number_grows : forall a b, step a b -> truthful a -> numbered a -> forall x,
    number a x <= number b x.
  Proof.
    intros a b S I N x. destruct (number_step a b S N x) as [(E & _) | (k & R & T & V)]; [lia|].
    destruct (visit_number a b I N k x R T V). lia.
  Qed.

  (** Where token k is, only its own visits change numbers. *)
  Lemma number_stays : forall a b, step a b -> truthful a -> apart a -> numbered a -> forall k x z,
    x = from a k \/ x = towards a k -> station z = station x ->
    ~ receives a b k \/ towards a k <> z -> number b z = number a z.
  Proof.
    intros a b S I D N k x z X E No. destruct (number_step a b S N z) as [(Eq & _) | (j & R & T & _)];
      [assumption|exfalso].
    assert (j = k) by (apply (one_token a I D j k z x); [right; congruence | assumption | assumption]).
    subst j. destruct No; auto.
  Qed.

  (** Up to x all have ended: no work is left. *)
  Lemma left_behind : forall a, numbered a -> forall k, prefix_ended a (from a k) ->
    forall z, own a z <> Working k.
  Proof.
    intros a N k (Own & Before) z W. destruct (work_here a N z k W) as (L & Same & _).
    assert (z <> from a k) by (intros ->; congruence).
    destruct Before as [First | (g & Told & G)].
    - apply First. pose proof (station_grows z (from a k - 1) ltac:(lia)).
      pose proof (station_grows (from a k - 1) (from a k) ltac:(lia)). lia.
    - pose proof (station_grows z (from a k - 1) ltac:(lia)).
      pose proof (station_grows (from a k - 1) (from a k) ltac:(lia)).
      destruct (told_ended a N _ g Told z ltac:(lia) ltac:(lia)) as (_ & Busy).
      specialize (Busy ltac:(unfold busy; congruence)).
      pose proof (behind a N k z L Same). lia.
  Qed.

  Lemma numbered_step : forall a b, truthful a -> apart a -> numbered a -> step a b -> numbered b.
  Proof.
    intros a b I D N S.
    pose proof (number_grows a b S I N) as Grow. pose proof (number_stays a b S I D N) as Stay.
    assert (Token : forall k, (from b k = from a k /\ ~ receives a b k) \/
              (receives a b k /\ from b k = from a k + 1 /\ from b k = towards a k)).
    { intro k. destruct (from_step a b S I k) as [(F & _) | (R & F)]; [left | right].
      - split; [assumption|]. intros (U & _ & F' & _). lia.
      - repeat split; try apply R; try assumption. }
    assert (Visit : forall k, receives a b k -> visited a b (towards a k) k).
    { intros k R. destruct (step_work a b S (towards a k)) as [(j & Rj & T & V) | (No & _)].
      - assert (j = k) by (apply (one_token a I D j k (towards a j) (towards a k)); auto; congruence).
        subst j. assumption.
      - exfalso. apply (No k R eq_refl). }
    constructor.
    - (* descend *)
      intros x y L E. destruct (Z.eq_dec x y) as [<-|]; [lia|].
      destruct (number_step a b S N y) as [(Eq & _) | (k & R & T & V)].
      + pose proof (descend a N x y L E). specialize (Grow x). lia.
      + destruct (visit_number a b I N k y R T V) as (_ & _ & Before).
        pose proof (station_grows x (y - 1) ltac:(lia)). pose proof (station_grows (y - 1) y ltac:(lia)).
        specialize (Before ltac:(unfold first; lia)).
        pose proof (descend a N x (y - 1) ltac:(lia) ltac:(lia)). specialize (Grow x). lia.
    - (* behind *)
      intros k z L E. destruct (Token k) as [(F & No) | (R & F & T)].
      + rewrite F in *. rewrite (Stay k (from a k) z); auto.
        pose proof (behind a N k z L E). specialize (Grow (from a k)). lia.
      + destruct (Z.eq_dec z (from b k)) as [->|Nz]; [lia|].
        rewrite (Stay k (towards a k) z); [|auto|congruence|right; congruence].
        destruct (visit_number a b I N k _ R eq_refl (Visit k R)) as (Fa & _ & Before).
        pose proof (station_grows z (from b k - 1) ltac:(lia)).
        pose proof (station_grows (from b k - 1) (from b k) ltac:(lia)).
        rewrite <- T in Before. specialize (Before ltac:(unfold first; lia)). rewrite Before.
        replace (from b k - 1) with (from a k) in * by lia.
        apply (behind a N k z); lia.
    - (* in_front *)
      intros k z L E. destruct (Token k) as [(F & No) | (R & F & T)].
      + rewrite F in *. rewrite (Stay k (from a k) z); auto.
        pose proof (in_front a N k z L E). specialize (Grow (from a k)). lia.
      + rewrite (Stay k (towards a k) z); [|auto|congruence|right; lia].
        destruct (visit_number a b I N k _ R eq_refl (Visit k R)) as (_ & More & _). rewrite <- T in More.
        pose proof (descend a N (from b k) z ltac:(lia) ltac:(congruence)). lia.
    - (* carries *)
      intros k U.
      destruct (step_token a b S k) as [(T & F & C) | [(E & _ & _ & _ & _ & F & C) | (_ & T & F & _)]]; [| |lia].
      + rewrite C, F, (Stay k (from a k) (from a k)); auto.
        * apply (carries a N k). lia.
        * left. intros (U' & _ & F' & _). lia.
      + rewrite C, F, (Stay k (from a k) (from a k)); auto. left. intros (U' & _). lia.
    - (* told_number *)
      intros x v count g A. specialize (Grow (x + 1)).
      destruct (step_ahead a b S x v count g A) as [Old | (_ & -> & _)]; [|assumption].
      pose proof (told_number a N x v count g Old). lia.
    - (* told_ended *)
      assert (Lasts : forall z g, g <= number a z /\ (busy a z -> g < number a z) ->
                g <= number b z /\ (busy b z -> g < number b z)).
      { intros z g (G & B). specialize (Grow z).
        destruct (number_step a b S N z) as [(Eq & W) | (k & R & T & V)].
        - split; [lia|]. intro Bb. rewrite Eq. apply B. unfold busy in *.
          destruct W as [E | [(E & _) | (j & E & _)]]; congruence.
        - destruct (visit_number a b I N k z R T V) as (_ & More & _). lia. }
      intros x g T z L E. apply Lasts.
      destruct (step_ended a b S x g T) as [Old | (-> & Own & Before)]; [apply (told_ended a N x g Old z L E)|].
      destruct (Z.eq_dec z x) as [->|Nz]; [split; [lia|]; intro B; destruct (B Own)|].
      pose proof (station_grows z (x - 1) ltac:(lia)). pose proof (station_grows (x - 1) x ltac:(lia)).
      destruct Before as [First | (h & Told & H')]; [destruct First; lia|].
      destruct (told_ended a N (x - 1) h Told z ltac:(lia) ltac:(lia)) as (G & B).
      split; [lia|]. intro Bz. specialize (B Bz). lia.
    - (* work_here *)
      intros x k W.
      assert (Was : own a x = Working k \/ (own a x = Undecided /\ from a k = x /\ towards a k = x)).
      { destruct (number_step a b S N x) as [(_ & [E | [(U & [E | (j & F & T & E)]) | (j & _ & E)]]) | (j & _ & _ & _ & _ & E)].
        - left. congruence.
        - congruence.
        - right. assert (j = k) by congruence. subst j. auto.
        - congruence.
        - left. destruct (own a x); congruence. }
      destruct Was as [Was | (U & F & T)].
      + destruct (work_here a N x k Was) as (L & Same & There).
        destruct (step_token a b S k) as [(T' & F' & _) | [(E & _ & _ & (v & _ & May) & T' & F' & _) | (U' & T' & F' & _)]].
        * rewrite T', F'. auto.
        * rewrite T', F', E. destruct May as [In | (_ & P)]; [repeat split; lia|].
          destruct (left_behind a N k P x Was).
        * rewrite T', F'. repeat split; lia.
      + destruct (step_token a b S k) as [(T' & F' & _) | [(_ & _ & Decided & _) | (U' & _)]].
        * rewrite T', F', F, T. repeat split; lia.
        * destruct Decided. congruence.
        * lia.
  Qed.

  Lemma clean_numbered : forall a, clean a -> numbered a.
  Proof.
    intros a C. constructor; try apply C.
    - intros k U. rewrite (clean_tokens a C) in U. lia.
    - intros x v count g A. destruct (clean_news a C x v count g A).
    - intros x g T. destruct (clean_ended a C x g T).
    - intros x k W. destruct (clean_own a C x k W).
  Qed.

  Lemma kept : forall start, clean start -> apart start -> forall a, reachable start a ->
    truthful a /\ apart a /\ numbered a.
  Proof.
    intros start C D a R. induction R as [|a b R (I & Da & N) S].
    - split; [apply clean_truthful, C | split; [exact D | apply clean_numbered, C]].
    - split; [apply (truthful_step a b) | split; [apply (apart_step a b) | apply (numbered_step a b)]];
        assumption.
  Qed.

  (** Two works in progress are under the same visit of one token in the same station, or
      in stations at least d apart. *)
  Theorem works_apart : forall start, clean start -> apart start ->
    forall a, reachable start a -> forall x y j k, own a x = Working j -> own a y = Working k ->
    (j = k /\ station x = station y) \/ d <= Z.abs (station x - station y).
  Proof.
    intros start C D a R. destruct (kept start C D a R) as (I & Da & N).
    assert (Less : forall x y j k, j < k -> own a x = Working j -> own a y = Working k ->
              d <= station y - station x).
    { intros x y j k L X Y. destruct (work_here a N x j X) as (_ & _ & Tj).
      destruct (work_here a N y k Y) as (_ & Sk & _). specialize (Da j).
      assert (from a (j + 1) <= from a k) as M.
      { destruct (Z.eq_dec (j + 1) k) as [<-|]; [lia|].
        pose proof (from_sorted a I (j + 1) k ltac:(lia)). pose proof (under_way a I (j + 1)). lia. }
      pose proof (station_grows _ _ M). lia. }
    intros x y j k X Y. destruct (Z.lt_trichotomy j k) as [L|[<-|L]].
    - right. specialize (Less x y j k L X Y). lia.
    - left. split; [reflexivity|]. destruct (work_here a N x j X) as (_ & Sx & _).
      destruct (work_here a N y j Y) as (_ & Sy & _). lia.
    - right. specialize (Less y x k j L Y X). lia.
  Qed.
End Model.

(** The moving block: one process in every station. *)
Corollary moving_block_safe : forall d start, clean (fun x => x) start ->
  (forall k, d <= from start (k + 1) - from start k) ->
  forall a, reachable (fun x => x) d start a -> forall k, d <= from a (k + 1) - towards a k.
Proof.
  intros d start C D a R.
  assert (D' : apart (fun x => x) d start).
  { intro k. rewrite (clean_tokens _ start C). apply D. }
  apply (messages_safe (fun x => x) ltac:(intro; cbv beta; lia) d start C D' a R).
Qed.
