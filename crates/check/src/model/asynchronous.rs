//! delay/relay without lock-step: driven by a phase clock, under every schedule.
//!
//! A process may tick when no neighbour is behind it. Ticking into a phase that
//! is a multiple of the pace p, it executes one round of its program; the other
//! phases are idle (the paper's; p = 1 is full speed). It reads its predecessor's
//! queue as of the round before: the predecessor's current state if that is as
//! far as itself, and its *previous* state if the predecessor is a round ahead.
//!
//! Explored are all schedules from all clocks at 0 and either every legitimate
//! state or every state of delay/relay. Every process carries a ghost: the state
//! of the lock-step run that it believes to be in. The property `logical-rounds`
//! says that its variables are those of its ghost, always; a process that reads
//! the wrong state of its predecessor departs from it. Where a token truly is
//! follows from the variables alone: a token counts as with its last holder until
//! the next process has taken it.
//!
//! With a modulus of at most n the clocks can also be wound round the ring, each
//! neighbour pair in step. Such a start is explored too, because nothing that a
//! process sees tells it from a good one.

use headway_core::bound::true_separation;
use headway_core::phase_clock::{PhaseClock, Step as ClockStep};
use headway_core::program::delay;
use headway_core::{Process, Program};

use super::delay_relay::{Explicit, Instance, reduced};
use crate::control::{CheckError, Control, Limits};
use crate::reach::{self, Reachable};
use crate::report::{Figure, Property, Report, Trace};
use crate::traits::{Deterministic, Model};
use crate::{Scheduler, schedule};

const LARGEST: usize = 12;

/// One process: its clock, its program's variables now and the queue before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Local {
    phase: u8,
    queued: u8,
    resting: u8,
    counter: u8,
    /// The queue after the previous round, published with the current one.
    previous: u8,
    /// The rank of the lock-step state that it believes to be in.
    ghost: u32,
}

/// All processes; unused places stay empty.
type State = [Local; LARGEST];

/// The parameters beyond the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocking {
    /// The clock's modulus; a multiple of the pace. At least 2, and more than n
    /// unless the failure is to be seen.
    pub modulus: u32,
    /// p: a round every p-th tick.
    pub pace: u32,
    /// Whether the previous state is published too. Without it, the protocol is
    /// wrong.
    pub previous: bool,
    /// Start from every state, not only from the legitimate ones.
    pub every_start: bool,
}

impl Clocking {
    /// For a ring of n processes and a pace: the smallest multiple of both n and p
    /// above n, starts legitimate.
    ///
    /// ```
    /// use headway_check::model::asynchronous::Clocking;
    /// assert_eq!(Clocking::for_ring(6, 4).modulus, 12);
    /// ```
    pub fn for_ring(processes: usize, pace: u32) -> Clocking {
        let n = processes as u32;
        let modulus = (2..).map(|k| k * n).find(|k| k % pace.max(1) == 0);
        Clocking {
            modulus: modulus.unwrap_or(2 * n),
            pace,
            previous: true,
            every_start: false,
        }
    }

    /// What the true distance of tokens at separation g is at least.
    pub fn true_distance(&self, separation: u32) -> u32 {
        true_separation(separation.into(), self.pace.into()) as u32
    }
}

/// An asynchronous ring.
#[derive(Clone, Debug)]
struct Asynchronous {
    lock_step: Explicit,
    clock: PhaseClock,
    clocking: Clocking,
    scheduler: Scheduler,
}

