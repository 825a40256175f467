//! The moving block by messages: conserved tokens, handed over and acknowledged; news
//! that may come late, get lost and be repeated, but keeps its order.
//!
//! Between a process and its successor there is a hand-over, told apart from the last one
//! by a bit and sent until it is received, and there is news: the distance that the
//! successor tells and whether it has received everything. News is written into a slot
//! and heard from there, so that it may be old by then; what is overwritten unheard is
//! lost, what is heard again is repeated. Bits are counted relative to the giver's, so
//! that a link has four conditions.
//!
//! Tokens are conserved from every state in which nobody knows of an acknowledgement that
//! was not given; those are the states.

use num_bigint::BigUint;

use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::listed::{Alike, Listed};
use crate::reach::{self, ReachAnswer, Reachable};
use crate::report::{Property, Report, Trace};
use crate::settings::{Tokens, separation, settings};
use crate::{actions, placements};

mod rules;

use rules::{KINDS, LINKS, Link, Place, State};

const NAME: &str = "moving-block";
const MAX_PROCESSES: usize = 8;
const MAX_TOKENS: usize = 3;
const MAX_SEPARATION: u32 = 3;

settings! {
    /// A ring and its rules.
    Settings {
        /// Number of processes
        processes: usize = 3, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Hops to keep between successive tokens [default: (N-1)/M]
        separation: Option<u32> = None, "D";
        /// News is heard as it is told, never late: allows larger rings
        prompt_news: bool = false, "";
        /// Start from tokens that are apart, and ask for safety only: allows larger rings
        clean_start: bool = false, "";
        /// Believe news from before a hand-over, to show that this fails
        believe_old_news: bool = false, "", not tell_old_news;
        /// Tell news from before a hand-over, to show that this fails
        tell_old_news: bool = false, "";
    }
}

/// A ring and its rules, of sizes that can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// n, 2 to 8.
    processes: usize,
    /// m, 1 to 3.
    tokens: u32,
    /// d, 1 to 3. It takes n > m·d to be alive.
    separation: u32,
    /// Whether news may be under way. Without it, news is heard as it is told.
    late_news: bool,
    believe_old_news: bool,
    tell_old_news: bool,
}

impl Block {
    fn new(settings: &Settings) -> Result<Block> {
        let processes = settings.processes;
        let tokens = settings.tokens.on(processes);
        let separation = separation(settings.separation, processes.max(1) - 1, tokens);
        if !(2..=MAX_PROCESSES).contains(&processes)
            || !(1..=MAX_TOKENS).contains(&tokens)
            || !(1..=MAX_SEPARATION).contains(&separation)
        {
            return Err(CheckError::settings(format!(
                "{NAME}: 2 to {MAX_PROCESSES} processes, 1 to {MAX_TOKENS} tokens and a \
                 separation of 1 to {MAX_SEPARATION}, not {processes}, {tokens} and {separation}"
            )));
        }
        Ok(Block {
            processes,
            tokens: tokens as u32,
            separation,
            late_news: !settings.prompt_news,
            believe_old_news: settings.believe_old_news,
            tell_old_news: settings.tell_old_news,
        })
    }

    /// How many states there are.
    fn count(&self) -> BigUint {
        let n = self.processes;
        let news = BigUint::from(self.separation + 1);
        // Ways of a link with a token under way, and of one without.
        let (with, without) = if self.late_news {
            (&news * &news, &news * &news * 3_u32)
        } else {
            (news.clone(), news * 2_u32)
        };
        let under_way = 0..=(self.tokens as usize).min(n);
        let ways = under_way.map(|count| {
            let held = placements::count(n, self.tokens as usize - count);
            let which = placements::count(n + 1 - count, count);
            held * which * with.pow(count as u32) * without.pow((n - count) as u32)
        });
        ways.sum()
    }

    /// All of them.
    fn states(&self, control: &Control) -> Result<Vec<State>> {
        let count = self.count();
        TooLarge::bound("states", count.clone(), u32::MAX.into())?;
        let count = u64::try_from(count).expect("just bounded");
        control.limits.admit(count, 400)?;
        let mut states = Vec::new();
        self.add(&mut states, [0; MAX_PROCESSES], 0, self.tokens, control)?;
        Ok(states)
    }

