(** * The legitimacy predicate, clause by clause (paper, section 5.3)

    The counterpart of [crates/core/src/legitimate.rs]. The paper writes (leg:1) as
    tokdist > C with tokdist the minimum of Rdist over the processes that have a
    token; as Rdist is 0 there, what is meant is the distance to the next token
    (m = 1: once round, to itself). *)

From Coq Require Import List Arith Bool.
From Headway Require Import Ring.
Import ListNotations.

Section Clauses.
  Variables (d : nat) (programs : list program) (processes : list process).
  Let n := length processes.

  (** Positions past the last process go on from the first. *)
  Definition has_token (i : nat) : bool := 0 <? tokens (nth (i mod n) processes idle).

  Definition is_delay (i : nat) : bool :=
    match nth i programs Relay with Delay => true | Relay => false end.

  (** The distances clockwise and counterclockwise to the nearest token, which is 0
      where there is one; [None] if there is none at all. *)
  Definition Rdist (i : nat) : option nat := find (fun j => has_token (i + j)) (seq 0 n).
  Definition Ldist (i : nat) : option nat := find (fun j => has_token (i + n - j)) (seq 0 n).

  (** The distance clockwise to the next token, itself after a whole turn. *)
  Definition next (i : nat) : option nat := find (fun j => has_token (i + j)) (seq 1 n).

  Definition all_processes (clause : nat -> bool) : bool := forallb clause (seq 0 n).
  Definition if_any (distance : option nat) (holds : nat -> bool) : bool :=
    match distance with Some j => holds j | None => true end.
  Definition c (i : nat) : nat := counter (nth i processes idle).

  (** The sum of all q is m, all r are 0, and every q is at most 1. *)
  Definition clause0 (m : nat) : bool :=
    (total processes =? m)
    && forallb (fun p => (resting p =? 0) && (queued p <=? 1)) processes.

  (** From every token to the next one it is more than C = d - 1. *)
  Definition clause1 : bool :=
    all_processes (fun i => implb (has_token i) (if_any (next i) (fun j => d <=? j))).

  (** A delay that counts and has no token: Rdist = C - c. *)
  Definition clause2 : bool :=
    all_processes (fun i => implb (is_delay i && (0 <? c i) && negb (has_token i))
      (if_any (Rdist i) (fun j => j + c i =? d - 1))).

  (** A delay that has no token: Ldist > c. *)
  Definition clause3 : bool :=
    all_processes (fun i => implb (is_delay i && negb (has_token i))
      (if_any (Ldist i) (fun j => c i <? j))).

  (** A delay that has a token: c = C. *)
  Definition clause4 : bool :=
    all_processes (fun i => implb (is_delay i && has_token i) (c i =? d - 1)).

  Definition legitimate (m : nat) : bool :=
    clause0 m && clause1 && clause2 && clause3 && clause4.
End Clauses.
