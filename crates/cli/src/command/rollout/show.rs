//! Rollouts in words.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::command::node::text;
use crate::report::style::{BAD, GOOD, HEADING};
use crate::report::{about, count};

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

/// "web is running: 37 of 100 done, 1 failed, 2 running, about 14 min left".
pub(super) fn line(out: &mut impl Write, rollout: &Value) -> io::Result<()> {
    let name = text(&rollout["name"]);
    let state = text(&rollout["rollout_state"]);
    let number = |key| number(rollout, key);
    let mut facts = vec![format!("{} of {} done", number("done"), number("total"))];
    for key in ["failed", "running", "gone"] {
        if number(key) > 0 {
            facts.push(format!("{} {key}", number(key)));
        }
    }
    let left = rollout["left_ms"]
        .as_u64()
        .filter(|_| matches!(state, "running" | "waiting"));
    facts.extend(left.map(|left| format!("about {} left", about(Duration::from_millis(left)))));
    let style = match state {
        "complete" | "running" => GOOD,
        "failed" | "aborted" => BAD,
        _ => HEADING,
    };
    let advice = match state {
        "failed" => format!(
            "; repair it and `headway rollout resume {name} --retry`, or `headway rollout abort {name}`"
        ),
        "paused" => format!("; `headway rollout resume {name}` goes on"),
        "waiting" => "; waits for its window".into(),
        _ => String::new(),
    };
    writeln!(
        out,
        "{name} is {style}{state}{style:#}: {}{advice}",
        facts.join(", ")
    )
}

/// All that happened.
pub(super) fn log(out: &mut impl Write, rollout: &Value) -> io::Result<()> {
    let words = |key: &str| {
        let words = rollout[key].as_array().map_or(&[][..], Vec::as_slice);
        words.iter().map(text).collect::<Vec<_>>().join(" ")
    };
    let at = |ms: u64| humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ms));
    writeln!(
        out,
        "{}  {} started rollout {}: {}",
        at(number(rollout, "started_ms")),
        text(&rollout["started_by"]),
        text(&rollout["name"]),
        words("command")
    )?;
    let mut steps: Vec<&Value> = rollout["steps"].as_array().into_iter().flatten().collect();
    steps.retain(|step| number(step, "began_ms") > 0);
    steps.sort_by_key(|step| number(step, "began_ms"));
    for step in steps {
        let took = number(step, "ended_ms").saturating_sub(number(step, "began_ms"));
        let what = match text(&step["step_phase"]) {
            "done" => format!("done in {}", seconds(took)),
            "failed" => format!("failed after {}: {}", seconds(took), text(&step["why"])),
            other => other.to_owned(),
        };
        let attempt = match number(step, "attempt") {
            0 => String::new(),
            again => format!(", attempt {}", again + 1),
        };
        let began = at(number(step, "began_ms"));
        writeln!(out, "{began}  {}{attempt}: {what}", text(&step["name"]))?;
    }
    let ordered = number(rollout, "ordered_ms");
    if ordered > number(rollout, "started_ms") {
        let by = text(&rollout["ordered_by"]);
        let state = text(&rollout["rollout_state"]);
        writeln!(
            out,
            "{}  the last order came from {by}; it is {state}",
            at(ordered)
        )?;
    }
    let pending = count(number(rollout, "pending"), "member");
    writeln!(out, "{pending} waiting")
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1000.0)
}