    /// Adds every state that begins with these places and has so many tokens left.
    fn add(
        &self,
        states: &mut Vec<State>,
        mut begun: State,
        index: usize,
        left: u32,
        control: &Control,
    ) -> Result<()> {
        if index == self.processes {
            states.extend((left == 0).then_some(begun));
            return Ok(());
        }
        control.go_on(|| format!("{} states are listed", states.len()))?;
        let late = self.late_news;
        let news = self.separation as u8;
        for (held, link) in (0..=left as u8).flat_map(|held| LINKS.map(|link| (held, link))) {
            let spent = u32::from(held) + u32::from(link == Link::Token);
            if spent > left || (!late && link == Link::Told) {
                continue;
            }
            for heard in 0..=news {
                for slot in 0..=if late { news } else { 0 } {
                    begun[index] = Place {
                        held,
                        link,
                        heard,
                        slot,
                    }
                    .pack();
                    self.add(states, begun, index + 1, left - spent, control)?;
                }
            }
        }
        Ok(())
    }

    fn instance(&self, clean: bool) -> String {
        let (processes, tokens, separation) = (self.processes, self.tokens, self.separation);
        let news = match self.late_news {
            true => "news under way",
            false => "news heard at once",
        };
        let starts = if clean { ", clean starts" } else { "" };
        let broken = match (self.believe_old_news, self.tell_old_news) {
            (true, _) => ", old news believed",
            (_, true) => ", old news told",
            _ => "",
        };
        format!(
            "{processes} processes, {tokens} tokens, {separation} apart, {news}{starts}{broken}"
        )
    }
}

/// Checks the moving block.
///
/// # Errors
///
/// When a setting is out of its range or the ring is too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let block = Block::new(settings)?;
    let safe: ReachAnswer<State> = reach::explore(&block, control)?;
    let instance = block.instance(settings.clean_start);
    let mut report = if settings.clean_start {
        Report {
            model: NAME.into(),
            instance,
            states: safe.states().into(),
            legitimate: (safe.states() - u64::from(safe.violation.is_some())).into(),
            ..Report::default()
        }
    } else {
        let model = Listed::new(&block, block.states(control)?);
        let mut report = actions::report(&model, NAME, instance, &[], control)?;
        let visits = actions::visits(&model, block.visit(), control)?;
        report.properties.push(visits);
        report
    };
    report.properties.push(Property::unless(
        "safe",
        "from a clean start tokens never come closer than the separation",
        safe.violation.map(|(_, place)| {
            let run = safe.run_to(place);
            Trace::new(run.iter().map(|state| block.show(state)))
        }),
    ));
    Ok(report)
}

/// Runs from clean starts.
impl Reachable for Block {
    type State = State;

    fn starts(&self) -> impl Iterator<Item = Option<State>> {
        let clean = Place {
            held: 0,
            link: Link::Received,
            heard: 0,
            slot: 0,
        };
        let mut begun = vec![([0; MAX_PROCESSES], 0)];
        for index in 0..self.processes {
            begun = begun
                .into_iter()
                .flat_map(|(state, tokens)| {
                    let with = |held: u8| {
                        let mut state: State = state;
                        state[index] = Place { held, ..clean }.pack();
                        (state, tokens + u32::from(held))
                    };
                    [with(0), with(1)]
                })
                .filter(|&(_, tokens)| tokens <= self.tokens)
                .collect();
        }
        let whole = |(state, tokens)| (tokens == self.tokens).then_some(state);
        let states = begun.into_iter().filter_map(whole);
        states.map(|state| self.apart(&state).then_some(state))
    }

    fn successors(&self, state: &State, successors: &mut Vec<State>) {
        successors.extend(self.all_act(state).map(|step| step.state));
    }

    fn violates(&self, state: &State) -> Option<&'static str> {
        (!self.apart(state)).then_some("safe")
    }
}

impl Alike for Block {
    type State = State;
    const ACTIONS: &'static [&'static str] = &["receive", "tell", "hear", "give"];

    fn processes(&self) -> usize {
        self.processes
    }

    fn acts(&self, state: &State, process: usize) -> impl Iterator<Item = (usize, State)> {
        let kinds = KINDS.into_iter().enumerate();
        kinds.filter_map(move |(place, kind)| Some((place, self.act(state, kind, process)?)))
    }

    fn legitimate(&self, state: &State) -> bool {
        self.apart(state) && self.truthful(state)
    }

    fn show(&self, state: &State) -> String {
        self.in_words(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_states_stops_when_told() {
        let block = Block::new(&Settings::default()).expect("it fits");
        let control = Control::default();
        let all = block.states(&control).expect("they are few");
        assert_eq!(block.count(), all.len().into());
        control.stop();
        assert!(matches!(
            block.states(&control),
            Err(CheckError::Interrupted { .. })
        ));
    }
}
