//! Stations by messages: what the moving block is with one process in every station. Tokens
//! are conserved, handed over and acknowledged; works begin and end at any time.
//!
//! From clean starts everything that was ever told may be heard at any time, any number of
//! times, or never: a process remembers the best of what was told to it, and whatever it
//! could do by other news it can do by this. A restart that forgets news is among these
//! runs. From every other start it remembers what it was told last.
//!
//! Only differences of numbers matter, so they are counted from the smallest.

use std::fmt;
use std::str::FromStr;

use headway_core::stations::Work;

use crate::actions;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::listed::{Alike, Listed};
use crate::reach::{self, Reachable};
use crate::report::{Property, Report, Trace};
use crate::settings::{separation, settings};
use crate::traits::Model as _;

mod rules;
#[cfg(test)]
mod tests;

use rules::{ACTIONS, KINDS, Link};
pub use rules::{Seat, State};

const NAME: &str = "stations";
const MAX_PROCESSES: usize = 9;
const MAX_SEPARATION: u32 = 3;
const MAX_NUMBER: u32 = 3;

/// A part of the rule (docs/research/stations.md), to be left out: to show what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingredient {
    /// What is over counts only for one's own number or a smaller one.
    Number,
    /// It counts for a larger number than one's own, too.
    Later,
    /// Who still works says that nothing is over.
    OwnEnd,
    /// What is over includes all before in the station.
    Prefix,
    /// News counts one more only where a station ends.
    Boundary,
    /// A token leaves a station only when its work is over.
    Closing,
    /// Who holds a token tells 0.
    Holder,
    /// News counts only if it includes the last hand-over.
    LastHandOver,
    /// A restart leaves the hand-over that is not acknowledged.
    HandOver,
    /// The limit of works at once.
    Limit,
    /// A visit makes the number larger than that of the visit before; without, tokens count
    /// their entries.
    Entry,
    /// A larger number of the successor is taken over.
    Adoption,
    /// Inside a station, too, a token goes only if the last hand-over is acknowledged.
    Acknowledgement,
}

const INGREDIENTS: [(&str, Ingredient); 13] = [
    ("number", Ingredient::Number),
    ("later", Ingredient::Later),
    ("own-end", Ingredient::OwnEnd),
    ("prefix", Ingredient::Prefix),
    ("boundary", Ingredient::Boundary),
    ("closing", Ingredient::Closing),
    ("holder", Ingredient::Holder),
    ("last-hand-over", Ingredient::LastHandOver),
    ("hand-over", Ingredient::HandOver),
    ("limit", Ingredient::Limit),
    ("entry", Ingredient::Entry),
    ("adoption", Ingredient::Adoption),
    ("acknowledgement", Ingredient::Acknowledgement),
];

impl FromStr for Ingredient {
    type Err = String;

    fn from_str(text: &str) -> Result<Ingredient, String> {
        let found = INGREDIENTS.iter().find(|(name, _)| *name == text);
        found.map(|(_, ingredient)| *ingredient).ok_or_else(|| {
            let names = INGREDIENTS.map(|(name, _)| name);
            format!("expected {}", names.join(", "))
        })
    }
}

impl fmt::Display for Ingredient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = INGREDIENTS[*self as usize];
        f.write_str(name)
    }
}

settings! {
    /// A ring cut into stations, and its rules.
    Settings {
        /// Processes of each station
        stations: Vec<usize> = vec![2, 1], "SIZES";
        /// Number of tokens
        tokens: usize = 1, "M";
        /// Stations to keep between successive tokens [default: (K-1)/M of K stations]
        separation: Option<u32> = None, "D";
        /// Works at once in a station, at most; from clean starts
        works: Option<u32> = None, "C";
        /// The largest number in a start; from clean starts a station has one number
        highest_number: u32 = 1, "F";
        /// Start from tokens that are apart and nothing known, and hear anything that was ever
        /// told: allows larger rings
        clean_start: bool = false, "";
        /// Omit a part of the rule, to show why it is needed
        leave_out: Option<Ingredient> = None, "PART";
    }
}

/// A ring and its rules, of sizes that can be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ring {
    /// k.
    stations: usize,
    /// Of each process.
    station_of: Vec<usize>,
    /// m.
    tokens: usize,
    /// d, at least 1. It takes k > m·d to be alive.
    separation: u32,
    limit: Option<u32>,
    highest_number: u8,
    clean: bool,
    leave_out: Option<Ingredient>,
}

