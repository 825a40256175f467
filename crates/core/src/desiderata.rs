//! D1 to D5 (paper, section 2) as monitors over a run.
//!
//! A [`Monitor`] is shown every state of a run and the faults that strike it. It
//! keeps no states, only what the five verdicts need: O(n) memory for the visits,
//! O(m) time a round.

use alloc::vec;
use alloc::vec::Vec;

use crate::tokens::Tokens;
use crate::units::{ProcessIndex, Round, Separation};

/// Watches a run.
///
/// Call [`Monitor::observe`] with state 0, then once after each round;
/// [`Monitor::fault`] when a fault has changed the latest state.
///
/// ```
/// use headway_core::{desiderata::Monitor, tokens::Tokens, Configuration, Program, Ring, Separation};
/// let d = Separation::new(3).unwrap();
/// let ring = Ring::new(d, vec![Program::Delay; 8]).unwrap();
/// let mut state = Configuration::piled(&ring, 2, 0);
/// let mut tokens = Tokens::new(&state);
/// let mut monitor = Monitor::new(d, &tokens);
/// monitor.observe(0, &tokens, || ring.legitimate(&state, 2).is_ok());
/// for round in 1..=12 {
///     ring.round(&mut state);
///     tokens.follow(&state);
///     monitor.observe(round, &tokens, || ring.legitimate(&state, 2).is_ok());
/// }
/// let outcome = monitor.outcome();
/// assert_eq!((outcome.last_rest, outcome.legitimate_at), (Some(3), Some(4)));
/// assert!(outcome.desiderata.iter().all(|verdict| verdict.holds == Some(true)));
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    separation: Separation,
    expected: u64,
    conserved: bool,
    settled: Option<Settled>,
    /// Of every process, since the state last became legitimate.
    visits: Vec<u64>,
    /// All but the visits and the verdicts, which are worked out when asked for.
    seen: Outcome,
}

/// A state as it is shown to a [`Monitor`].
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// How many tokens there are.
    pub tokens: u64,
    /// Whether one rested in the round that led here.
    pub resting: bool,
    /// The smallest distance between successive tokens.
    pub distance: Option<u64>,
    /// The smallest within the round, where it has steps that can be looked at.
    pub between: Option<u64>,
    /// Whether it is legitimate.
    pub legitimate: bool,
}

/// What is known since the state last became legitimate.
#[derive(Clone, Copy, Debug)]
struct Settled {
    since: Round,
    all_moved: bool,
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Rounds done.
    pub rounds: Round,
    /// The first round at whose end the state was legitimate, 0 if the initial
    /// state was; `None` if none was.
    pub legitimate_at: Option<Round>,
    /// The last round after which some token rested.
    pub last_rest: Option<Round>,
    /// The smallest distance between successive tokens while not legitimate.
    pub min_distance_before: Option<u64>,
    /// The smallest distance since the state last became legitimate.
    pub min_distance_after: Option<u64>,
    /// Fewest and most visits of a process in the rounds since the state last
    /// became legitimate; a visit is a round at whose end a token is there.
    pub visits: Option<(u64, u64)>,
    /// D1 to D5.
    pub desiderata: [Verdict; 5],
    /// The start and every fault that struck, with the recovery from it.
    pub recoveries: Vec<Recovery>,
    /// Whether the last state is legitimate.
    pub legitimate: bool,
}

/// A fault (the initial state counts as one) and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The fault changed the state that this round had led to; 0 for the start.
    pub fault_at: Round,
    /// The first round, not before the fault, at whose end the state is
    /// legitimate; `None` if there is none, or another fault came first.
    pub legitimate_at: Option<Round>,
}

impl Recovery {
    /// Rounds from the fault to legitimacy.
    pub fn rounds(self) -> Option<u64> {
        self.legitimate_at.map(|round| round - self.fault_at)
    }
}

/// One of the five desired properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desideratum {
    /// Tokens are conserved.
    D1,
    /// Tokens stay apart.
    D2,
    /// Tokens move.
    D3,
    /// Processes are visited equally often.
    D4,
    /// The ring recovers.
    D5,
}

