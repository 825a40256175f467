(** * Release times: the unrolled ring, and lemma 1

    An [execution] is a run seen on a line, as in [docs/research/forecast.md]: position x
    stands for process x mod n, and the tokens are numbered from the front. The
    one thing we count is [passed t x], the number of the first token that has
    not been released from x by the end of round t. The theory needs no states
    and no lists; [Unroll.v] shows that every run of a ring is one. *)

From Coq Require Import ZArith Lia Bool.
Local Open Scope Z_scope.

Record execution := {
  n : Z;  (** processes *)
  m : Z;  (** tokens *)
  d : Z;  (** separation *)
  delay : Z -> bool;
  passed : nat -> Z -> Z;
  count : nat -> Z -> Z;  (** the counter c *)

  (** s(x): rounds from one release at x to the next, at least *)
  spacing := fun x => if delay x then d else 1;
  (** A token leaves x in round t + 1. *)
  leaves := fun t x => (count t x =? 0) && (passed t x <? passed t (x - 1));

  one_round_passed : forall t x,
    passed (S t) x = if leaves t x then passed t x + 1 else passed t x;
  one_round_count : forall t x,
    count (S t) x = if leaves t x then spacing x - 1 else Z.max 0 (count t x - 1);

  n_positive : 1 <= n;
  m_positive : 1 <= m;
  d_positive : 1 <= d;
  start_sorted : forall x, passed 0 x <= passed 0 (x - 1);
  start_count : forall x, 0 <= count 0 x <= spacing x - 1;
  start_turn : forall x, passed 0 (x + n) = passed 0 x - m;
  start_count_turn : forall x, count 0 (x + n) = count 0 x;
  delay_turn : forall x, delay (x + n) = delay x;
  some_delay : exists x, delay x = true
}.

(** What a section about one execution writes for short: [Variable e : execution. Import Line.]
    and then [n] for [n e]. *)
Module Line.
  Notation here := (ltac:(match goal with e : execution |- _ => exact e end)) (only parsing).
  Notation n := (n here) (only parsing).
  Notation m := (m here) (only parsing).
  Notation d := (d here) (only parsing).
  Notation delay := (delay here) (only parsing).
  Notation F := (passed here) (only parsing).
  Notation c := (count here) (only parsing).
  Notation s := (spacing here) (only parsing).
  (** l(x): the first token to be released at x; token k starts at or before x
      if [l x <= k]. *)
  Notation l := (passed here 0) (only parsing).
  Notation c0 := (count here 0) (only parsing).
End Line.