impl Ring {
    fn new(settings: &Settings) -> Result<Ring> {
        let (stations, tokens) = (settings.stations.len(), settings.tokens);
        let separation = separation(settings.separation, stations.max(1) - 1, tokens);
        let processes = settings
            .stations
            .iter()
            .fold(0_usize, |sum, size| sum.saturating_add(*size));
        let wrong = |why: String| Err(CheckError::settings(format!("{NAME}: {why}")));
        if let Some(empty) = settings.stations.iter().position(|&size| size == 0) {
            return wrong(format!("station {} has no members", empty + 1));
        }
        if stations < 2 || processes > MAX_PROCESSES {
            return wrong(format!(
                "expected two stations or more, of at most {MAX_PROCESSES} processes together, not \
                 {stations} of {processes}"
            ));
        }
        if !(1..=stations).contains(&tokens) || !(1..=MAX_SEPARATION).contains(&separation) {
            return wrong(format!(
                "1 to {stations} tokens and a separation of 1 to {MAX_SEPARATION}, not {tokens} and \
                 {separation}"
            ));
        }
        if settings.highest_number > MAX_NUMBER {
            return wrong(format!("numbers of starts are at most {MAX_NUMBER}"));
        }
        if settings.works == Some(0) || (settings.works.is_some() && !settings.clean_start) {
            return wrong("a limit of works is 1 or more, and asked of clean starts".into());
        }
        let sizes = settings.stations.iter().enumerate();
        Ok(Ring {
            stations,
            station_of: sizes
                .flat_map(|(station, &size)| vec![station; size])
                .collect(),
            tokens,
            separation,
            limit: settings.works,
            highest_number: settings.highest_number as u8,
            clean: settings.clean_start,
            leave_out: settings.leave_out,
        })
    }

    fn instance(&self, settings: &Settings) -> String {
        let sizes: Vec<String> = settings.stations.iter().map(ToString::to_string).collect();
        let starts = if self.clean { "clean starts, " } else { "" };
        let numbers = self.highest_number;
        let limit = self.limit.map(|limit| format!(", {limit} works at once"));
        let left_out = self.leave_out.map(|part| format!(", without {part}"));
        format!(
            "stations of {}, {} tokens, {} apart, {starts}numbers up to {numbers}{}{}",
            sizes.join(","),
            self.tokens,
            self.separation,
            limit.unwrap_or_default(),
            left_out.unwrap_or_default()
        )
    }

    /// The states with a token at the last process of each of these stations, and any number
    /// for each station.
    fn clean_starts(&self, tokens: u32) -> impl Iterator<Item = State> {
        let numbers = u32::from(self.highest_number) + 1;
        (0..numbers.pow(self.stations as u32)).map(move |numbering| {
            let mut state = State::default();
            for (index, &station) in self.station_of.iter().enumerate() {
                state[index].held =
                    (tokens >> station & 1) as u8 * u8::from(self.place(index).last);
                state[index].number = (numbering / numbers.pow(station as u32) % numbers) as u8;
            }
            self.count_from_least(&mut state);
            state
        })
    }

    /// What a process may be like in any start with so many tokens left.
    fn seats(&self, index: usize, left: usize) -> Vec<Seat> {
        let numbers = 0..=self.highest_number;
        let links = [Link::Token, Link::Received, Link::Known];
        let overs = || numbers.clone().map(Some).chain([None]);
        let mut seats = Vec::new();
        for (held, link) in (0..=left as u8).flat_map(|held| links.map(|link| (held, link))) {
            if usize::from(held) + usize::from(link == Link::Token) > left {
                continue;
            }
            let heard = if link == Link::Known {
                self.separation as u8
            } else {
                0
            };
            let given = if link == Link::Token {
                self.highest_number
            } else {
                0
            };
            for (ahead, carried) in
                (0..=heard).flat_map(|ahead| (0..=given).map(move |given| (ahead, given)))
            {
                for (number, over) in numbers
                    .clone()
                    .flat_map(|number| overs().map(move |over| (number, over)))
                {
                    if over.is_some_and(|over| self.place(index).first || over < number) {
                        continue;
                    }
                    seats.extend(
                        [Work::Undecided, Work::Working, Work::Declined].map(|work| Seat {
                            held,
                            link,
                            ahead,
                            number,
                            carried,
                            work,
                            over,
                            ..Seat::default()
                        }),
                    );
                }
            }
        }
        seats
    }

