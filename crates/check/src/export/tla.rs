//! TLA+, for TLC.

use super::join;
use crate::model::delay_relay::Instance;

pub(super) fn delay_relay(instance: &Instance) -> String {
    let delays: Vec<String> = instance.ring().delays().map(|i| i.to_string()).collect();
    format!(
        "---------------------------- MODULE DelayRelay ----------------------------\n\
         (* delay/relay: {}.\n\
         \n\
         TLC: SPECIFICATION Spec, PROPERTIES Closure Convergence, no deadlock to\n\
         check. Every state is an initial state. *)\n\
         EXTENDS Integers, FiniteSets\n\n\
         N == {}\nM == {}\nC == {}\nDelays == {{{}}}\nRing == 0..N-1\n\n\
         VARIABLES q, r, c\nvars == <<q, r, c>>\n\n{DELAY_RELAY}",
        instance,
        instance.processes(),
        instance.tokens(),
        instance.separation() - 1,
        delays.join(", "),
    )
}

const DELAY_RELAY: &str = "\
RECURSIVE Sum(_, _)
Sum(f, i) == IF i = N THEN 0 ELSE f[i] + Sum(f, i + 1)

Init == /\\ q \\in [Ring -> 0..M]
        /\\ r \\in [Ring -> 0..M]
        /\\ Sum(q, 0) + Sum(r, 0) = M
        /\\ c \\in [Ring -> 0..C]
        /\\ \\A i \\in Ring \\ Delays : c[i] = 0

Held(i) == r[i] + q[(i + N - 1) % N]
Release(i) == Held(i) > 0 /\\ (i \\in Delays => c[i] = 0)

Next == /\\ q' = [i \\in Ring |-> IF Release(i) THEN 1 ELSE 0]
        /\\ r' = [i \\in Ring |-> IF Release(i) THEN Held(i) - 1 ELSE Held(i)]
        /\\ c' = [i \\in Ring |-> IF i \\notin Delays THEN 0
                                ELSE IF Release(i) THEN C
                                ELSE IF c[i] > 0 THEN c[i] - 1 ELSE 0]

Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)

Least(S) == CHOOSE x \\in S : \\A y \\in S : x <= y
(* Hops to the next token, from 1 to N. *)
Right(i) == Least({h \\in 1..N : q[(i + h) % N] > 0} \\cup {N})
Left(i) == Least({h \\in 1..N : q[(i + N - h) % N] > 0} \\cup {N})

Legitimate ==
  /\\ \\A i \\in Ring : r[i] = 0 /\\ q[i] <= 1
  /\\ \\A i \\in Ring : q[i] > 0 => Right(i) > C
  /\\ \\A i \\in Delays : (q[i] = 0 /\\ c[i] > 0) => Right(i) = C - c[i]
  /\\ \\A i \\in Delays : q[i] = 0 => Left(i) > c[i]
  /\\ \\A i \\in Delays : q[i] = 1 => c[i] = C

Closure == [][Legitimate => Legitimate']_vars
Convergence == <>Legitimate
=============================================================================
";

pub(super) fn k_state(processes: usize, values: u32) -> String {
    let moves = join(1..processes, "\n        ", |index| {
        format!("\\/ Copy({index})")
    });
    format!(
        "------------------------------- MODULE KState -------------------------------\n\
         (* Dijkstra's K-state ring: {processes} processes, {values} values, central scheduler.\n\
         \n\
         TLC: SPECIFICATION Spec, PROPERTIES Closure Convergence. Every state is an\n\
         initial state. *)\n\
         EXTENDS Integers, FiniteSets\n\n\
         N == {processes}\nK == {values}\n\nVARIABLE x\n\n\
         Init == x \\in [0..N-1 -> 0..K-1]\n\n\
         Token(i) == IF i = 0 THEN x[0] = x[N-1] ELSE x[i] # x[i-1]\n\
         First == Token(0) /\\ x' = [x EXCEPT ![0] = (x[0] + 1) % K]\n\
         Copy(i) == Token(i) /\\ x' = [x EXCEPT ![i] = x[i-1]]\n\
         Next == \\/ First\n        {moves}\n\n\
         Spec == Init /\\ [][Next]_x /\\ WF_x(Next)\n\n\
         Legitimate == Cardinality({{i \\in 0..N-1 : Token(i)}}) = 1\n\n\
         Closure == [][Legitimate => Legitimate']_x\nConvergence == <>Legitimate\n\
         =============================================================================\n"
    )
}
