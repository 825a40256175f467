//! What an exploration may use, to the byte; and what it says of its progress.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Rules, Steps, Table};
use headway_check::model::delay_relay::{Instance, reduced};
use headway_check::reach::{self, Reachable};
use headway_check::{
    Action, Actions, BigUint, CheckError, Control, Guarded, Limits, Model, Scheduler, Step,
    TooLarge, actions, function, guarded,
};

const MUCH: u64 = 1 << 40;

/// The smallest memory and the smallest work with which it is not refused.
fn least(run: impl Fn(Limits) -> Result<(), CheckError>) -> (u64, u64) {
    let search = |limits: &dyn Fn(u64) -> Limits| {
        let (mut refused, mut enough) = (0, MUCH);
        while refused + 1 < enough {
            let middle = u64::midpoint(refused, enough);
            match run(limits(middle)) {
                Ok(()) => enough = middle,
                Err(CheckError::TooLarge { .. }) => refused = middle,
                Err(error) => panic!("{error}"),
            }
        }
        enough
    };
    let memory = search(&|memory_bytes| Limits {
        memory_bytes,
        work: MUCH,
    });
    let work = search(&|work| Limits {
        memory_bytes: MUCH,
        work,
    });
    (memory, work)
}

fn table(states: u64) -> Table {
    Table {
        next: vec![0; states as usize],
        legitimate: vec![true; states as usize],
    }
}

fn rules() -> Rules {
    Rules {
        processes: 3,
        values: 2,
        moves: vec![vec![None; 8]; 3],
        legitimate: vec![true; 8],
    }
}

fn steps() -> Steps {
    Steps {
        next: vec![vec![(0, 1)]; 6],
        legitimate: vec![true; 6],
    }
}

#[test]
fn a_function_takes_a_byte_a_state() {
    let run = |limits| function::explore(&table(100), &Control::new(limits)).map(|_| ());
    assert_eq!(least(run), (100, 100));
}

/// A path of 300 rounds does not fit a byte, one of 70,000 not two.
#[test]
fn long_paths_take_more() {
    for (length, bytes) in [(253, 1), (254, 2), (300, 2), (70_000, 4)] {
        let states: u64 = length + 1;
        let model = Table {
            next: (0..states).map(|rank| rank.saturating_sub(1)).collect(),
            legitimate: (0..states).map(|rank| rank == 0).collect(),
        };
        let limits = |bytes| Limits {
            memory_bytes: states * bytes,
            work: MUCH,
        };
        let explore = |limits| function::explore(&model, &Control::new(limits));
        let answer = explore(limits(bytes)).unwrap();
        assert_eq!(answer.worst, Some((length, length)));
        assert_eq!(answer.distances, vec![1; states as usize]);
        if bytes > 1 {
            let refused = explore(limits(bytes / 2)).unwrap_err();
            assert!(matches!(refused, CheckError::TooLarge { .. }), "{refused}");
        }
    }
}

#[test]
fn a_scheduler_is_counted_by_the_steps_that_it_may_take() {
    for (scheduler, selections) in [
        (Scheduler::Synchronous, 1),
        (Scheduler::Central, 3),
        (Scheduler::LocallyCentral, 8),
        (Scheduler::Distributed, 8),
    ] {
        let run = |limits| guarded::explore(&rules(), scheduler, &Control::new(limits)).map(|_| ());
        assert_eq!(least(run), (8 * 16, 8 * selections), "{scheduler}");
    }
}

#[test]
fn actions_take_an_edge_each() {
    let run = |limits| actions::explore(&steps(), &Control::new(limits)).map(|_| ());
    assert_eq!(least(run), (6 * (96 + 4 * 28), 6));
}

#[test]
fn a_refusal_says_how_much_and_what_fits() {
    let limits = Limits {
        memory_bytes: 99,
        work: MUCH,
    };
    let refused = function::explore(&table(100), &Control::new(limits)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "too large: 100 states need 100 bytes of memory at 1 B a state; at most 99 states fit"
    );
    let limits = Limits {
        memory_bytes: MUCH,
        work: 99,
    };
    let refused = function::explore(&table(100), &Control::new(limits)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "too large: 100 steps take up to 1 hours on one core; the limit is 99 steps"
    );
    let default = Limits::default();
    assert_eq!(
        (default.memory_bytes, default.work),
        (1 << 32, 10_u64.pow(10))
    );
}

/// All that was begun is done in the end, and it is not nothing.
#[test]
fn progress_ends_where_it_said_it_would() {
    let control = Control::default();
    assert_eq!(control.progress(), (0, 0));
    function::explore(&table(100), &control).unwrap();
    assert_eq!(control.progress(), (100, 100));
    guarded::explore(&rules(), Scheduler::Central, &control).unwrap();
    assert_eq!(control.progress(), (108, 108));
    actions::explore(&steps(), &control).unwrap();
    assert_eq!(control.progress(), (120, 120));
}

