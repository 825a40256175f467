//! TLA+.

use std::fmt::Write as _;

use super::{Dialect, Subject};

const TLA: Dialect = Dialect {
    and: " /\\ ",
    or: " \\/ ",
    not: "~",
    equal: " = ",
    unequal: " # ",
    truths: ["FALSE", "TRUE"],
    choose: |condition, yes, no| format!("(IF {condition} THEN {yes} ELSE {no})"),
    div: |a, b| format!("({a} \\div {b})"),
    modulo: |a, b| format!("({a} % {b})"),
};

pub(super) fn write(subject: &Subject<'_>) -> String {
    let (protocol, names) = (subject.protocol, subject.names());
    let mut text = format!(
        "------------------------------ MODULE Protocol ------------------------------\n\
         (* {}.\n\n\
         TLC: SPECIFICATION Spec, PROPERTIES Closure Convergence. Every state is an\n\
         initial state. *)\n\
         EXTENDS Integers\n\nVARIABLES {all}\nvars == <<{all}>>\n\nInit ==\n",
        subject.heading(false),
        all = names.join(", ")
    );
    for (variable, name) in protocol.variables.iter().zip(&names) {
        let values: Vec<String> = variable.domain.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  /\\ {name} \\in {{{}}}", values.join(", "));
    }
    if let Some(given) = &protocol.given {
        let _ = writeln!(text, "  /\\ {}", TLA.text(given, &names));
    }
    text.push('\n');
    // What a process does: to its own variables if all move at once, else to all.
    for process in 0..protocol.processes.len() {
        let own: Vec<usize> = subject.own(process).collect();
        let _ = writeln!(text, "Move{process} ==");
        for (_, action, outcome) in subject.outcomes().filter(|(other, ..)| *other == process) {
            let _ = write!(text, "  \\/ {}", TLA.text(&action.guard, &names));
            let written: Vec<usize> = if subject.together {
                own.clone()
            } else {
                (0..names.len()).collect()
            };
            for place in &written {
                let found = outcome
                    .assignments
                    .iter()
                    .find(|(variable, _)| variable == place);
                let value =
                    found.map_or(names[*place].clone(), |(_, value)| TLA.text(value, &names));
                let _ = write!(text, " /\\ {}' = {value}", names[*place]);
            }
            text.push('\n');
        }
        let stay: Vec<&str> = own.iter().map(|place| names[*place].as_str()).collect();
        if !subject.outcomes().any(|(other, ..)| other == process) {
            text.push_str("  FALSE\n");
        }
        let enabled = subject.enabled(&TLA, Some(process));
        let _ = writeln!(
            text,
            "Enabled{process} == {enabled}\nStay{process} == UNCHANGED <<{}>>\n",
            stay.join(", ")
        );
    }
    let n = protocol.processes.len();
    text.push_str("Next ==\n");
    for process in 0..n {
        if subject.together {
            let _ = writeln!(
                text,
                "  /\\ (IF Enabled{process} THEN Move{process} ELSE Stay{process})"
            );
        } else {
            let _ = writeln!(text, "  \\/ Move{process}");
        }
    }
    let legitimate = TLA.text(&protocol.legitimate, &names);
    let _ = write!(
        text,
        "\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(Next)\n\nLegitimate == {legitimate}\n\n\
         Closure == [][Legitimate => Legitimate']_vars\nConvergence == <>Legitimate\n\
         =============================================================================\n"
    );
    text
}
