//! `headway node status` for people.

use std::io::{self, Write};
use std::time::Duration;

use headway_service::config::duration;
use serde_json::Value;

use super::text;
use crate::report::count;
use crate::report::style::{BAD, GOOD, HEADING};

/// What `/v1/status` says, in words.
pub(super) fn write(out: &mut dyn Write, status: &Value) -> io::Result<()> {
    let number = |key: &str| status[key].as_u64().unwrap_or_default();
    let list = |key: &str| status[key].as_array().map_or(&[][..], Vec::as_slice);
    let settled = status["settled"] == true;
    let style = if settled { GOOD } else { BAD };
    writeln!(
        out,
        "{HEADING}{}{HEADING:#} is {style}{}{style:#}",
        text(&status["name"]),
        text(&status["phase"]),
    )?;
    for silent in list("unheard") {
        let name = text(&silent["name"]);
        let by = silent["silent_by"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let by: Vec<&str> = by.iter().map(text).collect();
        writeln!(
            out,
            "{BAD}the ring stands still{BAD:#} since {}: {name} is silent, says {}; start it, or \
             `headway node remove {name}`",
            age(silent["silent_ms"].as_u64().unwrap_or_default()),
            by.join(" and ")
        )?;
    }
    let place = match status["index"].as_u64() {
        Some(index) => format!("place {index} of {}", number("members")),
        None => format!("not on it; it has {}", count(number("members"), "member")),
    };
    let ring = text(&status["ring"]);
    writeln!(
        out,
        "ring        {ring}, roster {}, {place}",
        number("roster")
    )?;
    let keys = match status["authentication"].as_str() {
        Some("shared_key") => "one that all members share: who has it can do everything",
        _ => "a pair for each member",
    };
    writeln!(out, "keys        {keys}")?;
    let apart = count(number("separation"), "hop");
    let (tokens, wanted) = (number("tokens"), number("tokens_wanted"));
    writeln!(
        out,
        "asked for   {}, at least {apart} apart in real time",
        count(wanted, "token")
    )?;
    if tokens < wanted {
        let members = count(number("members"), "member");
        writeln!(
            out,
            "{BAD}in force{BAD:#}    {}: no more fit on {members}; {wanted} again as soon as they do",
            count(tokens, "token")
        )?;
    }
    let (capacity, spare) = (number("max_tokens"), number("spare_members"));
    writeln!(
        out,
        "room for    {}; {}",
        count(capacity, "token"),
        match spare {
            0 if tokens > 1 => "with a member less, fewer travel".to_owned(),
            0 => "no member can be removed: add one first".to_owned(),
            spare => format!("{} can be removed", count(spare, "member")),
        }
    )?;
    let terms = &status["terms"];
    if terms.is_object() {
        let time = |key: &str| {
            duration(Duration::from_millis(
                terms[key].as_u64().unwrap_or_default(),
            ))
        };
        writeln!(
            out,
            "timing      tick {}, refresh {}, silence {}; a permit lasts {} to {}, and {} of grace",
            time("tick_ms"),
            time("refresh_ms"),
            time("silence_ms"),
            time("dwell_least_ms"),
            time("dwell_most_ms"),
            time("grace_ms")
        )?;
        let behind: Vec<&str> = list("behind").iter().map(text).collect();
        let (wire, newest) = (
            terms["wire"].as_u64().unwrap_or_default(),
            number("newest_wire"),
        );
        match (newest > wire, behind.is_empty()) {
            (false, _) => writeln!(out, "wire        format {wire}")?,
            (true, true) => writeln!(out, "wire        format {wire}; {newest} in a moment")?,
            (true, false) => writeln!(
                out,
                "wire        format {wire}; {newest} when these have it: {}",
                behind.join(", ")
            )?,
        }
    }
    let differs = list("file_differs").iter().map(|one| text(one).to_owned());
    let mut differs = differs.peekable();
    if differs.peek().is_some() {
        rows(out, "file says", "", differs)?;
    }
    let working = list("working").iter().map(|work| {
        let (name, used_by) = (text(&work["name"]), text(&work["used_by"]));
        let since = age(work["since_ms"].as_u64().unwrap_or_default());
        format!("{name}: {used_by}, for {since}")
    });
    rows(out, "at work", "nobody for long", working)?;
    let held = list("holding").iter().map(|held| {
        let since = held["since_ms"].as_u64().unwrap_or_default();
        let used = match since {
            0 => "passing".to_owned(),
            since => format!("in use for {}", age(since)),
        };
        format!(
            "token {}, {used}, fencing number {}",
            held["token"], held["fencing"]
        )
    });
    rows(out, "holds", "nothing", held)?;
    let neighbours = list("neighbours").iter().map(|neighbour| {
        let heard = match neighbour["heard_ms"].as_u64() {
            Some(heard) => format!("heard {} ago", age(heard)),
            None => "not heard yet".to_owned(),
        };
        let silent = if neighbour["is_silent"] == true {
            ", silent"
        } else {
            ""
        };
        let (name, address) = (text(&neighbour["name"]), text(&neighbour["address"]));
        format!("{name} at {address}, {heard}{silent}")
    });
    rows(out, "neighbours", "none", neighbours)?;
    let bypassed = list("bypassed").iter().map(|name| text(name).to_owned());
    rows(out, "bypassed", "nobody", bypassed)?;
    let (permits, hops) = (count(number("permits"), "permit"), number("hops"));
    writeln!(
        out,
        "so far      {permits} granted, {} passed on, {} of the patrol, {} waiting",
        count(hops, "token"),
        count(number("laps"), "visit"),
        number("waiting")
    )?;
    let alarms = list("alarms").iter().map(|alarm| text(alarm).to_owned());
    rows(out, "alarms", "none", alarms)
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
            "terms": {
                "tick_ms": 100, "refresh_ms": 200, "silence_ms": 2000, "dwell_least_ms": 0,
                "dwell_most_ms": 1_800_000, "grace_ms": 10_000, "wire": 1,
            },
            "unheard": [{ "name": "c", "silent_by": ["b", "d"], "silent_ms": 12_300 }],
            "max_tokens": 2, "spare_members": 1,
            "working": [{ "name": "a", "used_by": "its command", "since_ms": 3_200 }],
            "authentication": "shared_key",
            "permits": 2, "roster": 1, "bypassed": [], "waiting": 0, "alarms": [],
        });
        let mut told = Vec::new();
        super::write(&mut told, &status).expect("written");
        let told = anstream::adapter::strip_bytes(&told).into_vec();
        let told = String::from_utf8(told).expect("text");
        assert_eq!(
            told,
            "b is settled\n\
             the ring stands still since 12s: c is silent, says b and d; start it, or \
             `headway node remove c`\n\
             ring        web, roster 1, place 1 of 3\n\
             keys        one that all members share: who has it can do everything\n\
             asked for   1 token, at least 1 hop apart in real time\n\
             room for    2 tokens; 1 member can be removed\n\
             timing      tick 100ms, refresh 200ms, silence 2s; a permit lasts 0ms to 30m, and 10s \
             of grace\n\
             wire        format 1\n\
             file says   ring.tokens = 2, not 1\n\
             at work     a: its command, for 3.2s\n\
             holds       token 0, in use for 1.5s, fencing number 7\n\
             neighbours  a at 192.0.2.1:7400, heard 20ms ago\n            \
             c at 192.0.2.3:7400, not heard yet, silent\n\
             bypassed    nobody\n\
             so far      2 permits granted, 41 tokens passed on, 120 visits of the patrol, 0 waiting\n\
             alarms      none\n"
        );
    }
}
