(** * The paper's claims 2 to 8

    Claims 2 to 4 are proved as printed, for claims 3 and 4 with the ranges that are meant
    (PAPER.md, remarks 2 and 4). Claims 5, 6 and 8 are false for the state σ of the paper
    (errata 7 to 9). σ here is the state after a round [U] as [settled_since] has it: at no
    relay did a token rest from round [T] on, and every token has since arrived at a delay,
    or rested at one. For [U = T + n] the second half follows ([a_turn_settles]). *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes WorstCase Lateness Unroll Closure Bound Theorems Forecast Cycle.
Import ListNotations.
Local Open Scope Z_scope.

Section Line.
  Variable e : execution.
  Import Line.

  Lemma leaves_again : forall T x, exists t, (T <= t)%nat /\ F (S t) x = F t x + 1.
  Proof.
    intros T x. destruct (released_some_time e x (F T x)) as (t & H).
    assert (G : forall j, F T x < F (T + j) x -> exists t, (T <= t)%nat /\ F (S t) x = F t x + 1).
    { induction j; intro L; [replace (T + 0)%nat with T in L by lia; lia|].
      destruct (Z.lt_ge_cases (F T x) (F (T + j) x)) as [|E]; [auto|].
      exists (T + j)%nat. split; [lia|]. replace (T + S j)%nat with (S (T + j)) in L by lia.
      pose proof (passed_step e (T + j) x). lia. }
    apply (G (t - T)%nat). destruct (Nat.le_gt_cases T t).
    - replace (T + (t - T))%nat with t by lia. assumption.
    - pose proof (passed_later e t T x). lia.
  Qed.

  (** Claim 3. *)
  Lemma counts_for_ever : forall x k T, delay x = true -> 0 <= k <= d - 1 ->
    exists t, (T <= t)%nat /\ c t x = k.
  Proof.
    intros x k T D K. destruct (leaves_again T x) as (t & Ht & R).
    destruct (one_round e t x) as [(_ & _ & _ & C) | (_ & P & _)]; [|lia].
    rewrite spacing_delay in C by assumption.
    exists (S t + Z.to_nat (d - 1 - k))%nat. split; [lia|]. rewrite count_down; lia.
  Qed.

  (** Claim 4: after a release at a delay there is none for d - 1 rounds. *)
  Lemma quiet_after_release : forall x t u, delay x = true -> F (S t) x = F t x + 1 ->
    (t < u)%nat -> Z.of_nat u < Z.of_nat t + d -> F (S u) x = F u x.
  Proof.
    intros x t u D R L U. pose proof (passed_step e u x).
    destruct (Z.eq_dec (F (S u) x) (F u x)) as [|N]; [assumption|exfalso].
    destruct (one_round e t x) as [(_ & _ & _ & C) | (_ & P & _)]; [|lia].
    rewrite spacing_delay in C by assumption.
    pose proof (count_holds e (S u - S t) (S t) x ltac:(lia)) as Hold.
    pose proof (count_holds e (u - S t) (S t) x ltac:(lia)) as Held.
    replace (S t + (S u - S t))%nat with (S u) in Hold by lia.
    replace (S t + (u - S t))%nat with u in Held by lia. lia.
  Qed.

  Lemma count_at_most : forall t x, c t x <= s x - 1.
  Proof.
    induction t; intro x; [apply start_count|].
    pose proof (spacing_positive e x). specialize (IHt x). destruct (one_round e t x); lia.
  Qed.

  (** ** σ *)

  (** From round T + 1 on no token rests at a relay. *)
  Definition relays_calm (T : nat) : Prop := forall t x, (T <= t)%nat -> delay x = false ->
    F (S t) x = F t (x - 1).

  (** After round U + 1 every token has arrived at a delay that it had not left by round T. *)
  Definition settled_since (T U : nat) : Prop := relays_calm T /\ (T <= U)%nat /\
    forall k, exists y, delay y = true /\ F T y <= k < F U (y - 1).

  (** A relay without a pile gets none. *)
  Lemma relay_stays_calm : forall x, delay x = false -> forall T, F (S T) x = F T (x - 1) ->
    forall t, (T <= t)%nat -> F (S t) x = F t (x - 1).
  Proof.
    intros x R T Start t H. induction H as [|t H IH]; [assumption|].
    pose proof (count_at_most (S t) x) as C. pose proof (count_nonnegative e (S t) x).
    rewrite spacing_relay in C by assumption.
    pose proof (passed_step e t (x - 1)). pose proof (hop e (S t) x).
    destruct (one_round e (S t) x); lia.
  Qed.

  (** Between two delays all tokens move as one. *)
  Lemma moves_on : forall T, relays_calm T -> forall j t p, (T <= t)%nat ->
    (forall z, p < z <= p + Z.of_nat j -> delay z = false) ->
    F (t + j) (p + Z.of_nat j) = F t p.
  Proof.
    intros T Calm. induction j; intros t p Ht R.
    - f_equal; lia.
    - replace (t + S j)%nat with (S (t + j)) by lia. rewrite Calm; [|lia|apply R; lia].
      rewrite <- (IHj t p Ht) by (intros; apply R; lia). f_equal; lia.
  Qed.

  (** The delay at x or before it, and the one at x or after it. *)
  Lemma delay_before : forall x, exists j, delay (x - Z.of_nat j) = true /\
    forall z, x - Z.of_nat j < z <= x -> delay z = false.
  Proof.
    intro x. destruct (delay_in_turn e (x - n)) as (z & Z & D).
    assert (G : forall i x, delay (x - Z.of_nat i) = true -> exists j, delay (x - Z.of_nat j) = true /\
              forall z, x - Z.of_nat j < z <= x -> delay z = false).
    { induction i; intros y Dy; [exists 0%nat; split; [assumption | intros; lia]|].
      destruct (delay y) eqn:Here.
      - exists 0%nat. split; [replace (y - Z.of_nat 0) with y by lia; assumption | intros; lia].
      - destruct (IHi (y - 1)) as (j & Dj & R).
        { replace (y - 1 - Z.of_nat i) with (y - Z.of_nat (S i)) by lia. assumption. }
        exists (S j). split; [replace (y - Z.of_nat (S j)) with (y - 1 - Z.of_nat j) by lia; assumption|].
        intros w W. destruct (Z.eq_dec w y); [congruence | apply R; lia]. }
    apply (G (Z.to_nat (x - z))). rewrite Z2Nat.id by lia. replace (x - (x - z)) with z by lia. assumption.
  Qed.

  Lemma delay_after : forall x, exists j, Z.of_nat j < n /\ delay (x + Z.of_nat j) = true /\
    forall z, x <= z < x + Z.of_nat j -> delay z = false.
  Proof.
    intro x. destruct (delay_in_turn e x) as (z & Z & D).
    assert (G : forall i x, delay (x + Z.of_nat i) = true -> exists j, (j <= i)%nat /\ delay (x + Z.of_nat j) = true /\
              forall z, x <= z < x + Z.of_nat j -> delay z = false).
    { induction i; intros y Dy; [exists 0%nat; repeat split; [lia | assumption | intros; lia]|].
      destruct (delay y) eqn:Here.
      - exists 0%nat. repeat split; [lia | replace (y + Z.of_nat 0) with y by lia; assumption | intros; lia].
      - destruct (IHi (y + 1)) as (j & J & Dj & R).
        { replace (y + 1 + Z.of_nat i) with (y + Z.of_nat (S i)) by lia. assumption. }
        exists (S j). repeat split; [lia | replace (y + Z.of_nat (S j)) with (y + 1 + Z.of_nat j) by lia; assumption |].
        intros w W. destruct (Z.eq_dec w y); [congruence | apply R; lia]. }
    destruct (G (Z.to_nat (z - x)) x) as (j & J & Dj & R).
    - rewrite Z2Nat.id by lia. replace (x + (z - x)) with z by lia. assumption.
    - exists j. repeat split; [lia | assumption | assumption].
  Qed.

  (** Where token k is at the end of round t. *)
  Lemma somewhere : forall t k, exists x, F t x <= k < F t (x - 1).
  Proof.
    intros t k. pose proof (n_positive e). pose proof (m_positive e).
    set (a := Z.to_nat (F t 0 - k)). set (b := Z.to_nat (k - F t 0 + 1)).
    pose proof (turns e (Z.of_nat a) t 0) as Front.
    pose proof (turns e (Z.of_nat b) t (0 - Z.of_nat b * n)) as Back.
    replace (0 - Z.of_nat b * n + Z.of_nat b * n) with 0 in Back by lia.
    assert (G : forall j y, k < F t y -> F t (y + Z.of_nat j) <= k -> exists x, F t x <= k < F t (x - 1)).
    { induction j; intros y Y J; [replace (y + Z.of_nat 0) with y in J by lia; lia|].
      destruct (Z.lt_ge_cases k (F t (y + 1))) as [L|L].
      - apply (IHj (y + 1)); [assumption | replace (y + 1 + Z.of_nat j) with (y + Z.of_nat (S j)) by lia; assumption].
      - exists (y + 1). replace (y + 1 - 1) with y by lia. lia. }
    apply (G (Z.to_nat (Z.of_nat a * n + Z.of_nat b * n)) (0 - Z.of_nat b * n)).
    - unfold b in *. nia.
    - rewrite Z2Nat.id by nia.
      replace (0 - Z.of_nat b * n + (Z.of_nat a * n + Z.of_nat b * n)) with (0 + Z.of_nat a * n) by lia.
      unfold a in *. nia.
  Qed.

  (** A turn later every token has been at a delay. *)
  Lemma a_turn_settles : forall T U, relays_calm T -> (T + Z.to_nat n <= S U)%nat -> settled_since T U.
  Proof.
    intros T U Calm Later. pose proof (n_positive e). split; [assumption|]. split; [lia|].
    intro k. destruct (somewhere T k) as (x & Not & Left). destruct (delay_after x) as (j & J & D & R).
    exists (x + Z.of_nat j). split; [assumption|]. split.
    - pose proof (passed_behind e T x (x + Z.of_nat j)). lia.
    - pose proof (moves_on T Calm j T (x - 1) ltac:(lia) ltac:(intros; apply R; lia)) as M.
      replace (x - 1 + Z.of_nat j) with (x + Z.of_nat j - 1) in M by lia.
      pose proof (passed_later e (T + j) U (x + Z.of_nat j - 1)). lia.
  Qed.

  (** ** Claim 5: arrivals are apart *)
  Theorem arrivals_apart : forall T U, settled_since T U -> forall t u w, (U <= t < u)%nat ->
    F (S t) w = F t w + 1 -> F (S u) w = F u w + 1 -> Z.of_nat t + d <= Z.of_nat u.
  Proof.
    intros T U (Calm & TU & At) t u w Order Rt Ru.
    destruct (delay_before w) as (j & D & Relays). set (p := w - Z.of_nat j) in *.
    destruct (At (F t w)) as (y & Dy & Not & There).
    assert (Y : y <= w).
    { destruct (Z.le_gt_cases y w) as [|N]; [assumption|exfalso].
      pose proof (passed_behind e U w (y - 1)). pose proof (passed_later e U t w). lia. }
    assert (P : y <= p).
    { destruct (Z.le_gt_cases y p) as [|N]; [assumption|exfalso]. rewrite Relays in Dy by lia. discriminate. }
    pose proof (passed_behind e T y p ltac:(assumption)).
    assert (M : forall v, (T <= v)%nat -> F (v + j) w = F v p).
    { intros v V. replace w with (p + Z.of_nat j) by (unfold p; lia). apply (moves_on T Calm); [assumption|].
      intros z Zr. apply Relays. unfold p in *; lia. }
    assert (Late : (T + j <= t)%nat).
    { pose proof (M T ltac:(lia)). destruct (Nat.le_gt_cases (T + j) t) as [|N]; [assumption|exfalso].
      pose proof (passed_later e (S t) (T + j) w). lia. }
    destruct (Z.le_gt_cases (Z.of_nat t + d) (Z.of_nat u)) as [|Near]; [assumption|exfalso].
    pose proof (quiet_after_release p (t - j) (u - j) D) as Q.
    pose proof (M (t - j)%nat ltac:(lia)) as Mt. pose proof (M (S (t - j)) ltac:(lia)) as Mt'.
    pose proof (M (u - j)%nat ltac:(lia)) as Mu. pose proof (M (S (u - j)) ltac:(lia)) as Mu'.
    replace (t - j + j)%nat with t in Mt by lia. replace (S (t - j) + j)%nat with (S t) in Mt' by lia.
    replace (u - j + j)%nat with u in Mu by lia. replace (S (u - j) + j)%nat with (S u) in Mu' by lia.
    specialize (Q ltac:(lia) ltac:(lia) ltac:(lia)). lia.
  Qed.

  (** ** Claims 6 and 7: what bounds the tokens that rest at a delay

      The bound B is kept while B tokens rest only if no other arrives before the counter has
      run down. *)
  Notation r := (r e).

  Definition kept (x B : Z) (t : nat) : Prop := r t x <= B /\
    (r t x = B -> forall u, (t <= u)%nat -> Z.of_nat u < Z.of_nat t + c (S t) x ->
      F (S u) (x - 1) = F u (x - 1)).

  Lemma bound_is_kept : forall T U, settled_since T U -> forall x B, delay x = true -> 0 <= B ->
    forall t, (U <= t)%nat -> kept x B t -> forall v, (t <= v)%nat -> kept x B v.
  Proof.
    intros T U At x B D B0 t Ht K v Hv. induction Hv as [|v Hv [Most Quiet]]; [assumption|].
    pose proof (passed_step e v (x - 1)) as A. pose proof (hop e (S v) x) as H.
    pose proof (count_at_most (S v) x) as C. rewrite spacing_delay in C by assumption.
    pose proof (count_nonnegative e (S v) x).
    assert (Next : F (S v) (x - 1) = F v (x - 1) + 1 -> forall u, (v < u)%nat -> Z.of_nat u < Z.of_nat v + d ->
              F (S u) (x - 1) = F u (x - 1)).
    { intros Rv u Hu Near. pose proof (passed_step e u (x - 1)).
      destruct (Z.eq_dec (F (S u) (x - 1)) (F u (x - 1))) as [|N]; [assumption|exfalso].
      pose proof (arrivals_apart T U At v u (x - 1) ltac:(lia) Rv ltac:(lia)). lia. }
    unfold kept, Lateness.r in *.
    destruct (one_round e (S v) x) as [(_ & _ & P & N) | (Why & P & N)].
    - rewrite spacing_delay in N by assumption. split; [lia|].
      intros Full u Hu Near. apply Next; lia.
    - destruct (Z.eq_dec (c (S v) x) 0) as [Zero|Runs].
      + split; [lia|]. intros _ u Hu Near. lia.
      + assert (F v (x - 1) - F (S v) x = B -> F (S v) (x - 1) = F v (x - 1)) by (intro Full; apply Quiet; lia).
        split; [lia|]. intros Full u Hu Near.
        destruct (Z.eq_dec (F v (x - 1) - F (S v) x) B) as [E|E].
        * apply Quiet; [assumption|lia|lia].
        * apply Next; lia.
  Qed.
End Line.

(** ** The claims about rings

    Position x is process x mod n, as the paper writes p_{i-1}. A token arrives at i in the
    round after which it was queued at i - 1. *)
Section Runs.
  Variables (d : nat) (programs : list program) (start : list process) (m : nat).
  Hypothesis V : valid d programs start m.
  Notation n := (length programs).
  Notation p t i := (process_at (run d programs t start) i).
  Notation delays i := (delay_at programs i = true).
  Let e := line_of d programs start m V.

  Lemma queued_on_line : forall t i, Z.of_nat (queued (p (S t) i)) = passed e (S t) i - passed e t i.
  Proof. intros. apply unroll_queued. Qed.
  Lemma resting_on_line : forall t i, Z.of_nat (resting (p (S t) i)) = Lateness.r e t i.
  Proof. intros. apply unroll_resting. Qed.
  Lemma counter_on_line : forall t i, Z.of_nat (counter (p t i)) = count e t i.
  Proof. reflexivity. Qed.

  Theorem claim2 : forall t i, (1 <= t)%nat -> (queued (p t i) <= 1)%nat.
  Proof.
    intros [|t] i T; [lia|]. pose proof (queued_on_line t i). pose proof (passed_step e t i). lia.
  Qed.

  Theorem claim3 : forall i k T, delays i -> (k <= d - 1)%nat ->
    exists t, (T <= t)%nat /\ counter (p t i) = k.
  Proof.
    intros i k T D K. pose proof (valid_d _ _ _ _ V).
    destruct (counts_for_ever e i (Z.of_nat k) T D) as (t & Ht & C).
    - change (ReleaseTimes.d e) with (Z.of_nat d). lia.
    - exists t. split; [assumption|]. pose proof (counter_on_line t i). lia.
  Qed.

  (** In d = C + 1 successive rounds a delay releases at most once; from the first round on. *)
  Theorem claim4 : forall i t u, delays i -> (1 <= t < u)%nat ->
    queued (p t i) = 1%nat -> queued (p u i) = 1%nat -> (t + d <= u)%nat.
  Proof.
    intros i [|t] [|u] D Order Rt Ru; try lia.
    pose proof (queued_on_line t i). pose proof (queued_on_line u i).
    destruct (Nat.le_gt_cases (S t + d) (S u)) as [|Near]; [assumption|exfalso].
    pose proof (quiet_after_release e i t u D ltac:(lia) ltac:(lia)) as Q.
    change (ReleaseTimes.d e) with (Z.of_nat d) in Q. lia.
  Qed.

  (** σ: after round s, a turn and more after a round T after which no token rested at a relay. *)
  Definition sigma (s : nat) : Prop := exists T, (1 <= T)%nat /\ (T + n <= s)%nat /\
    forall i, delay_at programs i = false -> resting (p T i) = 0%nat.

  Lemma sigma_on_line : forall s, sigma s -> exists T U, (U < s)%nat /\ settled_since e T U.
  Proof.
    intros s ([|T] & T1 & Later & Empty); [lia|].
    assert (N : ReleaseTimes.n e = Z.of_nat n) by apply line_n.
    exists T, (T + n)%nat. split; [lia|]. apply a_turn_settles; [|lia].
    intros t i Ht R. apply (relay_stays_calm e i R T); [|assumption].
    specialize (Empty i R). pose proof (resting_on_line T i) as L. unfold Lateness.r in L. lia.
  Qed.

  (** Every execution has such states. *)
  Theorem sigma_comes : feasible d programs m -> exists S, forall s, (S <= s)%nat -> sigma s.
  Proof.
    intro Feas. set (W := S (worst_last_rest m d (widest_gap programs))).
    exists (W + n)%nat. intros s Hs. exists W. repeat split; [lia|lia|]. intros i _.
    destruct (resting (p W i)) eqn:R; [reflexivity|exfalso].
    pose proof (theorem1_bound d programs start m V Feas W) as B.
    assert (W <= worst_last_rest m d (widest_gap programs))%nat; [apply B|lia].
    exists (p W i). split; [|lia]. apply process_at_in.
    apply (nonempty_of_delay d programs); [apply admits_run, V | apply V].
  Qed.

  (** Claim 5, corrected: arrivals after σ are d = C + 1 rounds apart or more. *)
  Theorem claim5 : forall s i t u, sigma s -> (s <= t < u)%nat ->
    queued (p t (i - 1)) = 1%nat -> queued (p u (i - 1)) = 1%nat -> (t + d <= u)%nat.
  Proof.
    intros s i [|t] [|u] At Order Rt Ru; try lia.
    { destruct At as (T & T1 & Late & _). lia. }
    destruct (sigma_on_line s At) as (T & U & US & Settled).
    pose proof (queued_on_line t (i - 1)). pose proof (queued_on_line u (i - 1)).
    pose proof (arrivals_apart e T U Settled t u (i - 1) ltac:(lia) ltac:(lia) ltac:(lia)) as A.
    change (ReleaseTimes.d e) with (Z.of_nat d) in A. lia.
  Qed.

  Lemma rests_within : forall s i B, sigma s -> delays i ->
    (resting (p s i) < B)%nat \/ (resting (p s i) <= B)%nat /\ counter (p s i) = 0%nat ->
    forall t, (s <= t)%nat -> (resting (p t i) <= B)%nat.
  Proof.
    intros [|s] i B At D Start [|t] Order; try lia.
    { destruct At as (T & T1 & Late & _). lia. }
    destruct (sigma_on_line (S s) At) as (T & U & US & Settled).
    destruct (bound_is_kept e T U Settled i (Z.of_nat B) D ltac:(lia) s ltac:(lia)) with (v := t) as [K _].
    - split; rewrite <- resting_on_line; [lia|]. intros Full u Hu Near.
      rewrite <- counter_on_line in Near. lia.
    - lia.
    - rewrite <- resting_on_line in K. lia.
  Qed.

  (** Claim 6, for the corrected σ. *)
  Theorem claim6 : forall s i t, sigma s -> (s <= t)%nat ->
    (resting (p t i) <= 1 + resting (p s i))%nat.
  Proof.
    intros s i t At Order. destruct (delay_at programs i) eqn:D.
    - apply (rests_within s i (1 + resting (p s i)) At D); [lia | assumption].
    - destruct (sigma_on_line s At) as (T & U & US & Calm & TU & _).
      destruct s as [|s]; [lia|]. destruct t as [|t]; [lia|].
      pose proof (resting_on_line t i) as L. unfold Lateness.r in L.
      specialize (Calm t i ltac:(lia) D). lia.
  Qed.

  (** Claim 7. *)
  Theorem claim7 : forall s i t, sigma s -> delays i ->
    resting (p s i) = 0%nat -> counter (p s i) = 0%nat -> (s <= t)%nat -> resting (p t i) = 0%nat.
  Proof.
    intros s i t At D R C Order.
    pose proof (rests_within s i 0 At D ltac:(right; lia) t Order). lia.
  Qed.

  (** F: the resting bound of every delay, j rounds after σ. It is one more than the fewest
      tokens that have rested there since, and 0 once none rested while the counter was 0. *)
  Definition bound_of (here : process) : nat :=
    if (resting here =? 0)%nat && (counter here =? 0)%nat then 0 else 1 + resting here.
  Fixpoint resting_bound (s : nat) (i : Z) (j : nat) : nat :=
    match j with
    | O => bound_of (p s i)
    | S j' => Nat.min (resting_bound s i j') (bound_of (p (s + j) i))
    end.

  Lemma sigma_later : forall s u, sigma s -> (s <= u)%nat -> sigma u.
  Proof. intros s u (T & T1 & Late & E) Hu. exists T. repeat split; [lia|lia|assumption]. Qed.

  Theorem resting_bound_bounds : forall s i, sigma s -> delays i -> forall j v, (s + j <= v)%nat ->
    (resting (p v i) <= resting_bound s i j)%nat.
  Proof.
    intros s i At D.
    assert (Here : forall u v, (s <= u <= v)%nat -> (resting (p v i) <= bound_of (p u i))%nat).
    { intros u v Order. unfold bound_of.
      destruct (resting (p u i) =? 0)%nat eqn:R, (counter (p u i) =? 0)%nat eqn:C; cbn [andb];
        rewrite ?Nat.eqb_eq, ?Nat.eqb_neq in *;
        try (apply claim6; [apply (sigma_later s); [assumption|lia] | lia]).
      rewrite (claim7 u i v); [lia | apply (sigma_later s); [assumption|lia] | assumption.. | lia]. }
    induction j as [|j IH]; intros v Order; cbn [resting_bound].
    - apply Here. lia.
    - apply Nat.min_glb; [apply IH; lia | apply Here; lia].
  Qed.

  (** Claim 8, for the corrected σ: F never rises, and it falls as long as it is positive. *)
  Theorem claim8 : feasible d programs m -> forall s i j, sigma s -> delays i ->
    (resting_bound s i (S j) <= resting_bound s i j)%nat /\
    ((0 < resting_bound s i j)%nat ->
     exists j', (j < j')%nat /\ (resting_bound s i j' < resting_bound s i j)%nat).
  Proof.
    intros Feas s i j At D. split; [cbn [resting_bound]; lia|]. intro Positive.
    set (W := S (worst_last_rest m d (widest_gap programs))).
    destruct (claim3 i 0 (Nat.max W (S (s + j))) D ltac:(lia)) as (t & Ht & C).
    assert (R : resting (p t i) = 0%nat).
    { destruct (resting (p t i)) eqn:R; [reflexivity|exfalso].
      assert (t <= worst_last_rest m d (widest_gap programs))%nat; [|lia].
      apply (theorem1_bound d programs start m V Feas). exists (p t i). split; [|lia].
      apply process_at_in. apply (nonempty_of_delay d programs); [apply admits_run, V | apply V]. }
    exists (t - s)%nat. split; [lia|]. destruct (t - s)%nat as [|j'] eqn:J; [lia|].
    cbn [resting_bound]. replace (s + S j')%nat with t by lia.
    unfold bound_of at 1. rewrite R, C. cbn. lia.
  Qed.
End Runs.

(** ** As printed, claims 5 and 6 are false

    The paper's σ is a state after which every token has arrived at a delay. In a ring with one
    delay and m tokens it has come when m tokens have arrived there: first in, first out, they
    are all different. In both rings a pile at the relay behind the delay makes tokens that the
    delay has released already follow each other at a distance of one. *)
Definition lone_delay (n : nat) : list program := Delay :: repeat Relay (n - 1).
Definition arrivals d programs start (t : nat) : nat :=
  queued (process_at (run d programs t start) (-1)).
Definition arrived_by d programs start (t : nat) : nat :=
  list_sum (map (arrivals d programs start) (seq 0 t)).

Definition as_printed_start (n : nat) (pile : nat) (last : process) : list process :=
  idle :: Process 0 pile 0 :: repeat idle (n - 3) ++ [last].
Definition crowd8 := as_printed_start 8 2 (Process 1 1 0).
Definition crowd12 := as_printed_start 12 3 (Process 1 2 0).

Local Ltac check_valid := constructor;
  [lia | left; reflexivity | repeat constructor | reflexivity | lia].

(** After round 9 all four have arrived; then one arrives in round 10 and one in round 11. *)
Theorem claim5_as_printed :
  valid 2 (lone_delay 8) crowd8 4 /\ feasible 2 (lone_delay 8) 4 /\
  arrived_by 2 (lone_delay 8) crowd8 9 = 4%nat /\
  arrivals 2 (lone_delay 8) crowd8 9 = 1%nat /\ arrivals 2 (lone_delay 8) crowd8 10 = 1%nat.
Proof. split; [check_valid|]. split; [unfold feasible; cbn; lia|]. vm_compute. auto. Qed.

(** After round 14 all six have arrived and one rests at the delay; after round 17 three do. *)
Theorem claim6_as_printed :
  valid 2 (lone_delay 12) crowd12 6 /\ feasible 2 (lone_delay 12) 6 /\
  arrived_by 2 (lone_delay 12) crowd12 14 = 6%nat /\
  resting (nth 0 (run 2 (lone_delay 12) 14 crowd12) idle) = 1%nat /\
  resting (nth 0 (run 2 (lone_delay 12) 17 crowd12) idle) = 3%nat.
Proof. split; [check_valid|]. split; [unfold feasible; cbn; lia|]. vm_compute. auto. Qed.
