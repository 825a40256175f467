//! `headway run --program moving-block`: a ring without rounds in lock-step, under a
//! schedule that is drawn.

use std::io::{self, BufWriter, Write};

use headway_answer::instance::wrong_setting;
use headway_answer::json::{OutcomeJson, RingJson, RunJson};
use headway_core::desiderata::Desideratum;
use headway_sim::moving_block::{Frame, MovingBlockError, MovingBlockRing, MovingBlockRun};
use headway_sim::{Outcome, Settings};

use super::watch::{self, Film, Scene};
use super::{Args, Following, text};
use crate::failure::{Answer, Failure, warn};
use crate::flags::{Format, StartOrFile};
use crate::interrupt::is_stopped;
use crate::report::diagram::{Diagram, Dot, Shown};
use crate::report::style::{self, DIM, HEADING};
use crate::report::{count, print_json, try_next};

/// Every process acts four times a round, and a round is a shuffle of that.
const MAX_PROCESSES: u64 = 100_000;

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let run = read(args)?;
    if !run.feasible() {
        explain(&run);
    }
    if args.watch {
        let (mut film, outcome) = record(&run)?;
        let ended = watch::screen(&mut film)?;
        let mut out = anstream::stdout().lock();
        writeln!(out, "{HEADING}{}{HEADING:#}", film.title)?;
        summary(&mut out, &run, &outcome)?;
        film.write_length(&mut out)?;
        return Ok(ended.unwrap_or(outcome.legitimate.into()));
    }
    let outcome = match args.format {
        Format::Text => in_text(&run)?,
        Format::Json => {
            let outcome = follow(&run, |_| Ok(()))?;
            print_json(&as_json(&run, &outcome))?;
            outcome
        }
        Format::Csv => in_csv(&run)?,
    };
    if is_stopped() {
        warn(format_args!("stopped after round {}", outcome.rounds));
        return Ok(Answer::Interrupted);
    }
    Ok(outcome.legitimate.into())
}

/// The flags as a run, or which of them make no sense.
fn read(args: &Args) -> Result<MovingBlockRun, Failure> {
    let lock_step = "the picture is of rounds in lock-step; see --watch";
    let meaningless = [
        (
            "walk",
            args.walk.is_some(),
            "its rounds are not those of a walk",
        ),
        (
            "trace",
            args.trace.is_some(),
            "its states are no state files; see --format csv",
        ),
        ("svg", args.svg.is_some(), lock_step),
        ("tikz", args.tikz.is_some(), lock_step),
    ];
    if let Some((flag, _, why)) = meaningless.into_iter().find(|(_, given, _)| *given) {
        return Err(
            Failure::new(format!("--{flag} has no meaning for moving-block: {why}"))
                .help(format!("drop --{flag}")),
        );
    }
    if let Some(StartOrFile::File(path)) = &args.ring.start {
        return Err(Failure::new(format!(
            "--start {}: a state file describes delays and relays, not a moving block",
            path.display()
        ))
        .help("give --start random, piled or spaced"));
    }
    let settings = args.ring.settings();
    let mut run = match &args.stations[..] {
        [] => of_settings(&settings)?,
        sizes => of_stations(&settings, sizes)?,
    };
    run.rounds = args.rounds;
    for fault in &args.faults {
        run.admits(fault)
            .map_err(|error| Failure::new(format!("--fault {fault}: {error}")))?;
        headway_answer::run::comes_in_time(fault, args.rounds)?;
    }
    run.faults.clone_from(&args.faults);
    Ok(run)
}

fn of_settings(settings: &Settings) -> Result<MovingBlockRun, Failure> {
    let run = settings.moving_block(1..=MAX_PROCESSES, 1..=MAX_PROCESSES);
    run.map_err(|error| wrong_setting(settings, &error))
}

