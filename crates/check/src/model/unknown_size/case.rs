//! Cases: states in which some variables are still open, and the rounds that split them.

use headway_core::program::relay;
use headway_core::{Configuration, Gaps, Laps, Measuring, Process, Program};

use super::split::{Options, Split};
use super::{MAX_PROCESSES, UnknownSize};

/// Any value that the variable may have by now.
pub(super) const OPEN: u8 = u8::MAX;

/// A state, or all those that differ in what is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Case {
    /// Rounds since the start, as long as something is open and up to the limit.
    pub(super) age: u8,
    pub(super) locals: [Local; MAX_PROCESSES],
}

/// The variables of one process. What cannot matter any more is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub(super) queued: u8,
    pub(super) resting: u8,
    pub(super) counter: u8,
    pub(super) base: u8,
    pub(super) lap: Lap,
    pub(super) ignore: u8,
    /// Of a fresh lap.
    pub(super) elapsed: u8,
    /// `previous` (may be open), `arrived` and `shortest`; or `best` (open: all are,
    /// and `seen` counts from the start), `last` and `seen`.
    pub(super) memory: [u8; 3],
}

/// The token that is being timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Lap {
    /// None.
    #[default]
    Idle,
    /// It was released during this run.
    Fresh,
    /// It was released before, so the clock shows anything.
    Stale,
    /// Whether there is one is open.
    Open,
}

/// What open variables of a process turned out to be, by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) counter: Option<u8>,
    pub(super) base: Option<u8>,
    /// A stale lap with so many tokens to ignore, or none.
    pub(super) lap: Option<Option<u8>>,
    /// How long a stale lap was, or how many hops it showed.
    pub(super) clock: Option<u8>,
    /// At the start.
    pub(super) memory: Option<[u8; 3]>,
}

impl Case {
    /// Whether anything is open that legitimacy depends on.
    fn open(&self, model: &UnknownSize) -> bool {
        let epochs = model.program == Program::ShortestLapEpochs;
        self.locals[..model.ring.len()].iter().any(|local| {
            local.counter == OPEN
                || local.base == OPEN
                || matches!(local.lap, Lap::Open | Lap::Stale)
                || epochs && local.memory[0] == OPEN
        })
    }
}

impl UnknownSize {
    /// The case of all states with tokens as placed.
    pub(super) fn start(&self, placement: u64) -> Case {
        let mut processes = [Process::default(); MAX_PROCESSES];
        self.placements.place(placement, &mut processes);
        let mut case = Case::default();
        for (index, local) in case.locals[..self.ring.len()].iter_mut().enumerate() {
            local.queued = processes[index].queued as u8;
            local.resting = processes[index].resting as u8;
            if self.measures_at(index) {
                (local.counter, local.base, local.lap) = (OPEN, OPEN, Lap::Open);
                local.memory[0] = self.remembers(OPEN);
            }
        }
        case
    }

    /// The value, if the program has a memory.
    fn remembers(&self, value: u8) -> u8 {
        match self.program {
            Program::ShortestLap | Program::ShortestLapEpochs => value,
            _ => 0,
        }
    }

    /// Whether all states of the case are legitimate, as far as is known.
    pub(super) fn legitimate(&self, case: &Case) -> bool {
        let calm = |local: &Local| local.resting == 0 && local.queued < 2;
        case.locals[..self.ring.len()].iter().all(calm)
            && !case.open(self)
            && self
                .ring
                .legitimate(&self.configuration(case), self.tokens as u64)
                .is_ok()
    }

    /// Every case that a round leads to, with what was chosen at every process.
    pub(super) fn successors(&self, case: &Case) -> Vec<(Case, [Choice; MAX_PROCESSES])> {
        let n = self.ring.len();
        let mut all = vec![(Case::default(), [Choice::default(); MAX_PROCESSES])];
        let mut options = Options::new();
        for index in 0..n {
            let arriving = case.locals[(index + n - 1) % n].queued;
            options.clear();
            if self.measures_at(index) {
                let split = Split {
                    model: self,
                    arriving,
                    age: case.age,
                };
                split.counter(case.locals[index], Choice::default(), &mut options);
            } else {
                let after = relay::round(process(&case.locals[index]), arriving.into());
                let local = with_process(Local::default(), after);
                options.push((local, Choice::default()));
            }
            let before = std::mem::take(&mut all);
            for (next, choices) in before {
                for &(local, choice) in &options {
                    let (mut next, mut choices) = (next, choices);
                    (next.locals[index], choices[index]) = (local, choice);
                    all.push((next, choices));
                }
            }
        }
        let limit = self.parameters.limit as u8;
        for (next, _) in &mut all {
            next.age = if next.open(self) {
                (case.age + 1).min(limit)
            } else {
                0
            };
        }
        all
    }

