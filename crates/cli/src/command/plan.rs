//! `headway plan`: the order of a ring from who may not be down together.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args as ClapArgs;
use headway_answer::json;
use headway_answer::plan::{Plan, read_failure};
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

Tokens that are d hops apart are never at two members that are less than d hops apart. The
answer is an order of the ring that brings all members in conflict near one another, so that
d is small and there is room for many tokens.

Exit code 1 when only one member at a time is allowed; 130 after Ctrl-C, with the best order
so far.")]
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

    /// Also draw the ring, with conflicts as chords
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
        true => Err(Failure::interrupted(
            "stopped: this is the best order so far",
        )),
        false => Ok((plan.tokens() > 1).into()),
    }
}

/// Conflicts from a file, in the given or the detected format.
pub(crate) fn read(path: &Path, input: Option<Input>) -> Result<Conflicts, Failure> {
    let text = read_text(path)?;
    let input = input.unwrap_or_else(|| Input::of_text(&text));
    (input.read(&text)).map_err(|error| read_failure(path, &text, input, &error))
}

fn write(out: &mut dyn Write, args: &Args, plan: &Plan) -> io::Result<()> {
    let (found, tokens) = (&plan.found, plan.tokens());
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
    if let Some(why) = plan.why_one() {
        // As a sentence.
        writeln!(out, "{BAD}N{}{BAD:#}.", &why[1..])?;
        return match plan.waves() {
            None => writeln!(out, "No two can go together, in groups neither."),
            Some(waves) => {
                writeln!(
                    out,
                    "\nGroups instead: the members of each can go together, one group after the \
                     other (with a place for each group on the ring, --together FILE)."
                )?;
                for (index, wave) in waves.iter().enumerate() {
                    writeln!(
                        out,
                        "Group {}, {}:",
                        index + 1,
                        count(wave.len() as u64, noun)
                    )?;
                    names(out, wave)?;
                }
                Ok(())
            }
        };
    }
    writeln!(out, "Order of the ring:")?;
    names(out, &plan.order())?;
    writeln!(
        out,
        "\n{GOOD}separation = {}{GOOD:#}, {GOOD}tokens = {tokens}{GOOD:#} at most: members in \
         conflict are at most {} apart.",
        found.separation,
        count(u64::from(found.separation - 1), "hop")
    )?;
    if found.is_optimal() {
        writeln!(
            out,
            "No order has a smaller separation: {}.",
            found.bound.reason
        )?;
    } else {
        writeln!(
            out,
            "No order has a separation below {}: {}. Perhaps one has less than {}; --effort 10 \
             looks longer.",
            found.bound.separation, found.bound.reason, found.separation
        )?;
    }
    let file = args.file.display();
    try_next(
        out,
        &[
            (
                format!("headway plan {file} -o plan.json --svg plan.svg"),
                "the whole order, and a picture",
            ),
            (
                format!("headway node check-config --config node.toml --conflicts {file}"),
                "whether a configuration keeps it",
            ),
        ],
    )
}
