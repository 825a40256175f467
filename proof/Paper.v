(** * The paper, statement by statement

    Ghosh Dastidar and Herman, "Separation of Circulating Tokens" (technical report TR09-02,
    August 2009, revised October 2009). This is the file to open: what is proved of the paper
    and beyond it, in the paper's words and by its numbers. Every proof below is one name; the
    argument is where that name is proved. Errata and remarks are those of PAPER.md.

    - Theorem of section 5 (delay/relay stabilizes to D1-D5)   proved as stated, with a bound
    - Lemma (Closure)                                          proved as stated
    - Lemma (Convergence)                                      proved as stated, with a bound
    - Definition (legitimate state)     as corrected, erratum 6: the distance to the next token
    - Figure 3 (delay and relay)                               proved to be [step]
    - Claim 1   proved as stated, between rounds (remark 3)
    - Claim 2   proved as stated
    - Claim 3   proved, for delays and 0 <= k <= C (remark 2)
    - Claim 4   proved, from the first round on (remark 4)
    - Claim 5   as printed refuted; as corrected proved (erratum 7)
    - Claim 6   as printed refuted; as corrected proved (erratum 8)
    - Claim 7   proved for the corrected σ (for σ as printed it is tested only, remark 1)
    - Claim 8   proved for the corrected σ (erratum 9)
    - Convergence time O(n³), a sketch                         replaced by the exact time
    - Section 3 (the open chain)        not formalized: false for d = 1 (erratum 11), tested
    - Figure 6 and lemma of section 6   not formalized: false as printed (errata 1 to 4); the
                                        corrected program is checked over all states of small
                                        rings, docs/research/unknown-size.md
    - Section 5.2 (other models)        not formalized, but for a protocol without lock-step
                                        at the end of this file *)

From Coq Require Import List Arith ZArith Lia.
From Headway Require Import Ring Legitimate Unroll Closure Bound Theorems SelfStabilization
  Attained FirstRounds Forecast Cycle Claims.
From Headway Require MovingRing.
Import ListNotations.

(** ** The theorem of section 5

    [possible] states have every variable in its domain and m tokens; D1 to D5 are written out
    in [SelfStabilization.v]. *)
Theorem theorem_of_section_5 : forall C programs m,
  let d := C + 1 in
  In Delay programs -> 1 <= m -> m * d <= length programs ->
  (forall state, possible d programs m state -> legitimate d programs state m = true ->
    legitimate d programs (round d programs state) m = true) /\
  (forall state, possible d programs m state -> legitimate d programs state m = true ->
    D1_to_D4 (length programs) m d (execution d programs state)) /\
  (forall state, possible d programs m state ->
    legitimate d programs (execution d programs state (worst_legitimate_at m d (gaps programs))) m = true) /\
  D5 d programs m (worst_legitimate_at m d (gaps programs)).
Proof. exact separation_of_circulating_tokens. Qed.

(** Inequality (1), m(C + 1) <= n, is needed. *)
Theorem inequality_1_is_needed : forall d programs m start T,
  1 <= d -> In Delay programs -> 1 <= m -> possible d programs m start ->
  D1_to_D4 (length programs) m d (from_round T (execution d programs start)) ->
  m * d <= length programs.
Proof. exact room_is_needed. Qed.

(** ** Figure 3, line by line *)
Theorem figure_3_delay : forall C p arriving, step p arriving C = figure3_delay C arriving p.
Proof. exact delay_is_figure3. Qed.

Theorem figure_3_relay : forall p arriving,
  counter p = 0 -> step p arriving 0 = figure3_relay arriving p.
Proof. exact relay_is_figure3. Qed.

(** ** Section 5.3

    One ring and one execution: d = C + 1, at least one delay, m >= 1 tokens, every variable in
    its domain. [p t i] is process i after round t, i modulo n; a token arrives at i in round
    t + 1 if one is queued at i - 1 after round t. *)