/// Settings that were not given are those of the stations.
fn of_stations(settings: &Settings, sizes: &[usize]) -> Result<MovingBlockRun, Failure> {
    let wrong = |error| Failure::new(format!("--stations {}: {error}", listed(sizes)));
    let run = MovingBlockRun::of_stations(sizes, 1, 1).map_err(wrong)?;
    let together = run.processes as u64;
    if let Some(given) = settings.processes.filter(|&given| given != together) {
        return Err(Failure::new(format!(
            "--processes {given}: the stations have {together} together"
        ))
        .help("drop --processes"));
    }
    let tokens = settings.tokens.unwrap_or(1);
    let fits = (sizes.len() as u64 - 1)
        .checked_div(tokens)
        .unwrap_or(1)
        .max(1);
    let checked = of_settings(&Settings {
        processes: Some(together),
        tokens: Some(tokens),
        separation: Some(settings.separation.unwrap_or(fits)),
        ..settings.clone()
    })?;
    Ok(MovingBlockRun {
        stations: run.stations,
        ..checked
    })
}

fn listed(sizes: &[usize]) -> String {
    let sizes = sizes.iter().map(ToString::to_string);
    sizes.collect::<Vec<_>>().join(",")
}

/// Says what is going to happen where tokens have no room to move.
fn explain(run: &MovingBlockRun) {
    let (n, m, d) = (
        run.station_count() as u64,
        run.tokens as u64,
        u64::from(run.separation),
    );
    let places = match run.stations {
        None => "processes",
        Some(_) => "stations",
    };
    let mut fits = Vec::new();
    if n > d {
        fits.push(format!("{} {d} apart", count((n - 1) / d, "token")));
    }
    if n > m {
        fits.push(format!("{} {} apart", count(m, "token"), (n - 1) / m));
    }
    fits.push(format!(
        "at least {} {places}",
        u128::from(m) * u128::from(d) + 1
    ));
    warn(format_args!(
        "{} {d} apart need a ring of more than {} {places}, one of slack, and it has {n}: \
         each will wait for the one ahead of it. What fits: {}.",
        count(m, "token"),
        u128::from(m) * u128::from(d),
        fits.join(", or ")
    ));
}

fn title(run: &MovingBlockRun) -> String {
    let stations = match &run.stations {
        None => String::new(),
        Some(sizes) => format!(" in stations of {}", listed(sizes)),
    };
    format!(
        "{}{stations}, a moving block; {}, {} apart; {} start, seed {}",
        count(run.processes as u64, "process"),
        count(run.tokens as u64, "token"),
        run.separation,
        run.start,
        run.seed
    )
}

/// The proved bound, where there is one.
fn worst(run: &MovingBlockRun) -> Option<u64> {
    let ring = || MovingBlockRing::new(run.processes, run.tokens, run.separation);
    (run.feasible() && run.stations.is_none()).then(|| ring().worst_settled() as u64)
}