/// States settle one a sweep, the last first; each sweep tells how many it settled.
#[test]
fn progress_is_told_sweep_by_sweep() {
    let rules = Rules {
        processes: 1,
        values: 5,
        moves: vec![vec![Some(1), Some(2), Some(3), Some(4), None]],
        legitimate: vec![false, false, false, false, true],
    };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let control = Control::default();
    let answer = one
        .unwrap()
        .install(|| guarded::explore(&rules, Scheduler::Central, &control).unwrap());
    assert_eq!(answer.slowest, [0, 1, 2, 3, 4]);
    assert_eq!(control.progress(), (5, 5));
}

/// Two states, and so many processes that the sets of them are too many for rounds.
struct Wide {
    processes: usize,
}

impl Model for Wide {
    type State = u64;
    fn states(&self) -> u64 {
        2
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        *state == 0
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Guarded for Wide {
    fn processes(&self) -> usize {
        self.processes
    }
    fn step(&self, _: &u64, process: usize) -> Option<u64> {
        (process == 0).then_some(0)
    }
}

#[test]
fn rounds_are_left_out_where_the_sets_of_processes_are_too_many() {
    for (processes, rounds) in [(10, Some(1)), (28, None), (62, None), (64, None)] {
        let model = Wide { processes };
        let control = Control::default();
        let scheduler = Scheduler::Synchronous;
        let answer = guarded::explore(&model, scheduler, &control).unwrap();
        let worst = answer.worst.unwrap();
        assert_eq!((worst.steps, worst.moves, worst.rounds), (1, 1, rounds));
    }
}

/// The table by sets of processes counts: 2^10 sets and 2 bytes each beside the 24 bytes of
/// every state, and not a byte less.
#[test]
fn rounds_are_left_out_where_the_memory_does_not_allow_them() {
    let model = Wide { processes: 10 };
    let needed = 2 * (24 + 2 * 1024);
    for (memory_bytes, rounds) in [(needed, Some(1)), (needed - 1, None)] {
        let limits = Limits {
            memory_bytes,
            work: MUCH,
        };
        let control = Control::new(limits);
        let answer = guarded::explore(&model, Scheduler::Synchronous, &control).unwrap();
        assert_eq!(answer.worst.unwrap().rounds, rounds);
    }
}

/// A line of numbers, each of which leads to the next.
struct Line {
    length: u64,
    forbidden: Option<u64>,
}

impl Reachable for Line {
    type State = u64;
    fn starts(&self) -> impl Iterator<Item = Option<u64>> {
        std::iter::once(Some(0))
    }
    fn successors(&self, state: &u64, successors: &mut Vec<u64>) {
        if state + 1 < self.length {
            // Twice: a step is a step, a state is a state.
            successors.extend([state + 1, state + 1]);
        }
    }
    fn violates(&self, state: &u64) -> Option<&'static str> {
        (Some(*state) == self.forbidden).then_some("forbidden")
    }
}

#[test]
fn reaching_from_a_start() {
    let line = Line {
        length: 10_000,
        forbidden: None,
    };
    let control = Control::default();
    let answer = reach::explore(&line, &control).unwrap();
    assert_eq!((answer.states(), answer.steps), (10_000, 2 * 9_999));
    assert_eq!(answer.violation, None);
    assert_eq!(answer.deadlock, Some(9_999));
    assert_eq!(answer.run_to(9_999), (0..10_000).collect::<Vec<_>>());
    assert_eq!(answer.explored, 10_000);
    assert_eq!(control.progress().0, 3 * 4096, "told every 4096 states");
    let line = Line {
        length: 10_000,
        forbidden: Some(7),
    };
    let answer = reach::explore(&line, &control).unwrap();
    assert_eq!(answer.violation, Some(("forbidden", 7)));
    assert_eq!(answer.run_to(7), (0..=7).collect::<Vec<_>>());
    assert_eq!(answer.explored, 7);
    assert_eq!(answer.deadlock, None);
}

/// A model that stops its own exploration after so many successors.
struct Stopping<'a> {
    line: Line,
    control: &'a Control,
    at: u64,
}

impl Reachable for Stopping<'_> {
    type State = u64;
    fn starts(&self) -> impl Iterator<Item = Option<u64>> {
        self.line.starts()
    }
    fn successors(&self, state: &u64, successors: &mut Vec<u64>) {
        if *state == self.at {
            self.control.stop();
        }
        self.line.successors(state, successors);
    }
    fn violates(&self, _: &u64) -> Option<&'static str> {
        None
    }
}

