(** * The ring: local states, the two programs, one synchronous round

    The counterpart of [crates/core/src/process.rs], [program/delay.rs],
    [program/relay.rs] and [ring.rs], with natural numbers in place of machine
    integers. Everything else in this folder is about the function [round]. *)

From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Inductive program := Delay | Relay.

(** What a process remembers between two rounds (paper, section 5): [queued] is
    q, [resting] is r, [counter] is c. *)
Record process := Process { queued : nat; resting : nat; counter : nat }.

(** A process without tokens whose counter has run down. *)
Definition idle := Process 0 0 0.

(** A relay is a delay whose counter starts again from 0. [d] is the separation;
    the paper's C is [d - 1]. *)
Definition top (d : nat) (p : program) : nat :=
  match p with Delay => d - 1 | Relay => 0 end.

(** [delay::round]: a token leaves if there is one and the counter has run down,
    and then the counter starts again from [top]. *)
Definition step (before : process) (arriving top : nat) : process :=
  let held := resting before + arriving in
  let release := (0 <? held) && (counter before =? 0) in
  {| queued := if release then 1 else 0;
     resting := if release then held - 1 else held;
     counter := if release then top else counter before - 1 |}.

(** The loop of [ring::round]: every process reads its own old state and its
    predecessor's old queue. *)
Fixpoint sweep d (programs : list program) (processes : list process)
    (arriving : nat) : list process :=
  match programs, processes with
  | program :: programs, before :: processes =>
      step before arriving (top d program)
        :: sweep d programs processes (queued before)
  | _, _ => []
  end.

(** One synchronous round of the whole ring. *)
Definition round d (programs : list program) (processes : list process) : list process :=
  sweep d programs processes (queued (last processes idle)).

(** The state after [t] rounds. *)
Fixpoint run d programs (t : nat) (start : list process) : list process :=
  match t with
  | 0 => start
  | S t => round d programs (run d programs t start)
  end.

(** m: all tokens, queued or resting. *)
Definition tokens (p : process) : nat := queued p + resting p.
Definition total (processes : list process) : nat := list_sum (map tokens processes).

(** [Ring::admits]: one program per process, and every counter in its domain,
    0 to d - 1 at a delay and 0 at a relay. Queues and rests are arbitrary. *)
Definition admits d (programs : list program) (processes : list process) : Prop :=
  Forall2 (fun program process => counter process <= top d program) programs processes.

(** Some token rests. *)
Definition rests (processes : list process) : Prop :=
  exists p, In p processes /\ 0 < resting p.

(** ** The paper's figure 3, line by line

    Lines 1 and 2 are executed by all processes at once: what was queued at the
    predecessor now rests here, and what was queued here has gone. *)

Definition figure3_delay (C q_before : nat) (p : process) : process :=
  let r := resting p + q_before in                        (* 1 *)
  let q := 0 in                                           (* 2, by the successor *)
  let c := counter p in
  if 0 <? c then Process q r (c - 1)                      (* 3 *)
  else if (c =? 0) && (0 <? r) then Process (q + 1) (r - 1) C   (* 4 *)
  else Process q r c.

Definition figure3_relay (q_before : nat) (p : process) : process :=
  let r := resting p + q_before in                        (* 1 *)
  let q := 0 in                                           (* 2, by the successor *)
  if 0 <? r then Process (q + 1) (r - 1) (counter p)      (* 3 *)
  else Process q r (counter p).

Theorem delay_is_figure3 : forall C p arriving,
  step p arriving C = figure3_delay C arriving p.
Proof.
  intros C [q r c] a; unfold step, figure3_delay; cbn.
  destruct c as [|c]; destruct (r + a) as [|h]; reflexivity.
Qed.

Theorem relay_is_figure3 : forall p arriving,
  counter p = 0 -> step p arriving 0 = figure3_relay arriving p.
Proof.
  intros [q r c] a H; unfold step, figure3_relay; cbn in *; subst c.
  destruct (r + a) as [|h]; reflexivity.
Qed.

(** ** First facts *)

Section Facts.
  Variables (d : nat) (programs : list program).

  Lemma sweep_length : forall programs processes a,
    length programs = length processes -> length (sweep d programs processes a) = length processes.
  Proof.
    induction programs0 as [|p ps IH]; intros [|b bs] a H; cbn in *; try lia.
    rewrite IH; lia.
  Qed.

  Lemma round_length : forall processes,
    length programs = length processes -> length (round d programs processes) = length processes.
  Proof. intros; apply sweep_length; assumption. Qed.

  Lemma run_length : forall t start,
    length programs = length start -> length (run d programs t start) = length start.
  Proof.
    induction t; intros; cbn [run]; [reflexivity|]. rewrite round_length; rewrite IHt; auto.
  Qed.

  Lemma step_tokens : forall p a t, tokens (step p a t) = resting p + a.
  Proof.
    intros [q r c] a t; unfold tokens, step; cbn.
    destruct (r + a) as [|h]; destruct c; cbn; lia.
  Qed.

  Lemma sweep_tokens : forall programs processes a,
    length programs = length processes ->
    total (sweep d programs processes a) + queued (last processes (Process a 0 0))
      = total processes + a.
  Proof.
    induction programs0 as [|p ps IH]; intros [|b bs] a H; cbn [length] in H; try lia.
    - cbn; lia.
    - cbn [sweep]. unfold total in *. cbn [map list_sum fold_right] in *.
      specialize (IH bs (queued b)). rewrite step_tokens.
      destruct bs as [|b' bs].
      + destruct ps; [|cbn in H; lia]. cbn. unfold tokens; lia.
      + change (last (b :: b' :: bs) (Process a 0 0)) with (last (b' :: bs) (Process a 0 0)).
        replace (last (b' :: bs) (Process a 0 0)) with (last (b' :: bs) (Process (queued b) 0 0)).
        2:{ clear. revert b'. induction bs; intros; cbn; [reflexivity|]. apply IHbs. }
        unfold list_sum in *. unfold tokens at 1. unfold tokens in IH |- *. lia.
  Qed.

  (** *** Tokens are conserved (claim 1 of the paper) *)
  Theorem tokens_conserved : forall processes,
    length programs = length processes -> total (round d programs processes) = total processes.
  Proof.
    intros processes H. unfold round.
    pose proof (sweep_tokens programs processes (queued (last processes idle)) H) as E.
    destruct processes as [|b bs].
    - destruct programs; [reflexivity | discriminate].
    - replace (last (b :: bs) (Process (queued (last (b :: bs) idle)) 0 0))
        with (last (b :: bs) idle) in E; [lia|].
      generalize (Process (queued (last (b :: bs) idle)) 0 0). intro p. clear.
      revert b; induction bs; intros; cbn; [reflexivity|]. apply IHbs.
  Qed.

  Theorem tokens_conserved_for_ever : forall t start,
    length programs = length start -> total (run d programs t start) = total start.
  Proof.
    induction t; intros; cbn [run]; [reflexivity|].
    rewrite tokens_conserved; [auto|]. rewrite run_length; auto.
  Qed.

  Lemma admits_length : forall processes, admits d programs processes ->
    length programs = length processes.
  Proof. intros processes H; induction H; cbn; congruence. Qed.

  (** Every variable stays in its domain. *)
  Theorem admits_round : forall processes,
    admits d programs processes -> admits d programs (round d programs processes).
  Proof.
    intros processes H. unfold round. generalize (queued (last processes idle)).
    unfold admits in *. induction H; intros a; cbn; constructor; auto.
    unfold step; cbn. destruct (_ && _); lia.
  Qed.

  Theorem admits_run : forall t start,
    admits d programs start -> admits d programs (run d programs t start).
  Proof. induction t; intros; cbn [run]; auto using admits_round. Qed.
End Facts.