    /// Every start with these processes and the rest in any way.
    fn any_start(
        &self,
        begun: State,
        index: usize,
        left: usize,
    ) -> Box<dyn Iterator<Item = Option<State>> + '_> {
        if index == self.processes() {
            let mut state = begun;
            self.count_from_least(&mut state);
            return Box::new(std::iter::once((left == 0).then_some(state)));
        }
        Box::new(self.seats(index, left).into_iter().flat_map(move |seat| {
            let mut state = begun;
            state[index] = seat;
            let spent = usize::from(seat.held) + usize::from(seat.link == Link::Token);
            self.any_start(state, index + 1, left - spent)
        }))
    }
}

/// Checks a ring of stations.
///
/// # Errors
///
/// When a setting is out of its range or the ring is too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let ring = Ring::new(settings)?;
    let instance = ring.instance(settings);
    let reached = reach::explore(&ring, control)?;
    let broken = reached.violation.map(|(property, place)| {
        let run = reached.run_to(place);
        (
            property,
            Trace::new(run.iter().map(|state| ring.show(state))),
        )
    });
    let model = Listed::new(&ring, reached.reached);
    let mut report = if ring.clean {
        Report {
            model: NAME.into(),
            instance,
            states: model.states().into(),
            legitimate: (model.states() - u64::from(broken.is_some())).into(),
            ..Report::default()
        }
    } else {
        actions::report(&model, NAME, instance, &[], control)?
    };
    if ring.clean {
        let of = |name: &str| {
            broken
                .clone()
                .filter(|(property, _)| *property == name)
                .map(|(_, run)| run)
        };
        let tokens = "from a clean start tokens never come closer than the separation";
        let works = "two works in progress are of one visit in one station, or in stations at least \
                     the separation apart";
        report
            .properties
            .push(Property::unless("tokens-apart", tokens, of("tokens-apart")));
        report
            .properties
            .push(Property::unless("works-apart", works, of("works-apart")));
        if ring.limit.is_some() {
            let says = "in no station more works are in progress than the limit";
            report
                .properties
                .push(Property::unless("limited", says, of("limited")));
        }
    }
    if broken.is_none() {
        let visits = actions::visits(&model, ring.visit(), control)?;
        report.properties.push(visits);
    }
    Ok(report)
}

impl Reachable for Ring {
    type State = State;

    fn starts(&self) -> impl Iterator<Item = Option<State>> {
        let clean = (0..1_u32 << self.stations).flat_map(|tokens| self.clean_starts(tokens));
        let apart = |state: State| self.tokens_apart(&state).then_some(state);
        let clean = self.clean.then(|| clean.map(apart)).into_iter().flatten();
        let any = (!self.clean).then(|| self.any_start(State::default(), 0, self.tokens));
        clean.chain(any.into_iter().flatten())
    }

    fn successors(&self, state: &State, successors: &mut Vec<State>) {
        successors.extend(self.all_act(state).map(|step| step.state));
    }

    fn violates(&self, state: &State) -> Option<&'static str> {
        match () {
            () if !self.clean => None,
            () if !self.tokens_apart(state) => Some("tokens-apart"),
            () if !self.works_apart(state) => Some("works-apart"),
            () => (!self.limited(state)).then_some("limited"),
        }
    }
}

impl Alike for Ring {
    type State = State;
    const ACTIONS: &'static [&'static str] = &ACTIONS;
    /// What keeps its promise for ever.
    const LOOKS_FOR_CLOSURE: bool = true;

    fn processes(&self) -> usize {
        self.station_of.len()
    }

    fn acts(&self, state: &State, process: usize) -> impl Iterator<Item = (usize, State)> {
        let act = move |(kind, place)| Some((place, self.act(state, kind, process)?));
        KINDS.into_iter().filter_map(act)
    }

    fn legitimate(&self, state: &State) -> bool {
        self.tokens_apart(state) && self.works_apart(state)
    }

    fn show(&self, state: &State) -> String {
        self.in_words(state)
    }
}
