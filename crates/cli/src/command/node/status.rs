//! `headway node status` for people.

use std::io::{self, Write};
use std::time::Duration;

use headway_service::Status;
use headway_service::config::duration;

use crate::report::count;
use crate::report::style::{BAD, GOOD, HEADING};

/// What a node says of itself, in words.
pub(super) fn write(out: &mut dyn Write, status: &Status) -> io::Result<()> {
    let style = if status.settled { GOOD } else { BAD };
    let (name, phase) = (&status.name, status.phase);
    writeln!(out, "{HEADING}{name}{HEADING:#} is {style}{phase}{style:#}")?;
    for silent in &status.unheard {
        let name = &silent.name;
        writeln!(
            out,
            "{BAD}the ring has stalled{BAD:#} for {}: {name} is silent, says {}; start it, or \
             `headway node remove {name}`",
            age(silent.silent_ms),
            silent.silent_by.join(" and ")
        )?;
    }
    let place = match status.index {
        Some(index) => format!("place {index} of {}", status.members),
        None => format!("not on it; it has {}", members(status)),
    };
    let (ring, membership) = (&status.ring, status.membership);
    writeln!(out, "ring        {ring}, membership {membership}, {place}")?;
    let apart = count(status.separation, "hop");
    let (tokens, wanted) = (status.tokens, status.tokens_wanted);
    writeln!(
        out,
        "configured  {}, at least {apart} apart in real time",
        count(wanted, "token")
    )?;
    if tokens < wanted {
        writeln!(
            out,
            "{BAD}in force{BAD:#}    {}: no more fit on {}; {wanted} again as soon as they do",
            count(tokens, "token"),
            members(status)
        )?;
    }
    writeln!(
        out,
        "room for    {}; {}",
        count(status.max_tokens, "token"),
        match status.spare_members {
            0 if tokens > 1 => "losing a member reduces capacity".to_owned(),
            0 => "no member can be removed: add one first".to_owned(),
            spare => format!("{} can be removed", count(spare, "member")),
        }
    )?;
    if let Some(terms) = &status.ring_settings {
        let time = |ms| duration(Duration::from_millis(ms));
        writeln!(
            out,
            "timing      tick {}, refresh {}, heartbeat_timeout {}, hold {} to {}, stop_timeout {}",
            time(terms.tick_ms),
            time(terms.refresh_ms),
            time(terms.heartbeat_timeout_ms),
            time(terms.min_hold_ms),
            time(terms.max_hold_ms),
            time(terms.stop_timeout_ms)
        )?;
        let (wire, newest) = (terms.wire, status.newest_wire);
        match (newest > wire, status.behind.is_empty()) {
            (false, _) => writeln!(out, "wire        format {wire}")?,
            (true, true) => writeln!(out, "wire        format {wire}; {newest} in a moment")?,
            (true, false) => writeln!(
                out,
                "wire        format {wire}; {newest} when these have it: {}",
                status.behind.join(", ")
            )?,
        }
    }
    if !status.file_differs.is_empty() {
        rows(out, "file says", "", status.file_differs.iter().cloned())?;
    }
    let working = status.working.iter().map(|work| {
        let since = age(work.since_ms);
        format!("{}: {}, for {since}", work.name, work.used_by)
    });
    rows(out, "active", "no permit for over 2 s", working)?;
    let held = status.holding.iter().map(|held| {
        let used = match held.since_ms {
            0 => "passing".to_owned(),
            since => format!("in use for {}", age(since)),
        };
        format!(
            "token {}, {used}, fencing number {}",
            held.token, held.fencing
        )
    });
    rows(out, "holds", "nothing", held)?;
    let neighbours = status.neighbours.iter().map(|neighbour| {
        let heard = match neighbour.heard_ms {
            Some(heard) => format!("heard {} ago", age(heard)),
            None => "not heard yet".to_owned(),
        };
        let silent = if neighbour.is_silent { ", silent" } else { "" };
        let (name, address) = (&neighbour.name, &neighbour.address);
        format!("{name} at {address}, {heard}{silent}")
    });
    rows(out, "neighbours", "none", neighbours)?;
    let bypassed = status.bypassed.iter().cloned();
    rows(out, "bypassed", "nobody", bypassed)?;
    writeln!(
        out,
        "so far      {} granted, {} passed on, {} of the patrol, {} waiting",
        count(status.permits, "permit"),
        count(status.hops, "token"),
        count(status.laps, "visit"),
        status.waiting
    )?;
    rows(out, "alarms", "none", status.alarms.iter().cloned())
}

