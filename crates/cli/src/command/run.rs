//! `headway run`, which is also what `headway` alone does.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_answer::json::{OutcomeJson, RunJson, TraceLine};
use headway_answer::run as answer;
use headway_draw::escape;
use headway_sim::beliefs::Beliefs;
use headway_sim::run::{EngineChoice, Frame};
use headway_sim::settings::RingProgram;
use headway_sim::{Fault, Film, Outcome, Run, film, run as simulate};

use crate::failure::{Answer, Failure, expect_endings, warn, write_wanted};
use crate::flags::{Format, Instance, RingFlags, StartOrFile, one_of, whole_number};
use crate::interrupt::is_stopped;
use crate::report::diagram::{Diagram, delays};
use crate::report::style;
use crate::report::{about, count, print_json};

mod follow;
mod moving_block;
mod over_network;
pub(super) mod text;
mod watch;

use follow::{Following, Trace};
use over_network::OverNetwork;

/// Flags of `headway run`.
#[derive(ClapArgs, Debug, Default)]
#[command(after_help = "\
Examples:
  headway run --processes 40 --tokens 5 --separation 8 --delays every:8
  headway run --program shortest-lap --processes 24 --tokens 4
  headway run --program moving-block --fault pile@40
  headway run --program moving-block --stations 20,20,20
  headway run --fault scramble@30 --fault pile:7@60
  headway run --start worst --format json
  headway run --walk walk.json --start piled
  headway run --rounds 100 --trace run.jsonl
  headway run --fault scramble@30 --svg ring.svg

Faults: scramble, scramble:25%, scramble:3,5-8, pile, pile:I, move:FROM:TO,
counter:I:VALUE; each followed by @ROUND, the round after which it happens.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) ring: RingFlags,

    /// Cut a moving block into stations of so many processes: whole stations work at once
    ///
    /// A process that a token visits begins to work. The token goes on at once, and enters the
    /// next station when all work in this one is over. The separation counts stations. By
    /// default there is one token.
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        value_parser = whole_number::<usize>,
        help_heading = "Ring"
    )]
    stations: Vec<usize>,

    /// Run on this walk over a network: a file that `headway walk -o` wrote
    ///
    /// One process for each position of the walk; the tokens and the separation that the
    /// walk was made for, unless told otherwise. Also reports how far apart the tokens
    /// are in the network.
    #[arg(long, value_name = "FILE.json", help_heading = "Ring")]
    walk: Option<PathBuf>,

    /// Stop after this many rounds [default: until legitimate, and one turn more]
    #[arg(long, value_name = "R", value_parser = whole_number::<u64>)]
    rounds: Option<u64>,

    /// Inject a fault after a round (repeatable)
    #[arg(long = "fault", value_name = "FAULT@ROUND")]
    faults: Vec<Fault>,

    /// How to print the result; csv is every token in every round
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Also write every state to this file, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    trace: Option<PathBuf>,

    /// Draw the run as a moving picture of the ring
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Draw the ring after the last round for a paper, as TikZ
    #[arg(long, value_name = "FILE.tex")]
    tikz: Option<PathBuf>,

    /// Animate the run in the terminal
    #[arg(long)]
    watch: bool,

    /// How to simulate; the result is the same
    #[arg(long, value_parser = one_of::<EngineChoice>(), default_value_t, hide_short_help = true)]
    engine: EngineChoice,
}

