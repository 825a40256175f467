//! Petri nets: cycle times with certificates, and PNML.

use std::time::Duration;

use headway_core::{Program, Ring, Separation};
use headway_petri::maxplus::howard;
use headway_petri::{EventGraph, Marking, Net, pnml, ring};
use headway_sim::start;

use crate::table::{Goal, Row, Table, best_of, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    cycle_time(table);
    files(table);
}

/// A ring in which every process delays, d = 6, in a random state.
fn net(processes: usize, tokens: u32) -> (Net, Marking) {
    let separation = Separation::new(6).expect("at least 1");
    let ring = Ring::new(separation, vec![Program::Delay; processes]).expect("not empty");
    let state = start::random(&ring, tokens, 1);
    ring::to_net(&ring, &state).expect("nobody measures")
}

/// From the net to the cycle time and its proof.
fn solve_time(processes: usize, times: u32) -> (Duration, Duration) {
    let (net, marking) = net(processes, processes as u32 / 10);
    let work = || {
        let graph = EventGraph::of(&net, &marking).expect("rings are event graphs");
        let solution = howard::solve(&graph).expect("rings are live");
        (graph, solution)
    };
    let (graph, solution) = work();
    assert_eq!(solution.certificate.cycle_time.to_string(), "10/1");
    assert_eq!(solution.certificate.check(&graph), Ok(()));
    let check = best_of(times, || solution.certificate.check(&graph));
    drop((graph, solution));
    (best_of(times, work), check)
}

fn cycle_time(table: &mut Table) {
    let per_process = |duration: Duration, processes: u32| duration / processes;
    let (small, _) = solve_time(1_000, 200);
    let (middle, check) = solve_time(200_000, 3);
    let (large, _) = solve_time(1_000_000, 2);
    let small_each = per_process(small, 1_000);
    for (name, whole, processes) in [
        ("200,000", middle, 200_000),
        ("1,000,000", large, 1_000_000),
    ] {
        let each = per_process(whole, processes);
        table.add(Row {
            work: format!("cycle time with certificate per process, N = {name}, M = N/10, D = 6"),
            ours: format!("{} ({} in all)", time(each), time(whole)),
            baseline: format!("N = 1,000: {}", time(small_each)),
            ratio: ratio(each, small_each),
            goal: Goal::AtMost(4.0),
        });
    }
    table.add(Row {
        work: "cycle time with certificate, N = 200,000".to_owned(),
        ours: time(middle),
        baseline: format!("checking the certificate once {}", time(check)),
        ratio: ratio(middle, check),
        goal: Goal::AtMost(100.0),
    });
}

fn files(table: &mut Table) {
    // Each process has a place of the major ring and six of a minor one.
    let (net, marking) = net(142_858, 14_285);
    assert!(net.places() >= 1_000_000);
    let text = pnml::to_string(&net, &marking);
    let megabytes = text.len() as f64 / 1e6;
    let export = best_of(3, || pnml::write(&net, &marking, &mut std::io::sink()));
    let import = best_of(3, || pnml::read(text.as_bytes()));
    let both = export + import;
    table.add(Row {
        work: format!("PNML import plus export, a million places, {megabytes:.0} MB"),
        ours: format!("{} + {}", time(import), time(export)),
        baseline: "1 MB a second".to_owned(),
        ratio: megabytes / both.as_secs_f64(),
        goal: Goal::AtLeast(50.0),
    });
    let tree = best_of(2, || {
        let options = roxmltree::ParsingOptions {
            nodes_limit: u32::MAX,
            ..roxmltree::ParsingOptions::default()
        };
        roxmltree::Document::parse_with_options(&text, options)
            .map(|tree| tree.descendants().count())
    });
    table.add(Row {
        work: "PNML import, a million places".to_owned(),
        ours: time(import),
        baseline: format!("roxmltree's tree of the same text, no net {}", time(tree)),
        ratio: ratio(import, tree),
        goal: Goal::AtMost(2.0),
    });
    let (nets, peak) = peak_bytes(|| {
        let bytes = text.as_bytes().to_vec();
        pnml::read(&bytes).map(|nets| {
            let mut written = 0;
            for net in &nets {
                let mut count = Count(&mut written);
                pnml::write(&net.net, &net.marking, &mut count).expect("counting does not fail");
            }
            (nets.len(), written)
        })
    });
    assert_eq!(
        nets,
        Ok((1, text.len())),
        "read and written again, byte for byte as long"
    );
    table.add(Row {
        work: "peak memory of PNML import plus export, the file included".to_owned(),
        ours: format!("{:.0} MB", peak as f64 / 1e6),
        baseline: format!("the file {megabytes:.0} MB"),
        ratio: peak as f64 / text.len() as f64,
        goal: Goal::AtMost(10.0),
    });
}

struct Count<'a>(&'a mut usize);

impl std::io::Write for Count<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        *self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
