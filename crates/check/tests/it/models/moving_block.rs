//! The moving block by messages, and with tokens that cannot be lost and a patrol.

use headway_check::model::patrol;
use headway_check::{Model, Report};
use headway_testkit::tier::pick;

use crate::common::report;

fn ring(n: usize, m: u32, d: u32) -> String {
    format!("processes={n} tokens={m} separation={d}")
}

fn check(n: usize, m: u32, d: u32, how: &str) -> Report {
    report(&format!("moving-block {} {how}", ring(n, m, d)))
}

/// Safe in any case; every process is visited exactly when n > m·d. With n = m·d tokens
/// end apart and stand.
#[test]
fn the_moving_block_needs_a_process_more_than_the_tokens_fill() {
    let instances = [
        (2, 1, 1),
        (3, 1, 1),
        (3, 1, 2),
        (3, 2, 1),
        (2, 1, 2),
        (2, 2, 1),
        (3, 3, 1),
    ];
    for (n, m, d) in instances {
        let report = check(n, m, d, "");
        let alive = n > (m * d) as usize;
        assert!(report.closure(), "{n} {m} {d}");
        assert!(report.property("safe").unwrap().holds, "{n} {m} {d}");
        assert!(report.convergence() || !alive, "{n} {m} {d}");
        assert_eq!(
            report.property("visits").unwrap().holds,
            alive,
            "{n} {m} {d}"
        );
    }
}

/// Four processes and more, with news that is heard as it is told.
#[test]
fn larger_rings_without_news_under_way() {
    for (n, m, d) in [(4, 2, 1), (4, 3, 1), (4, 1, 3), (5, 2, 2)] {
        let report = check(n, m, d, "prompt_news");
        assert!(report.all_hold(), "{n} {m} {d}");
    }
}

/// From tokens that are apart and nothing known, rings whose states are too many.
#[test]
fn larger_rings_from_a_clean_start() {
    for (n, m, d) in [(4, 2, 1), (4, 3, 1), (5, 2, 2)] {
        let report = check(n, m, d, "clean_start");
        assert!(report.all_hold(), "{n} {m} {d}");
        assert_eq!(report.properties.len(), 1, "only safety is asked");
    }
}

#[test]
fn old_news_is_dangerous() {
    for broken in ["believe_old_news", "tell_old_news"] {
        let report = check(3, 2, 1, broken);
        let run = report.counterexample("safe").expect("two tokens too close");
        assert!(run.states.len() > 2, "{broken}: a run from a clean start");
        assert!(!report.closure());
    }
}

/// All links with a token under way or in one of three other conditions, each with a
/// number heard and one under way.
#[test]
fn the_states_are_those_that_a_formula_counts() {
    // n = 2, m = 1, d = 1: held at one of 2 with two quiet links, or under way on one.
    let report = check(2, 1, 1, "");
    assert_eq!(report.states, (2 * 12_u32.pow(2) + 2 * 4 * 12).into());
}

#[test]
fn the_patrol_ends_every_standstill_and_disturbs_nothing() {
    let rings = [(2, 1, 1), (3, 1, 1), (3, 1, 2), (3, 2, 1)];
    for &(n, m, d) in &rings[..pick(2, 4, 4)] {
        let report = report(&format!("patrol {}", ring(n, m, d)));
        assert!(report.all_hold(), "{n} {m} {d}");
        assert!(report.legitimate > 0_u32.into());
    }
}

/// Without a patrol that opens the tokens stand; one that opens too soon never lets it
/// settle.
#[test]
fn a_patrol_that_errs_is_noticed() {
    let with = |broken| report(&format!("patrol {} {broken}", ring(3, pick(1, 2, 2), 1)));
    let stands = with("never_open");
    let run = stands.counterexample("convergence").unwrap();
    assert_eq!(run.repeats_from, Some(0));
    for broken in ["ignore_ready", "ignore_moves"] {
        assert!(!with(broken).all_hold(), "{broken}");
    }
}

#[test]
fn ranks_and_states_are_inverse() {
    let model = patrol::Patrol::new(&patrol::Settings::default()).unwrap();
    for rank in (0..model.states()).step_by(997) {
        assert_eq!(model.rank(&model.state(rank)), rank);
    }
}
