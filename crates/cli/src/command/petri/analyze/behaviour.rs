//! What markings, invariants, siphons and traps say, for people.

use std::io::Write;

use headway_answer::petri::{Behaviour, Found};
use headway_petri::semiflow::Semiflow;

use super::super::input::{Plant, place_ids, shortened};
use super::row;
use crate::report::count;
use crate::report::style::DIM;

pub(super) fn write_text(
    out: &mut dyn Write,
    found: &Behaviour,
    Plant { net, marking }: &Plant,
    known_live: (Option<bool>, &str),
) -> std::io::Result<()> {
    const SHOWN_TERMS: usize = 12;
    row(out, Some(found.free_choice), "free choice", "")?;
    let (live, why) = match known_live {
        (None, _) => (found.live.0, found.live.1.as_str()),
        known => known,
    };
    row(out, live, "live", why)?;
    row(out, found.bounded.0, "bounded", &found.bounded.1)?;
    row(out, found.safe.0, "safe", &found.safe.1)?;
    row(out, found.stuck.0, "never stuck", &found.stuck.1)?;
    let flow = |flow: &Semiflow, id: &dyn Fn(usize) -> String| {
        let term = |&(at, weight): &(usize, u64)| match weight {
            1 => id(at),
            _ => format!("{weight}·{}", id(at)),
        };
        let terms = flow.weights.iter().map(term).take(SHOWN_TERMS);
        let mut text = terms.collect::<Vec<_>>().join(" + ");
        if flow.weights.len() > SHOWN_TERMS {
            text += &format!(" + ... ({} in all)", flow.weights.len());
        }
        text
    };
    let place = |at: usize| net.place_id(at).to_owned();
    let transition = |at: usize| net.transition_id(at).to_owned();
    list(out, "P-invariants", &found.place_flows, |it| {
        let value = it.value(marking).map(|value| format!(" = {value}"));
        flow(it, &place) + &value.unwrap_or_default()
    })?;
    list(out, "T-invariants", &found.transition_flows, |it| {
        flow(it, &transition)
    })?;
    let set = |(set, tokens): &(Vec<usize>, u128)| {
        let places = shortened(&place_ids(net, set));
        format!("{} on {places}", count(*tokens, "token"))
    };
    list(out, "siphons", &found.siphons, set)?;
    list(out, "traps", &found.traps, set)
}

fn list<T>(
    out: &mut dyn Write,
    what: &str,
    found: &Found<T>,
    one: impl Fn(&T) -> String,
) -> std::io::Result<()> {
    const SHOWN: usize = 3;
    match found {
        Err(why) => writeln!(out, "  {what}: not known, {why}"),
        Ok(items) => {
            writeln!(out, "  {what}: {} minimal", items.len())?;
            for item in items.iter().take(SHOWN) {
                writeln!(out, "    {DIM}{}{DIM:#}", one(item))?;
            }
            Ok(())
        }
    }
}