/// Checks delay/relay driven by a phase clock.
///
/// # Errors
///
/// When the parameters do not fit, too many states turn up, or when stopped.
pub fn check(
    instance: &Instance,
    clocking: Clocking,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let n = instance.processes();
    if !(3..=LARGEST).contains(&n) {
        return Err(CheckError::instance(format!(
            "asynchronous: 3 to {LARGEST} processes, not {n}"
        )));
    }
    let (modulus, pace) = (clocking.modulus, clocking.pace);
    if pace == 0 || !(2..=250).contains(&modulus) || modulus % pace != 0 {
        return Err(CheckError::instance(format!(
            "asynchronous: a pace of at least 1 and a modulus from 2 to 250 that is a multiple \
             of it, not pace {pace} and modulus {modulus}"
        )));
    }
    if instance.states() >= u128::from(u32::MAX) {
        return Err(CheckError::TooLarge {
            what: format!("{} lock-step states", instance.states()),
            need: "a number for each".into(),
            fits: format!("{} states", u32::MAX),
        });
    }
    let model = Asynchronous {
        lock_step: Explicit::new(instance.clone())?,
        clock: PhaseClock {
            modulus: modulus as i32,
            tail: 0,
        },
        clocking,
        scheduler,
    };
    let answer = reach::explore(&model, limits, control)?;
    let run = |states: &Vec<State>| Trace {
        states: states.iter().map(|state| model.show(state)).collect(),
        repeats_from: None,
        start: None,
    };
    let counterexample = |name| {
        let found = answer
            .violation
            .as_ref()
            .filter(|(property, _)| *property == name);
        found.map(|(_, states)| run(states))
    };
    let (found, bound) = (
        answer.least.as_ref().map(|(least, _)| *least),
        clocking.true_distance(instance.separation()),
    );
    let holds = clocking.every_start || found.is_some_and(|found| found >= u64::from(bound));
    let logical = counterexample("logical-rounds");
    let properties = vec![
        Property::unless(
            "logical-rounds",
            "every process goes through the states of the lock-step run, whatever the schedule",
            logical,
        ),
        Property::unless(
            "conserved",
            "the tokens are m at every moment, counted at their last holders",
            counterexample("conserved"),
        ),
        Property::unless(
            "no-deadlock",
            "some process can always tick",
            answer.deadlock.as_ref().map(run),
        ),
        Property {
            name: "true-distance",
            says: if clocking.every_start {
                "asked of legitimate starts only".to_owned()
            } else {
                format!(
                    "tokens are truly at least g - ⌊(g+p)/(p+1)⌋ = {bound} apart; the least seen \
                     is {}",
                    found.map_or("none".to_owned(), |found| found.to_string())
                )
            },
            holds,
            counterexample: answer
                .least
                .as_ref()
                .filter(|_| !holds)
                .map(|(_, states)| run(states)),
        },
    ];
    let all = properties.iter().all(|property| property.holds);
    // Logical rounds being lock-step rounds, what holds of those holds here.
    let lock_step = reduced::explore(instance, limits, control)?;
    let legitimate = answer.states - u64::from(answer.violation.is_some());
    Ok(Report {
        model: "asynchronous",
        instance: format!(
            "{}, modulus {modulus}, pace {pace}{}{}",
            instance.describe(),
            if clocking.previous {
                ""
            } else {
                ", previous state not published"
            },
            if clocking.every_start {
                ", every start"
            } else {
                ", legitimate starts"
            },
        ),
        scheduler: Some(scheduler),
        states: u128::from(answer.states),
        legitimate: u128::from(legitimate),
        closure: all && lock_step.closure_violation.is_none(),
        convergence: all && lock_step.never == 0,
        properties,
        worst: None,
        witness: answer
            .least
            .as_ref()
            .filter(|_| all)
            .map(|(_, states)| run(states)),
        figures: vec![
            (
                "steps_between_states",
                Figure::Number(u128::from(answer.steps)),
            ),
            (
                "least_true_distance",
                Figure::Number(u128::from(found.unwrap_or(0))),
            ),
            ("true_distance_bound", Figure::Number(u128::from(bound))),
        ],
        reductions: Vec::new(),
    })
}

impl Asynchronous {
    fn n(&self) -> usize {
        self.lock_step.instance().processes()
    }

    fn local(&self, rank: u64, process: usize) -> Process {
        let state = self.lock_step.state(rank);
        self.lock_step.processes(&state)[process]
    }

    fn start(&self, rank: u64, phases: impl Fn(usize) -> u8) -> State {
        let mut state = [Local::default(); LARGEST];
        for (process, local) in state[..self.n()].iter_mut().enumerate() {
            let variables = self.local(rank, process);
            *local = Local {
                phase: phases(process),
                queued: variables.queued as u8,
                resting: variables.resting as u8,
                counter: variables.counter as u8,
                previous: 0,
                ghost: rank as u32,
            };
        }
        state
    }

    fn enabled(&self, state: &State) -> u64 {
        let n = self.n();
        (0..n)
            .filter(|&i| {
                let neighbours = [
                    i32::from(state[(i + n - 1) % n].phase),
                    i32::from(state[(i + 1) % n].phase),
                ];
                self.clock.step(state[i].phase.into(), &neighbours) == Some(ClockStep::Tick)
            })
            .fold(0, |set, i| set | 1 << i)
    }

    /// Whether a process that is one tick ahead is also one round ahead: its last
    /// tick was not idle.
    fn executed(&self, phase: u8) -> bool {
        u32::from(phase) % self.clocking.pace == 0
    }