Section Execution.
  Variable e : execution.
  Import Line.

  Lemma spacing_delay : forall x, delay x = true -> s x = d.
  Proof. intros x H; unfold spacing; rewrite H; reflexivity. Qed.
  Lemma spacing_relay : forall x, delay x = false -> s x = 1.
  Proof. intros x H; unfold spacing; rewrite H; reflexivity. Qed.
  Lemma spacing_positive : forall x, 1 <= s x.
  Proof. intro x; unfold spacing; destruct (delay x); pose proof (d_positive e); lia. Qed.

  (** The two cases of a round at x. *)
  Lemma one_round : forall t x,
    (c t x = 0 /\ F t x < F t (x - 1) /\ F (S t) x = F t x + 1 /\ c (S t) x = s x - 1)
    \/ ((c t x <> 0 \/ F t (x - 1) <= F t x) /\ F (S t) x = F t x /\ c (S t) x = Z.max 0 (c t x - 1)).
  Proof.
    intros t x. pose proof (one_round_passed e t x) as P. pose proof (one_round_count e t x) as C.
    destruct (leaves e t x) eqn:E; unfold leaves in E.
    - left. apply andb_true_iff in E. lia.
    - right. apply andb_false_iff in E. lia.
  Qed.

  Lemma count_nonnegative : forall t x, 0 <= c t x.
  Proof.
    induction t; intro x; [apply start_count|].
    pose proof (spacing_positive x). destruct (one_round t x); lia.
  Qed.

  Lemma passed_step : forall t x, F t x <= F (S t) x <= F t x + 1.
  Proof. intros t x; destruct (one_round t x); lia. Qed.

  Lemma passed_later : forall t u x, (t <= u)%nat -> F t x <= F u x.
  Proof.
    intros t u x H; induction H as [|u H IH]; [lia|]. pose proof (passed_step u x); lia.
  Qed.

  (** Nobody overtakes. *)
  Lemma passed_sorted : forall t x, F t x <= F t (x - 1).
  Proof.
    induction t; intro x; [apply start_sorted|].
    specialize (IHt x). pose proof (passed_step t (x - 1)).
    destruct (one_round t x); lia.
  Qed.

  Lemma passed_behind : forall t x y, x <= y -> F t y <= F t x.
  Proof.
    intros t x y H. replace y with (x + Z.of_nat (Z.to_nat (y - x))) by lia.
    induction (Z.to_nat (y - x)) as [|j IH].
    - replace (x + Z.of_nat 0) with x by lia; lia.
    - pose proof (passed_sorted t (x + Z.of_nat (S j))).
      replace (x + Z.of_nat (S j) - 1) with (x + Z.of_nat j) in * by lia. lia.
  Qed.

  (** A hop takes a round. *)
  Lemma hop : forall t x, F (S t) x <= F t (x - 1).
  Proof.
    intros t x. pose proof (passed_sorted t x). destruct (one_round t x); lia.
  Qed.

  (** Going round once is the same token seen a turn later. *)
  Lemma turn : forall t x, F t (x + n) = F t x - m /\ c t (x + n) = c t x.
  Proof.
    induction t; intro x.
    - split; [apply start_turn | apply start_count_turn].
    - destruct (IHt x) as [Px Cx]. destruct (IHt (x - 1)) as [Py _].
      replace (x - 1 + n) with (x + n - 1) in Py by lia.
      assert (L : leaves e t (x + n) = leaves e t x).
      { unfold leaves. rewrite Px, Cx, Py. f_equal. lia. }
      assert (S : s (x + n) = s x) by (unfold spacing; rewrite delay_turn; reflexivity).
      rewrite !one_round_passed, !one_round_count, L, Px, Cx, S. destruct (leaves e t x); lia.
  Qed.

  (** Why a counter has the value it has: it is left from the start, or it was
      set by the latest release, in round u. *)
  Lemma count_origin : forall t x, 0 < c t x ->
    (c t x = c0 x - Z.of_nat t /\ F t x = l x) \/
    (exists u, (1 <= u <= t)%nat /\ c t x = s x - 1 - Z.of_nat (t - u) /\
               F u x = F t x /\ F (u - 1) x = F t x - 1).
  Proof.
    induction t; intros x H.
    - left; split; [lia | reflexivity].
    - destruct (one_round t x) as [(C & B & P & N) | (B & P & N)].
      + right; exists (S t). replace (S t - 1)%nat with t by lia.
        replace (S t - S t)%nat with 0%nat by lia. repeat split; lia.
      + destruct (IHt x) as [(E & L) | (u & U & E & P1 & P2)]; [lia | left; lia |].
        right; exists u. repeat split; try lia.
  Qed.

  (** While a counter runs nothing is released. *)
  Lemma count_holds : forall j t x, Z.of_nat j <= c t x -> F (t + j) x = F t x.
  Proof.
    induction j; intros t x H; [f_equal; lia|].
    replace (t + S j)%nat with (S t + j)%nat by lia.
    destruct (one_round t x) as [(C & _) | (B & P & N)]; [lia|].
    rewrite IHj; lia.
  Qed.

  Lemma count_down : forall j t x, Z.of_nat j <= c t x -> c (t + j) x = c t x - Z.of_nat j.
  Proof.
    induction j; intros t x H; [replace (t + 0)%nat with t; lia|].
    replace (t + S j)%nat with (S t + j)%nat by lia.
    destruct (one_round t x) as [(C & _) | (B & P & N)]; [lia|].
    rewrite IHj; lia.
  Qed.

  (** The first release at x waits for the initial counter. *)
  Lemma first_waits : forall t x, l x < F t x -> c0 x + 1 <= Z.of_nat t.
  Proof.
    intros t x H. destruct (Z.le_gt_cases (c0 x + 1) (Z.of_nat t)); [assumption|].
    pose proof (count_holds t 0 x) as E. cbn in E. lia.
  Qed.

  (** Two releases at x are [s x] rounds apart. *)
  Lemma releases_apart : forall t x k, l x <= k - 1 -> k < F t x ->
    s x <= Z.of_nat t /\ k - 1 < F (t - Z.to_nat (s x)) x.
  Proof.
    intros t x. pose proof (spacing_positive x) as S1. induction t; intros k L H; [lia|].
    destruct (one_round t x) as [(C & B & P & N) | (B & P & N)].
    2:{ destruct (IHt k L) as [I J]; [lia|]. split; [lia|].
        pose proof (passed_later (t - Z.to_nat (s x)) (S t - Z.to_nat (s x)) x). lia. }
    destruct (Z.lt_ge_cases k (F t x)) as [K|K].
    { destruct (IHt k L K) as [I J]. split; [lia|].
      pose proof (passed_later (t - Z.to_nat (s x)) (S t - Z.to_nat (s x)) x). lia. }
    (* k leaves in round t + 1; find when k - 1 left: the counter was then set *)
    assert (F t x = k) by lia.
    assert (A : exists u, (1 <= u <= t)%nat /\ F u x = k /\ F (u - 1) x = k - 1).
    { assert (G : forall v, k <= F v x -> exists u, (1 <= u <= v)%nat /\ F u x = k /\ F (u - 1) x = k - 1).
      { induction v; intro G; [lia|].
        destruct (Z.lt_ge_cases (F v x) k) as [V|V].
        - exists (Datatypes.S v). replace (Datatypes.S v - 1)%nat with v by lia.
          pose proof (passed_step v x). repeat split; lia.
        - destruct (IHv V) as (u & ? & ? & ?). exists u; repeat split; lia. }
      apply G; lia. }
    destruct A as (u & U & E1 & E0).
    destruct u as [|u]; [lia|]. replace (Datatypes.S u - 1)%nat with u in E0 by lia.
    destruct (one_round u x) as [(_ & _ & _ & Nu) | (_ & Pu & _)]; [|lia].
    (* between u + 1 and t the counter runs down from s - 1 *)
    assert (R : s x - 1 <= Z.of_nat (t - Datatypes.S u)).
    { destruct (Z.le_gt_cases (s x - 1) (Z.of_nat (t - Datatypes.S u))); [assumption|].
      pose proof (count_down (t - Datatypes.S u) (Datatypes.S u) x) as Q.
      replace (Datatypes.S u + (t - Datatypes.S u))%nat with t in Q by lia. lia. }
    split; [lia|].
    pose proof (passed_later (Datatypes.S u) (Datatypes.S t - Z.to_nat (s x)) x). lia.
  Qed.

  (** ** The dater form

      Token k is released from x by round t exactly if: it has been released
      from x - 1 a round earlier (unless it starts at x); the token before it has
      been released from x [s x] rounds earlier (unless k is the first there);
      the initial counter has run down; and t is at least 1. That is
      D(x,k) = max (D(x-1,k) + 1, D(x,k-1) + s(x), c(x) + 1 if k = l(x), 1). *)
  Theorem dater : forall t x k, l x <= k ->
    k < F t x <->
    (l (x - 1) <= k -> 1 <= Z.of_nat t /\ k < F (t - 1) (x - 1)) /\
    (l x <= k - 1 -> s x <= Z.of_nat t /\ k - 1 < F (t - Z.to_nat (s x)) x) /\
    (k = l x -> c0 x + 1 <= Z.of_nat t) /\
    1 <= Z.of_nat t.
  Proof.
    intros t x k L; split.
    - intro H. destruct t as [|t]; [lia|].
      split; [|split; [|split]]; intros.
      + replace (S t - 1)%nat with t by lia. pose proof (hop t x). lia.
      + apply releases_apart; assumption.
      + subst k. apply first_waits; assumption.
      + lia.
    - intros (A & B & C & T). destruct t as [|t]; [lia|].
      replace (S t - 1)%nat with t in A by lia.
      assert (A' : k < F t (x - 1)).
      { destruct (Z.le_gt_cases (l (x - 1)) k) as [K|K]; [apply A, K|].
        pose proof (passed_later 0 t (x - 1)). lia. }
      destruct (Z.lt_ge_cases k (F (S t) x)) as [|N]; [assumption|exfalso].
      pose proof (spacing_positive x) as S1.
      destruct (Z.eq_dec k (l x)) as [K|K].
      + (* the first there: the counter has run down, so it leaves *)
        specialize (C K). pose proof (passed_later 0 t x). pose proof (passed_later 0 (S t) x).
        destruct (one_round t x) as [(Z0 & _ & P & _) | ([Z0|Z0] & P & _)]; [lia| |lia].
        pose proof (count_nonnegative t x).
        destruct (count_origin t x) as [(E & _) | (u & U & E & P1 & P2)]; [lia|lia|].
        pose proof (passed_later 0 (u - 1) x). lia.
      + destruct B as [B1 B2]; [lia|]. pose proof (start_count e x).
        pose proof (passed_later (S t - Z.to_nat (s x)) t x).
        destruct (one_round t x) as [(Z0 & _ & P & _) | ([Z0|Z0] & P & _)]; [lia| |lia].
        pose proof (count_nonnegative t x).
        destruct (count_origin t x) as [(E & _) | (u & U & E & P1 & P2)]; [lia|lia|].
        pose proof (passed_later (S t - Z.to_nat (s x)) (u - 1) x). lia.
  Qed.

  (** ** The closed form *)

  (** Is there a delay in the stretch of [j + 1] positions that ends at x? *)
  Fixpoint delay_within (j : nat) (x : Z) : bool :=
    delay x || match j with O => false | S j => delay_within j (x - 1) end.

  (** The slope: d if there is a delay in [x', x], else 1. *)
  Definition slope (x' x : Z) : Z := if delay_within (Z.to_nat (x - x')) x then d else 1.

  (** What the source x' contributes to D(x, k). *)
  Definition weight (x' x k : Z) : Z := (x - x') + c0 x' + 1 + (k - l x') * slope x' x.

  Lemma delay_within_true : forall j x,
    delay_within j x = true <-> exists z, x - Z.of_nat j <= z <= x /\ delay z = true.
  Proof.
    induction j; intro x; cbn [delay_within].
    - rewrite orb_false_r. split.
      + exists x; split; [lia | assumption].
      + intros (z & Z & D). replace x with z by lia; assumption.
    - rewrite orb_true_iff, IHj. split.
      + intros [D | (z & Z & D)]; [exists x | exists z]; split; auto; lia.
      + intros (z & Z & D). destruct (Z.eq_dec z x); [left; congruence|].
        right; exists z; split; [lia | assumption].
  Qed.

  Lemma slope_delay : forall x' x z, x' <= z <= x -> delay z = true -> slope x' x = d.
  Proof.
    intros x' x z Z D; unfold slope.
    replace (delay_within (Z.to_nat (x - x')) x) with true; [reflexivity|].
    symmetry; apply delay_within_true; exists z; split; [lia | assumption].
  Qed.

  Lemma slope_cases : forall x' x, x' <= x ->
    (slope x' x = d /\ exists z, x' <= z <= x /\ delay z = true) \/
    (slope x' x = 1 /\ forall z, x' <= z <= x -> delay z = false).
  Proof.
    intros x' x H; unfold slope. destruct (delay_within (Z.to_nat (x - x')) x) eqn:E.
    - left; split; [reflexivity|]. apply delay_within_true in E. destruct E as (z & Z & D).
      exists z; split; [lia | assumption].
    - right; split; [reflexivity|]. intros z Z. destruct (delay z) eqn:D; [|reflexivity].
      rewrite <- E. symmetry. apply delay_within_true. exists z; split; [lia | assumption].
  Qed.

  Lemma slope_grows : forall x' x y, x' <= x <= y -> slope x' x <= slope x' y.
  Proof.
    intros x' x y H. pose proof (d_positive e).
    destruct (slope_cases x' x) as [(E & z & Z & D) | (E & _)]; [lia| |].
    - rewrite (slope_delay x' y z) by (auto; lia). lia.
    - destruct (slope_cases x' y) as [(E' & _) | (E' & _)]; lia.
  Qed.

  Lemma slope_here : forall x, slope x x = s x.
  Proof.
    intro x; unfold slope, spacing. replace (Z.to_nat (x - x)) with O by lia. cbn.
    rewrite orb_false_r; reflexivity.
  Qed.

  Lemma spacing_slope : forall x' x, x' <= x -> s x <= slope x' x.
  Proof.
    intros x' x H. pose proof (d_positive e). unfold spacing. destruct (delay x) eqn:D.
    - rewrite (slope_delay x' x x); auto; lia.
    - destruct (slope_cases x' x) as [(E & _) | (E & _)]; lia.
  Qed.

  Lemma slope_positive : forall x' x, 1 <= slope x' x.
  Proof. intros; unfold slope; pose proof (d_positive e); destruct (delay_within _ _); lia. Qed.

  (** *** No path is longer than the release time *)

  Lemma hops : forall j t x k, l (x - Z.of_nat j) <= k -> k < F t x ->
    Z.of_nat j <= Z.of_nat t /\ k < F (t - j) (x - Z.of_nat j).
  Proof.
    induction j; intros t x k L H.
    - replace (x - Z.of_nat 0) with x in * by lia. replace (t - 0)%nat with t by lia. lia.
    - pose proof (passed_behind 0 (x - Z.of_nat (S j)) x) as Lx.
      pose proof (passed_behind 0 (x - Z.of_nat (S j)) (x - 1)) as Ly.
      destruct t as [|t]; [lia|]. pose proof (hop t x) as Hp.
      replace (x - Z.of_nat (S j)) with (x - 1 - Z.of_nat j) in * by lia.
      destruct (IHj t (x - 1) k) as [I J]; [lia|lia|].
      replace (S t - S j)%nat with (t - j)%nat by lia. lia.
  Qed.

  Lemma ups : forall j t z k, l z <= k - Z.of_nat j -> k < F t z ->
    Z.of_nat j * s z <= Z.of_nat t /\ k - Z.of_nat j < F (t - j * Z.to_nat (s z)) z.
  Proof.
    intros j t z. revert t. pose proof (spacing_positive z). induction j; intros t k L H0.
    - replace (t - 0 * Z.to_nat (s z))%nat with t by lia. lia.
    - destruct (releases_apart t z k) as [A B]; [lia|lia|].
      destruct (IHj (t - Z.to_nat (s z))%nat (k - 1)) as [I J]; [lia|lia|].
      split; [nia|].
      replace (t - S j * Z.to_nat (s z))%nat with (t - Z.to_nat (s z) - j * Z.to_nat (s z))%nat by nia.
      replace (k - Z.of_nat (S j)) with (k - 1 - Z.of_nat j) by lia. assumption.
  Qed.

  Lemma weight_at_most : forall t x k x', x' <= x -> l x' <= k -> k < F t x ->
    weight x' x k <= Z.of_nat t.
  Proof.
    intros t x k x' X L H. unfold weight.
    (* all steps up are taken at z: a delay in [x', x], or x itself *)
    assert (A : exists z, x' <= z <= x /\ s z = slope x' x).
    { destruct (slope_cases x' x X) as [(E & z & Z & D) | (E & R)].
      - exists z; split; [assumption|]. rewrite E; apply spacing_delay, D.
      - exists x; split; [lia|]. rewrite E; apply spacing_relay, R; lia. }
    destruct A as (z & Z & E). rewrite <- E. pose proof (spacing_positive z).
    pose proof (passed_behind 0 x' z). pose proof (passed_behind 0 x' x).
    destruct (hops (Z.to_nat (x - z)) t x k) as [A1 B1]; [|lia|].
    { replace (x - Z.of_nat (Z.to_nat (x - z))) with z by lia; lia. }
    replace (x - Z.of_nat (Z.to_nat (x - z))) with z in B1 by lia.
    destruct (ups (Z.to_nat (k - l x')) (t - Z.to_nat (x - z)) z k) as [A2 B2]; [lia|assumption|].
    replace (k - Z.of_nat (Z.to_nat (k - l x'))) with (l x') in B2 by lia.
    apply (hops (Z.to_nat (z - x'))) in B2; [destruct B2 as [A3 B3]|].
    2:{ replace (z - Z.of_nat (Z.to_nat (z - x'))) with x' by lia; lia. }
    replace (z - Z.of_nat (Z.to_nat (z - x'))) with x' in B3 by lia.
    apply first_waits in B3.
    assert (Z.of_nat (Z.to_nat (k - l x') * Z.to_nat (s z)) = (k - l x') * s z) by nia.
    nia.
  Qed.

  (** *** Some path is as long *)

  Lemma weight_at_least : forall t x k, l x <= k -> F t x <= k ->
    exists x', x' <= x /\ l x' <= k /\ Z.of_nat t < weight x' x k.
  Proof.
    induction t as [t IH] using (well_founded_induction Wf_nat.lt_wf). intros x k L H.
    pose proof (spacing_positive x) as S1. pose proof (start_count e x) as C0.
    assert (N : ~ k < F t x) by lia. rewrite (dater t x k L) in N.
    assert (T : (t = 0)%nat \/ (1 <= t)%nat) by lia. destruct T as [T|T].
    { subst t. exists x. unfold weight. pose proof (slope_positive x x). nia. }
    destruct (Z.le_gt_cases (l (x - 1)) k) as [L1|L1];
      [destruct (Z.lt_ge_cases k (F (t - 1) (x - 1))) as [A|A]|].
    2:{ (* not released from x - 1 a round before *)
        destruct (IH (t - 1)%nat ltac:(lia) (x - 1) k L1) as (x' & X & Lx & W); [lia|].
        exists x'; split; [lia|split; [lia|]]. unfold weight in *.
        pose proof (slope_grows x' (x - 1) x). nia. }
    all: destruct (Z.eq_dec k (l x)) as [K|K].
    1,3: exists x; unfold weight; split; [lia|split; [lia|]]; rewrite slope_here; nia.
    all: destruct (Z.le_gt_cases (s x) (Z.of_nat t)) as [B|B];
      [| exists x; unfold weight; split; [lia|split; [lia|]]; rewrite slope_here; nia].
    all: destruct (IH (t - Z.to_nat (s x))%nat ltac:(lia) x (k - 1)) as (x' & X & Lx & W); [lia| |].
    1,3: destruct (Z.lt_ge_cases (k - 1) (F (t - Z.to_nat (s x)) x)); [exfalso; apply N; repeat split; lia|lia].
    all: exists x'; split; [lia|split; [lia|]]; unfold weight in *.
    all: pose proof (spacing_slope x' x X); nia.
  Qed.

  (** ** Lemma 1

      Token k is released from x by round t exactly if no source weighs more:
      D(x, k) is the largest [weight x' x k] over a(k) <= x' <= x. *)
  Theorem release_times : forall t x k, l x <= k ->
    k < F t x <-> (forall x', x' <= x -> l x' <= k -> weight x' x k <= Z.of_nat t).
  Proof.
    intros t x k L; split.
    - intros; apply weight_at_most; assumption.
    - intro A. destruct (Z.lt_ge_cases k (F t x)) as [|H]; [assumption|exfalso].
      destruct (weight_at_least t x k L H) as (x' & X & Lx & W). specialize (A x' X Lx). lia.
  Qed.

  (** β(x′), which does not depend on the token. *)
  Definition beta (x' : Z) : Z := c0 x' + 1 - x' - l x' * d.

  Lemma weight_at_delay : forall x x' k, delay x = true -> x' <= x ->
    weight x' x k = x + k * d + beta x'.
  Proof.
    intros x x' k D X. unfold weight, beta. rewrite (slope_delay x' x x); auto; lia.
  Qed.

  Lemma beta_turn : forall x, beta (x + n) = beta x - (n - m * d).
  Proof. intro x; unfold beta. rewrite start_turn, start_count_turn. lia. Qed.

  Corollary release_times_at_delay : forall t x k, delay x = true -> l x <= k ->
    k < F t x <-> (forall x', x' <= x -> l x' <= k -> x + k * d + beta x' <= Z.of_nat t).
  Proof.
    intros t x k D L. rewrite (release_times t x k L).
    split; intros A x' X Lx; specialize (A x' X Lx); rewrite weight_at_delay in *; auto.
  Qed.
End Execution.