/// Runs and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    if args.watch {
        args.check_watch()?;
    }
    expect_endings(args.svg.as_deref(), args.tikz.as_deref())?;
    if args.ring.settings.program() == RingProgram::MovingBlock {
        return moving_block::run(args);
    }
    if !args.stations.is_empty() {
        let only = "--stations has no meaning but for a moving block";
        return Err(Failure::new(only).help("give --program moving-block"));
    }
    let (instance, network) = args.instance()?;
    let run = answer::new(&instance, &args.faults, args.rounds, args.engine)?;
    explain_jam(&instance);
    if let Some(long) = answer::admit(&instance, &run)? {
        let about = about(long);
        let help = answer::tells_at_once();
        warn(format_args!(
            "this may take up to {about}; Ctrl-C shows what is known. {help}"
        ));
    }
    if network.is_some() && args.rounds.is_some_and(|rounds| rounds > MAX_WALK_ROUNDS) {
        return Err(Failure::new(format!(
            "--rounds {}: on a walk every round is kept, at most {MAX_WALK_ROUNDS} of them",
            args.rounds.unwrap_or_default()
        ))
        .help(format!("give at most --rounds {MAX_WALK_ROUNDS}")));
    }
    if args.watch {
        return watch::run(&instance, &run);
    }
    let mut trace = args.trace.as_deref().map(Trace::create).transpose()?;
    if let Some(trace) = &mut trace {
        trace.line(&TraceLine::ring(&instance))?;
    }
    let mut observed = Observed {
        run: &run,
        trace,
        network,
        beliefs: run.ring.measures().then(|| Beliefs::new(&run.ring)),
        film: args.film(&instance)?,
    };
    let outcome = match args.format {
        Format::Text => observed.in_text(&instance)?,
        Format::Json => observed.in_json(&instance)?,
        Format::Csv => observed.in_csv()?,
    };
    if let Some(trace) = observed.trace {
        trace.finish()?;
    }
    if let Some(film) = observed.film {
        args.draw(&film)?;
    }
    if is_stopped() {
        warn(format_args!("stopped after round {}", outcome.rounds));
        return Ok(Answer::Interrupted);
    }
    Ok(outcome.legitimate.into())
}

impl Args {
    /// A film of the ring, if a picture is wanted.
    fn film(&self, instance: &Instance) -> Result<Option<Film>, Failure> {
        if self.svg.is_none() && self.tikz.is_none() {
            return Ok(None);
        }
        let (n, most) = (instance.processes(), film::MAX_PROCESSES);
        if n > most as u64 {
            return Err(Failure::new(format!(
                "a ring of {n} processes: expected at most {most} for a picture of the ring"
            ))
            .help("headway forecast draws rings of any size, in space and time"));
        }
        Ok(Some(Film::new(&instance.ring, &instance.title())))
    }

    fn draw(&self, film: &Film) -> Result<(), Failure> {
        if film.is_cut() {
            warn(format_args!(
                "the picture shows the first {} states",
                film::MAX_SHOTS
            ));
        }
        write_wanted(self.svg.as_ref(), || film.svg())?;
        write_wanted(self.tikz.as_ref(), || film.still().tikz())
    }

    /// Refuses flags that contradict `--watch`, and what cannot show a film.
    fn check_watch(&self) -> Result<(), Failure> {
        if self.walk.is_some() {
            return Err(Failure::new("--watch shows a ring, not a network")
                .help("drop --watch to see the distances in the network"));
        }
        if self.format != Format::Text || self.trace.is_some() || self.svg.is_some() {
            return Err(
                Failure::new("--watch contradicts --format, --trace and --svg")
                    .help("drop --watch to get the data"),
            );
        }
        watch::check_terminal()
    }

    /// The ring, and the network below it if it lies on a walk.
    fn instance(&self) -> Result<(Instance, Option<OverNetwork>), Failure> {
        let Some(path) = &self.walk else {
            return Ok((self.ring.instance()?, None));
        };
        let file = over_network::read(path)?;
        let mut instance = if let Some(StartOrFile::File(_)) = self.ring.start {
            self.ring.instance()?
        } else {
            over_network::flags(&file, path, &self.ring)?.instance()?
        };
        if instance.ring.len() != file.walk.len() {
            return Err(Failure::new(format!(
                "the state file has {} processes and the walk {} has {} positions",
                instance.ring.len(),
                path.display(),
                file.walk.len()
            ))
            .help("one process for each position of the walk"));
        }
        let network = OverNetwork::new(file, &instance);
        instance.given = self.ring.given();
        let walk = ("walk".to_owned(), path.display().to_string());
        instance.given.insert(0, walk);
        Ok((instance, Some(network)))
    }
}

/// The distance in the network is kept for every round of a run on a walk.
const MAX_WALK_ROUNDS: u64 = 20_000_000;

