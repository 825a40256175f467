(** * The worst case in closed form

    The counterpart of [crates/core/src/bound.rs]. That these numbers are the
    worst case is in [Theorems.v]; here are the numbers, and what a gap is. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Import Ring Legitimate ReleaseTimes Unroll Closure.
Import ListNotations.

Section Gaps.
  Variable programs : list program.
  Let n := length programs.

  (** The delays in ascending order. *)
  Definition delays : list nat := filter (is_delay programs) (seq 0 n).

  (** The distance from the previous delay to i: n for a lone one. *)
  Definition gap (i : nat) : nat :=
    match find (fun g => is_delay programs ((i + n - g) mod n)) (seq 1 n) with
    | Some g => g
    | None => n
    end.

  Definition gaps : list nat := map gap delays.

  (** L. *)
  Definition widest_gap : nat := list_max gaps.
End Gaps.

(** With separation 1 or a lone token a gap costs nothing. *)
Definition reach (m d g : nat) : nat := if (d =? 1) || (m =? 1) then d else Nat.max g d.

Definition worst_last_rest (m d L : nat) : nat := (m - 1) * d + reach m d L - 1.

Definition worst_legitimate_at (m d : nat) (gaps : list nat) : nat :=
  (m - 1) * d + list_max (map (fun g => reach m d g + Nat.max 1 (d - 1 - g)) gaps) - 1.

(** ** Facts *)

Lemma list_max_in : forall l, l <> [] -> In (list_max l) l.
Proof.
  induction l as [|a l IH]; intro H; [congruence|]. cbn [list_max fold_right].
  change (fold_right Nat.max 0 l) with (list_max l).
  destruct (Nat.max_spec a (list_max l)) as [(Lt & E) | (Le & E)]; rewrite E.
  - right. apply IH. intro Z. subst l. cbn in Lt. lia.
  - left; reflexivity.
Qed.

Lemma list_max_above : forall l a, In a l -> a <= list_max l.
Proof.
  intros l a I. pose proof (proj1 (list_max_le l (list_max l)) (Nat.le_refl _)) as F.
  rewrite Forall_forall in F. apply F, I.
Qed.

Section Lifted.
  Variable programs : list program.
  Let n := length programs.
  Local Open Scope Z_scope.

  Lemma delay_at_index : forall x, delay_at programs x = is_delay programs (Z.to_nat (x mod Z.of_nat n)).
  Proof. intro x. unfold delay_at, program_at, is_delay. reflexivity. Qed.

  (** The gap before a delay at position x of the line. *)
  Lemma gap_before : forall x, (0 < n)%nat -> delay_at programs x = true ->
    let g := gap programs (Z.to_nat (x mod Z.of_nat n)) in
    1 <= Z.of_nat g <= Z.of_nat n /\ delay_at programs (x - Z.of_nat g) = true /\
    (forall z, x - Z.of_nat g < z < x -> delay_at programs z = false) /\
    In g (gaps programs).
  Proof.
    intros x N D g. pose proof (Z.mod_pos_bound x (Z.of_nat n) ltac:(lia)) as B.
    set (i := Z.to_nat (x mod Z.of_nat n)) in *.
    assert (Back : forall j, (1 <= j <= n)%nat ->
              delay_at programs (x - Z.of_nat j) = is_delay programs ((i + n - j) mod n)).
    { intros j J. rewrite delay_at_index. f_equal.
      rewrite <- (mod_turn (x - Z.of_nat j)) by lia.
      replace (x - Z.of_nat j + Z.of_nat n) with (x + (Z.of_nat n - Z.of_nat j)) by lia.
      rewrite <- Z.add_mod_idemp_l by lia.
      replace (x mod Z.of_nat n + (Z.of_nat n - Z.of_nat j)) with (Z.of_nat (i + n - j)) by lia.
      rewrite <- Nat2Z.inj_mod. lia. }
    pose proof (find_seq (fun g => is_delay programs ((i + n - g) mod n)) n 1) as Fd.
    assert (G : (1 <= g < 1 + n)%nat /\ is_delay programs ((i + n - g) mod n) = true /\
              forall j, (1 <= j < g)%nat -> is_delay programs ((i + n - j) mod n) = false).
    { unfold g, gap. fold n. destruct (find _ _) as [j|]; [assumption|exfalso].
      specialize (Fd n ltac:(lia)). cbv beta in Fd. rewrite <- Back in Fd by lia.
      rewrite delay_at_index in Fd, D. rewrite <- (mod_turn (x - Z.of_nat n)) in Fd by lia.
      replace (x - Z.of_nat n + Z.of_nat n) with x in Fd by lia. congruence. }
    destruct G as (G1 & G2 & G3). split; [lia|]. split; [|split].
    - rewrite Back by lia. assumption.
    - intros z Z. replace z with (x - Z.of_nat (Z.to_nat (x - z))) by lia. rewrite Back by lia.
      apply G3. lia.
    - unfold g, gaps. apply in_map. unfold delays. apply filter_In. split.
      + apply in_seq. fold n. lia.
      + rewrite delay_at_index in D. assumption.
  Qed.

  (** Every gap is before some delay. *)
  Lemma gap_somewhere : forall g, In g (gaps programs) -> exists x,
    0 <= x < Z.of_nat n /\ delay_at programs x = true /\ g = gap programs (Z.to_nat (x mod Z.of_nat n)).
  Proof.
    intros g I. unfold gaps, delays in I. apply in_map_iff in I. destruct I as (i & E & I).
    apply filter_In in I. destruct I as (I & D). apply in_seq in I. fold n in I.
    exists (Z.of_nat i). split; [lia|].
    rewrite delay_at_index, Z.mod_small, Nat2Z.id by lia. auto.
  Qed.

  Lemma gaps_nonempty : In Delay programs -> gaps programs <> [].
  Proof.
    intros S E. destruct (In_nth programs Delay Relay S) as (i & I & Ei).
    assert (H : In (gap programs i) (gaps programs)).
    { unfold gaps. apply in_map. unfold delays. apply filter_In. split; [apply in_seq; lia|].
      unfold is_delay. rewrite Ei. reflexivity. }
    rewrite E in H. destruct H.
  Qed.
End Lifted.