/// Runs with progress; the first failure of `show` stops the run.
fn follow(
    run: &MovingBlockRun,
    mut show: impl FnMut(&Frame<'_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut following = Following::new(run.rounds);
    let outcome = run.run(|frame| following.shown(frame.round, show(frame)));
    let outcome = outcome.map_err(|error| match error {
        MovingBlockError::WorstUnknown => Failure::new(format!("--start worst: {error}"))
            .help("give --start random, piled or spaced"),
        _ => Failure::new(error),
    })?;
    following.end(outcome)
}

fn in_text(run: &MovingBlockRun) -> Result<Outcome, Failure> {
    let (columns, rows) = style::screen();
    let rows_left = rows.saturating_sub(text::LINES);
    let mut diagram = Diagram::new(firsts(run), columns, rows_left).marking("a station begins");
    let outcome = follow(run, |frame| {
        diagram.observe(&frame.into());
        Ok(())
    })?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", title(run))?;
    writeln!(
        out,
        "{DIM}A capital is a token that moved in this round, a small letter one that stood, a digit \
         a pile{}.{DIM:#}\n",
        if run.stations.is_some() {
            ", ▪ work"
        } else {
            ""
        }
    )?;
    diagram.write(&mut out, outcome.rounds)?;
    writeln!(out)?;
    summary(&mut out, run, &outcome)?;
    text::recoveries(&mut out, &run.faults, &outcome)?;
    verdicts(&mut out, run, &outcome)?;
    suggest(&mut out, run)?;
    Ok(outcome)
}

/// Where stations begin, if there are any.
fn firsts(run: &MovingBlockRun) -> Vec<bool> {
    let mut firsts = vec![false; run.processes];
    let mut first = 0;
    for size in run.stations.iter().flatten() {
        firsts[first] = true;
        first += size;
    }
    firsts
}

fn summary(out: &mut impl Write, run: &MovingBlockRun, outcome: &Outcome) -> io::Result<()> {
    let proved = match worst(run) {
        Some(worst) => format!("; proved: {worst} at most from any state, in any order."),
        None => ".".to_owned(),
    };
    text::legitimate(out, outcome, &proved)?;
    text::distances(out, run.separation, outcome)
}

fn verdicts(out: &mut impl Write, run: &MovingBlockRun, outcome: &Outcome) -> io::Result<()> {
    text::verdicts(out, run.tokens as u64, outcome, |verdict| {
        Some(match (verdict.of, verdict.holds?) {
            (Desideratum::D2, _) => {
                format!(
                    "at least {} at every step since then",
                    outcome.min_distance_after?
                )
            }
            (Desideratum::D4, _) => {
                let (min, max) = outcome.visits?;
                format!("{min} to {} each since then", count(max, "visit"))
            }
            (Desideratum::D3, false) => "given up: it waits for the one ahead".to_owned(),
            (Desideratum::D5, true) => "from this start and any fault".to_owned(),
            (Desideratum::D5, false) => "without slack they stand".to_owned(),
            _ => return None,
        })
    })
}

fn suggest(out: &mut impl Write, run: &MovingBlockRun) -> io::Result<()> {
    let (n, m, d) = (run.processes, run.tokens, run.separation);
    let ring = match &run.stations {
        None => format!("-n {n}"),
        Some(sizes) => format!("--stations {}", listed(sizes)),
    };
    let command = format!("headway run --program moving-block {ring} -m {m} -d {d}");
    let watched = (
        format!("{command} --fault scramble@30 --watch"),
        "scramble it while it runs, animated",
    );
    let lock_step = (
        format!("headway run -n {n} -m {m} -d {d}"),
        "the same in lock-step",
    );
    match run.stations {
        None => try_next(out, &[watched, lock_step]),
        Some(_) => try_next(out, &[watched]),
    }
}

fn as_json(run: &MovingBlockRun, outcome: &Outcome) -> RunJson {
    let ring = RingJson {
        seed: run.seed,
        processes: run.processes as u64,
        tokens: run.tokens as u64,
        separation: run.separation,
        program: "moving-block",
        delays: Vec::new(),
        feasible: run.feasible(),
        station_sizes: run.stations.clone(),
    };
    let outcome = OutcomeJson::new(ring, (None, worst(run)), &run.faults, outcome);
    RunJson::new(outcome, None, None)
}

fn in_csv(run: &MovingBlockRun) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "round,token,process,resting,legitimate")?;
    let outcome = follow(run, |frame| {
        for Dot {
            process,
            token,
            resting,
        } in Shown::from(frame).tokens
        {
            let (round, legitimate) = (frame.round, frame.legitimate);
            writeln!(out, "{round},{token},{process},{resting},{legitimate}")?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(outcome)
}

fn record(run: &MovingBlockRun) -> Result<(Film, Outcome), Failure> {
    let mut film = Film::new(title(run), firsts(run), None);
    let outcome = run.run(|frame| {
        let remark = match frame.fault {
            Some(fault) => format!("fault {fault}"),
            None if frame.legitimate => "legitimate".to_owned(),
            None => "not legitimate yet".to_owned(),
        };
        let shown = frame.into();
        film.push(Scene { shown, remark })
    });
    Ok((film, outcome.map_err(Failure::new)?))
}