#[test]
fn reaching_stops_when_asked_or_full() {
    let line = |length| Line {
        length,
        forbidden: None,
    };
    let control = Control::default();
    let stopping = Stopping {
        line: line(20_000),
        control: &control,
        at: 100,
    };
    let error = reach::explore(&stopping, &control).unwrap_err();
    let CheckError::Interrupted { known, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(known, "4096 states explored without a violation");
    // 2 numbers of 8 bytes and 32 more, looked at every 4096 states.
    for (memory_bytes, work, fits) in [
        (48 * 4097, MUCH, true),
        (48 * 4096, MUCH, false),
        (MUCH, 4097, true),
        (MUCH, 4096, false),
    ] {
        let limits = Limits { memory_bytes, work };
        let answer = reach::explore(&line(5000), &Control::new(limits));
        assert_eq!(answer.is_ok(), fits, "{memory_bytes} bytes, {work} states");
    }
}

/// Endless candidates for a start, of which so many are one; asking for one of them stops it.
struct Endless<'a> {
    starts: u64,
    stops: Option<(&'a Control, u64)>,
}

impl Reachable for Endless<'_> {
    type State = u64;
    fn starts(&self) -> impl Iterator<Item = Option<u64>> {
        (0..).map(|candidate| {
            if let Some((control, at)) = self.stops
                && at == candidate
            {
                control.stop();
            }
            (candidate < self.starts).then_some(candidate)
        })
    }
    fn successors(&self, _: &u64, _: &mut Vec<u64>) {}
    fn violates(&self, _: &u64) -> Option<&'static str> {
        None
    }
}

/// Starts are refused or stopped while they are being made: nobody waits for all of them.
#[test]
fn starts_count_like_any_state_and_can_be_stopped() {
    let limits = Limits {
        memory_bytes: 48 * 10_000,
        work: MUCH,
    };
    let model = Endless {
        starts: u64::MAX,
        stops: None,
    };
    let refused = reach::explore(&model, &Control::new(limits)).unwrap_err();
    assert!(matches!(refused, CheckError::TooLarge(_)), "{refused}");
    for starts in [0, 100] {
        let control = Control::default();
        let stops = Some((&control, 10_000));
        let error = reach::explore(&Endless { starts, stops }, &control).unwrap_err();
        let CheckError::Interrupted { known, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(known, format!("{starts} starts found so far"));
    }
}

/// A model of actions that stops its own exploration when it is asked for a state.
struct Halting<'a> {
    steps: Steps,
    control: &'a Control,
    at: u64,
    asked: AtomicU64,
}

impl Model for Halting<'_> {
    type State = u64;
    fn states(&self) -> u64 {
        self.steps.states()
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        self.steps.legitimate(state)
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Actions for Halting<'_> {
    fn actions(&self) -> Vec<Action> {
        self.steps.actions()
    }
    fn steps(&self, state: &u64, steps: &mut Vec<Step<u64>>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if *state == self.at {
            self.control.stop();
        }
        self.steps.steps(state, steps);
    }
}

/// Two hundred thousand states: the rest is not asked for.
#[test]
fn actions_stop_when_asked() {
    const STATES: u64 = 200_000;
    let control = Control::default();
    let model = Halting {
        steps: Steps {
            next: vec![vec![(0, 1)]; STATES as usize],
            legitimate: vec![true; STATES as usize],
        },
        control: &control,
        at: 10,
        asked: AtomicU64::new(0),
    };
    let error = actions::explore(&model, &control).unwrap_err();
    assert!(matches!(error, CheckError::Interrupted { .. }), "{error}");
    let asked = model.asked.into_inner();
    assert!((1..STATES / 2).contains(&asked), "asked for {asked}");
}

/// Placements up to rotation, times the ways that tokens meet counters or the counters
/// there are, whichever are fewer.
#[test]
fn cases_are_estimated_from_paths_or_from_counters() {
    let refused = |n, m, d, delays: &[usize]| {
        let instance = Instance::with_delays(n, m, d, delays.iter().copied()).unwrap();
        let limits = Limits {
            work: 0,
            ..Limits::default()
        };
        match reduced::explore(&instance, &Control::new(limits)).unwrap_err() {
            CheckError::TooLarge(TooLarge::Cases { cases, .. }) => cases,
            other => panic!("{other}"),
        }
    };
    let all: Vec<usize> = (0..64).collect();
    for (n, m, d, delays, placements, turns, cases) in [
        // C(n+m-1, m) placements; 2^((d-1)·m) ways; d^delays counters.
        (6_usize, 2, 3, &all[..6], 21_u128, 6, 1 << 4),
        (6, 2, 3, &all[..1], 21, 1, 3),
        (6, 2, 3, &all[..3], 21, 1, 1 << 4),
        (6, 1, 4, &all[..0], 6, 6, 1),
        (4, 1, 1, &all[..4], 4, 4, 1),
        // Too many ways to count, or ways that just fit.
        (64, 2, 65, &all[..2], 2080, 1, 65 * 65),
        (64, 1, 128, &all[..64], 64, 64, 1_u128 << 127),
        (64, 1, 129, &all[..1], 64, 1, 129),
    ] {
        let expected = BigUint::from(placements / turns + 1) * BigUint::from(cases);
        let told = refused(n, m, d, delays);
        assert_eq!(told, expected, "{n} {m} {d} {delays:?}");
    }
    let told = refused(64, 1, 200, &all);
    assert_eq!(told, BigUint::from(2_u32).pow(200));
}