    fn tick(&self, state: &State, process: usize) -> Local {
        let n = self.n();
        let (own, before) = (state[process], state[(process + n - 1) % n]);
        let phase = self.clock.after(own.phase.into()) as u8;
        if !self.executed(phase) {
            return Local { phase, ..own };
        }
        // The predecessor is as far as `own`, or has ticked into `phase` already.
        let ahead = before.phase == phase;
        let arriving = if ahead && self.clocking.previous {
            before.previous
        } else {
            before.queued
        };
        let variables = Process {
            queued: own.queued.into(),
            resting: own.resting.into(),
            counter: own.counter.into(),
        };
        let ring = self.lock_step.instance().ring();
        let top = match ring.programs()[process] {
            Program::Delay => ring.separation().top(),
            _ => 0,
        };
        let after = delay::round(variables, arriving.into(), top);
        let ghost = self.lock_step.next(&self.lock_step.state(own.ghost.into()));
        Local {
            phase,
            queued: after.queued as u8,
            resting: after.resting as u8,
            counter: after.counter as u8,
            previous: own.queued,
            ghost: self.lock_step.rank(&ghost) as u32,
        }
    }

    /// Whether the clocks gain or lose a turn on the way round the ring.
    fn wound(&self, state: &State) -> bool {
        let n = self.n();
        let ahead = |i: usize| {
            let (own, next) = (
                i32::from(state[i].phase),
                i32::from(state[(i + 1) % n].phase),
            );
            i32::from(own != next && next == self.clock.after(own))
                - i32::from(own != next && own == self.clock.after(next))
        };
        (0..n).map(ahead).sum::<i32>() != 0
    }

    /// Tokens whose last holder is the process.
    fn tokens_at(&self, state: &State, process: usize) -> u64 {
        let (own, next) = (state[process], state[(process + 1) % self.n()]);
        let after = |phase: u8| self.clock.after(phase.into()) as u8;
        let next_ahead = next.phase == after(own.phase) && self.executed(next.phase);
        let own_ahead = own.phase == after(next.phase) && self.executed(own.phase);
        let mut tokens = u64::from(own.resting);
        if !next_ahead {
            tokens += u64::from(own.queued);
        }
        if own_ahead {
            tokens += u64::from(own.previous);
        }
        tokens
    }

    fn show(&self, state: &State) -> String {
        let cells = (0..self.n()).map(|i| {
            let local = state[i];
            let tokens = self.tokens_at(state, i);
            let tokens = if tokens > 0 {
                format!(" tokens {tokens}")
            } else {
                String::new()
            };
            format!("[phase {}{tokens}]", local.phase)
        });
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Reachable for Asynchronous {
    type State = State;

    fn starts(&self) -> Vec<State> {
        let legitimate = |&rank: &u64| {
            self.clocking.every_start || self.lock_step.legitimate(&self.lock_step.state(rank))
        };
        // Queues of several tokens exist only before round 1.
        let small = |&rank: &u64| (0..self.n()).all(|i| self.local(rank, i).queued <= 1);
        let ranks: Vec<u64> = (0..self.lock_step.states())
            .filter(legitimate)
            .filter(small)
            .collect();
        let mut starts: Vec<State> = ranks.iter().map(|&rank| self.start(rank, |_| 0)).collect();
        let modulus = self.clocking.modulus as usize;
        if modulus <= self.n() {
            let wound = |i: usize| (i.min(modulus) % modulus) as u8;
            starts.extend(ranks.iter().map(|&rank| self.start(rank, wound)));
        }
        starts
    }

    fn successors(&self, state: &State, successors: &mut Vec<State>) {
        let n = self.n();
        let neighbours = |i: usize| (1 << ((i + 1) % n)) | (1 << ((i + n - 1) % n));
        self.scheduler
            .selections(self.enabled(state), neighbours, |selected| {
                let mut after = *state;
                for process in schedule::bits(selected) {
                    after[process] = self.tick(state, process);
                }
                successors.push(after);
            });
    }

    fn violates(&self, state: &State) -> Option<&'static str> {
        let n = self.n();
        let departed = (0..n).any(|i| {
            let (local, ghost) = (state[i], self.local(state[i].ghost.into(), i));
            u32::from(local.queued) != ghost.queued
                || u32::from(local.resting) != ghost.resting
                || i32::from(local.counter) != ghost.counter
        });
        if departed {
            return Some("logical-rounds");
        }
        // Between wound clocks there is no telling who is ahead, so no counting.
        if self.wound(state) {
            return None;
        }
        let tokens: u64 = (0..n).map(|i| self.tokens_at(state, i)).sum();
        (tokens != self.lock_step.instance().tokens() as u64).then_some("conserved")
    }

    fn measure(&self, state: &State) -> u64 {
        let n = self.n();
        let tokens: Vec<u64> = (0..n).map(|i| self.tokens_at(state, i)).collect();
        if tokens.iter().any(|&count| count > 1) {
            return 0;
        }
        let distance = |i: usize| (1..=n).find(|hops| tokens[(i + hops) % n] > 0);
        let distances = (0..n).filter(|&i| tokens[i] > 0).filter_map(distance);
        distances.min().map_or(n as u64, |hops| hops as u64)
    }
}
