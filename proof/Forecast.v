(** * The state after any round, without simulating

    [docs/research/forecast.md] as functions that run: release times are the maximum of the
    closed form, and the state after round t is read off them. [forecast_is_run]
    says that this is the state after t rounds. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring ReleaseTimes Unroll Closure Theorems.
Import ListNotations.
Local Open Scope Z_scope.

Section ClosedForm.
  (** The separation, which positions delay, l(x) and c(x). *)
  Variables (d : Z) (delay : Z -> bool) (l c0 : Z -> Z).

  (** The largest weight at (x, k) of the sources at y and before, as far back as
      token k has a part in it; [seen] says whether there is a delay in (y, x]. *)
  Fixpoint heaviest (fuel : nat) (y x k : Z) (seen : bool) : Z :=
    match fuel with
    | O => 0
    | S fuel =>
        if l y <=? k then
          let seen := seen || delay y in
          Z.max ((x - y) + c0 y + 1 + (k - l y) * (if seen then d else 1))
                (heaviest fuel (y - 1) x k seen)
        else 0
    end.

  (** D(x, k), for n processes: a source further back has l > k. *)
  Definition release_round (n x k : Z) : Z :=
    heaviest (Z.to_nat (n * (k - l x + 1))) x x k false.

  (** The first token from k on that has not been released from x by round t. *)
  Fixpoint first_left (fuel : nat) (n x k t : Z) : Z :=
    match fuel with
    | O => k
    | S fuel => if release_round n x k <=? t then first_left fuel n x (k + 1) t else k
    end.

  Definition passed_by (n x : Z) (t : nat) : Z := first_left t n x (l x) (Z.of_nat t).

  (** The counter after round t: it was set when the latest token was released. *)
  Definition count_by (n x : Z) (t : nat) : Z :=
    let k := passed_by n x t in
    if k =? l x then Z.max 0 (c0 x - Z.of_nat t)
    else Z.max 0 ((if delay x then d else 1) - 1 - (Z.of_nat t - release_round n x (k - 1))).
End ClosedForm.

(** The state after round t of the ring. *)
Definition forecast (d : nat) (programs : list program) (start : list process) (t : nat) : list process :=
  match t with
  | O => start
  | S before =>
      let n := Z.of_nat (length start) in
      let l := first_token d programs start in
      let c0 := fun x => Z.of_nat (counter (process_at start x)) in
      let passed := passed_by (Z.of_nat d) (delay_at programs) l c0 n in
      let count := count_by (Z.of_nat d) (delay_at programs) l c0 n in
      map (fun i =>
        let x := Z.of_nat i in
        Process (Z.to_nat (passed x t - passed x before))
                (Z.to_nat (passed (x - 1) before - passed x t))
                (Z.to_nat (count x t)))
        (seq 0 (length start))
  end.

(** ** It is right *)

Section Right.
  Variable e : execution.
  Import Line.
  Notation heaviest := (heaviest d delay l c0) (only parsing).
  Notation release_round := (release_round d delay l c0 n) (only parsing).
  Notation first_left := (first_left d delay l c0) (only parsing).
  Notation passed_by := (passed_by d delay l c0 n) (only parsing).
  Notation count_by := (count_by d delay l c0 n) (only parsing).

  Definition seen_after (y x : Z) (seen : bool) : Prop :=
    seen = true <-> exists z, y < z <= x /\ delay z = true.

  Lemma slope_seen : forall y x seen, y <= x -> seen_after y x seen ->
    (if seen || delay y then d else 1) = slope e y x.
  Proof.
    intros y x seen Y S. destruct (slope_cases e y x Y) as [(E & z & Z & D) | (E & R)]; rewrite E.
    - destruct (Z.eq_dec z y) as [Zy|Zy].
      + subst z. rewrite D, orb_true_r. reflexivity.
      + rewrite (proj2 S); [reflexivity|]. exists z; split; [lia | assumption].
    - destruct seen.
      + destruct (proj1 S eq_refl) as (z & Z & D). rewrite R in D by lia. discriminate.
      + rewrite R by lia. reflexivity.
  Qed.

  Lemma seen_step : forall y x seen, y <= x -> seen_after y x seen ->
    seen_after (y - 1) x (seen || delay y).
  Proof.
    intros y x seen Y S. unfold seen_after in *. rewrite orb_true_iff, S. split.
    - intros [(z & Z & D) | D]; [exists z | exists y]; (split; [lia | assumption]).
    - intros (z & Z & D). destruct (Z.eq_dec z y); [right; congruence|].
      left; exists z; split; [lia | assumption].
  Qed.

  Lemma heaviest_above : forall fuel y x k seen, y <= x -> seen_after y x seen ->
    forall y', y - Z.of_nat fuel < y' <= y -> l y' <= k -> weight e y' x k <= heaviest fuel y x k seen.
  Proof.
    induction fuel; intros y x k seen Y S y' Y' L; [lia|]. cbn [Forecast.heaviest].
    pose proof (passed_behind e 0 y' y).
    replace (l y <=? k) with true by lia. rewrite (slope_seen y x seen Y S).
    destruct (Z.eq_dec y' y) as [E|E].
    - subst y'. unfold weight. lia.
    - pose proof (IHfuel (y - 1) x k _ ltac:(lia) (seen_step y x seen Y S) y' ltac:(lia) L). lia.
  Qed.

  Lemma heaviest_attained : forall fuel y x k seen, y <= x -> seen_after y x seen ->
    heaviest fuel y x k seen = 0 \/
    exists y', y' <= y /\ l y' <= k /\ heaviest fuel y x k seen = weight e y' x k.
  Proof.
    induction fuel; intros y x k seen Y S; [left; reflexivity|]. cbn [Forecast.heaviest].
    destruct (l y <=? k) eqn:L; [|left; reflexivity]. rewrite (slope_seen y x seen Y S).
    assert (W : 0 < weight e y x k).
    { unfold weight. pose proof (start_count e y). pose proof (slope_positive e y x).
      apply Z.leb_le in L. nia. }
    right. destruct (IHfuel (y - 1) x k _ ltac:(lia) (seen_step y x seen Y S)) as [E | (y' & Y' & L' & E)].
    - exists y. rewrite E. unfold weight in *. repeat split; lia.
    - rewrite E. fold (weight e y x k) in *.
      destruct (Z.le_gt_cases (weight e y' x k) (weight e y x k)).
      + exists y. unfold weight in *. repeat split; lia.
      + exists y'. unfold weight in *. repeat split; lia.
  Qed.

  (** *** Lemma 1, as a function *)
  Theorem release_round_right : forall t x k, l x <= k ->
    k < F t x <-> release_round x k <= Z.of_nat t.
  Proof.
    intros t x k L. rewrite (release_times e t x k L). unfold Forecast.release_round.
    set (fuel := Z.to_nat (n * (k - l x + 1))).
    pose proof (n_positive e). pose proof (m_positive e).
    assert (S : seen_after x x false).
    { split; [discriminate|]. intros (z & Z & _). lia. }
    split; intro A.
    - destruct (heaviest_attained fuel x x k false ltac:(lia) S) as [E | (y & Y & Ly & E)].
      + rewrite E. lia.
      + rewrite E. apply A; assumption.
    - intros y Y Ly.
      (* sources further back than the fuel reaches have l > k *)
      assert (Near : x - Z.of_nat fuel < y).
      { destruct (Z.lt_ge_cases (x - Z.of_nat fuel) y) as [|Far]; [assumption|exfalso].
        assert (T : forall j, l (x - Z.of_nat j * n) = l x + Z.of_nat j * m).
        { induction j; [replace (x - Z.of_nat 0 * n) with x; lia|].
          pose proof (start_turn e (x - Z.of_nat (Datatypes.S j) * n)) as Tn.
          replace (x - Z.of_nat (Datatypes.S j) * n + n) with (x - Z.of_nat j * n) in Tn by lia. lia. }
        specialize (T (Z.to_nat (k - l x + 1))). rewrite Z2Nat.id in T by lia.
        pose proof (passed_behind e 0 y (x - (k - l x + 1) * n)) as P. unfold fuel in Far.
        rewrite Z2Nat.id in Far by nia. nia. }
      pose proof (heaviest_above fuel x x k false ltac:(lia) S y ltac:(lia) Ly). lia.
  Qed.

  Lemma first_left_right : forall fuel k t x, l x <= k -> k <= F t x -> F t x <= k + Z.of_nat fuel ->
    first_left fuel n x k (Z.of_nat t) = F t x.
  Proof.
    induction fuel; intros k t x L K A; cbn [Forecast.first_left]; [lia|].
    pose proof (release_round_right t x k L) as R.
    destruct (Forecast.release_round d delay l c0 n x k <=? Z.of_nat t) eqn:E.
    - apply Z.leb_le in E. apply IHfuel; try lia.
    - apply Z.leb_gt in E. lia.
  Qed.

  Lemma passed_by_right : forall t x, passed_by x t = F t x.
  Proof.
    intros t x. unfold Forecast.passed_by. apply first_left_right; try lia.
    - apply (passed_later e 0 t x). lia.
    - induction t; [lia|]. pose proof (passed_step e t x). lia.
  Qed.

  (** A counter without a release only runs down. *)
  Lemma count_idle : forall j u x, F (u + j) x = F u x ->
    c (u + j) x = Z.max 0 (c u x - Z.of_nat j).
  Proof.
    induction j; intros u x E.
    - replace (u + 0)%nat with u by lia. pose proof (count_nonnegative e u x). lia.
    - replace (u + S j)%nat with (S (u + j)) in * by lia.
      pose proof (passed_step e (u + j) x). pose proof (passed_later e u (u + j) x ltac:(lia)).
      destruct (one_round e (u + j) x) as [(_ & _ & P & _) | (_ & P & C)]; [lia|].
      rewrite C, IHj by lia. lia.
  Qed.

  Lemma count_by_right : forall t x, count_by x t = c t x.
  Proof.
    intros t x. unfold Forecast.count_by. rewrite passed_by_right.
    destruct (F t x =? l x) eqn:E.
    - apply Z.eqb_eq in E. pose proof (count_idle t 0 x E) as C. cbn [Nat.add] in C. congruence.
    - apply Z.eqb_neq in E. pose proof (passed_later e 0 t x ltac:(lia)).
      set (k := F t x - 1). set (D := Forecast.release_round d delay l c0 n x k).
      assert (L : l x <= k) by lia.
      pose proof (proj1 (release_round_right t x k L) ltac:(lia)) as Dt. fold D in Dt.
      assert (D1 : 0 < D).
      { destruct (Z.lt_ge_cases 0 D) as [|N]; [assumption|exfalso].
        pose proof (proj2 (release_round_right 0 x k L)). fold D in H0. lia. }
      (* k is released in round u + 1 = D, and nothing since *)
      set (u := Z.to_nat (D - 1)).
      assert (Ru : F u x <= k).
      { destruct (Z.le_gt_cases (F u x) k) as [|N]; [assumption|exfalso].
        pose proof (proj1 (release_round_right u x k L) ltac:(lia)). fold D in H0. lia. }
      pose proof (proj2 (release_round_right (S u) x k L)) as Ru'. fold D in Ru'.
      destruct (one_round e u x) as [(_ & _ & P & C) | (_ & P & _)]; [|lia].
      pose proof (passed_later e (S u) t x ltac:(lia)).
      pose proof (count_idle (t - S u) (S u) x) as I.
      replace (S u + (t - S u))%nat with t in I by lia. rewrite I by lia. rewrite C.
      unfold spacing. lia.
  Qed.
End Right.

(** *** The closed form gives the state after any round *)
Theorem forecast_is_run : forall d programs start m t, valid d programs start m ->
  forecast d programs start t = run d programs t start.
Proof.
  intros d programs start m t V. destruct t as [|t]; [reflexivity|].
  pose proof (admits_length _ _ _ (valid_admits _ _ _ _ V)) as Len.
  set (e := line_of d programs start m V).
  assert (P : forall u x, passed_by (Z.of_nat d) (delay_at programs) (first_token d programs start)
                (fun x => Z.of_nat (counter (process_at start x))) (Z.of_nat (length start)) x u = passed e u x)
    by (intros u x; apply (passed_by_right e)).
  assert (C : forall u x, count_by (Z.of_nat d) (delay_at programs) (first_token d programs start)
                (fun x => Z.of_nat (counter (process_at start x))) (Z.of_nat (length start)) x u = count e u x)
    by (intros u x; apply (count_by_right e)).
  apply (nth_ext _ _ idle idle).
  { unfold forecast. rewrite map_length, seq_length, run_length by assumption. reflexivity. }
  intros i I. unfold forecast in *. rewrite map_length, seq_length in I.
  set (f := fun i : nat => _). rewrite (nth_indep _ _ (f 0%nat)) by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. unfold f. rewrite !P, !C. cbn [Nat.add].
  rewrite <- process_at_nat by (rewrite run_length by assumption; assumption).
  pose proof (unroll_queued d programs start (valid_d _ _ _ _ V) (valid_admits _ _ _ _ V)
    (valid_delay _ _ _ _ V) (m_pos _ _ _ _ V) t (Z.of_nat i)) as Q.
  pose proof (unroll_resting d programs start (valid_d _ _ _ _ V) (valid_admits _ _ _ _ V)
    (valid_delay _ _ _ _ V) (m_pos _ _ _ _ V) t (Z.of_nat i)) as R.
  change (count e (S t) (Z.of_nat i)) with (Z.of_nat (counter (process_at (run d programs (S t) start) (Z.of_nat i)))).
  unfold state in Q, R. unfold e, line_of. rewrite <- Q, <- R, !Nat2Z.id.
  destruct (process_at (run d programs (S t) start) (Z.of_nat i)); reflexivity.
Qed.
