(** * The moving block as functions on a ring

    [act] is what [crates/sim/src/moving_block.rs] does with the rules of
    [crates/core/src/moving_block.rs]: one action of one process, on lists. It runs, and the
    oracle compares it with the Rust code. [act_refines] says that every action is none, one or
    two steps of [Stations.v] with one process in every station, and [ring_is_safe] what
    follows: from a clean start, distances of at least d stay so. *)

From Coq Require Import List ZArith Lia Bool.
From Headway Require Stations.
Import ListNotations.
Local Open Scope Z_scope.

(** ** The rules: [Ahead::heard], [Ahead::lets_go], [Ahead::tells]

    What a process knows of the way ahead: nothing ([Ahead::Unknown]), or how many hops from
    its successor on are free. *)
Definition ahead := option Z.

Definition hears (news : Z) (all_received : bool) : ahead :=
  if all_received then Some news else None.

Definition lets_go (d : Z) (a : ahead) : bool :=
  match a with Some hops => d <=? hops | None => false end.

Definition tells (d : Z) (a : ahead) (holds : bool) : Z :=
  match a with Some hops => if holds then 0 else Z.min (hops + 1) d | None => 0 end.

(** ** The ring *)

(** A token was received last at [position], which grows by n in a turn. *)
Record token := Token { position : Z; under_way : bool }.

(** Of the link to the successor: hand-overs given and received, and what the successor told
    last, with the count of hand-overs that it had received then. *)
Record process := Process {
  given : Z; received : Z; slot : option (Z * Z); knows : ahead
}.
Record ring := Ring { tokens : list token; processes : list process }.

Inductive action := Receive | Tell | Hear | Give.

(** Lists seen on the line: entry x mod N. *)
Definition table {A} (N : Z) (f : Z -> A) : list A :=
  map (fun j => f (Z.of_nat j)) (seq 0 (Z.to_nat N)).
Definition look {A} (none : A) (N : Z) (l : list A) (x : Z) : A := nth (Z.to_nat (x mod N)) l none.