impl Desideratum {
    /// All five, in order.
    pub const ALL: [Desideratum; 5] = [
        Desideratum::D1,
        Desideratum::D2,
        Desideratum::D3,
        Desideratum::D4,
        Desideratum::D5,
    ];

    /// `D1` to `D5`.
    pub const fn name(self) -> &'static str {
        ["D1", "D2", "D3", "D4", "D5"][self as usize]
    }

    /// What it asks, in a few words.
    pub const fn asks(self) -> &'static str {
        match self {
            Desideratum::D1 => "tokens are conserved",
            Desideratum::D2 => "tokens stay at least d apart",
            Desideratum::D3 => "every token moves every round",
            Desideratum::D4 => "every process is visited equally often",
            Desideratum::D5 => "recovers from any state",
        }
    }
}

/// One desired property and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which.
    pub of: Desideratum,
    /// Whether it held: D1 throughout the run, D2 to D4 since the state last became
    /// legitimate, D5 for the last fault. `None`, not judged: D2 to D4 while the state is
    /// not legitimate, D5 while nobody has waited as long as a recovery may take.
    pub holds: Option<bool>,
}

impl Outcome {
    /// The state should have become legitimate by now, and has not: D5 does not hold.
    pub fn overdue(&mut self) {
        if !self.legitimate {
            self.desiderata[Desideratum::D5 as usize].holds = Some(false);
        }
    }
}

impl Monitor {
    /// A monitor for a ring with separation d and these tokens.
    pub fn new(separation: Separation, tokens: &Tokens) -> Monitor {
        let (n, m) = (tokens.ring_len() as usize, tokens.places().len() as u64);
        Monitor::of_any(separation, n, m)
    }

    /// A monitor for a ring of any kind, of so many processes and tokens.
    pub fn of_any(separation: Separation, processes: usize, tokens: u64) -> Monitor {
        Monitor {
            separation,
            expected: tokens,
            conserved: true,
            settled: None,
            visits: vec![0; processes],
            seen: Outcome {
                rounds: 0,
                legitimate_at: None,
                last_rest: None,
                min_distance_before: None,
                min_distance_after: None,
                visits: None,
                desiderata: verdicts([None; 5]),
                recoveries: vec![Recovery {
                    fault_at: 0,
                    legitimate_at: None,
                }],
                legitimate: false,
            },
        }
    }

    /// The state that `round` led to (0: the initial state).
    ///
    /// `predicate` says whether it is legitimate. It is asked only where the answer
    /// is open: a token that rests or is too close says no, and legitimacy is closed
    /// (paper, lemma 1), so a state that follows a legitimate one says yes.
    ///
    /// # Panics
    ///
    /// In a build with debug assertions and on a ring of at most 64 processes, when a state
    /// that follows a legitimate one is not, and not for a token that rests or is too close.
    pub fn observe(&mut self, round: Round, tokens: &Tokens, predicate: impl FnOnce() -> bool) {
        let (resting, distance) = (tokens.any_resting(), tokens.min_distance());
        let required = u64::from(self.separation.hops());
        let likely = !resting && distance.is_none_or(|hops| hops >= required);
        let settled = self.settled.is_some();
        let doubted = cfg!(debug_assertions) && self.seen.legitimate && self.visits.len() <= 64;
        let legitimate = likely && (settled && !doubted || predicate());
        let broken = settled && likely && !legitimate;
        debug_assert!(!broken, "legitimacy ended in round {round}");
        let state = Observed {
            tokens: tokens.places().len() as u64,
            resting,
            distance,
            between: None,
            legitimate,
        };
        let visited = tokens.places().iter().map(|place| place.process());
        self.note(round, state, visited);
    }

