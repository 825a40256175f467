//! The PRISM language.

use std::fmt::Write as _;

use super::super::{Action, Variable};
use super::{Dialect, Subject};

const QUESTIONS: &str = "\
// Closure:      filter(forall, \"legitimate\" => P>=1 [ X \"legitimate\" ])
// Convergence:  filter(forall, P>=1 [ F \"legitimate\" ])
// Worst case:   filter(max, R{\"steps\"}max=? [ F \"legitimate\" ])
// Every state is an initial state.
";

const PRISM: Dialect = Dialect {
    and: " & ",
    or: " | ",
    not: "!",
    equal: " = ",
    unequal: " != ",
    truths: ["false", "true"],
    choose: |condition, yes, no| format!("({condition} ? {yes} : {no})"),
    div: |a, b| format!("floor({a} / {b})"),
    modulo: |a, b| format!("mod(mod({a}, {b}) + {b}, {b})"),
};

pub(super) fn write(subject: &Subject<'_>) -> String {
    let (protocol, names) = (subject.protocol, subject.names());
    let mut text = format!("// {}.\n//\n{QUESTIONS}\nmdp\n\n", subject.heading(true));
    let declare = |text: &mut String, process| {
        for place in subject.own(process) {
            let (domain, name) = (&protocol.variables[place].domain, &names[place]);
            let _ = writeln!(
                text,
                "  {name} : [{}..{}];",
                domain[0],
                domain[domain.len() - 1]
            );
        }
    };
    // Who moves alone may write what belongs to others, so all are one module. A module's
    // variables come before its commands.
    if !subject.together {
        text.push_str("module processes\n");
        (0..protocol.processes.len()).for_each(|process| declare(&mut text, process));
    }
    for (process, actions) in protocol.processes.iter().enumerate() {
        if subject.together {
            let _ = writeln!(text, "module process{process}");
            declare(&mut text, process);
        }
        let label = if subject.together {
            "step".to_owned()
        } else {
            format!("move{process}")
        };
        for action in actions {
            let _ = writeln!(text, "  {}", command(action, &label, &names));
        }
        if subject.together {
            let enabled = subject.enabled(&PRISM, Some(process));
            let _ = writeln!(text, "  [step] !{enabled} -> true;\nendmodule\n");
        }
    }
    if !subject.together {
        let enabled = subject.enabled(&PRISM, None);
        let _ = write!(text, "  [idle] !{enabled} -> true;\nendmodule\n\n");
    }
    let domains = protocol
        .variables
        .iter()
        .zip(&names)
        .filter_map(|(variable, name)| members(variable, name));
    let given = protocol.given.iter().map(|given| PRISM.text(given, &names));
    let start: Vec<String> = domains.chain(given).collect();
    let start = if start.is_empty() {
        "true".to_owned()
    } else {
        start.join(" & ")
    };
    let legitimate = PRISM.text(&protocol.legitimate, &names);
    let _ = write!(
        text,
        "init {start} endinit\n\nlabel \"legitimate\" = {legitimate};\n\nrewards \"steps\"\n"
    );
    if subject.together {
        text.push_str("  [step] true : 1;\n");
    } else {
        for process in 0..protocol.processes.len() {
            let _ = writeln!(text, "  [move{process}] true : 1;");
        }
    }
    text.push_str("endrewards\n");
    text
}

fn command(action: &Action, label: &str, names: &[String]) -> String {
    let outcomes = action.outcomes.iter().map(|outcome| {
        let assignments = outcome.assignments.iter().map(|(variable, value)| {
            format!("({}' = {})", names[*variable], PRISM.text(value, names))
        });
        let assignments: Vec<String> = assignments.collect();
        let (p, q) = outcome.chance;
        let chance = if (p, q) == (1, 1) {
            String::new()
        } else {
            format!("{p}/{q} : ")
        };
        format!("{chance}{}", assignments.join(" & "))
    });
    let outcomes: Vec<String> = outcomes.collect();
    let guard = PRISM.text(&action.guard, names);
    format!("[{label}] {guard} -> {};", outcomes.join(" + "))
}

/// Which values a variable has, unless it is all of a range.
fn members(variable: &Variable, name: &str) -> Option<String> {
    let domain = &variable.domain;
    let (first, last) = (domain[0], domain[domain.len() - 1]);
    if (last - first) as usize + 1 == domain.len() {
        return None;
    }
    let each: Vec<String> = domain
        .iter()
        .map(|value| format!("{name} = {value}"))
        .collect();
    Some(format!("({})", each.join(" | ")))
}
