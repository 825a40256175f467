//! Those that decide on the members: what an idle voter costs, and how long a change takes, apart
//! from waiting for permits to end.

use std::time::{Duration, Instant};

use headway_service::client;

use crate::fleet::{Ring, usage};
use crate::service::{ONE_ROUND_A_SECOND, Rest};
use crate::spread;
use crate::table::{Goal, Row, Table, ratio, time};

const MEMBERS: usize = 1000;
const VOTERS: usize = 7;

pub(crate) fn measure(table: &mut Table) {
    let mut ring = Ring::new(MEMBERS, 24_000, ONE_ROUND_A_SECOND);
    let mut rest = Rest::new(&ring, VOTERS);
    (0..VOTERS).for_each(|at| ring.start(at));
    rest.run_for(Duration::from_secs(10));
    let alarms = ring.status(0)["alarms"].to_string();
    assert!(
        !alarms.contains("voters"),
        "they do not hear each other: {alarms}"
    );
    idle(table, &ring, &mut rest);
    change(table, &ring);
}

/// The one of the seven that costs most.
fn idle(table: &mut Table, ring: &Ring, rest: &mut Rest) {
    let window = Duration::from_secs(20);
    let usages = || ring.processes().map(usage).collect::<Vec<_>>();
    let before = usages();
    rest.run_for(window);
    let after = usages();
    let spent = before.iter().zip(&after);
    let spent = spent.map(|((before, _), (after, _))| *after - *before);
    let share = spent.max().unwrap_or_default().as_secs_f64() / window.as_secs_f64();
    let memory = after.iter().map(|(_, memory)| *memory).max();
    let memory = memory.unwrap_or_default() as f64;
    table.add(Row {
        work: format!(
            "idle voter, 1,000 members, seven of them voters, a tick a second, {window:?}: CPU \
             of the busiest"
        ),
        ours: format!("{:.2}% of a core", 100.0 * share),
        baseline: "a core".to_owned(),
        ratio: share,
        goal: Goal::AtMost(0.02),
    });
    table.add(Row {
        work: "idle voter, 1,000 members: resident memory of the largest".to_owned(),
        ours: format!("{:.1} MB", memory / 1e6),
        baseline: "20 MB".to_owned(),
        ratio: memory / 20e6,
        goal: Goal::AtMost(1.5),
    });
}

fn change(table: &mut Table, ring: &Ring) {
    let began = Instant::now();
    let answer = client::ask(&ring.socket(1), "DELETE", "/v1/members/n500", None);
    let decided = began.elapsed();
    assert_eq!(answer.expect("decided")["version"], 2);
    let spread = spread::time_to_spread(MEMBERS);
    table.add(Row {
        work: "one of 1,000 members is removed, nobody works: decided by seven voters on \
               loopback, and then adopted by all others (virtual time, datagrams of 50 to 500 \
               µs)"
        .to_owned(),
        ours: format!("{} and {}", time(decided), time(spread)),
        baseline: "10 s".to_owned(),
        ratio: ratio(decided + spread, Duration::from_secs(10)),
        goal: Goal::AtMost(1.0),
    });
}