fn members(status: &Status) -> String {
    count(status.members as u64, "member")
}

/// A row for each, or one that says that there is none.
fn rows(
    out: &mut dyn Write,
    name: &str,
    none: &str,
    values: impl Iterator<Item = String>,
) -> io::Result<()> {
    let mut values = values.peekable();
    if values.peek().is_none() {
        return writeln!(out, "{name:<12}{none}");
    }
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    for (name, value) in names.zip(values) {
        writeln!(out, "{name:<12}{value}")?;
    }
    Ok(())
}

fn age(ms: u64) -> String {
    format!(
        "{:?}",
        Duration::from_millis(if ms < 10_000 { ms } else { ms / 1000 * 1000 })
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_status_in_words() {
        let status = json!({
            "name": "b", "index": 1, "members": 3, "ring": "web", "settled": true,
            "phase": "settled", "laps": 120, "silent": ["c"], "separation": 1, "tokens": 1,
            "holding": [{ "token": 0, "fencing": 7, "since_ms": 1500 }], "hops": 41,
            "neighbours": [
                { "name": "a", "address": "192.0.2.1:7400", "heard_ms": 20, "is_silent": false },
                { "name": "c", "address": "192.0.2.3:7400", "heard_ms": null, "is_silent": true },
            ],
            "tokens_wanted": 1, "newest_wire": 1, "behind": [],
            "file_differs": ["ring.tokens = 2, not 1"],
            "ring_settings": {
                "tick_ms": 100, "refresh_ms": 200, "heartbeat_timeout_ms": 2000, "min_hold_ms": 0,
                "max_hold_ms": 1_800_000, "stop_timeout_ms": 10_000, "wire": 1, "tokens": 1,
                "separation": 1,
            },
            "unheard": [{ "name": "c", "silent_by": ["b", "d"], "silent_ms": 12_300 }],
            "max_tokens": 2, "spare_members": 1,
            "working": [{ "name": "a", "used_by": "its command", "since_ms": 3_200 }],
            "permits": 2, "membership": 1, "bypassed": [], "waiting": 0, "alarms": [],
        });
        let status = serde_json::from_value(status).expect("a status");
        let mut told = Vec::new();
        super::write(&mut told, &status).expect("written");
        let told = anstream::adapter::strip_bytes(&told).into_vec();
        let told = String::from_utf8(told).expect("text");
        assert_eq!(
            told,
            "b is settled\n\
             the ring has stalled for 12s: c is silent, says b and d; start it, or \
             `headway node remove c`\n\
             ring        web, membership 1, place 1 of 3\n\
             configured  1 token, at least 1 hop apart in real time\n\
             room for    2 tokens; 1 member can be removed\n\
             timing      tick 100ms, refresh 200ms, heartbeat_timeout 2s, hold 0ms to 30m, \
             stop_timeout 10s\n\
             wire        format 1\n\
             file says   ring.tokens = 2, not 1\n\
             active      a: its command, for 3.2s\n\
             holds       token 0, in use for 1.5s, fencing number 7\n\
             neighbours  a at 192.0.2.1:7400, heard 20ms ago\n            \
             c at 192.0.2.3:7400, not heard yet, silent\n\
             bypassed    nobody\n\
             so far      2 permits granted, 41 tokens passed on, 120 visits of the patrol, 0 waiting\n\
             alarms      none\n"
        );
    }
}
