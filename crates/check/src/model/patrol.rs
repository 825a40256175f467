//! The moving block with tokens that cannot be lost, and the patrol that notices a
//! standstill, from every state. Processes read each other's variables.
//!
//! Every token is Dijkstra's K-state ring, the patrol is one more that runs the other
//! way. A process holds a token as soon as its predecessor has released it, so the
//! predecessor sees that too, and reads as news 0 until its successor has told again.
//! Telling, releasing and passing the patrol on are separate actions of a process.
//!
//! Adding a constant to all values of one ring changes nothing that anyone does, so the
//! first process always has value 0.

use headway_core::moving_block::{Ahead, Found, Lap, Watch};
use headway_core::token_ring::{holds, released};

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::settings::{Tokens, separation, settings};
use crate::traits::{Action, Actions, Fairness, Model, Step};
use crate::{Domains, Report, actions};

const MAX_PROCESSES: usize = 5;
const MAX_TOKENS: usize = 2;

settings! {
    /// A ring and its rules; it takes n > m·d to be alive.
    Settings {
        /// Number of processes
        processes: usize = 3, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Hops to keep between successive tokens [default: (N-1)/M]
        separation: Option<u32> = None, "D";
        /// Values of each token ring [default: N-1, at least 2]
        values: Option<u32> = None, "K";
        /// The patrol opens no gate, to show why it is needed
        never_open: bool = false, "", not ignore_ready, ignore_moves;
        /// Count a process that could release a token as calm, to show that this fails
        ignore_ready: bool = false, "", not ignore_moves;
        /// Count a process that has released a token as calm, to show that this fails
        ignore_moves: bool = false, "";
    }
}

/// Checks the moving block with its patrol.
///
/// # Errors
///
/// As [`Patrol::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = Patrol::new(settings)?;
    let broken = match (
        settings.never_open,
        settings.ignore_ready,
        settings.ignore_moves,
    ) {
        (true, ..) => ", gates stay shut",
        (_, true, _) => ", who could release counts as calm",
        (.., true) => ", who has released counts as calm",
        _ => "",
    };
    let instance = format!(
        "{} processes, {} tokens, {} apart, {} values{broken}",
        model.processes, model.tokens, model.separation, model.values
    );
    let mut report = actions::report(&model, "patrol", instance, &[], control)?;
    report.reductions = vec!["values are counted from those of the first process".into()];
    Ok(report)
}

/// The variables of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    values: [u8; MAX_TOKENS],
    news: u8,
    patrol: u8,
    lap: Lap,
    watch: Watch,
}

/// A global state.
pub type State = Vec<Variables>;

/// A ring of the moving block, with its patrol.
#[derive(Clone, Debug)]
pub struct Patrol {
    /// n, 2 to 5.
    processes: usize,
    /// m, 1 or 2.
    tokens: usize,
    /// d, 1 to n.
    separation: u32,
    /// K of a token ring, 2 to 16; n - 1 are enough.
    values: u32,
    settings: Settings,
    domains: Domains,
}

const LAPS: [Lap; 4] = [Lap::Calm, Lap::CalmAgain, Lap::Disturbed, Lap::Open];

impl Patrol {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range.
    pub fn new(settings: &Settings) -> Result<Patrol> {
        let processes = settings.processes;
        let tokens = settings.tokens.on(processes);
        let separation = separation(settings.separation, processes.max(1) - 1, tokens);
        let values = settings.values.unwrap_or(processes.clamp(3, 17) as u32 - 1);
        if !(2..=MAX_PROCESSES).contains(&processes)
            || !(1..=MAX_TOKENS).contains(&tokens)
            || !(1..=processes as u32).contains(&separation)
            || !(2..=16).contains(&values)
        {
            return Err(CheckError::settings(format!(
                "patrol: 2 to {MAX_PROCESSES} processes, 1 or {MAX_TOKENS} tokens, a separation of \
                 1 to the number of processes, and 2 to 16 values"
            )));
        }
        let sizes = (0..processes).flat_map(|index| {
            let ring = if index == 0 { 1 } else { u64::from(values) };
            let rings = std::iter::repeat_n(ring, tokens);
            let watches = 2 + tokens as u64;
            let others = [u64::from(separation) + 1, ring, LAPS.len() as u64, watches];
            rings.chain(others)
        });
        Ok(Patrol {
            processes,
            tokens,
            separation,
            values,
            settings: settings.clone(),
            domains: Domains::new(sizes)?,
        })
    }