/// Says what is going to happen on an infeasible ring.
fn explain_jam(instance: &Instance) {
    if instance.feasible() {
        return;
    }
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        u64::from(instance.separation()),
    );
    let mut fits = Vec::new();
    if n >= m {
        fits.push(format!("{} {} apart", count(m, "token"), n / m));
    }
    if n >= d {
        fits.push(format!("{} {d} apart", count(n / d, "token")));
    }
    if fits.is_empty() {
        fits.push(format!("at most {}", count(n, "token")));
    }
    let fits = fits.join(", or ");
    warn(format_args!(
        "{m} tokens {d} apart need {} processes and the ring has {n}: this is a traffic jam. Tokens \
         will queue forever, and each delay lets one through every {d} rounds. What fits: {fits}.",
        u128::from(m) * u128::from(d),
    ));
}

/// A run, and what looks at every state of it.
struct Observed<'a> {
    run: &'a Run,
    trace: Option<Trace>,
    network: Option<OverNetwork>,
    /// Where the processes find the separation themselves.
    beliefs: Option<Beliefs>,
    film: Option<Film>,
}

impl Observed<'_> {
    /// Runs with progress and trace; the first failure of `show` stops the run.
    /// `show` also gets the least distance between two tokens in the network.
    fn follow(
        &mut self,
        mut show: impl FnMut(&Frame<'_>, Option<(&OverNetwork, Option<u32>)>) -> Result<(), Failure>,
    ) -> Result<Outcome, Failure> {
        let mut following = Following::new(self.run.rounds);
        let outcome = simulate(self.run, |frame| {
            let network = self.network.as_mut().map(|network| {
                let least = network.observe(frame);
                (&*network, least)
            });
            if let Some(beliefs) = &mut self.beliefs {
                beliefs.observe(frame.round, &frame.configuration());
            }
            if let Some(film) = &mut self.film {
                film.observe(frame);
            }
            let traced = match &mut self.trace {
                Some(trace) => trace.line(&TraceLine::state(frame)),
                None => Ok(()),
            };
            following.shown(frame.round, traced.and_then(|()| show(frame, network)))
        })
        .map_err(Failure::new)?;
        following.end(outcome)
    }

    fn in_text(&mut self, instance: &Instance) -> Result<Outcome, Failure> {
        let (columns, rows) = style::screen();
        let rows_left = rows.saturating_sub(text::LINES);
        let mut diagram = Diagram::new(delays(&instance.ring), columns, rows_left);
        let outcome = self.follow(|frame, _| {
            diagram.observe(&frame.into());
            Ok(())
        })?;
        let mut out = anstream::stdout().lock();
        let seen = text::Seen {
            diagram: &diagram,
            outcome: &outcome,
            network: self.network.as_ref(),
            beliefs: self.beliefs.as_ref(),
        };
        text::write(&mut out, instance, self.run, &seen, rows)?;
        Ok(outcome)
    }

    fn in_json(&mut self, instance: &Instance) -> Result<Outcome, Failure> {
        let outcome = self.follow(|_, _| Ok(()))?;
        let network = self.network.as_ref().map(OverNetwork::json);
        print_json(&RunJson::new(
            OutcomeJson::of(instance, &self.run.faults, &outcome),
            self.beliefs.as_ref(),
            network,
        ))?;
        Ok(outcome)
    }

    fn in_csv(&mut self) -> Result<Outcome, Failure> {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let more = match self.network {
            Some(_) => ",node,network_distance",
            None => "",
        };
        writeln!(out, "round,token,process,resting,legitimate{more}")?;
        let outcome = self.follow(|frame, network| {
            for (token, place) in frame.tokens.places().iter().enumerate() {
                let (round, process) = (frame.round, place.process());
                let (resting, legitimate) = (place.resting, frame.legitimate);
                write!(out, "{round},{token},{process},{resting},{legitimate}")?;
                if let Some((network, least)) = network {
                    let node = escape::csv(network.node(process));
                    let least = least.map_or(String::new(), |least| least.to_string());
                    write!(out, ",{node},{least}")?;
                }
                writeln!(out)?;
            }
            Ok(())
        })?;
        out.flush()?;
        Ok(outcome)
    }
}
