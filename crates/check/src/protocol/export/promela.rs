//! Promela.

use std::fmt::Write as _;

use super::super::Protocol;
use super::super::ast::Binary;
use super::super::node::{Many, Node};
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
    // Every name of a variable ends in `_` and a process; none of these does.
    let fresh: Vec<String> = (0..names.len()).map(|at| format!("next{at}")).collect();
    for ((variable, name), fresh) in protocol.variables.iter().zip(&names).zip(&fresh) {
        let domain = &variable.domain;
        let is_byte = domain[0] >= 0 && domain[domain.len() - 1] <= u8::MAX.into();
        let kind = if is_byte { "byte" } else { "short" };
        let _ = writeln!(text, "{kind} {name}, {fresh};");
    }
    let _ = writeln!(
        text,
        "bool legitimate, before, outside;\n\n#define JUDGE legitimate = {}\n#define STEP before = legitimate; JUDGE; assert(!before || legitimate); before = false\n",
        PROMELA.text(&protocol.legitimate, &names)
    );
    text.push_str("init {\n  atomic {\n");
    let mut concerned = Vec::new();
    if let Some(given) = &protocol.given {
        given.support(&mut concerned);
    }
    concerned.sort_unstable();
    concerned.dedup();
    let budget = protocol
        .given
        .as_ref()
        .and_then(|given| budget(protocol, given));
    let choose = |text: &mut String, place: usize| {
        let name = &names[place];
        let values = protocol.variables[place]
            .domain
            .iter()
            .map(|value| match &budget {
                // Sums that are too large already are not completed.
                Some((summed, most)) if *value > 0 && summed.contains(&place) => {
                    let so_far = summed.iter().map(|&at| names[at].as_str());
                    let so_far = so_far.collect::<Vec<_>>().join(" + ");
                    format!(":: {so_far} <= {} -> {name} = {value}", most - value)
                }
                _ => format!(":: {name} = {value}"),
            });
        let _ = writeln!(text, "    if {} fi;", values.collect::<Vec<_>>().join(" "));
    };
    concerned.iter().for_each(|&place| choose(&mut text, place));
    if let Some(given) = &protocol.given {
        // One state for all that are not given.
        let clear = concerned
            .iter()
            .map(|&place| format!("{} = 0; ", names[place]));
        let _ = writeln!(
            text,
            "    if :: {} :: else -> outside = true; {}goto end fi;",
            PROMELA.text(given, &names),
            clear.collect::<String>()
        );
    }
    let others = (0..names.len()).filter(|place| concerned.binary_search(place).is_err());
    others.for_each(|place| choose(&mut text, place));
    text.push_str("    JUDGE\n  };\n  do\n");
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

/// Variables that are never negative, if all that is given is their sum; and that sum.
fn budget(protocol: &Protocol, given: &Node) -> Option<(Vec<usize>, i32)> {
    fn add(protocol: &Protocol, node: &Node, terms: &mut Vec<usize>) -> Option<()> {
        match node {
            Node::Variable(place) if protocol.variables[*place].domain[0] >= 0 => {
                terms.push(*place);
                Some(())
            }
            Node::Binary(Binary::Add, a, b) => {
                add(protocol, a, terms)?;
                add(protocol, b, terms)
            }
            Node::Many(Many::Sum, nodes) => {
                nodes.iter().try_for_each(|node| add(protocol, node, terms))
            }
            _ => None,
        }
    }
    let Node::Binary(Binary::Equal, sum, total) = given else {
        return None;
    };
    let Node::Number(total) = **total else {
        return None;
    };
    let mut terms = Vec::new();
    add(protocol, sum, &mut terms)?;
    Some((terms, total))
}