    fn next(&self, index: usize) -> usize {
        (index + 1) % self.processes
    }

    fn before(&self, index: usize) -> usize {
        (index + self.processes - 1) % self.processes
    }

    fn holds_token(&self, state: &State, index: usize, token: usize) -> bool {
        let before = state[self.before(index)].values[token];
        holds(state[index].values[token].into(), before.into(), index == 0)
    }

    fn holds_any(&self, state: &State, index: usize) -> bool {
        (0..self.tokens).any(|token| self.holds_token(state, index, token))
    }

    fn holds_patrol(&self, state: &State, index: usize) -> bool {
        let (own, other) = (state[index].patrol, state[self.next(index)].patrol);
        holds(own.into(), other.into(), index == 0)
    }

    /// What a process sees ahead of it.
    fn ahead(&self, state: &State, index: usize) -> Ahead {
        let next = self.next(index);
        let news = state[next].news.into();
        Ahead::Free(if self.holds_any(state, next) { 0 } else { news })
    }

    fn tells(&self, state: &State, index: usize) -> u8 {
        let holds = self.holds_any(state, index);
        let ahead = self.ahead(state, index);
        ahead.tells(holds, self.separation) as u8
    }

    fn release(&self, state: &State, index: usize, token: usize) -> State {
        let values = self.values;
        let before = state[self.before(index)].values[token];
        let mut after = state.clone();
        let own = &mut after[index];
        let value = own.values[token];
        own.values[token] = released(value.into(), before.into(), index == 0, values) as u8;
        // The token is now with the successor, and perhaps soon further on.
        own.news = 0;
        own.watch = Watch::Moved;
        if index == 0 {
            let shift = after[0].values[token];
            for process in &mut after {
                let value = &mut process.values[token];
                *value = (*value + values as u8 - shift) % values as u8;
            }
        }
        after
    }

    /// The patrol is passed on; of several tokens that are stuck, any may have its turn.
    fn pass(&self, state: &State, index: usize, turn: Option<u32>) -> State {
        let values = self.values;
        let ready = self.ahead(state, index).lets_go(self.separation);
        let found = match turn {
            None => Found::Empty,
            Some(_) if ready && !self.settings.ignore_ready => Found::Busy,
            Some(token) => Found::Stuck(token),
        };
        let arrived = &state[self.next(index)];
        let own = state[index];
        let watch = match self.settings.ignore_moves {
            true => Watch::Still,
            false => own.watch,
        };
        let (lap, mut watch) = watch.visited(arrived.lap, index == 0, found);
        if self.settings.never_open {
            watch = Watch::Still;
        }
        let patrol = released(own.patrol.into(), arrived.patrol.into(), index == 0, values) as u8;
        let mut after = state.clone();
        after[index] = Variables {
            news: self.tells(state, index),
            patrol,
            lap,
            watch,
            ..own
        };
        if index == 0 {
            for process in &mut after {
                process.patrol = (process.patrol + values as u8 - patrol) % values as u8;
            }
        }
        after
    }
}

