//! Promela.

use std::fmt::Write as _;

use super::{Dialect, Subject};

const PROMELA: Dialect = Dialect {
    and: " && ",
    or: " || ",
    not: "!",
    equal: " == ",
    unequal: " != ",
    truths: ["false", "true"],
    choose: |condition, yes, no| format!("({condition} -> {yes} : {no})"),
    div: |a, b| format!("(({a}) >= 0 -> ({a}) / {b} : -((({b} - 1) - ({a})) / {b}))"),
    modulo: |a, b| format!("(((({a}) % {b}) + {b}) % {b})"),
};

pub(super) fn write(subject: &Subject<'_>) -> String {
    let (protocol, names) = (subject.protocol, subject.names());
    let mut text = format!(
        "/* {}.\n\n\
         Closure: spin -a FILE && gcc -O2 -DSAFETY -DNOCLAIM -o pan pan.c && ./pan\n\
         Convergence: gcc -O2 -o pan pan.c && ./pan -a -N convergence */\n\n",
        subject.heading(false)
    );
    let all = names.join(", ");
    // Every name of a variable ends in `_` and a process; none of these does.
    let fresh: Vec<String> = (0..names.len()).map(|at| format!("next{at}")).collect();
    let _ = writeln!(
        text,
        "short {all};\nshort {};\nbool legitimate, before, outside;\n",
        fresh.join(", ")
    );
    let _ = writeln!(
        text,
        "#define JUDGE legitimate = {}\n#define STEP before = legitimate; JUDGE; assert(!before || legitimate); before = false\n",
        PROMELA.text(&protocol.legitimate, &names)
    );
    text.push_str("init {\n  atomic {\n");
    for (variable, name) in protocol.variables.iter().zip(&names) {
        let values: Vec<String> = variable
            .domain
            .iter()
            .map(|value| format!(":: {name} = {value}"))
            .collect();
        let _ = writeln!(text, "    if {} fi;", values.join(" "));
    }
    let given = protocol
        .given
        .as_ref()
        .map_or("true".to_owned(), |given| PROMELA.text(given, &names));
    let _ = writeln!(
        text,
        "    if :: {given} :: else -> outside = true; goto end fi;\n    JUDGE\n  }};\n  do"
    );
    let assign = |outcome: &super::Outcome| {
        let (mut first, mut then) = (String::new(), String::new());
        for (variable, value) in &outcome.assignments {
            let _ = write!(
                first,
                "{} = {}; ",
                fresh[*variable],
                PROMELA.text(value, &names)
            );
            let _ = write!(
                then,
                "{} = {}; {} = 0; ",
                names[*variable], fresh[*variable], fresh[*variable]
            );
        }
        (first, then)
    };
    if subject.together {
        text.push_str("  :: atomic {\n");
        for (process, actions) in protocol.processes.iter().enumerate() {
            let keep: String = subject
                .own(process)
                .map(|place| format!("{} = {}; ", fresh[place], names[place]))
                .collect();
            let _ = write!(text, "       {keep}\n       if ");
            for action in actions {
                for outcome in &action.outcomes {
                    let guard = PROMELA.text(&action.guard, &names);
                    let _ = write!(text, ":: {guard} -> {}skip ", assign(outcome).0);
                }
            }
            text.push_str(":: else -> skip fi;\n");
        }
        for (name, fresh) in names.iter().zip(&fresh) {
            let _ = writeln!(text, "       {name} = {fresh}; {fresh} = 0;");
        }
        text.push_str("       STEP\n     }\n");
    } else {
        for (_, action, outcome) in subject.outcomes() {
            let (first, then) = assign(outcome);
            let guard = PROMELA.text(&action.guard, &names);
            let _ = writeln!(text, "  :: d_step {{ {guard} -> {first}{then}STEP }}");
        }
        text.push_str("  :: else -> skip\n");
    }
    text.push_str("  od;\nend: skip\n}\n\nltl convergence { <> (legitimate || outside) }\n");
    text
}
