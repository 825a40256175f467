//! `make bench`: one table of what Headway claims about speed and memory.
//!
//! Every row is a ratio to a baseline measured in the same run, because machines
//! differ and are noisy. One file per area; each adds its rows to the [`Table`].
//! Arguments choose areas by name (`cargo run --release -p headway-bench ring`);
//! without any, all are measured but those of the service, whose name is `fleet`: an operator
//! installs what `--profile dist` builds. The table is printed, kept in `bench/results.json`, and
//! shown with charts in `docs/dev/performance.md`; `draw` writes that from what is kept.

mod chart;
mod check;
mod commands;
mod dashboard;
mod experiments;
mod fleet;
mod fleetlock;
mod forecast;
mod grant;
mod hand_over;
mod moving_block;
mod node;
mod petri;
mod redis;
mod report;
mod ring;
mod scale;
mod service;
mod spread;
mod table;
mod voters;
mod walk;

use table::{Table, markdown};

/// An area: its name and what measures it.
type Area = (&'static str, fn(&mut Table));

const AREAS: &[Area] = &[
    ("ring", ring::measure),
    ("forecast", forecast::measure),
    ("commands", commands::measure),
    ("experiments", experiments::measure),
    ("petri", petri::measure),
    ("walk", walk::measure),
    ("check", check::measure),
    ("node", node::measure),
    ("moving-block", moving_block::measure),
    ("dashboard", dashboard::measure),
    ("service", service::measure),
    ("hand-over", hand_over::measure),
    ("fleetlock", fleetlock::measure),
    ("voters", voters::measure),
];

/// The areas of the service, and what they are called together.
const GROUP: &str = "fleet";
const FLEET: [&str; 4] = ["service", "hand-over", "fleetlock", "voters"];

fn main() -> std::io::Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if chosen.first().is_some_and(|first| first == node::ECHO) {
        // This is the other process of a measurement.
        return node::echo();
    }
    if chosen == ["draw"] {
        return report::write();
    }
    if chosen == ["scale"] {
        scale::measure();
        return Ok(());
    }
    if let [first, config] = &chosen[..]
        && first == fleet::NODE
    {
        return fleet::node(config.as_ref());
    }
    if let Some(unknown) = chosen
        .iter()
        .find(|name| *name != GROUP && !AREAS.iter().any(|(area, _)| area == name))
    {
        let areas = AREAS.iter().map(|(area, _)| *area);
        let known: Vec<&str> = areas.chain([GROUP]).collect();
        eprintln!(
            "error: there is no area '{unknown}'; expected {}",
            known.join(", ")
        );
        std::process::exit(2);
    }
    let mut table = Table::default();
    for (name, measure) in AREAS {
        let of_fleet = FLEET.contains(name);
        let is_chosen = |area: &String| area == name || of_fleet && area == GROUP;
        if chosen.is_empty() && !of_fleet || chosen.iter().any(is_chosen) {
            eprintln!("measuring {name} …");
            table.area = name;
            measure(&mut table);
        }
    }
    let all_met = table.all_met();
    print!("{}", markdown(&table.rows.iter().collect::<Vec<_>>()));
    report::replace(table.rows)?;
    if !all_met {
        eprintln!("some goals are not met");
        std::process::exit(1);
    }
    Ok(())
}