impl Model for Patrol {
    type State = State;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut all = self.domains.values(rank);
        let mut next = || all.next().expect("so many variables") as u8;
        let process = |_| {
            let mut values = [0; MAX_TOKENS];
            values[..self.tokens].fill_with(&mut next);
            Variables {
                values,
                news: next(),
                patrol: next(),
                lap: LAPS[usize::from(next())],
                watch: match next() {
                    0 => Watch::Still,
                    1 => Watch::Moved,
                    token => Watch::Open(u32::from(token) - 2),
                },
            }
        };
        (0..self.processes).map(process).collect()
    }

    fn rank(&self, state: &State) -> u64 {
        let values = state.iter().flat_map(|process| {
            let lap = LAPS.iter().position(|&lap| lap == process.lap);
            let tokens = process.values.into_iter().take(self.tokens);
            tokens.map(u64::from).chain([
                process.news.into(),
                process.patrol.into(),
                lap.expect("one of four") as u64,
                match process.watch {
                    Watch::Still => 0,
                    Watch::Moved => 1,
                    Watch::Open(token) => u64::from(token) + 2,
                },
            ])
        });
        self.domains.rank(values)
    }

    /// One token of each ring, all at least d apart, nothing false is told, and no gate
    /// is open.
    fn legitimate(&self, state: &State) -> bool {
        let n = self.processes;
        let d = self.separation as usize;
        let mut places = [0; MAX_TOKENS];
        for (token, place) in places.iter_mut().enumerate().take(self.tokens) {
            let mut holders = (0..n).filter(|&index| self.holds_token(state, index, token));
            match (holders.next(), holders.next()) {
                (Some(only), None) => *place = only,
                _ => return false,
            }
        }
        let places = &places[..self.tokens];
        let hops = |from: usize, to: usize| (to + n - from) % n;
        let apart = match *places {
            [one, other] => hops(one, other) >= d && hops(other, one) >= d,
            _ => true,
        };
        apart
            && state.iter().enumerate().all(|(index, process)| {
                let free = places.iter().map(|&place| hops(index, place)).min();
                let true_news = free == Some(0) || Some(process.news.into()) <= free;
                true_news && !matches!(process.watch, Watch::Open(_))
            })
    }

    fn show(&self, state: &State) -> String {
        let processes = (0..state.len()).map(|index| {
            let (own, news) = (state[index], state[index].news);
            let letters = (0..self.tokens).zip(["A", "B"]);
            let tokens: String = letters
                .filter(|&(token, _)| self.holds_token(state, index, token))
                .map(|(_, letter)| letter)
                .collect();
            let patrol = if self.holds_patrol(state, index) {
                " patrol"
            } else {
                ""
            };
            let lap = match own.lap {
                Lap::Calm => "calm",
                Lap::CalmAgain => "calm again",
                Lap::Disturbed => "disturbed",
                Lap::Open => "open",
            };
            let watch = match own.watch {
                Watch::Still => "",
                Watch::Moved => " moved",
                Watch::Open(0) => " A may go",
                Watch::Open(_) => " B may go",
            };
            format!("{tokens:2} {news}{patrol}{watch} ({lap})")
        });
        processes.collect::<Vec<_>>().join(" | ")
    }
}

const KINDS: [&str; 3] = ["tell", "release", "pass the patrol on"];

impl Actions for Patrol {
    fn actions(&self) -> Vec<Action> {
        let all = (0..self.processes).flat_map(|_| KINDS);
        all.map(|name| Action {
            name,
            fairness: Fairness::Weak,
        })
        .collect()
    }

    fn steps(&self, state: &State, steps: &mut Vec<Step<State>>) {
        for index in 0..self.processes {
            let action = |kind| index * KINDS.len() + kind;
            let news = self.tells(state, index);
            if news != state[index].news {
                let mut after = state.clone();
                after[index].news = news;
                steps.push(Step {
                    action: action(0),
                    state: after,
                });
            }
            let ready = self.ahead(state, index).lets_go(self.separation);
            let held = |token: &u32| self.holds_token(state, index, *token as usize);
            let held: Vec<u32> = (0..self.tokens as u32).filter(held).collect();
            let watch = state[index].watch;
            for &token in &held {
                if ready || watch == Watch::Open(token) {
                    steps.push(Step {
                        action: action(1),
                        state: self.release(state, index, token as usize),
                    });
                }
            }
            // Whom the patrol has let go goes before the patrol is passed on again.
            let goes = held.iter().any(|&token| watch == Watch::Open(token));
            if self.holds_patrol(state, index) && !goes {
                let turns: Vec<Option<u32>> = match held.is_empty() {
                    true => vec![None],
                    false => held.into_iter().map(Some).collect(),
                };
                steps.extend(turns.into_iter().map(|turn| Step {
                    action: action(2),
                    state: self.pass(state, index, turn),
                }));
            }
        }
    }

    fn looks_for_closure(&self) -> bool {
        true
    }
}
