//! The worst case of every placement of delays on every feasible ring up to a size,
//! found by going through all initial states, against the closed forms.
//!
//! `cargo run --release -p headway-check --example worst_cases -- 9` takes seconds,
//! 13 some minutes.

use headway_check::Control;
use headway_check::model::delay_relay::{Settings, check};

fn main() {
    let largest = match std::env::args().nth(1).as_deref().map(str::parse) {
        None => 9,
        Some(Ok(largest)) if largest <= 24 => largest,
        Some(_) => {
            eprintln!("error: expected the largest ring's size, at most 24");
            std::process::exit(2);
        }
    };
    let (mut placements, mut wrong) = (0, 0);
    println!("processes tokens separation placements worst_case worst_last_rest closed_forms");
    for n in 1..=largest {
        for m in 1..=5_usize {
            for d in (1..=8_u32).filter(|&d| m * d as usize <= n) {
                let control = Control::default();
                let settings = Settings {
                    processes: n,
                    tokens: m.into(),
                    separation: Some(d),
                    all_placements: true,
                    ..Settings::default()
                };
                let report = match check(&settings, &control) {
                    Ok(report) => report,
                    Err(error) => {
                        eprintln!("error: {error}");
                        std::process::exit(2);
                    }
                };
                let checked = report.figures.placements.unwrap_or(0);
                placements += checked;
                wrong += u32::from(!report.all_hold());
                println!(
                    "{n} {m} {d} {} {} {} {}",
                    checked,
                    report.worst.map_or(0, |worst| worst.steps),
                    report.figures.worst_last_rest.unwrap_or(0),
                    if report.all_hold() { "agree" } else { "DIFFER" }
                );
            }
        }
    }
    println!("{placements} placements, {wrong} of the rows differ");
    std::process::exit(i32::from(wrong > 0));
}
