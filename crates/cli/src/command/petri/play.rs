//! `headway petri play`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use headway_petri::play::{NotPlayable, Timed};
use headway_petri::{Marking, Net, svg};
use serde::Serialize;

use super::input::{NetFlags, Purpose, write_pnml, write_svg};
use crate::failure::{Answer, Failure};
use crate::flags::{Format, whole_number};
use crate::interrupt::is_stopped;
use crate::report::count;
use crate::report::style::{BAD, DIM, HEADING};
use headway_draw::escape;

/// Flags of `headway petri play`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri play ring.pnml --rounds 12
  headway petri play plant.pnml --mark b1=2 --mark b7=1
  headway petri play plant.pnml --format csv > marking.csv
  headway petri play ring.pnml --rounds 100 -o later.pnml

By rounds, every transition fires as often as the tokens at the start of the round
allow. By time, a token is usable a holding time after it was put down. With all
holding times 1 these are the same. Where transitions compete for a token, the one
that comes first in the file gets it. After Ctrl-C the output is whole up to the last round,
and the exit code is 130.")]
pub(super) struct Args {
    #[command(flatten)]
    net: NetFlags,

    /// How many rounds
    #[arg(long, value_name = "R", default_value_t = 24, value_parser = whole_number::<u64>)]
    rounds: u64,

    /// How to play [default: rounds if all holding times are 1, else time]
    #[arg(long, value_enum)]
    by: Option<By>,

    /// How to print; csv is every marked place after every round
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Write the net with its last marking
    #[arg(short, long, value_name = "FILE.pnml")]
    output: Option<PathBuf>,

    /// Draw the net with its last marking
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Maximal steps
    Rounds,
    /// Earliest firing with holding times
    Time,
}

/// What happened in a round.
struct Shown<'a> {
    round: u64,
    fired: &'a [(u32, u64)],
    marking: &'a Marking,
}

impl<'a> Shown<'a> {
    /// Places with tokens, by id, and how many.
    fn marked(&self, net: &'a Net) -> impl Iterator<Item = (&'a str, u64)> {
        let places = self.marking.0.iter().enumerate();
        let places = places.map(|(place, &tokens)| (net.place_id(place), tokens));
        places.filter(|&(_, tokens)| tokens > 0)
    }

    /// Transitions that fired, by id, and how often.
    fn fired(&self, net: &'a Net) -> impl Iterator<Item = (&'a str, u64)> {
        let fired = self.fired.iter();
        fired.map(|&(transition, times)| (net.transition_id(transition as usize), times))
    }
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let plant = args.net.read(Purpose::of(args.output.as_ref()))?;
    let net = &plant.net;
    let unit = net.first_not_unit().is_none();
    let by = args.by.unwrap_or(if unit { By::Rounds } else { By::Time });
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Text => heading(&mut out, args, net, by)?,
        Format::Csv => writeln!(out, "round,place,tokens")?,
        // Round by round, so that it needs no memory and an interrupted play is whole.
        Format::Json => {
            let by = if by == By::Rounds { "rounds" } else { "time" };
            let id = serde_json::Value::from(net.id.as_str());
            write!(
                out,
                "{{\n  \"net\": {id},\n  \"by\": \"{by}\",\n  \"played\": ["
            )?;
        }
    }
    let mut comma = "";
    let (last, dead_from, played) = play(args, &plant.net, &plant.marking, by, |shown| {
        match args.format {
            Format::Text => text_row(&mut out, net, shown)?,
            Format::Csv => {
                for (place, tokens) in shown.marked(net) {
                    writeln!(out, "{},{},{tokens}", shown.round, escape::csv(place))?;
                }
            }
            Format::Json => {
                let row = Played {
                    round: shown.round,
                    marking: shown.marked(net).collect(),
                    fired: shown.fired(net).collect(),
                };
                let row = serde_json::to_string_pretty(&row).map_err(std::io::Error::from)?;
                let row = format!("\n{row}").replace('\n', "\n    ");
                write!(out, "{comma}{row}")?;
                comma = ",";
            }
        }
        Ok(())
    })?;
    match args.format {
        Format::Text => {
            if let Some(round) = dead_from {
                writeln!(
                    out,
                    "{BAD}Dead:{BAD:#} after round {round} nothing fires any more."
                )?;
            }
        }
        Format::Json => {
            let dead_from = serde_json::Value::from(dead_from);
            writeln!(out, "\n  ],\n  \"dead_from\": {dead_from}\n}}")?;
        }
        Format::Csv => {}
    }
    drop(out);
    if args.output.is_some() {
        let mut net = net.clone();
        if let Some(note) = &mut net.ring {
            // Which tokens have just arrived is known after a round, not before.
            note.queued.clear();
        }
        write_pnml(args.output.as_deref(), &net, &last)?;
    }
    let rounds = played.unwrap_or(args.rounds);
    let caption = format!("{} after {}", net.id, count(rounds, "round"));
    let highlight = svg::Highlight {
        caption,
        ..svg::Highlight::default()
    };
    write_svg(args.svg.as_deref(), net, &last, &highlight)?;
    match played {
        Some(round) => Err(Failure::interrupted(format!("stopped after round {round}"))),
        None => Ok(Answer::Yes),
    }
}