Section Model.
  Variables (n m d : Z).

  Definition token_of (r : ring) (k : Z) : token := look (Token 0 false) m (tokens r) k.
  Definition process_of (r : ring) (x : Z) : process := look (Process 0 0 None None) n (processes r) x.

  (** Token k of the line, k + m being the same token a turn ahead. *)
  Definition from (r : ring) (k : Z) : Z := position (token_of r k) + n * (k / m).
  Definition out (r : ring) (k : Z) : bool := under_way (token_of r k).

  Definition same (x i : Z) : bool := x mod n =? i mod n.
  Definition find_token (which : Z -> bool) : option Z :=
    find which (map Z.of_nat (seq 0 (Z.to_nat m))).

  Definition change_token r k0 (f : token -> token) : list token :=
    table m (fun k => if k =? k0 then f (token_of r k) else token_of r k).
  Definition change_process r i (f : process -> process) : list process :=
    table n (fun x => if x =? i mod n then f (process_of r x) else process_of r x).

  Definition is_at (r : ring) (i k : Z) : bool := negb (out r k) && same (from r k) i.
  Definition told (r : ring) (i : Z) : Z :=
    tells d (knows (process_of r i))
      (match find_token (is_at r i) with Some _ => true | None => false end).

  (** One action of process i; [None] if it cannot act. *)
  Definition act (r : ring) (a : action) (i : Z) : option ring :=
    match a with
    | Receive =>
        match find_token (fun k => out r k && same (from r k + 1) i) with
        | Some k0 => Some (Ring
            (change_token r k0 (fun t => Token (position t + 1) false))
            (change_process r (i - 1) (fun p => Process (given p) (received p + 1) (slot p) (knows p))))
        | None => None
        end
    | Tell => Some (Ring (tokens r)
        (change_process r (i - 1)
          (fun p => Process (given p) (received p) (Some (told r i, received p)) (knows p))))
    | Hear =>
        match slot (process_of r i) with
        | Some (news, count) => Some (Ring (tokens r)
            (change_process r i
              (fun p => Process (given p) (received p) (slot p) (hears news (count =? given p)))))
        | None => None
        end
    | Give =>
        if lets_go d (knows (process_of r i)) then
          match find_token (fun k => is_at r i k && (from r k <? from r (k + 1))) with
          | Some k0 => Some (Ring
              (change_token r k0 (fun t => Token (position t) true))
              (change_process r i (fun p => Process (given p + 1) (received p) (slot p) None)))
          | None => None
          end
        else None
    end.

  (** ** It takes only steps of the relation *)

  Hypothesis n_pos : 0 < n.
  Hypothesis m_pos : 0 < m.

  Lemma look_table : forall A (none : A) N f x, 0 < N -> look none N (table N f) x = f (x mod N).
  Proof.
    intros A none N f x P. unfold look, table. pose proof (Z.mod_pos_bound x N P).
    rewrite (nth_indep _ none (f (Z.of_nat 0))) by (rewrite map_length, seq_length; lia).
    rewrite (map_nth (fun j => f (Z.of_nat j))), seq_nth by lia. f_equal. lia.
  Qed.

  Lemma look_mod : forall A (none : A) N l x, 0 < N -> look none N l (x mod N) = look none N l x.
  Proof. intros. unfold look. rewrite Z.mod_mod by lia. reflexivity. Qed.

  Lemma turn_mod : forall N k j, 0 < N -> (k + N * j) mod N = k mod N /\ (k + N * j) / N = k / N + j.
  Proof.
    intros N k j P. rewrite (Z.mul_comm N j). split; [apply Z_mod_plus_full | apply Z_div_plus_full; lia].
  Qed.

  Lemma from_turn : forall r k j, from r (k + m * j) = from r k + n * j /\ out r (k + m * j) = out r k.
  Proof.
    intros r k j. destruct (turn_mod m k j m_pos) as [M D].
    unfold from, out, token_of, look. rewrite M, D. split; [lia | reflexivity].
  Qed.

  Lemma copy : forall N x y, 0 < N -> x mod N = y mod N -> exists j, x = y + N * j.
  Proof.
    intros N x y P E. exists (x / N - y / N).
    pose proof (Z.div_mod x N ltac:(lia)). pose proof (Z.div_mod y N ltac:(lia)). lia.
  Qed.

  Lemma same_iff : forall x i, same x i = true <-> x mod n = i mod n.
  Proof. intros; unfold same. apply Z.eqb_eq. Qed.

  Lemma same_turn : forall x i j, same (x + n * j) i = same x i.
  Proof. intros; unfold same. destruct (turn_mod n x j n_pos) as [-> _]. reflexivity. Qed.

  Lemma found : forall which k0, find_token which = Some k0 -> 0 <= k0 < m /\ which k0 = true.
  Proof.
    intros which k0 F. apply find_some in F. destruct F as [I W]. split; [|assumption].
    apply in_map_iff in I. destruct I as (j & <- & J). apply in_seq in J. lia.
  Qed.

  (** A property of tokens that every turn repeats. *)
  Lemma not_found : forall which, (forall k j, which (k + m * j) = which k) ->
    find_token which = None -> forall k, which k = false.
  Proof.
    intros which Turn F k. pose proof (Z.mod_pos_bound k m m_pos).
    rewrite (Z.div_mod k m) by lia. rewrite Z.add_comm, Turn.
    apply (find_none _ _ F). apply in_map_iff. exists (Z.to_nat (k mod m)).
    split; [lia | apply in_seq; lia].
  Qed.

  Lemma token_changed : forall r k0 f ps k, 0 <= k0 < m ->
    token_of (Ring (change_token r k0 f) ps) k = if k mod m =? k0 then f (token_of r k) else token_of r k.
  Proof.
    intros r k0 f ps k K. unfold token_of at 1. cbn [tokens]. unfold change_token.
    rewrite look_table by assumption. unfold token_of. rewrite look_mod by assumption. reflexivity.
  Qed.

  Lemma process_changed : forall r i f ts x,
    process_of (Ring ts (change_process r i f)) x = if same x i then f (process_of r x) else process_of r x.
  Proof.
    intros r i f ts x. unfold process_of at 1. cbn [processes]. unfold change_process.
    rewrite look_table by assumption. unfold process_of. rewrite look_mod by assumption. reflexivity.
  Qed.

  Lemma is_at_turn : forall r i k j, is_at r i (k + m * j) = is_at r i k.
  Proof.
    intros r i k j. unfold is_at. destruct (from_turn r k j) as [-> ->]. rewrite same_turn. reflexivity.
  Qed.

  (** The tokens that an action moves are the copies of one. *)
  Lemma copies : forall k k0, 0 <= k0 < m -> (k mod m =? k0) = true <-> exists j, k = k0 + m * j.
  Proof.
    intros k k0 K. rewrite Z.eqb_eq. split.
    - intro E. apply (copy m); [assumption|]. rewrite E. symmetry. apply Z.mod_small, K.
    - intros (j & ->). destruct (turn_mod m k0 j m_pos) as [-> _]. apply Z.mod_small, K.
  Qed.

  Local Arguments process_of : simpl never.
  Local Arguments token_of : simpl never.
  Local Arguments from : simpl never.
  Local Arguments out : simpl never.

  Notation step := (Stations.step (fun x => x) d).
  Notation reachable := (Stations.reachable (fun x => x) d).

  (** The state of the line that a ring stands for. What was told before may be anything; no
      process works, and the numbers of the stations are not looked at. *)
  Record stands_for (r : ring) (s : Stations.state) : Prop := {
    same_from : forall k, Stations.from s k = from r k;
    same_towards : forall k, Stations.towards s k = from r k + (if out r k then 1 else 0);
    same_given : forall x, Stations.given s x = given (process_of r x);
    same_received : forall x, Stations.received s x = received (process_of r x);
    was_told : forall x v count, slot (process_of r x) = Some (v, count) ->
      exists g, Stations.ahead s x v count g;
    is_known : forall x v, knows (process_of r x) = Some v -> Stations.knows s x v;
    no_work : forall x, Stations.own s x = Stations.Ended
  }.

  (** Nothing moves. *)
  Lemma still : forall s s', (forall k, Stations.towards s' k = Stations.towards s k) ->
    (forall k, Stations.from s' k = Stations.from s k) -> forall k,
    ~ Stations.gives (fun x => x) d s s' k /\ ~ Stations.receives s s' k.
  Proof.
    intros s s' T F k. specialize (T k). specialize (F k). split.
    - intros (_ & _ & _ & _ & T' & _). lia.
    - intros (U & _ & F' & _). lia.
  Qed.

  Lemma quiet_step : forall s s', (forall k, Stations.towards s' k = Stations.towards s k) ->
    (forall k, Stations.from s' k = Stations.from s k) ->
    (forall k, Stations.carried s' k = Stations.carried s k) ->
    (forall x, Stations.given s' x = Stations.given s x) ->
    (forall x, Stations.received s' x = Stations.received s x) ->
    (forall x, Stations.number s' x = Stations.number s x) ->
    (forall x g, Stations.ended s' x g -> Stations.ended s x g) ->
    (forall x v count g, Stations.ahead s' x v count g -> Stations.ahead s x v count g \/
      (count = Stations.received s x /\ g = Stations.number s (x + 1) /\
       Stations.may_tell (fun x => x) s (x + 1) v)) ->
    (forall x, Stations.worked s s' x) -> step s s'.
  Proof.
    intros s s' T F C G R N E A W. pose proof (still s s' T F) as Still.
    constructor; intros.
    - left. repeat split; [apply T | apply F | apply C].
    - right. split; [intros k _; apply Still | apply G].
    - right. split; [intros k _; apply Still | apply R].
    - apply A. assumption.
    - right. split; [|split; [apply W | left; apply N]]. intros k Rk. exfalso. apply (Still k), Rk.
    - left. apply E. assumption.
  Qed.

  Lemma worked_nothing : forall s s' x, Stations.own s' x = Stations.own s x -> Stations.worked s s' x.
  Proof. intros. left. assumption. Qed.

  Lemma tell_refines : forall start r i s, reachable start s -> stands_for r s ->
    forall r', act r Tell i = Some r' -> exists s', reachable start s' /\ stands_for r' s'.
  Proof.
    intros start r i s R S r' E. cbn [act] in E. injection E as <-. destruct S as [F T G Rc Sl Kn W].
    set (says := fun x v count g => same x (i - 1) = true /\ v = told r i /\
      count = Stations.received s x /\ g = Stations.number s (x + 1)).
    set (s' := Stations.Build_state (Stations.from s) (Stations.towards s) (Stations.given s)
      (Stations.received s) (fun x v count g => Stations.ahead s x v count g \/ says x v count g)
      (Stations.number s) (Stations.carried s) (Stations.own s) (Stations.ended s)).
    exists s'. split.
    - apply (Stations.reachable_step _ _ _ s); [assumption|].
      apply quiet_step; try reflexivity; try (intros; assumption).
      2:{ intro x. apply worked_nothing. reflexivity. }
      intros x v count g [Old | (At & -> & -> & ->)]; [left; assumption|right].
      split; [reflexivity|]. split; [reflexivity|]. unfold Stations.may_tell, told, tells.
      apply same_iff in At. destruct (copy n x (i - 1) n_pos At) as (j & X).
      assert (P : process_of r i = process_of r (x + 1)).
      { subst x. unfold process_of, look. replace (i - 1 + n * j + 1) with (i + n * j) by lia.
        destruct (turn_mod n i j n_pos) as [-> _]. reflexivity. }
      rewrite P. destruct (knows (process_of r (x + 1))) as [u|] eqn:K; [|left; lia].
      destruct (find_token (is_at r i)) eqn:H; [left; lia|right]. split.
      + intros k Tk Fk. rewrite T in Tk. rewrite F in Fk.
        pose proof (not_found (is_at r i) (is_at_turn r i) H k) as No. unfold is_at in No.
        destruct (out r k); [lia|]. cbn in No. rewrite Fk in No. unfold same in No.
        replace (x + 1) with (i + n * j) in No by lia.
        destruct (turn_mod n i j n_pos) as [M _]. rewrite M, Z.eqb_refl in No. discriminate.
      + exists u. split; [apply Kn, K | lia].
    - constructor; cbn; try assumption.
      + intro x. rewrite process_changed. destruct (same x (i - 1)); apply G.
      + intro x. rewrite process_changed. destruct (same x (i - 1)); apply Rc.
      + intros x v count. rewrite process_changed. destruct (same x (i - 1)) eqn:At; cbn.
        * intro H. injection H as <- <-. exists (Stations.number s (x + 1)). right.
          repeat split; [assumption | symmetry; apply Rc].
        * intro H. destruct (Sl x v count H) as (g & A). exists g. left. exact A.
      + intros x v. rewrite process_changed. unfold Stations.knows; cbn.
        destruct (same x (i - 1)); cbn; intro H; destruct (Kn x v H) as (g & A); exists g; left; exact A.
  Qed.

  Lemma hear_refines : forall start r i s, reachable start s -> stands_for r s ->
    forall r', act r Hear i = Some r' -> exists s', reachable start s' /\ stands_for r' s'.
  Proof.
    intros start r i s R S r' E. cbn [act] in E. destruct S as [F T G Rc Sl Kn W].
    destruct (slot (process_of r i)) as [(news, count)|] eqn:Si; [|discriminate]. injection E as <-.
    exists s. split; [assumption|]. constructor; cbn; try assumption.
    - intro x. rewrite process_changed. destruct (same x i); apply G.
    - intro x. rewrite process_changed. destruct (same x i); apply Rc.
    - intros x v c. rewrite process_changed. destruct (same x i); apply Sl.
    - intros x v. rewrite process_changed. destruct (same x i) eqn:At; cbn [knows]; [|apply Kn].
      intro H. unfold hears in H. destruct (count =? given (process_of r x)) eqn:C; [|discriminate].
      injection H as <-. apply Z.eqb_eq in C. subst count.
      apply same_iff in At. assert (P : process_of r i = process_of r x).
      { unfold process_of, look. rewrite At. reflexivity. }
      rewrite P in Si. destruct (Sl x news _ Si) as (g & A). exists g. rewrite G. exact A.
  Qed.

  Lemma give_refines : forall start r i s, reachable start s -> stands_for r s ->
    forall r', act r Give i = Some r' -> exists s', reachable start s' /\ stands_for r' s'.
  Proof.
    intros start r i s R S r' E. cbn [act] in E.
    destruct (lets_go d (knows (process_of r i))) eqn:Go; [|discriminate].
    destruct (find_token _) as [k0|] eqn:Fi; [|discriminate]. injection E as <-.
    apply found in Fi. destruct Fi as [K0 Which]. apply andb_true_iff in Which. destruct Which as [Here First].
    apply Z.ltb_lt in First. unfold is_at in Here. apply andb_true_iff in Here. destruct Here as [Held Place].
    apply negb_true_iff in Held. destruct (knows (process_of r i)) as [v|] eqn:Ki; [|discriminate].
    cbn in Go. apply Z.leb_le in Go. destruct S as [F T G Rc Sl Kn W].
    set (moved := fun k => k mod m =? k0). set (giver := fun x => same x i).
    set (s' := Stations.Build_state (Stations.from s)
      (fun k => if moved k then Stations.towards s k + 1 else Stations.towards s k)
      (fun x => if giver x then Stations.given s x + 1 else Stations.given s x)
      (Stations.received s) (Stations.ahead s) (Stations.number s)
      (fun k => if moved k then Stations.number s (Stations.from s k) else Stations.carried s k)
      (Stations.own s) (Stations.ended s)).
    assert (Mv : forall k, moved k = true -> exists j, k = k0 + m * j).
    { intros k M. apply copies; assumption. }
    assert (Gives : forall k, moved k = true -> Stations.gives (fun x => x) d s s' k).
    { intros k M. destruct (Mv k M) as (j & Kj). destruct (from_turn r k0 j) as [Fj Oj].
      destruct (from_turn r (k0 + 1) j) as [Fn _]. rewrite <- Kj in Fj, Oj.
      replace (k0 + 1 + m * j) with (k + 1) in Fn by lia.
      unfold Stations.gives; cbn. rewrite M, T, !F, Oj, Held, W. repeat split; try lia; try discriminate.
      exists v. split.
      - apply Kn. rewrite Fj. unfold process_of, look in *. destruct (turn_mod n (from r k0) j n_pos) as [-> _].
        apply same_iff in Place. rewrite Place. exact Ki.
      - right. split; [assumption|]. split; [apply W | left; unfold Stations.first; lia]. }
    assert (Giver : forall x, giver x = true -> exists k, Stations.from s k = x /\ moved k = true).
    { intros x Gx. apply same_iff in Gx. apply same_iff in Place.
      destruct (copy n x (from r k0) n_pos ltac:(congruence)) as (j & X).
      exists (k0 + m * j). destruct (from_turn r k0 j) as [Fj _]. rewrite F. split; [lia|].
      apply copies; [assumption | exists j; reflexivity]. }
    assert (NoGive : forall k, moved k = false -> ~ Stations.gives (fun x => x) d s s' k).
    { intros k M (_ & _ & _ & _ & T' & _). cbn in T'. rewrite M in T'. lia. }
    assert (NoReceive : forall k, ~ Stations.receives s s' k).
    { intros k (U & T' & F' & _). cbn in F', T'. lia. }
    exists s'. split.
    - apply (Stations.reachable_step _ _ _ s); [assumption|]. constructor; intros; cbn.
      + destruct (moved k) eqn:M; [right; left; apply Gives, M | left; repeat split; reflexivity].
      + destruct (giver x) eqn:Gx.
        * left. split; [|reflexivity]. destruct (Giver x Gx) as (k & Fk & M).
          exists k. split; [assumption | apply Gives, M].
        * right. split; [|reflexivity]. intros k Fk. destruct (moved k) eqn:M; [exfalso | apply NoGive, M].
          destruct (Mv k M) as (j & Kj). destruct (from_turn r k0 j) as [Fj _]. rewrite <- Kj in Fj.
          rewrite F in Fk. unfold giver in Gx. rewrite <- Fk, Fj, same_turn in Gx. congruence.
      + right. split; [intros k _; apply NoReceive | reflexivity].
      + left. assumption.
      + right. split; [|split; [left; reflexivity | left; reflexivity]].
        intros k Rk. exfalso. apply (NoReceive k Rk).
      + left. assumption.
    - constructor; cbn.
      + intro k. rewrite F. unfold from. rewrite token_changed by assumption.
        destruct (k mod m =? k0); reflexivity.
      + intro k. rewrite T. unfold from, out. rewrite token_changed by assumption. fold (moved k).
        destruct (moved k) eqn:M; cbn; [|reflexivity].
        destruct (Mv k M) as (j & Kj). destruct (from_turn r k0 j) as [_ Oj]. rewrite <- Kj in Oj.
        unfold out in Oj, Held. rewrite Oj, Held. lia.
      + intro x. rewrite process_changed. fold (giver x). destruct (giver x); cbn; rewrite G; reflexivity.
      + intro x. rewrite process_changed. destruct (same x i); apply Rc.
      + intros x w c. rewrite process_changed. destruct (same x i); apply Sl.
      + intros x w. rewrite process_changed. unfold Stations.knows; cbn. fold (giver x).
        destruct (giver x); cbn; [discriminate | apply Kn].
      + apply W.
  Qed.

  Lemma receive_refines : forall start r i s, reachable start s -> stands_for r s ->
    forall r', act r Receive i = Some r' -> exists s', reachable start s' /\ stands_for r' s'.
  Proof.
    intros start r i s R S r' E. cbn [act] in E.
    destruct (find_token _) as [k0|] eqn:Fi; [|discriminate]. injection E as <-.
    apply found in Fi. destruct Fi as [K0 Which]. apply andb_true_iff in Which. destruct Which as [Out Place].
    destruct S as [F T G Rc Sl Kn W].
    set (moved := fun k => k mod m =? k0). set (giver := fun x => same x (i - 1)).
    assert (Mv : forall k, moved k = true -> exists j, k = k0 + m * j).
    { intros k M. apply copies; assumption. }
    assert (OutMoved : forall k, moved k = true -> out r k = true).
    { intros k M. destruct (Mv k M) as (j & ->). destruct (from_turn r k0 j) as [_ ->]. exact Out. }
    assert (From : forall k, moved k = true -> giver (from r k) = true).
    { intros k M. destruct (Mv k M) as (j & ->). destruct (from_turn r k0 j) as [-> _].
      unfold giver. rewrite same_turn. unfold same in *. apply Z.eqb_eq in Place. apply Z.eqb_eq.
      rewrite Zminus_mod, <- Place, <- Zminus_mod. f_equal. lia. }
    assert (Giver : forall x, giver x = true -> exists k, from r k = x /\ moved k = true).
    { intros x Gx. specialize (From k0 ltac:(unfold moved; rewrite Z.mod_small by lia; apply Z.eqb_refl)).
      apply same_iff in Gx. apply same_iff in From.
      destruct (copy n x (from r k0) n_pos ltac:(congruence)) as (j & X).
      exists (k0 + m * j). destruct (from_turn r k0 j) as [Fj _]. split; [lia|].
      apply copies; [assumption | exists j; reflexivity]. }
    (* the copy of the token that x receives *)
    set (comes := fun x => k0 + m * ((x - 1) / n - from r k0 / n)).
    assert (Comes : forall x, giver (x - 1) = true -> moved (comes x) = true /\ from r (comes x) = x - 1).
    { intros x Gx. split; [apply copies; [assumption | eexists; reflexivity]|].
      unfold comes. destruct (from_turn r k0 ((x - 1) / n - from r k0 / n)) as [-> _].
      specialize (From k0 ltac:(unfold moved; rewrite Z.mod_small by lia; apply Z.eqb_refl)).
      apply same_iff in Gx. apply same_iff in From.
      pose proof (Z.div_mod (x - 1) n ltac:(lia)). pose proof (Z.div_mod (from r k0) n ltac:(lia)). lia. }
    set (entered := fun own => Stations.Build_state
      (fun k => if moved k then Stations.from s k + 1 else Stations.from s k)
      (Stations.towards s) (Stations.given s)
      (fun x => if giver x then Stations.received s x + 1 else Stations.received s x)
      (Stations.ahead s)
      (fun x => if giver (x - 1) then Z.max (Stations.carried s (comes x)) (Stations.number s x) + 1
                else Stations.number s x)
      (Stations.carried s) own (Stations.ended s)).
    set (s1 := entered (fun x => if giver (x - 1) then Stations.Undecided else Stations.own s x)).
    set (s2 := entered (Stations.own s)).
    assert (Receives : forall k, moved k = true -> Stations.receives s s1 k).
    { intros k M. unfold Stations.receives; cbn. rewrite M, T, F, (OutMoved k M). repeat split; lia. }
    assert (NoReceive : forall k, moved k = false -> ~ Stations.receives s s1 k).
    { intros k M (U & _ & F' & _). cbn in F'. rewrite M in F'. lia. }
    assert (NoGive : forall k, ~ Stations.gives (fun x => x) d s s1 k).
    { intros k (_ & _ & _ & _ & T' & _). cbn in T'. lia. }
    exists s2. split.
    - apply (Stations.reachable_step _ _ _ s1); [apply (Stations.reachable_step _ _ _ s); [assumption|]|].
      + constructor; intros; cbn.
        * destruct (moved k) eqn:M; [right; right; apply Receives, M | left; repeat split; reflexivity].
        * right. split; [intros k _; apply NoGive | reflexivity].
        * destruct (giver x) eqn:Gx.
          -- left. split; [|reflexivity]. destruct (Giver x Gx) as (k & Fk & M).
             exists k. rewrite F. split; [assumption | apply Receives, M].
          -- right. split; [|reflexivity]. intros k Fk. destruct (moved k) eqn:M; [exfalso | apply NoReceive, M].
             rewrite F in Fk. pose proof (From k M). rewrite Fk in *. congruence.
        * left. assumption.
        * destruct (giver (x - 1)) eqn:Gx.
          -- left. destruct (Comes x Gx) as [M Fc]. exists (comes x).
             split; [apply Receives, M|]. split; [rewrite T, Fc, (OutMoved _ M); lia|].
             unfold Stations.visited; cbn. rewrite Gx, W. repeat split.
             intro No. exfalso. apply No. unfold Stations.first. lia.
          -- right. split; [|split; [left; cbn; rewrite ?Gx; reflexivity | left; cbn; rewrite ?Gx; reflexivity]].
             intros k Rk Tk. destruct (moved k) eqn:M; [|apply (NoReceive k M Rk)].
             pose proof (From k M) as Gk. rewrite T, (OutMoved k M) in Tk.
             replace (from r k) with (x - 1) in Gk by lia. congruence.
        * left. assumption.
      + apply quiet_step; try reflexivity; cbn; auto.
        intro x. unfold Stations.worked; cbn. destruct (giver (x - 1)); [|left; reflexivity].
        right. left. split; [reflexivity | left; apply W].
    - constructor; cbn.
      + intro k. unfold from. rewrite token_changed by assumption. fold (moved k).
        rewrite F. unfold from. destruct (moved k); cbn; lia.
      + intro k. rewrite T. unfold from, out. rewrite token_changed by assumption. fold (moved k).
        destruct (moved k) eqn:M; cbn; [|reflexivity].
        pose proof (OutMoved k M) as O. unfold out in O. rewrite O. lia.
      + intro x. rewrite process_changed. destruct (same x (i - 1)); apply G.
      + intro x. rewrite process_changed. fold (giver x). destruct (giver x); cbn; rewrite Rc; reflexivity.
      + intros x w c. rewrite process_changed. destruct (same x (i - 1)); apply Sl.
      + intros x w. rewrite process_changed. unfold Stations.knows; cbn.
        destruct (same x (i - 1)); apply Kn.
      + apply W.
  Qed.

  Theorem act_refines : forall start r a i s, reachable start s -> stands_for r s ->
    forall r', act r a i = Some r' -> exists s', reachable start s' /\ stands_for r' s'.
  Proof.
    intros start r [] i; [apply receive_refines | apply tell_refines | apply hear_refines | apply give_refines].
  Qed.

  (** ** From a clean start *)

  (** Any actions, one after the other; who cannot act does nothing. *)
  Fixpoint run (r : ring) (actions : list (action * Z)) : ring :=
    match actions with
    | [] => r
    | (a, i) :: rest => run (match act r a i with Some r' => r' | None => r end) rest
    end.

  (** Tokens at these places in ascending order; nobody knows anything. *)
  Definition placed (places : list Z) : ring :=
    Ring (map (fun p => Token p false) places) (table n (fun _ => Process 0 0 None None)).

  Lemma run_stands_for : forall start actions r s, reachable start s -> stands_for r s ->
    exists s', reachable start s' /\ stands_for (run r actions) s'.
  Proof.
    intros start. induction actions as [|(a, i) rest IH]; intros r s R S; cbn [run]; [exists s; auto|].
    destruct (act r a i) as [r'|] eqn:A; [|apply (IH r s); assumption].
    destruct (act_refines start r a i s R S r' A) as (s' & R' & S'). apply (IH r' s'); assumption.
  Qed.

  Theorem ring_is_safe : forall places, 0 <= d ->
    (forall k, d <= from (placed places) (k + 1) - from (placed places) k) ->
    forall actions k, let r := run (placed places) actions in
    d <= from r (k + 1) - (from r k + (if out r k then 1 else 0)).
  Proof.
    intros places D Apart actions k r.
    set (start := Stations.Build_state (from (placed places)) (from (placed places)) (fun _ => 0)
      (fun _ => 0) (fun _ _ _ _ => False) (fun _ => 0) (fun _ => 0) (fun _ => Stations.Ended)
      (fun _ _ => False)).
    assert (Blank : forall x, process_of (placed places) x = Process 0 0 None None).
    { intro x. unfold process_of, placed; cbn [processes]. rewrite look_table by assumption. reflexivity. }
    assert (Held : forall k, out (placed places) k = false).
    { intro j. unfold out, token_of, look, placed; cbn [tokens]. pose proof (Z.mod_pos_bound j m m_pos).
      change (Token 0 false) with ((fun p => Token p false) 0). rewrite map_nth. reflexivity. }
    assert (S : stands_for (placed places) start).
    { constructor; cbn; intros; rewrite ?Blank, ?Held in *; cbn in *; try reflexivity; try discriminate; lia. }
    destruct (run_stands_for start actions (placed places) start (Stations.reachable_start _ _ _) S)
      as (s' & R & [F T _ _ _ _ _]).
    pose proof (Stations.moving_block_safe d start) as Safe.
    assert (C : Stations.clean (fun x => x) start).
    { constructor; cbn; intros; try tauto; try lia; try discriminate. specialize (Apart k0). lia. }
    specialize (Safe C Apart s' R k). rewrite T, !F in Safe. exact Safe.
  Qed.
End Model.
