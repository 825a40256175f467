//! D1 to D5 (paper, section 2) as monitors over a run.
//!
//! A [`Monitor`] is shown every state of a run and the faults that strike it. It
//! keeps no states, only what the five verdicts need: O(n) memory for the visits,
//! O(m) time a round.

use alloc::vec;
use alloc::vec::Vec;

use crate::tokens::Tokens;
use crate::units::{Round, Separation};

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
/// assert_eq!(monitor.legitimate_at(), Some(4));
/// assert_eq!(monitor.last_rest(), Some(3));
/// assert!(monitor.desiderata().iter().all(|d| d.holds));
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    separation: Separation,
    expected: u64,
    round: Round,
    legitimate: bool,
    legitimate_at: Option<Round>,
    last_rest: Option<Round>,
    conserved: bool,
    min_distance_before: Option<u64>,
    settled: Option<Settled>,
    recoveries: Vec<Recovery>,
    visits: Vec<u64>,
}

/// What is counted since the state last became legitimate.
#[derive(Clone, Copy, Debug)]
struct Settled {
    since: Round,
    min_distance: Option<u64>,
    all_moved: bool,
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
    /// Whether it held: D1 throughout the run, D2 to D4 since the state last
    /// became legitimate, D5 for every fault.
    pub holds: bool,
}

impl Monitor {
    /// A monitor for a ring with separation d and these tokens.
    pub fn new(separation: Separation, tokens: &Tokens) -> Monitor {
        Monitor {
            separation,
            expected: tokens.places().len() as u64,
            round: 0,
            legitimate: false,
            legitimate_at: None,
            last_rest: None,
            conserved: true,
            min_distance_before: None,
            settled: None,
            recoveries: vec![Recovery {
                fault_at: 0,
                legitimate_at: None,
            }],
            visits: vec![0; tokens.ring_len() as usize],
        }
    }

    /// The state that `round` led to (0: the initial state).
    ///
    /// `predicate` says whether it is legitimate. It is asked only where the answer
    /// is open: a token that rests or is too close says no, and legitimacy is closed
    /// (paper, lemma 1), so a state that follows a legitimate one says yes.
    pub fn observe(&mut self, round: Round, tokens: &Tokens, predicate: impl FnOnce() -> bool) {
        self.round = round;
        self.conserved &= tokens.places().len() as u64 == self.expected;
        let resting = tokens.any_resting();
        if resting {
            self.last_rest = Some(round);
        }
        let distance = tokens.min_distance();
        let required = u64::from(self.separation.hops());
        let likely = !resting && distance.is_none_or(|hops| hops >= required);
        self.legitimate = likely && (self.settled.is_some() || predicate());
        if let Some(settled) = &mut self.settled {
            settled.min_distance = settled.min_distance.min(distance);
            settled.all_moved &= !resting;
            for &place in tokens.places() {
                self.visits[place.process()] += 1;
            }
        } else if self.legitimate {
            self.become_settled(round, distance);
        } else {
            self.note_before(distance);
        }
    }

    /// A fault has changed the state that the latest round had led to; these are
    /// the tokens now, and `predicate` is as for [`Monitor::observe`].
    pub fn fault(&mut self, tokens: &Tokens, predicate: impl FnOnce() -> bool) {
        self.recoveries.push(Recovery {
            fault_at: self.round,
            legitimate_at: None,
        });
        self.settled = None;
        self.visits.fill(0);
        self.observe(self.round, tokens, predicate);
    }

    fn become_settled(&mut self, round: Round, min_distance: Option<u64>) {
        self.legitimate_at.get_or_insert(round);
        if let Some(latest) = self.recoveries.last_mut() {
            latest.legitimate_at = Some(round);
        }
        self.settled = Some(Settled {
            since: round,
            min_distance,
            all_moved: true,
        });
    }

    fn note_before(&mut self, distance: Option<u64>) {
        self.min_distance_before = match (self.min_distance_before, distance) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
    }

    /// Whether the latest state is legitimate.
    pub fn legitimate(&self) -> bool {
        self.legitimate
    }

    /// The first round at whose end the state was legitimate; 0 if the initial
    /// state was.
    pub fn legitimate_at(&self) -> Option<Round> {
        self.legitimate_at
    }

    /// Since when the state has been legitimate without a fault in between.
    pub fn settled_since(&self) -> Option<Round> {
        self.settled.map(|settled| settled.since)
    }

    /// The last round after which some token rested.
    pub fn last_rest(&self) -> Option<Round> {
        self.last_rest
    }

    /// The smallest distance seen while the state was not yet legitimate.
    pub fn min_distance_before(&self) -> Option<u64> {
        self.min_distance_before
    }

    /// The smallest distance since the state last became legitimate.
    pub fn min_distance_after(&self) -> Option<u64> {
        self.settled.and_then(|settled| settled.min_distance)
    }

    /// Fewest and most visits of a process in the rounds since the state last
    /// became legitimate; a visit is a round at whose end a token is there.
    pub fn visits(&self) -> Option<(u64, u64)> {
        self.settled?;
        let fewest = self.visits.iter().min()?;
        let most = self.visits.iter().max()?;
        Some((*fewest, *most))
    }

    /// The start and every fault, in order.
    pub fn recoveries(&self) -> &[Recovery] {
        &self.recoveries
    }

    /// The five verdicts.
    pub fn desiderata(&self) -> [Verdict; 5] {
        let settled = self.settled;
        let distance_kept = settled.is_some_and(|settled| {
            let required = u64::from(self.separation.hops());
            settled.min_distance.is_none_or(|kept| kept >= required)
        });
        let all_moved = settled.is_some_and(|settled| settled.all_moved);
        let recovered = self.recoveries.iter().enumerate().all(|(index, recovery)| {
            match recovery.legitimate_at {
                Some(_) => true,
                // Cut short by the next fault: that one is asked instead.
                None => index + 1 < self.recoveries.len(),
            }
        });
        verdicts([
            self.conserved,
            distance_kept,
            all_moved,
            self.visited_equally(),
            recovered,
        ])
    }

    fn visited_equally(&self) -> bool {
        let (Some(settled), Some(visits)) = (self.settled, self.visits()) else {
            return false;
        };
        let rounds = self.round - settled.since;
        visited_equally(visits, rounds, self.visits.len() as u64, self.separation)
    }
}

/// The five verdicts, given whether each holds.
pub fn verdicts(hold: [bool; 5]) -> [Verdict; 5] {
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