    /// A state of the case; what is open is as at birth.
    pub(super) fn configuration(&self, case: &Case) -> Configuration {
        let n = self.ring.len();
        let locals = &case.locals[..n];
        let mut state = Configuration::from(locals.iter().map(process).collect::<Vec<_>>());
        if self.ring.reads_counts() {
            state.counts = vec![0; self.tokens];
        }
        for index in self.ring.measurers() {
            let local = &case.locals[index];
            let mut variables = self.variables(local);
            if self.program == Program::HopCount && local.lap == Lap::Fresh {
                let due = hops_to(&state.processes, index, variables.ignore as u64);
                variables.mark = due.wrapping_sub(n as u32);
            }
            state.measuring.insert(index, variables);
        }
        state
    }

    /// The measuring variables of a process.
    pub(super) fn variables(&self, local: &Local) -> Measuring {
        let fresh = local.lap == Lap::Fresh;
        let [one, two, three] = local.memory;
        let known = if one == OPEN { 0 } else { one };
        let mut variables = Measuring {
            timing: matches!(local.lap, Lap::Fresh | Lap::Stale),
            elapsed: local.elapsed.into(),
            ignore: local.ignore.into(),
            base: if local.base == OPEN {
                0
            } else {
                local.base.into()
            },
            ..self.parameters
        };
        match self.program {
            Program::ShortestLap => {
                variables.gaps = Gaps {
                    previous: known.into(),
                    arrived: two.into(),
                    shortest: if fresh { three.into() } else { 0 },
                };
            }
            Program::ShortestLapEpochs => {
                variables.laps = Laps {
                    best: known.max(1).into(),
                    last: two.max(1).into(),
                    seen: three.into(),
                    ..self.parameters.laps
                };
            }
            _ => {}
        }
        variables
    }

    /// The state on one line.
    pub(super) fn show(&self, case: &Case) -> String {
        let n = self.ring.len();
        let value = |value: u8| match value {
            OPEN => "?".to_owned(),
            value => value.to_string(),
        };
        let row = |name: &str, cell: &dyn Fn(&Local) -> String, everywhere: bool| {
            let cells = (0..n).map(|index| match everywhere || self.measures_at(index) {
                true => cell(&case.locals[index]),
                false => "-".to_owned(),
            });
            format!("{name} {}", cells.collect::<Vec<_>>().join(" "))
        };
        let lap = |local: &Local| match local.lap {
            Lap::Idle => "no".to_owned(),
            Lap::Open | Lap::Stale => "?".to_owned(),
            Lap::Fresh if self.program == Program::HopCount => "yes".to_owned(),
            Lap::Fresh => local.elapsed.to_string(),
        };
        [
            row("queued", &|local| value(local.queued), true),
            row("resting", &|local| value(local.resting), true),
            row("counter", &|local| value(local.counter), false),
            row("base", &|local| value(local.base), false),
            row("timing", &lap, false),
        ]
        .join("  ")
    }
}

/// Hops that the token has before it which arrives at a process after `skipped` others.
pub(super) fn hops_to(processes: &[Process], process: usize, skipped: u64) -> u32 {
    let n = processes.len();
    let mut left = skipped % processes.iter().map(|p| p.tokens()).sum::<u64>().max(1);
    for hops in 1..=n {
        let here = processes[(process + n - hops) % n].tokens();
        if left < here {
            return hops as u32;
        }
        left -= here;
    }
    n as u32
}

pub(super) fn process(local: &Local) -> Process {
    Process {
        queued: local.queued.into(),
        resting: local.resting.into(),
        counter: if local.counter == OPEN {
            0
        } else {
            local.counter.into()
        },
    }
}

pub(super) fn with_process(local: Local, process: Process) -> Local {
    Local {
        queued: process.queued as u8,
        resting: process.resting as u8,
        counter: process.counter as u8,
        ..local
    }
}
