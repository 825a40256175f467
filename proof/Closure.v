(** * Legitimacy on the line is legitimacy of the ring, and it is closed

    [legitimate_lifted] relates the clauses of [Legitimate.v] to their form on the
    unrolled ring; [closure] is the paper's lemma of that name. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes Unroll Lateness.
Import ListNotations.
Local Open Scope Z_scope.

Definition lifted (d : nat) programs (ps : list process) : Prop :=
  lifted_legitimate (Z.of_nat d) (delay_at programs)
    (fun x => Z.of_nat (queued (process_at ps x)))
    (fun x => Z.of_nat (resting (process_at ps x)))
    (fun x => Z.of_nat (counter (process_at ps x))).

Lemma find_seq : forall f k a,
  match find f (seq a k) with
  | Some j => (a <= j < a + k)%nat /\ f j = true /\ forall i, (a <= i < j)%nat -> f i = false
  | None => forall i, (a <= i < a + k)%nat -> f i = false
  end.
Proof.
  intros f. induction k as [|k IH]; intro a; cbn [seq find]; [intros; lia|].
  destruct (f a) eqn:E.
  - repeat split; try lia. assumption.
  - specialize (IH (S a)). destruct (find f (seq (S a) k)) as [j|].
    + destruct IH as (J & Fj & L). repeat split; try lia; try assumption.
      intros i I. destruct (Nat.eq_dec i a); [subst; assumption | apply L; lia].
    + intros i I. destruct (Nat.eq_dec i a); [subst; assumption | apply IH; lia].
Qed.

Section Lifted.
  Variables (d : nat) (programs : list program) (ps : list process).
  Hypothesis d_pos : (1 <= d)%nat.
  Hypothesis fits : admits d programs ps.
  Hypothesis nonempty : ps <> [].

  Let N := Z.of_nat (length ps).
  Let same_length : length programs = length ps := admits_length d programs ps fits.

  Lemma N_positive : 0 < N.
  Proof. unfold N; destruct ps; [congruence | cbn; lia]. Qed.

  (** Position x, seen as a process. *)
  Lemma wrap : forall x, exists i, (i < length ps)%nat /\
    (forall y, process_at ps (Z.of_nat i + y) = process_at ps (x + y)) /\
    delay_at programs x = is_delay programs i /\ nth i ps idle = process_at ps x.
  Proof.
    intro x. pose proof N_positive as NP. pose proof (Z.mod_pos_bound x N NP) as B.
    exists (Z.to_nat (x mod N)). split; [unfold N in *; lia|]. split; [|split].
    - intro y. unfold process_at. fold N. rewrite Z2Nat.id by lia.
      rewrite Z.add_mod_idemp_l by lia. reflexivity.
    - unfold delay_at, program_at, is_delay. rewrite same_length. reflexivity.
    - reflexivity.
  Qed.

  Lemma process_index : forall i, (i < length ps)%nat ->
    process_at ps (Z.of_nat i) = nth i ps idle /\ delay_at programs (Z.of_nat i) = is_delay programs i.
  Proof.
    intros i I. split; [apply process_at_nat, I|].
    unfold delay_at, program_at, is_delay. rewrite Z.mod_small by lia. rewrite Nat2Z.id. reflexivity.
  Qed.

  Lemma has_token_at : forall i,
    has_token ps i = true <-> (0 < tokens (process_at ps (Z.of_nat i)))%nat.
  Proof.
    intro i. pose proof N_positive as NP. unfold has_token, process_at. fold N. rewrite Nat.ltb_lt.
    replace (Z.to_nat (Z.of_nat i mod N)) with (i mod length ps)%nat; [reflexivity|].
    unfold N. rewrite <- Nat2Z.inj_mod. lia.
  Qed.

  Lemma has_token_back : forall i j, (j < length ps)%nat ->
    has_token ps (i + length ps - j) = true <-> (0 < tokens (process_at ps (Z.of_nat i - Z.of_nat j)))%nat.
  Proof.
    intros i j J. rewrite has_token_at.
    replace (Z.of_nat (i + length ps - j)) with (Z.of_nat i - Z.of_nat j + Z.of_nat (length ps)) by lia.
    rewrite process_turn. reflexivity.
  Qed.

  Lemma total_positive : forall qs, (1 <= total qs)%nat -> exists p, In p qs /\ (0 < tokens p)%nat.
  Proof.
    induction qs as [|p qs IH]; intro H; [cbn in H; lia|].
    destruct (tokens p) eqn:E.
    - destruct IH as (p' & I & T).
      + change (total (p :: qs)) with (tokens p + total qs)%nat in H. lia.
      + exists p'; split; [right|]; assumption.
    - exists p; split; [left; reflexivity | lia].
  Qed.

  Notation Q x := (queued (process_at ps x)).
  Notation R x := (resting (process_at ps x)).
  Notation C x := (counter (process_at ps x)).
  Notation T x := (tokens (process_at ps x)).

  Lemma counter_domain : forall x, delay_at programs x = true -> (C x <= d - 1)%nat.
  Proof.
    intros x D. pose proof (admits_at d programs ps x fits nonempty) as B.
    unfold delay_at in D. destruct (program_at programs x); [assumption | discriminate].
  Qed.

  Lemma relay_domain : forall x, delay_at programs x = false -> C x = 0%nat.
  Proof.
    intros x D. pose proof (admits_at d programs ps x fits nonempty) as B.
    unfold delay_at in D. destruct (program_at programs x); [discriminate | cbn in B; lia].
  Qed.

  Lemma all_processes_iff : forall f,
    all_processes ps f = true <-> forall i, (i < length ps)%nat -> f i = true.
  Proof.
    intro f. unfold all_processes. rewrite forallb_forall. split; intros H i I.
    - apply H, in_seq. lia.
    - apply in_seq in I. apply H. lia.
  Qed.

  Lemma no_token : forall i, has_token ps i = false <-> T (Z.of_nat i) = 0%nat.
  Proof.
    intro i. pose proof (has_token_at i) as H. rewrite <- not_true_iff_false, H. lia.
  Qed.

  (** *** The two forms of the predicate agree *)
  Theorem legitimate_lifted : forall m, (1 <= m)%nat ->
    legitimate d programs ps m = true <-> total ps = m /\ lifted d programs ps.
  Proof.
    intros m M1. pose proof N_positive as NP.
    unfold legitimate, clause0, clause1, clause2, clause3, clause4.
    rewrite !andb_true_iff, !all_processes_iff, Nat.eqb_eq, forallb_forall.
    split.
    - intros (((((Tot & L0) & L1) & L2) & L3) & L4). split; [assumption|].
      assert (Z0 : forall x, R x = 0%nat /\ (Q x <= 1)%nat).
      { intro x. specialize (L0 _ (process_at_in ps x nonempty)).
        rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le in L0. assumption. }
      assert (Tq : forall x, T x = Q x) by (intro x; unfold tokens; destruct (Z0 x); lia).
      assert (Some_token : exists z, (0 < T z)%nat).
      { destruct (total_positive ps) as (p & I & Tp); [lia|].
        destruct (in_process_at ps p I) as (z & E). exists z. rewrite E. assumption. }
      constructor; cbv beta.
      + intro x. destruct (Z0 x). lia.
      + intro x. destruct (Z0 x). lia.
      + intros x y X Qx Qy. destruct (wrap x) as (i & I & W & _ & _).
        specialize (L1 i I). cbv beta in L1. rewrite (proj2 (has_token_at i)) in L1.
        2:{ replace (Z.of_nat i) with (Z.of_nat i + 0) by lia. rewrite W, Tq.
            replace (x + 0) with x by lia. lia. }
        cbn [implb] in L1. unfold next in L1.
        pose proof (find_seq (fun j => has_token ps (i + j)) (length ps) 1) as Fd.
        destruct (find _ _) as [j|]; cbn [if_any] in L1.
        * destruct Fd as (J & _ & Least). apply Nat.leb_le in L1.
          destruct (Z.le_gt_cases (y - x) N) as [Y|Y]; [|unfold N in *; lia].
          destruct (Z.le_gt_cases (Z.of_nat j) (y - x)) as [|K]; [lia|exfalso].
          specialize (Least (Z.to_nat (y - x)) ltac:(lia)). cbv beta in Least. apply no_token in Least.
          replace (Z.of_nat (i + Z.to_nat (y - x))) with (Z.of_nat i + (y - x)) in Least by lia.
          rewrite W, Tq in Least. replace (x + (y - x)) with y in Least by lia. lia.
        * exfalso. specialize (Fd (length ps) ltac:(unfold N in *; lia)). cbv beta in Fd. apply no_token in Fd.
          rewrite Nat2Z.inj_add, process_turn in Fd.
          replace (Z.of_nat i) with (Z.of_nat i + 0) in Fd by lia. rewrite W, Tq in Fd.
          replace (x + 0) with x in Fd by lia. lia.
      + intros x D C0 Q0. destruct (wrap x) as (i & I & W & Di & Ei).
        specialize (L2 i I). cbv beta in L2. rewrite <- Di, D in L2.
        assert (E0 : Z.of_nat i = Z.of_nat i + 0) by lia.
        assert (c ps i = C x) as Ec by (unfold c; rewrite Ei; reflexivity).
        rewrite (proj2 (no_token i)) in L2 by (rewrite E0, W, Tq; replace (x + 0) with x by lia; lia).
        rewrite Ec in L2. replace (0 <? C x)%nat with true in L2 by (symmetry; apply Nat.ltb_lt; lia).
        cbn [andb negb implb] in L2. unfold Rdist in L2.
        pose proof (find_seq (fun j => has_token ps (i + j)) (length ps) 0) as Fd.
        destruct (find _ _) as [j|]; cbn [if_any] in L2.
        * destruct Fd as (J & Fj & _). apply Nat.eqb_eq in L2. apply has_token_at in Fj.
          rewrite Nat2Z.inj_add, W, Tq in Fj.
          replace (x + (Z.of_nat d - 1 - Z.of_nat (C x))) with (x + Z.of_nat j) by lia.
          destruct (Z0 (x + Z.of_nat j)). lia.
        * exfalso. destruct Some_token as (z & Tz).
          pose proof (Z.mod_pos_bound (z - x) N NP) as B.
          specialize (Fd (Z.to_nat ((z - x) mod N)) ltac:(unfold N in *; lia)). cbv beta in Fd. apply no_token in Fd.
          rewrite Nat2Z.inj_add, W, Z2Nat.id in Fd by lia.
          assert (process_at ps (x + (z - x) mod N) = process_at ps z) as Ez.
          { unfold process_at. fold N. rewrite Z.add_mod_idemp_r by lia. do 3 f_equal. lia. }
          rewrite Ez in Fd. lia.
      + intros x y D Q0 Y Qy. destruct (wrap x) as (i & I & W & Di & Ei).
        specialize (L3 i I). cbv beta in L3. rewrite <- Di, D in L3.
        assert (E0 : Z.of_nat i = Z.of_nat i + 0) by lia.
        assert (c ps i = C x) as Ec by (unfold c; rewrite Ei; reflexivity).
        rewrite (proj2 (no_token i)) in L3 by (rewrite E0, W, Tq; replace (x + 0) with x by lia; lia).
        rewrite Ec in L3. cbn [andb negb implb] in L3. unfold Ldist in L3.
        pose proof (find_seq (fun j => has_token ps (i + length ps - j)) (length ps) 0) as Fd.
        assert (Less : forall j, (j < length ps)%nat ->
                  has_token ps (i + length ps - j) = false -> T (x - Z.of_nat j) = 0%nat).
        { intros j J H. destruct (T (x - Z.of_nat j)) eqn:E; [reflexivity|].
          assert (has_token ps (i + length ps - j) = true); [|congruence].
          apply has_token_back; [assumption|].
          replace (Z.of_nat i - Z.of_nat j) with (Z.of_nat i + (- Z.of_nat j)) by lia. rewrite W.
          replace (x + - Z.of_nat j) with (x - Z.of_nat j) by lia. lia. }
        destruct (find _ _) as [j|]; cbn [if_any] in L3.
        * destruct Fd as (J & _ & Least). apply Nat.ltb_lt in L3.
          destruct (Z.le_gt_cases (Z.of_nat j) (x - y)) as [|K]; [lia|exfalso].
          specialize (Least (Z.to_nat (x - y)) ltac:(lia)). apply Less in Least; [|lia].
          replace (x - Z.of_nat (Z.to_nat (x - y))) with y in Least by lia. rewrite Tq in Least. lia.
        * exfalso. pose proof (Z.mod_pos_bound (x - y) N NP) as B.
          specialize (Fd (Z.to_nat ((x - y) mod N)) ltac:(unfold N in *; lia)).
          apply Less in Fd; [|unfold N in *; lia]. rewrite Z2Nat.id in Fd by lia.
          assert (process_at ps (x - (x - y) mod N) = process_at ps y) as Ey.
          { unfold process_at. fold N. rewrite Zminus_mod_idemp_r. do 3 f_equal. lia. }
          rewrite Ey, Tq in Fd. lia.
      + intros x D Q1. destruct (wrap x) as (i & I & W & Di & Ei).
        specialize (L4 i I). cbv beta in L4. rewrite <- Di, D in L4.
        assert (E0 : Z.of_nat i = Z.of_nat i + 0) by lia.
        rewrite (proj2 (has_token_at i)) in L4 by (rewrite E0, W, Tq; replace (x + 0) with x by lia; lia).
        cbn [andb implb] in L4. apply Nat.eqb_eq in L4. unfold c in L4. rewrite Ei in L4. lia.
    - intros (Tot & Leg). destruct Leg as [G0 G0' G1 G2 G3 G4]. cbv beta in *.
      assert (Tq : forall x, T x = Q x) by (intro x; unfold tokens; specialize (G0 x); lia).
      repeat split.
      + assumption.
      + intros p I. destruct (in_process_at ps p I) as (x & E). specialize (G0 x). specialize (G0' x).
        rewrite E in *. rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le. lia.
      + intros i I. destruct (has_token ps i) eqn:H; [|reflexivity]. cbn [implb]. unfold next.
        apply has_token_at in H. rewrite Tq in H.
        pose proof (find_seq (fun j => has_token ps (i + j)) (length ps) 1) as Fd.
        destruct (find _ _) as [j|]; [|reflexivity]. cbn [if_any]. destruct Fd as (J & Fj & _).
        apply has_token_at in Fj. rewrite Tq in Fj. apply Nat.leb_le.
        pose proof (G0' (Z.of_nat i)). pose proof (G0' (Z.of_nat (i + j))).
        specialize (G1 (Z.of_nat i) (Z.of_nat (i + j))). lia.
      + intros i I. destruct (process_index i I) as [Ei Di]. rewrite <- Di.
        destruct (delay_at programs (Z.of_nat i)) eqn:D; [|reflexivity].
        destruct (has_token ps i) eqn:H; [rewrite andb_false_r; reflexivity|].
        apply no_token in H. rewrite Tq in H.
        destruct (0 <? c ps i)%nat eqn:C0; [|reflexivity]. cbn [andb negb implb]. apply Nat.ltb_lt in C0.
        assert (c ps i = C (Z.of_nat i)) as Ec by (unfold c; rewrite Ei; reflexivity). rewrite Ec in *.
        unfold Rdist. pose proof (find_seq (fun j => has_token ps (i + j)) (length ps) 0) as Fd.
        destruct (find _ _) as [j|]; [|reflexivity]. cbn [if_any]. destruct Fd as (J & Fj & Least).
        apply has_token_at in Fj. rewrite Tq in Fj. apply Nat.eqb_eq.
        specialize (G2 (Z.of_nat i) D ltac:(lia) ltac:(lia)).
        pose proof (counter_domain _ D) as Dom.
        set (K := (d - 1 - C (Z.of_nat i))%nat) in *.
        replace (Z.of_nat i + (Z.of_nat d - 1 - Z.of_nat (C (Z.of_nat i)))) with (Z.of_nat (i + K)) in G2 by lia.
        pose proof (G0' (Z.of_nat (i + j))).
        destruct (Nat.lt_trichotomy j K) as [Lt|[Eq|Gt]]; [exfalso| |exfalso].
        * specialize (G1 (Z.of_nat (i + j)) (Z.of_nat (i + K))). lia.
        * lia.
        * specialize (Least K ltac:(lia)). cbv beta in Least. apply no_token in Least. rewrite Tq in Least. lia.
      + intros i I. destruct (process_index i I) as [Ei Di]. rewrite <- Di.
        destruct (delay_at programs (Z.of_nat i)) eqn:D; [|reflexivity].
        destruct (has_token ps i) eqn:H; [reflexivity|]. cbn [andb negb implb].
        apply no_token in H. rewrite Tq in H.
        assert (c ps i = C (Z.of_nat i)) as Ec by (unfold c; rewrite Ei; reflexivity). rewrite Ec.
        unfold Ldist. pose proof (find_seq (fun j => has_token ps (i + length ps - j)) (length ps) 0) as Fd.
        destruct (find _ _) as [j|]; [|reflexivity]. cbn [if_any]. destruct Fd as (J & Fj & _).
        apply has_token_back in Fj; [|lia]. rewrite Tq in Fj. apply Nat.ltb_lt.
        pose proof (G0' (Z.of_nat i - Z.of_nat j)).
        assert (j <> 0)%nat by (intro; subst j; replace (Z.of_nat i - Z.of_nat 0) with (Z.of_nat i) in Fj by lia; lia).
        specialize (G3 (Z.of_nat i) (Z.of_nat i - Z.of_nat j) D). lia.
      + intros i I. destruct (process_index i I) as [Ei Di]. rewrite <- Di.
        destruct (delay_at programs (Z.of_nat i)) eqn:D; [|reflexivity].
        destruct (has_token ps i) eqn:H; [|reflexivity]. cbn [andb implb].
        apply has_token_at in H. rewrite Tq in H. pose proof (G0' (Z.of_nat i)).
        apply Nat.eqb_eq. unfold c. rewrite <- Ei. specialize (G4 (Z.of_nat i) D). lia.
  Qed.

  (** *** One round from a legitimate state: every token moves on *)
  Lemma lifted_round : lifted d programs ps ->
    (forall x, queued (process_at (round d programs ps) x) = Q (x - 1)) /\
    lifted d programs (round d programs ps).
  Proof.
    intros [G0 G0' G1 G2 G3 G4]. cbv beta in *. set (ps' := round d programs ps).
    assert (Step : forall x, process_at ps' x = Process (Q (x - 1)) 0
              (if (Q (x - 1) =? 1)%nat then top d (program_at programs x) else C x - 1)).
    { intro x. unfold ps'. rewrite round_at by assumption. unfold step.
      pose proof (G0 x). pose proof (G0' (x - 1)).
      replace (R x) with 0%nat by lia. cbn [Nat.add].
      destruct (Q (x - 1)) as [|[|]] eqn:Q1; [reflexivity| |lia].
      assert (C x = 0)%nat as E; [|rewrite E; reflexivity].
      destruct (delay_at programs x) eqn:D; [|apply relay_domain; assumption].
      pose proof (G0' x). destruct (Q x) as [|[|]] eqn:Q0; [| |lia].
      - specialize (G3 x (x - 1) D). lia.
      - specialize (G1 (x - 1) x). specialize (G4 x D). lia. }
    split; [intro x; rewrite Step; reflexivity|].
    assert (Top : forall x, delay_at programs x = true -> top d (program_at programs x) = (d - 1)%nat).
    { intros x D. unfold delay_at in D. destruct (program_at programs x); [reflexivity | discriminate]. }
    constructor; cbv beta.
    - intro x; rewrite Step; reflexivity.
    - intro x; rewrite Step; cbn [queued]. apply G0'.
    - intros x y X. rewrite !Step; cbn [queued]. intros Qx Qy.
      specialize (G1 (x - 1) (y - 1) ltac:(lia) Qx Qy). lia.
    - intros x D. rewrite !Step; cbn [queued counter]. intros C0 Q0.
      destruct (Q (x - 1) =? 1)%nat eqn:E; [apply Nat.eqb_eq in E; lia|].
      pose proof (G0' x). destruct (Q x) as [|[|]] eqn:Qx; [| |lia].
      + specialize (G2 x D ltac:(lia) ltac:(lia)).
        rewrite <- G2. do 3 f_equal. lia.
      + specialize (G4 x D ltac:(lia)).
        assert (Z.of_nat (Q x) = 1) as Q1 by lia. rewrite <- Q1. do 3 f_equal. lia.
    - intros x y D. rewrite !Step; cbn [queued counter]. intros Q0 Y Qy.
      destruct (Q (x - 1) =? 1)%nat eqn:E; [apply Nat.eqb_eq in E; lia|].
      pose proof (G0' x). destruct (Q x) as [|[|]] eqn:Qx; [| |lia].
      + specialize (G3 x (y - 1) D ltac:(lia) ltac:(lia) Qy). lia.
      + specialize (G4 x D ltac:(lia)). specialize (G1 (y - 1) x ltac:(lia) Qy ltac:(lia)). lia.
    - intros x D. rewrite !Step; cbn [queued counter]. intros Q1.
      replace (Q (x - 1)) with 1%nat by lia. cbn [Nat.eqb]. rewrite Top by assumption. lia.
  Qed.
End Lifted.

Lemma nonempty_of_delay : forall d programs ps, admits d programs ps -> In Delay programs -> ps <> [].
Proof.
  intros d programs ps A S E. subst ps. apply admits_length in A. destruct programs; [destruct S | discriminate].
Qed.

Lemma nonempty_of_total : forall ps, (1 <= total ps)%nat -> ps <> [].
Proof. intros ps H E. subst ps. cbn in H. lia. Qed.

(** *** Closure (the paper's lemma) *)
Theorem closure : forall d programs ps m, (1 <= d)%nat -> (1 <= m)%nat -> admits d programs ps ->
  legitimate d programs ps m = true -> legitimate d programs (round d programs ps) m = true.
Proof.
  intros d programs ps m D M A L. pose proof (admits_length _ _ _ A) as Len.
  assert (E : ps <> []).
  { apply nonempty_of_total. unfold legitimate, clause0 in L. rewrite !andb_true_iff, Nat.eqb_eq in L. lia. }
  rewrite legitimate_lifted in L by assumption. destruct L as [T L].
  apply legitimate_lifted; try assumption.
  - apply admits_round; assumption.
  - intro E'. apply (f_equal (@length process)) in E'. rewrite round_length in E' by assumption.
    destruct ps; [congruence | discriminate].
  - split; [rewrite tokens_conserved; assumption|]. apply lifted_round; assumption.
Qed.

Corollary closure_for_ever : forall d programs start m t u,
  (1 <= d)%nat -> (1 <= m)%nat -> admits d programs start -> (t <= u)%nat ->
  legitimate d programs (run d programs t start) m = true ->
  legitimate d programs (run d programs u start) m = true.
Proof.
  intros d programs start m t u D M A TU L. induction TU; [assumption|].
  cbn [run]. apply closure; auto using admits_run.
Qed.

(** In a legitimate state nobody rests, then or later, and every token moves in
    every round (D3). *)
Theorem every_token_moves : forall d programs ps m x, (1 <= d)%nat -> (1 <= m)%nat -> admits d programs ps ->
  legitimate d programs ps m = true ->
  queued (process_at (round d programs ps) x) = queued (process_at ps (x - 1)).
Proof.
  intros d programs ps m x D M A L.
  assert (E : ps <> []).
  { apply nonempty_of_total. unfold legitimate, clause0 in L. rewrite !andb_true_iff, Nat.eqb_eq in L. lia. }
  rewrite legitimate_lifted in L by assumption. apply lifted_round; try assumption. apply L.
Qed.

Theorem legitimate_never_rests : forall d programs ps m,
  legitimate d programs ps m = true -> ~ rests ps.
Proof.
  intros d programs ps m L (p & I & R). unfold legitimate, clause0 in L.
  rewrite !andb_true_iff, forallb_forall in L. destruct L as (((((_ & L) & _) & _) & _) & _).
  specialize (L p I). rewrite andb_true_iff, Nat.eqb_eq in L. lia.
Qed.