    /// The same of a ring of any kind: what the state is like that `round` led to, and where
    /// tokens have come in that round.
    pub fn note(
        &mut self,
        round: Round,
        state: Observed,
        visited: impl Iterator<Item = ProcessIndex>,
    ) {
        let seen = &mut self.seen;
        seen.rounds = round;
        self.conserved &= state.tokens == self.expected;
        if state.resting {
            seen.last_rest = Some(round);
        }
        let least = |known: Option<u64>, new: Option<u64>| known.into_iter().chain(new).min();
        seen.legitimate = state.legitimate;
        if let Some(settled) = &mut self.settled {
            let smallest = least(seen.min_distance_after, state.between);
            seen.min_distance_after = least(smallest, state.distance);
            settled.all_moved &= !state.resting;
            for process in visited {
                self.visits[process] += 1;
            }
            return;
        }
        seen.min_distance_before = least(seen.min_distance_before, state.between);
        if state.legitimate {
            seen.legitimate_at.get_or_insert(round);
            if let Some(latest) = seen.recoveries.last_mut() {
                latest.legitimate_at = Some(round);
            }
            seen.min_distance_after = state.distance;
            self.settled = Some(Settled {
                since: round,
                all_moved: true,
            });
        } else {
            seen.min_distance_before = least(seen.min_distance_before, state.distance);
        }
    }

    /// A fault has changed the state that the latest round had led to; these are
    /// the tokens now, and `predicate` is as for [`Monitor::observe`].
    pub fn fault(&mut self, tokens: &Tokens, predicate: impl FnOnce() -> bool) {
        self.disturbed();
        self.observe(self.seen.rounds, tokens, predicate);
    }

    /// The same of a ring of any kind, whose state is to be noted next.
    pub fn disturbed(&mut self) {
        self.seen.recoveries.push(Recovery {
            fault_at: self.seen.rounds,
            legitimate_at: None,
        });
        self.seen.min_distance_after = None;
        self.settled = None;
        self.visits.fill(0);
    }

    /// Whether the latest state is legitimate.
    pub fn legitimate(&self) -> bool {
        self.seen.legitimate
    }

    /// Since when the state has been legitimate without a fault in between.
    pub fn settled_since(&self) -> Option<Round> {
        self.settled.map(|settled| settled.since)
    }

    /// What has been seen so far. O(n).
    pub fn outcome(&self) -> Outcome {
        let visits = self.settled.and_then(|_| {
            let fewest = self.visits.iter().min()?;
            Some((*fewest, *self.visits.iter().max()?))
        });
        Outcome {
            visits,
            desiderata: self.desiderata(visits),
            ..self.seen.clone()
        }
    }

    fn desiderata(&self, visits: Option<(u64, u64)>) -> [Verdict; 5] {
        let required = u64::from(self.separation.hops());
        let apart = || {
            let distance = self.seen.min_distance_after;
            distance.is_none_or(|kept| kept >= required)
        };
        let equally = |settled: Settled| {
            let rounds = self.seen.rounds - settled.since;
            let n = self.visits.len() as u64;
            Some(visited_equally(visits?, rounds, n, self.separation))
        };
        // A recovery cut short by the next fault: that one is asked instead.
        let last = self.seen.recoveries.last();
        verdicts([
            Some(self.conserved),
            self.settled.map(|_| apart()),
            self.settled.map(|settled| settled.all_moved),
            self.settled.and_then(equally),
            last.and_then(|last| last.legitimate_at).map(|_| true),
        ])
    }
}

/// The five verdicts, given whether each holds.
pub fn verdicts(hold: [Option<bool>; 5]) -> [Verdict; 5] {
    core::array::from_fn(|index| Verdict {
        of: Desideratum::ALL[index],
        holds: hold[index],
    })
}

/// Whether these fewest and most visits of a process are as equal as they can be
/// after so many rounds of a legitimate run.
///
/// In k·n + e rounds a process is visited k·m times and once more for each token
/// among the e processes before it; tokens at least d apart leave room for at most
/// ⌈e/d⌉ of those.
pub fn visited_equally(
    (fewest, most): (u64, u64),
    rounds: u64,
    processes: u64,
    separation: Separation,
) -> bool {
    let extra = rounds % processes;
    most - fewest <= extra.div_ceil(u64::from(separation.hops()))
}
