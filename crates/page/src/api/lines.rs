//! The programs as they are read, and which of their lines every process executes in a
//! round.

use headway_core::{Configuration, Measuring, Process, Program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::limits::Limits;
use crate::runs::{Run, Tale, moving_block_listing};

/// Which rounds.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    /// The state that the first begins with; by default the current one.
    round: Option<u64>,
    /// How many at most; by default one.
    #[serde(default = "one")]
    rounds: u64,
}

fn one() -> u64 {
    1
}

/// Process-rounds that are told in one answer.
const TOLD: u64 = 20_000;

/// Which lines are executed in the rounds that follow a state.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Lines {
    /// The state that the first round begins with.
    round: u64,
    /// The programs of this ring.
    programs: Vec<Listing>,
    /// The number of each process's program in `programs`.
    program_of: Vec<u8>,
    /// For every round, until the next fault or as many as there is room for, and for every
    /// process the lines that it executes: bit k stands for line k of its program.
    executed: Vec<Vec<u32>>,
}

/// A program.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Listing {
    /// As in state files.
    name: String,
    /// Indented by two spaces for every level.
    lines: Vec<String>,
}

/// Which lines of its program every process executes in the rounds after a state
pub(crate) fn lines(run: &Run, asked: &Rounds, limits: &Limits) -> Result<Lines, ApiError> {
    let state = run.lock();
    let round = state.round(asked.round, limits)?;
    let room = |processes: usize| asked.rounds.clamp(1, 1.max(TOLD / processes as u64));
    let story = match &state.story {
        Tale::LockStep(story) => story,
        Tale::Block(story) => {
            let processes = story.sizes().0 as usize;
            let executed = story.lines(round, room(processes))?;
            return Ok(Lines {
                round,
                programs: vec![Listing {
                    name: "moving-block".to_owned(),
                    lines: moving_block_listing().map(str::to_owned).collect(),
                }],
                program_of: vec![0; processes],
                executed,
            });
        }
    };
    let (segment, look) = story.look(round)?;
    let ring = &story.segments()[segment].ring;
    if ring.len() as u64 > limits.counters_up_to {
        let message = format!(
            "at most {} processes have their lines shown",
            limits.counters_up_to
        );
        return Err(ApiError::too_large("id", message));
    }
    let mut known: Vec<Program> = ring.programs().to_vec();
    known.sort_unstable();
    known.dedup();
    let number = |program: &Program| known.iter().position(|one| one == program).unwrap_or(0) as u8;
    let program_of: Vec<u8> = ring.programs().iter().map(number).collect();
    let listings: Vec<Vec<Line>> = known.iter().map(|program| listing(*program)).collect();
    let of_round = |state: &Configuration, next: &Configuration| {
        let of_process = |at: usize| {
            let from = state.processes[(at + ring.len() - 1) % ring.len()];
            executed(
                &listings[usize::from(program_of[at])],
                ring.programs()[at],
                state.measuring.get(&at),
                from.queued,
                next.processes[at],
            )
        };
        (0..ring.len()).map(of_process).collect()
    };
    let end = match story.segments().get(segment + 1) {
        Some(fault) => fault.from - round,
        None => u64::MAX,
    };
    let mut state = look.state;
    let executed = (0..room(ring.len()).min(end))
        .map(|_| {
            let next = ring.after_round(&state);
            let told = of_round(&state, &next);
            state = next;
            told
        })
        .collect();
    Ok(Lines {
        round,
        executed,
        programs: (known.iter().zip(&listings))
            .map(|(program, lines)| Listing {
                name: program.name().to_owned(),
                lines: lines.iter().map(|line| line.1.to_owned()).collect(),
            })
            .collect(),
        program_of,
    })
}

/// When a line is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    Always,
    Arrives,
    /// Tokens arrive and one is being timed.
    TimedArrives,
    /// The same, and others come first.
    NotIt,
    /// The same, and it is the timed one.
    LapEnds,
    /// The same, and what it says is believed.
    Believed,
    Releases,
    Waits,
    /// A token that leaves is timed.
    LapStarts,
}

use When::*;