/// Plays and shows every round; returns the last marking, whether the net died, and after
/// which round it was interrupted, if it was.
fn play(
    args: &Args,
    net: &Net,
    marking: &Marking,
    by: By,
    mut show: impl FnMut(&Shown<'_>) -> Result<(), Failure>,
) -> Result<(Marking, Option<u64>, Option<u64>), Failure> {
    let adjacency = net.adjacency();
    let unplayable = |error| {
        let why = with_ids(net, error);
        Failure::new(format!("{}: {why}", args.net.file.display()))
    };
    show(&Shown {
        round: 0,
        fired: &[],
        marking,
    })?;
    // Maximal steps are what fires earliest if every token is usable in the next round.
    let holding = |place| match by {
        By::Rounds => 1,
        By::Time => net.holding(place),
    };
    let holding: Vec<u64> = (0..net.places()).map(holding).collect();
    let mut play = Timed::new(&adjacency, &holding, marking).map_err(unplayable)?;
    let mut last_fired = 0;
    while let Some(round) = play.next_time().filter(|&time| time <= args.rounds) {
        if is_stopped() {
            return Ok((play.marking(), None, Some(last_fired)));
        }
        let Some(instant) = play.step().map_err(unplayable)? else {
            break;
        };
        let fired = instant.fired.to_vec();
        if !fired.is_empty() {
            last_fired = round;
            show(&Shown {
                round,
                fired: &fired,
                marking: &play.marking(),
            })?;
        }
    }
    let dead = play.next_time().is_none();
    Ok((play.marking(), dead.then_some(last_fired), None))
}

/// Why it cannot be played, with ids in place of numbers.
fn with_ids(net: &Net, error: NotPlayable) -> String {
    let (number, id) = match error {
        NotPlayable::Source { transition } => (transition, net.transition_id(transition)),
        NotPlayable::Overflow { place } | NotPlayable::NoTime { place } => {
            (place, net.place_id(place))
        }
    };
    error
        .to_string()
        .replace(&format!("number {number} "), &format!("{id} "))
}

fn heading(out: &mut impl Write, args: &Args, net: &Net, by: By) -> std::io::Result<()> {
    let how = match by {
        By::Rounds => "in rounds, maximal steps",
        By::Time => "in time, earliest firing",
    };
    writeln!(
        out,
        "{HEADING}{}: {}, {}{HEADING:#}   {DIM}{how}, from {}{DIM:#}",
        net.id,
        count(net.places() as u64, "place"),
        count(net.transitions() as u64, "transition"),
        args.net.file.display()
    )
}

fn text_row(out: &mut impl Write, net: &Net, shown: &Shown<'_>) -> std::io::Result<()> {
    const SHOWN: usize = 16;
    let times = |id: &str, count: u64| match count {
        1 => id.to_owned(),
        more => format!("{id}*{more}"),
    };
    let cut = |mut names: Vec<String>| {
        let all = names.len();
        if all > SHOWN {
            names.truncate(SHOWN);
            names.push(format!("... ({all} in all)"));
        }
        names.join(" ")
    };
    let times = |(id, count)| times(id, count);
    let fired: String = cut(shown.fired(net).map(times).collect());
    let marked = cut(shown.marked(net).map(times).collect());
    write!(out, "{:>6}  {marked}", shown.round)?;
    if !fired.is_empty() {
        write!(out, "   {DIM}fired {fired}{DIM:#}")?;
    }
    writeln!(out)
}

/// What `headway petri play` prints, round by round.
#[cfg(test)]
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct PlayJson {
    net: String,
    /// What is counted.
    by: String,
    /// Every round: the marking, and what fired to get there.
    played: Vec<Played<'static>>,
    dead_from: Option<u64>,
}

/// A round.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Played<'a> {
    round: u64,
    /// Tokens by place; places without are left out.
    marking: BTreeMap<&'a str, u64>,
    /// How often each transition fired.
    fired: BTreeMap<&'a str, u64>,
}
