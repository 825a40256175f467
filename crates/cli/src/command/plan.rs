//! `headway plan`: stations, and the order of a ring, from the members that may not be down together.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args as ClapArgs;
use headway_answer::json;
use headway_answer::plan::{Plan, Proposal, read_failure};
use headway_walk::plan::Request;
use headway_walk::plan::conflicts::{Conflicts, Input};
use headway_walk::walk::svg::Theme;

use crate::failure::{Answer, Failure, expect_endings, read_text, write_wanted};
use crate::flags::{TextOrJson, one_of, seed, whole_number_in};
use crate::interrupt::stopped;
use crate::report::progress::Progress;
use crate::report::style::{BAD, DIM, GOOD, HEADING};
use crate::report::{count, names, print, try_next};
use headway_sim::seed::DEFAULT_SEED;

/// Flags of `headway plan`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway plan groups.txt                    a group a line: a,b,c
  headway plan racks.csv --format json       columns member,rack
  kafka-reassign-partitions.sh ... --generate | headway plan -
  nodetool describering KEYSPACE | headway plan -
  ceph pg dump --format json | headway plan - --together hosts.csv

The answer has two ways to let every member have its turn, and proposes the faster one.
Stations: the fewest groups without conflicts, all of one at once, one after the other. The
order of the ring: tokens that are d hops apart are never at two members that are less than d
hops apart, so members in conflict are brought near one another, d is small, and there is
room for many tokens.

Exit code 1 when only one member at a time is allowed; 130 after Ctrl-C, with the best so
far.")]
pub(crate) struct Args {
    /// Who may not be down together; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The file's format, if it is not detected from the content
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<Input>())]
    input: Option<Input>,

    /// Members that go together and share one place on the ring: CSV with the columns
    /// member,rack
    #[arg(long, value_name = "FILE")]
    together: Option<PathBuf>,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,

    /// How hard to search: 10 takes about ten times as long as 1
    #[arg(long, value_name = "E", default_value_t = 1, value_parser = whole_number_in::<u32>(1..=1000))]
    effort: u32,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,

    /// Also write the plan, JSON as --format json prints it
    #[arg(long, short, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// Also draw what is proposed as a ring, with conflicts as chords
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Background of the drawing
    #[arg(long, value_parser = one_of::<Theme>(), default_value_t)]
    theme: Theme,
}

/// Looks and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    expect_endings(args.svg.as_deref(), None)?;
    let conflicts = read(&args.file, args.input)?;
    let places = args.together.as_deref().map(|path| {
        let text = read_text(path)?;
        Input::racks(&text).map_err(|error| read_failure(path, &text, Input::Racks, &error))
    });
    let request = Request {
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        effort: args.effort,
    };
    let stop = stopped();
    let plan = {
        let mut progress = Progress::new(None, "");
        let say = &mut |doing: &str| progress.say(doing);
        Plan::new(conflicts, places.transpose()?, request, say, &stop)?
    };
    let interrupted = stop.load(Ordering::Relaxed);
    drop(stop);
    let json = plan.json(interrupted);
    write_wanted(args.output.as_ref(), || json::pretty(&json))?;
    write_wanted(args.svg.as_ref(), || plan.svg(args.theme))?;
    print(args.format, || json, |out| write(out, args, &plan))?;
    match interrupted {
        true => Err(Failure::interrupted("stopped: this is the best so far")),
        false => Ok(plan.is_parallel().into()),
    }
}

/// Conflicts from a file, in the given or the detected format.
pub(crate) fn read(path: &Path, input: Option<Input>) -> Result<Conflicts, Failure> {
    let text = read_text(path)?;
    let input = input.unwrap_or_else(|| Input::of_text(&text));
    (input.read(&text)).map_err(|error| read_failure(path, &text, input, &error))
}

fn write(out: &mut dyn Write, args: &Args, plan: &Plan) -> io::Result<()> {
    let noun = if plan.places.is_some() {
        "place"
    } else {
        "member"
    };
    writeln!(
        out,
        "{HEADING}{}, {} that may not be down together{HEADING:#}{DIM}; seed {}{DIM:#}\n",
        count(plan.conflicts.len() as u64, noun),
        count(plan.conflicts.pairs() as u64, "pair"),
        plan.request.seed
    )?;
    if !plan.is_parallel() {
        writeln!(out, "{BAD}No two may be down together.{BAD:#}")?;
        return order(out, plan);
    }
    match plan.proposed() {
        (Proposal::Stations, why) => {
            writeln!(out, "{GOOD}Stations are faster{GOOD:#}: {why}.\n")?;
            stations(out, plan, noun)?;
            writeln!(out)?;
            order(out, plan)?;
        }
        (Proposal::Order, why) => {
            writeln!(out, "{GOOD}The order of the ring is best{GOOD:#}: {why}.\n")?;
            order(out, plan)?;
            writeln!(out)?;
            stations(out, plan, noun)?;
        }
    }
    let file = args.file.display();
    try_next(
        out,
        &[
            (
                format!("headway plan {file} -o plan.json --svg plan.svg"),
                "all names, and a picture",
            ),
            (
                format!("headway node check-config --config node.toml --conflicts {file}"),
                "whether a configuration keeps the order",
            ),
        ],
    )
}

fn stations(out: &mut dyn Write, plan: &Plan, noun: &str) -> io::Result<()> {
    let (found, all) = (&plan.stations, plan.stations());
    let number = count(all.len() as u64, "station");
    writeln!(out, "{number}, all of one at once, one after the other:")?;
    for (index, station) in all.iter().enumerate().take(MAX_STATIONS) {
        let members = count(station.len() as u64, noun);
        writeln!(out, "Station {}, {members}:", index + 1)?;
        names(out, station)?;
    }
    if all.len() > MAX_STATIONS {
        let left = all.len() - MAX_STATIONS;
        writeln!(out, "{DIM}… and {left} more (-o FILE for all){DIM:#}")?;
    }
    let (least, because) = (found.at_least, found.because(&plan.conflicts));
    if found.are_fewest() {
        return writeln!(out, "Fewer are not enough: {because}.");
    }
    writeln!(
        out,
        "Fewer than {least} are not enough: {because}. Perhaps fewer than {} are; --effort 10 looks \
         longer.",
        all.len()
    )
}

fn order(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let (found, tokens) = (&plan.found, plan.tokens());
    if let Some(why) = plan.why_one() {
        return writeln!(out, "One by one, {why}.");
    }
    writeln!(out, "Order of the ring, one by one:")?;
    names(out, &plan.order())?;
    writeln!(
        out,
        "{GOOD}separation = {}{GOOD:#}, {GOOD}tokens = {tokens}{GOOD:#} at most: members in \
         conflict are at most {} apart.",
        found.separation,
        count(u64::from(found.separation - 1), "hop")
    )?;
    if found.is_optimal() {
        let because = &found.bound.reason;
        return writeln!(out, "No order has a smaller separation: {because}.");
    }
    writeln!(
        out,
        "No order has a separation below {}: {}. Perhaps one has less than {}; --effort 10 looks \
         longer.",
        found.bound.separation, found.bound.reason, found.separation
    )
}

/// More are not listed for people.
const MAX_STATIONS: usize = 12;
