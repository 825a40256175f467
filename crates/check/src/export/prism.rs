//! The PRISM language, for PRISM and Storm.

use std::fmt::Write as _;

use super::join;
use crate::model::delay_relay::Instance;

pub(crate) const QUESTIONS: &str = "\
// Closure:      filter(forall, \"legitimate\" => P>=1 [ X \"legitimate\" ])
// Convergence:  filter(forall, P>=1 [ F \"legitimate\" ])
// Worst case:   filter(max, R{\"steps\"}max=? [ F \"legitimate\" ])
// Every state is an initial state.
";

pub(super) fn delay_relay(instance: &Instance) -> String {
    let (n, m) = (instance.processes(), instance.tokens());
    let top = instance.separation() - 1;
    let programs = instance.ring().programs();
    let delays = |index: usize| programs[index].delays();
    let mut text =
        format!("// delay/relay: {instance}.\n//\n{QUESTIONS}\nmdp\n\nconst int top = {top};\n\n");
    for index in 0..n {
        let before = (index + n - 1) % n;
        let _ = writeln!(text, "formula held{index} = r{index} + q{before};");
        let counted = if delays(index) {
            format!(" & c{index} = 0")
        } else {
            String::new()
        };
        let _ = writeln!(text, "formula release{index} = held{index} > 0{counted};");
        // Hops to the next token, from 1 to n.
        let right = distance(n, |hops| (index + hops) % n);
        let left = distance(n, |hops| (index + n - hops) % n);
        let _ = writeln!(
            text,
            "formula right{index} = {right};\nformula left{index} = {left};"
        );
    }
    text.push('\n');
    for index in 0..n {
        let counter = if delays(index) {
            format!("  c{index} : [0..top];\n")
        } else {
            String::new()
        };
        let count = if delays(index) {
            format!(
                "\n    & (c{index}' = release{index} ? top : (c{index} > 0 ? c{index} - 1 : 0))"
            )
        } else {
            String::new()
        };
        let _ = write!(
            text,
            "module process{index}\n  q{index} : [0..{m}];\n  r{index} : [0..{m}];\n{counter}  \
             [round] true -> (q{index}' = release{index} ? 1 : 0)\n    \
             & (r{index}' = release{index} ? held{index} - 1 : held{index}){count};\nendmodule\n\n"
        );
    }
    let sum = join(0..n, " + ", |index| format!("q{index} + r{index}"));
    let _ = write!(
        text,
        "init {sum} = {m} endinit\n\nlabel \"legitimate\" =\n  "
    );
    let clauses = join(0..n, "\n  & ", |index| {
        let mut clause =
            format!("r{index} = 0 & q{index} <= 1 & (q{index} = 0 | right{index} > top)");
        if delays(index) {
            let _ = write!(
                clause,
                "\n  & (q{index} > 0 | c{index} = 0 | right{index} = top - c{index})\n  \
                 & (q{index} > 0 | left{index} > c{index})\n  \
                 & (q{index} = 0 | c{index} = top)"
            );
        }
        clause
    });
    let _ = write!(
        text,
        "{clauses};\n\nrewards \"steps\"\n  [round] true : 1;\nendrewards\n"
    );
    text
}

fn distance(n: usize, place: impl Fn(usize) -> usize) -> String {
    let mut text = n.to_string();
    for hops in (1..n).rev() {
        text = format!("(q{} > 0 ? {hops} : {text})", place(hops));
    }
    text
}

pub(super) fn k_state(processes: usize, values: u32) -> String {
    let mut text = format!(
        "// Dijkstra's K-state ring: {processes} processes, {values} values, central scheduler.\n\
         //\n{QUESTIONS}\nmdp\n\nconst int values = {values};\n\n"
    );
    let last = processes - 1;
    for index in 0..processes {
        let (guard, value) = match index {
            0 => (format!("x0 = x{last}"), "mod(x0 + 1, values)".to_owned()),
            _ => (
                format!("x{index} != x{}", index - 1),
                format!("x{}", index - 1),
            ),
        };
        let _ = write!(
            text,
            "formula token{index} = {guard};\n\nmodule process{index}\n  x{index} : [0..values-1];\n  \
             [move{index}] token{index} -> (x{index}' = {value});\nendmodule\n\n"
        );
    }
    let count = join(0..processes, " + ", |index| {
        format!("(token{index} ? 1 : 0)")
    });
    let moves = join(0..processes, "\n", |index| {
        format!("  [move{index}] true : 1;")
    });
    let _ = write!(
        text,
        "init true endinit\n\nlabel \"legitimate\" = {count} = 1;\n\nrewards \"steps\"\n{moves}\n\
         endrewards\n"
    );
    text
}
