//! Promela, for SPIN.

use std::fmt::Write as _;

use super::join;
use crate::model::delay_relay::Instance;

pub(super) fn delay_relay(instance: &Instance) -> String {
    let (n, m) = (instance.processes(), instance.tokens());
    let top = instance.separation() - 1;
    let delays: Vec<bool> = instance
        .ring()
        .programs()
        .iter()
        .map(|p| p.delays())
        .collect();
    let mut text = format!(
        "/* delay/relay: {instance}.\n\
         \n\
         Closure (asserted) in every reachable state, which is every state:\n\
         \x20 spin -a FILE && gcc -O2 -DSAFETY -DNOCLAIM -DVECTORSZ=2048 -o pan pan.c && ./pan -m10000\n\
         Convergence, as a liveness property:\n\
         \x20 gcc -O2 -DVECTORSZ=2048 -o pan pan.c && ./pan -a -N convergence -m10000\n\
         The states are those of the initial choice; besides them SPIN stores the\n\
         start before that choice. */\n\n\
         #define N {n}\n#define M {m}\n#define C {top}\n\n\
         byte q[N], r[N], c[N];\n\
         bool legitimate;\n\
         /* Not part of the state: */\n\
         hidden byte i, ahead, behind, held, arriving, leaving, before;\n\n"
    );
    text.push_str(&delay_macro(&delays));
    text.push_str(LEGITIMATE);
    text.push_str("\ninline round() {\n  arriving = q[N-1];\n");
    for (index, &delay) in delays.iter().enumerate() {
        let release = if delay {
            format!("held > 0 && c[{index}] == 0")
        } else {
            "held > 0".to_owned()
        };
        let set = if delay {
            format!("; c[{index}] = C")
        } else {
            String::new()
        };
        let count = if delay {
            format!("if :: c[{index}] > 0 -> c[{index}]-- :: else fi; ")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "  leaving = q[{index}]; held = r[{index}] + arriving;\n  \
               if\n  :: {release} -> q[{index}] = 1; r[{index}] = held - 1{set}\n  \
               :: else -> {count}q[{index}] = 0; r[{index}] = held\n  fi;\n  \
               arriving = leaving;"
        );
    }
    text.push_str("}\n\ninit {\n  byte slot, rest;\n  atomic {\n    /* Put the tokens into the 2N slots, ascending. */\n");
    text.push_str(
        "    rest = M;\n    do\n    :: rest > 0 && slot < N -> q[slot]++; rest--\n    \
         :: rest > 0 && slot >= N -> r[slot-N]++; rest--\n    \
         :: rest > 0 && slot < 2*N-1 -> slot++\n    :: rest == 0 -> break\n    od;\n    \
         slot = 0;\n",
    );
    for index in (0..n).filter(|&index| delays[index]) {
        let values = join(0..top as usize + 1, " ", |value| {
            format!(":: c[{index}] = {value}")
        });
        let _ = writeln!(text, "    if {values} fi;");
    }
    text.push_str(
        "    d_step { judge() }\n  };\n  do\n  :: d_step {\n       before = legitimate;\n       round();\n       \
         judge();\n       assert(!before || legitimate)\n     }\n  od\n}\n\n\
         ltl convergence { <> legitimate }\n",
    );
    text
}

fn delay_macro(delays: &[bool]) -> String {
    let places: Vec<String> = (0..delays.len())
        .filter(|&index| delays[index])
        .map(|index| format!("(x) == {index}"))
        .collect();
    let places = match places.len() {
        0 => "false".to_owned(),
        all if all == delays.len() => "true".to_owned(),
        _ => places.join(" || "),
    };
    format!("#define DELAYS(x) ({places})\n")
}

/// The definition in section 5.3 of the paper, clause by clause.
const LEGITIMATE: &str = "
inline judge() {
  legitimate = true;
  i = 0;
  do
  :: i < N ->
     if
     :: r[i] > 0 || q[i] > 1 -> legitimate = false
     :: else
     fi;
     /* Hops to the next token clockwise and counterclockwise. */
     ahead = 1;
     do
     :: ahead < N && q[(i + ahead) % N] == 0 -> ahead++
     :: else -> break
     od;
     behind = 1;
     do
     :: behind < N && q[(i + N - behind) % N] == 0 -> behind++
     :: else -> break
     od;
     if
     :: q[i] > 0 && ahead <= C -> legitimate = false
     :: q[i] == 0 && DELAYS(i) && c[i] > 0 && ahead + c[i] != C -> legitimate = false
     :: q[i] == 0 && DELAYS(i) && behind <= c[i] -> legitimate = false
     :: q[i] == 1 && DELAYS(i) && c[i] != C -> legitimate = false
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0
}
";

pub(super) fn k_state(processes: usize, values: u32) -> String {
    let choices = join(0..values as usize, " ", |value| {
        format!(":: x[place] = {value}")
    });
    let moves = join(1..processes, "\n", |index| {
        let before = index - 1;
        format!("  :: d_step {{ x[{index}] != x[{before}] -> x[{index}] = x[{before}]; STEP }}")
    });
    let last = processes - 1;
    format!(
        "/* Dijkstra's K-state ring: {processes} processes, {values} values, central scheduler.\n\
         \n\
         Closure: spin -a FILE && gcc -O2 -DSAFETY -DNOCLAIM -o pan pan.c && ./pan\n\
         Convergence: gcc -O2 -o pan pan.c && ./pan -a -N convergence */\n\n\
         #define N {processes}\n#define K {values}\n\n\
         byte x[N];\nbool legitimate;\nhidden byte i, tokens, before;\n\n\
         inline judge() {{\n  tokens = (x[0] == x[N-1] -> 1 : 0);\n  i = 1;\n  do\n  \
         :: i < N -> tokens = tokens + (x[i] != x[i-1] -> 1 : 0); i++\n  :: else -> break\n  od;\n  \
         i = 0; legitimate = (tokens == 1); tokens = 0\n}}\n\n\
         #define STEP before = legitimate; judge(); assert(!before || legitimate)\n\n\
         init {{\n  byte place;\n  atomic {{\n    do\n    \
         :: place < N -> if {choices} fi; place++\n    :: else -> break\n    od;\n    \
         place = 0;\n    d_step {{ judge() }}\n  }};\n  do\n  \
         :: d_step {{ x[0] == x[{last}] -> x[0] = (x[0] + 1) % K; STEP }}\n{moves}\n  od\n}}\n\n\
         ltl convergence {{ <> legitimate }}\n"
    )
}