type Line = (When, &'static str);

const RELAY: [Line; 5] = [
    (Always, "r ← r + tokens that arrive"),
    (Always, "if r > 0:"),
    (Releases, "  r ← r − 1, q ← 1"),
    (Waits, "else:"),
    (Waits, "  q ← 0"),
];
const DELAY: [Line; 5] = [
    (Always, "r ← r + tokens that arrive"),
    (Always, "if r > 0 and c = 0:"),
    (Releases, "  r ← r − 1, q ← 1, c ← C"),
    (Waits, "else:"),
    (Waits, "  q ← 0, and c ← c − 1 if c > 0"),
];
const TICK: Line = (Always, "t ← min(t + 1, limit)");
const TIMED: Line = (Always, "if timing and a token arrives:");
const IS_IT: [Line; 4] = [
    (TimedArrives, "  if ignore > 0:"),
    (NotIt, "    ignore ← ignore − 1"),
    (TimedArrives, "  else:"),
    (LapEnds, "    timing ← false"),
];
const IS_TIMED: Line = (Always, "if q > 0 and not timing:");
const START: Line = (
    LapStarts,
    "  timing ← true, t ← 0, ignore ← max(m − r − 1, 0)",
);

fn listing(program: Program) -> Vec<Line> {
    let before: &[Line] = match program {
        Program::Delay => return DELAY.to_vec(),
        Program::Relay => return RELAY.to_vec(),
        Program::Measure | Program::MeasureAsPrinted => &[TICK, TIMED],
        Program::HopCount => &[TIMED],
        Program::ShortestLap => &[
            TICK,
            (Always, "if tokens arrive:"),
            (Arrives, "  gap ← min(gap, t − last), last ← t"),
            TIMED,
        ],
        Program::ShortestLapEpochs => &[TICK, (Always, "seen ← seen + tokens that arrive"), TIMED],
    };
    let timed: &[Line] = match program {
        Program::MeasureAsPrinted => &[
            (TimedArrives, "  ignore ← ignore − 1"),
            (TimedArrives, "  if ignore < 1:"),
            (LapEnds, "    timing ← false"),
        ],
        _ => &IS_IT,
    };
    let lap_ends: &[Line] = match program {
        Program::Delay | Program::Relay => &[],
        Program::Measure => &[(LapEnds, "    C ← max(⌊t/m⌋ − 1, 0)")],
        Program::MeasureAsPrinted => &[(LapEnds, "    C ← ⌊t/m⌋ − 1")],
        Program::HopCount => &[
            (LapEnds, "    C ← max(⌊(hops on it − mark)/m⌋ − 1, 0)"),
            (LapEnds, "    c ← min(c, C)"),
        ],
        Program::ShortestLap => &[
            (LapEnds, "    new ← max(⌊t/m⌋ − 1, 0)"),
            (LapEnds, "    if new < C, or t = lap and gap ≤ new:"),
            (Believed, "      C ← new"),
            (LapEnds, "    c ← min(c, C), lap ← t"),
        ],
        Program::ShortestLapEpochs => &[
            (LapEnds, "    remember t; begin a new epoch if it is time"),
            (LapEnds, "    C ← max(⌊shortest/m⌋ − 1, 0), c ← min(c, C)"),
        ],
    };
    let lap_starts: &[Line] = match program {
        Program::MeasureAsPrinted => &[
            IS_TIMED,
            (LapStarts, "  timing ← true, t ← 0, ignore ← m − r − 1"),
        ],
        Program::HopCount => &[
            IS_TIMED,
            START,
            (LapStarts, "  mark ← hops on the one that leaves"),
        ],
        Program::ShortestLap => &[IS_TIMED, START, (LapStarts, "  last ← 0, gap ← limit")],
        _ => &[IS_TIMED, START],
    };
    [before, timed, lap_ends, &DELAY, lap_starts].concat()
}

/// The lines of its program that a process executes, as bits.
fn executed(
    lines: &[Line],
    program: Program,
    variables: Option<&Measuring>,
    arriving: u32,
    after: Process,
) -> u32 {
    let (arrives, releases) = (arriving > 0, after.queued > 0);
    let timing = variables.is_some_and(|variables| variables.timing);
    let last_ignored = i32::from(program == Program::MeasureAsPrinted);
    let is_it = variables.is_some_and(|variables| variables.ignore <= last_ignored);
    let lap_ends = timing && arrives && is_it;
    let happens = |when: When| match when {
        Always => true,
        Arrives => arrives,
        TimedArrives => timing && arrives,
        NotIt => timing && arrives && !is_it,
        LapEnds => lap_ends,
        Believed => lap_ends && variables.is_some_and(believed),
        Releases => releases,
        Waits => !releases,
        LapStarts => releases && (!timing || lap_ends),
    };
    let bits = lines.iter().enumerate().filter(|(_, line)| happens(line.0));
    bits.map(|(bit, _)| 1 << bit).sum()
}

/// Whether a lap that ends now is believed by `shortest-lap`.
fn believed(variables: &Measuring) -> bool {
    let lap = variables.elapsed.saturating_add(1).min(variables.limit);
    let new = variables.base_in(1);
    let gap = lap.saturating_sub(variables.gaps.arrived);
    let gap = gap.min(variables.gaps.shortest);
    new < variables.base || lap == variables.gaps.previous && i64::from(gap) <= i64::from(new)
}

#[cfg(test)]
mod tests {
    use headway_core::Ring;
    use headway_sim::settings::{RingProgram, Settings, Start};

    use super::*;

    /// Does what a line says.
    fn obey(text: &str, p: &mut Process, v: &mut Measuring, arriving: u32, top: i32) {
        let per_token = |rounds: u32| (rounds / v.tokens) as i32 - 1;
        match text.trim() {
            "r ← r + tokens that arrive" => p.resting += arriving,
            "r ← r − 1, q ← 1" => (p.resting, p.queued) = (p.resting - 1, 1),
            "r ← r − 1, q ← 1, c ← C" => {
                (p.resting, p.queued, p.counter) = (p.resting - 1, 1, top);
            }
            "q ← 0" => p.queued = 0,
            "q ← 0, and c ← c − 1 if c > 0" => {
                (p.queued, p.counter) = (0, p.counter - i32::from(p.counter > 0));
            }
            "t ← min(t + 1, limit)" => v.elapsed = (v.elapsed + 1).min(v.limit),
            "ignore ← ignore − 1" => v.ignore -= 1,
            "timing ← false" => v.timing = false,
            "C ← max(⌊t/m⌋ − 1, 0)" => v.base = per_token(v.elapsed).max(0),
            "new ← max(⌊t/m⌋ − 1, 0)" => {}
            "C ← new" => v.base = per_token(v.elapsed).max(0),
            "C ← ⌊t/m⌋ − 1" => v.base = per_token(v.elapsed),
            "c ← min(c, C)" => p.counter = p.counter.min(v.base),
            "c ← min(c, C), lap ← t" => {
                p.counter = p.counter.min(v.base);
                v.gaps.previous = v.elapsed;
            }
            "gap ← min(gap, t − last), last ← t" => {
                v.gaps.shortest = v
                    .gaps
                    .shortest
                    .min(v.elapsed.saturating_sub(v.gaps.arrived));
                v.gaps.arrived = v.elapsed;
            }
            "timing ← true, t ← 0, ignore ← max(m − r − 1, 0)" => {
                (v.timing, v.elapsed) = (true, 0);
                v.ignore = (v.tokens as i32 - p.resting as i32 - 1).max(0);
            }
            "timing ← true, t ← 0, ignore ← m − r − 1" => {
                (v.timing, v.elapsed) = (true, 0);
                v.ignore = v.tokens as i32 - p.resting as i32 - 1;
            }
            "last ← 0, gap ← limit" => (v.gaps.arrived, v.gaps.shortest) = (0, v.limit),
            other => {
                // Those that only ask.
                assert!(other.ends_with(':'), "{other}: not known to the test");
            }
        }
    }

    fn rings() -> impl Iterator<Item = (RingProgram, Ring, Configuration)> {
        let programs = RingProgram::LOCK_STEP
            .iter()
            .map(|name| name.parse().unwrap());
        programs
            .flat_map(|program| (0..60).map(move |seed| (program, seed)))
            .map(|(program, seed)| {
                let settings = Settings {
                    processes: Some(5 + seed % 7),
                    tokens: Some(1 + seed % 4),
                    program: Some(program),
                    delays: (program == RingProgram::Fixed).then(|| "3".parse().unwrap()),
                    start: Some(Start::Random),
                    seed: Some(seed),
                    ..Settings::default()
                };
                let (ring, state) = settings.build().unwrap();
                (program, ring, state)
            })
    }

    /// Whoever obeys the lines that are lit, and no others, gets where the program gets.
    #[test]
    fn the_lines_that_are_lit_are_those_that_are_executed() {
        let mut seen = std::collections::BTreeSet::new();
        for (program, ring, mut state) in rings() {
            // What tokens carry and how epochs end is not in the listing's variables.
            let whole = !matches!(
                program,
                RingProgram::HopCount | RingProgram::ShortestLapEpochs
            );
            for _ in 0..80 {
                let next = ring.after_round(&state);
                for index in 0..ring.len() {
                    let arriving = state.processes[(index + ring.len() - 1) % ring.len()].queued;
                    let kind = ring.programs()[index];
                    let variables = state.measuring.get(&index);
                    let before = state.processes[index];
                    let after = next.processes[index];
                    let lines = listing(kind);
                    let lit = executed(&lines, kind, variables, arriving, after);
                    let mut p = Process {
                        queued: 0,
                        ..before
                    };
                    let mut v = variables.copied().unwrap_or(Measuring::new(1, 1));
                    for (bit, (_, text)) in lines.iter().enumerate() {
                        if lit >> bit & 1 == 0 {
                            continue;
                        }
                        seen.insert((kind, *text));
                        if whole || !kind.measures() {
                            let top = if kind.measures() {
                                v.base
                            } else {
                                ring.separation().top()
                            };
                            obey(text, &mut p, &mut v, arriving, top);
                        }
                    }
                    if whole || !kind.measures() {
                        assert_eq!(p, after, "{kind} at {index}");
                        let measured = next.measuring.get(&index);
                        assert_eq!(variables.map(|_| v), measured.copied(), "{kind} at {index}");
                    }
                }
                state = next;
            }
        }
        for program in Program::ALL {
            for (_, text) in listing(program) {
                assert!(
                    seen.contains(&(program, text)),
                    "{program}: {text} is never executed"
                );
            }
        }
    }
}