Section Verification.
  Variables (d : nat) (programs : list program) (start : list process) (m : nat).
  Hypothesis ring : valid d programs start m.
  Notation n := (length programs).
  Notation after t := (run d programs t start).
  Notation p t i := (process_at (after t) i%Z).
  Notation delays i := (delay_at programs i = true).

  Theorem lemma_closure : forall state, admits d programs state ->
    legitimate d programs state m = true -> legitimate d programs (round d programs state) m = true.
  Proof. exact (fun s => closure d programs s m (valid_d _ _ _ _ ring) (valid_m _ _ _ _ ring)). Qed.

  Theorem claim_1 : forall t state, n = length state -> total (run d programs t state) = total state.
  Proof. exact (tokens_conserved_for_ever d programs). Qed.

  Theorem claim_2 : forall t i, 1 <= t -> queued (p t i) <= 1.
  Proof. exact (claim2 d programs start m ring). Qed.

  Theorem claim_3 : forall i k T, delays i -> k <= d - 1 -> exists t, T <= t /\ counter (p t i) = k.
  Proof. exact (claim3 d programs start m ring). Qed.

  Theorem claim_4 : forall i t u, delays i -> 1 <= t < u ->
    queued (p t i) = 1 -> queued (p u i) = 1 -> t + d <= u.
  Proof. exact (claim4 d programs start m ring). Qed.

  (** σ as corrected: some round T, a turn or more before round s, left no token at a relay.
      (Erratum 7 is a little more general: that every token has since arrived at a delay is
      enough. [arrivals_apart] in [Claims.v] has that form.) *)
  Definition is_sigma (s : nat) : Prop := exists T, 1 <= T /\ T + n <= s /\
    forall i, delay_at programs i = false -> resting (p T i) = 0.

  Theorem sigma_occurs : feasible d programs m -> exists S, forall s, S <= s -> is_sigma s.
  Proof. exact (sigma_comes d programs start m ring). Qed.

  Theorem claim_5 : forall s i t u, is_sigma s -> s <= t < u ->
    queued (p t (i - 1)) = 1 -> queued (p u (i - 1)) = 1 -> t + d <= u.
  Proof. exact (claim5 d programs start m ring). Qed.

  Theorem claim_6 : forall s i t, is_sigma s -> s <= t -> resting (p t i) <= 1 + resting (p s i).
  Proof. exact (claim6 d programs start m ring). Qed.

  Theorem claim_7 : forall s i t, is_sigma s -> delays i ->
    resting (p s i) = 0 -> counter (p s i) = 0 -> s <= t -> resting (p t i) = 0.
  Proof. exact (claim7 d programs start m ring). Qed.

  (** F has a component for every delay: j rounds after σ, [resting_bound s i j]. It bounds what
      rests there, never rises, and falls as long as it is positive. *)
  Theorem claim_8_bounds : forall s i, is_sigma s -> delays i -> forall j v, s + j <= v ->
    resting (p v i) <= resting_bound d programs start s i j.
  Proof. exact (resting_bound_bounds d programs start m ring). Qed.

  Theorem claim_8 : feasible d programs m -> forall s i j, is_sigma s -> delays i ->
    resting_bound d programs start s i (S j) <= resting_bound d programs start s i j /\
    (0 < resting_bound d programs start s i j ->
     exists j', j < j' /\ resting_bound d programs start s i j' < resting_bound d programs start s i j).
  Proof. exact (claim8 d programs start m ring). Qed.

  Theorem lemma_convergence : feasible d programs m ->
    exists T, forall t, T <= t -> legitimate d programs (after t) m = true.
  Proof. exact (convergence d programs start m ring). Qed.

  (** ** Beyond the paper: the exact time, in place of O(n³) (docs/research/worst-case.md) *)

  Theorem last_rest : feasible d programs m ->
    forall t, rests (after t) -> t <= worst_last_rest m d (widest_gap programs).
  Proof. exact (theorem1_bound d programs start m ring). Qed.

  Theorem legitimate_from : feasible d programs m ->
    forall t, worst_legitimate_at m d (gaps programs) <= t -> legitimate d programs (after t) m = true.
  Proof. exact (theorem3_bound d programs start m ring). Qed.

  (** Without room some token rests, for ever. *)
  Theorem without_room : n < m * d -> forall T, exists t, T < t <= T + 2 * n /\ rests (after t).
  Proof. exact (jam d programs start m ring). Qed.
End Verification.

(** Both times are attained on every ring. *)
Theorem last_rest_is_attained : forall d programs m,
  1 <= d -> 1 <= m -> In Delay programs -> feasible d programs m ->
  exists start, valid d programs start m /\
    rests (run d programs (worst_last_rest m d (widest_gap programs)) start).
Proof. exact theorem1_attained. Qed.

Theorem legitimate_from_is_attained : forall d programs m,
  1 <= d -> 1 <= m -> In Delay programs -> feasible d programs m ->
  exists start, valid d programs start m /\
    forall t, t < worst_legitimate_at m d (gaps programs) ->
    legitimate d programs (run d programs t start) m = false.
Proof. exact theorem3_attained. Qed.

(** ** What is refuted

    Claim 5 as printed: after round 9 every token has arrived at the delay; one arrives in round
    10 and the next in round 11, where d = 2 (erratum 7). *)
Theorem erratum_7 :
  valid 2 (lone_delay 8) crowd8 4 /\ feasible 2 (lone_delay 8) 4 /\
  arrived_by 2 (lone_delay 8) crowd8 9 = 4 /\
  arrivals 2 (lone_delay 8) crowd8 9 = 1 /\ arrivals 2 (lone_delay 8) crowd8 10 = 1.
Proof. exact claim5_as_printed. Qed.

(** Claim 6 as printed: one token rests at σ, and three do later (erratum 8). *)
Theorem erratum_8 :
  valid 2 (lone_delay 12) crowd12 6 /\ feasible 2 (lone_delay 12) 6 /\
  arrived_by 2 (lone_delay 12) crowd12 14 = 6 /\
  resting (nth 0 (run 2 (lone_delay 12) 14 crowd12) idle) = 1 /\
  resting (nth 0 (run 2 (lone_delay 12) 17 crowd12) idle) = 3.
Proof. exact claim6_as_printed. Qed.

(** ** Without lock-step (section 5.2, point (iv), in another way than the paper's)

    The moving block by messages, from a clean start: a distance of at least d stays so, with a
    token under way counted at both ends (docs/research/moving-block.md, theorem 1). [run] is any
    sequence of actions of single processes, as functions that the Rust code is compared with. *)
Theorem moving_block : forall n m d, (0 < n)%Z -> (0 < m)%Z -> forall places, (0 <= d)%Z ->
  (forall k, d <= MovingRing.from n m (MovingRing.placed n places) (k + 1)
                  - MovingRing.from n m (MovingRing.placed n places) k)%Z ->
  forall actions k, let r := MovingRing.run n m d (MovingRing.placed n places) actions in
  (d <= MovingRing.from n m r (k + 1)
        - (MovingRing.from n m r k + (if MovingRing.out m r k then 1 else 0)))%Z.
Proof. exact MovingRing.ring_is_safe. Qed.
