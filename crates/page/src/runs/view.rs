//! A run as it is described.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::frame::Frame;
use super::run::Run;
use super::segment::{Segment, desiderata};
use super::settings::{RunSettings, why_infeasible};
use super::tale::Tale;
use crate::error::ApiError;

/// A run as it is described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// Its name.
    pub id: String,
    /// Grows when segments change: by a fault, or another ring.
    pub version: u64,
    /// What makes the same run again, as a link has it.
    pub settings: RunSettings,
    /// n.
    pub processes: u64,
    /// m.
    pub tokens: u64,
    /// d.
    pub separation: u32,
    /// `delay`, `measure`, `measure-as-printed`, `shortest-lap`, `mixed`, `relay` if none
    /// delays, or `moving-block`.
    pub program: String,
    /// Whether m·d ≤ n.
    pub feasible: bool,
    /// Why not.
    pub why: Option<String>,
    /// What follows from the start and from each fault.
    pub segments: Vec<SegmentView>,
    /// The last round that can be looked at.
    pub seekable: u64,
    /// The five desired properties.
    pub desiderata: Vec<DesiderataView>,
    /// The state now.
    pub frame: Frame,
}

/// What follows from the start or a fault. Rounds are those of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentView {
    /// Since which round.
    pub from: u64,
    /// The fault.
    pub fault: Option<String>,
    /// The processes that delay, as ranges with both ends.
    pub delays: Vec<(u32, u32)>,
    /// Those that measure.
    pub measurers: Vec<u32>,
    /// Whether m·d ≤ n.
    pub feasible: bool,
    /// Whether tokens come to rest no more from some round on.
    pub settles: bool,
    /// The first round with a legitimate state; null: never, or, of a ring that measures, not
    /// found by running it.
    pub legitimate_at: Option<u64>,
    /// The last round after which a token rests.
    pub last_rest: Option<u64>,
    /// The latest that `legitimate_at` could have been, whatever the fault left; null: never,
    /// or not known, as rings that measure have no closed form.
    pub worst_legitimate_at: Option<u64>,
    /// The latest that `last_rest` could have been.
    pub worst_last_rest: Option<u64>,
    /// Rounds between two releases in the long run, as a fraction.
    pub cycle_time: Option<(u64, u64)>,
    /// How it jams.
    pub jam: Option<JamView>,
}

/// How a ring with too many tokens jams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JamView {
    /// Since this round at the latest.
    pub from: u64,
    /// The state repeats after this many rounds.
    pub period: u64,
    /// Where every token waits in every turn.
    pub queues: Vec<QueueView>,
}

/// A place where every token waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    /// Where.
    pub process: u32,
    /// For how many rounds.
    pub rounds: u64,
}

/// A desired property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesiderataView {
    /// `D1` to `D5`.
    pub name: String,
    /// In words.
    pub asks: String,
    /// Why the program of this ring does not promise it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<String>,
}

impl RunView {
    pub(crate) fn new(run: &Run) -> Result<RunView, ApiError> {
        let state = run.lock();
        let frame = run.frame(&state, None)?;
        let settings = RunSettings {
            faults: state.story.changes().map(ToString::to_string).collect(),
            round: frame.round,
            ..state.settings.clone()
        };
        let (processes, tokens, separation) = state.story.sizes(frame.segment);
        let (program, feasible, why, segments) = match &state.story {
            Tale::LockStep(story) => {
                let Segment { ring, facts, .. } = &story.segments()[frame.segment];
                let why = why_infeasible(processes, tokens, ring.separation());
                let segments = story.segments().iter().map(SegmentView::new).collect();
                (ring.program_name(), facts.feasible, why, segments)
            }
            Tale::Block(story) => {
                let why = story.why_infeasible();
                ("moving-block", why.is_none(), why, story.segments())
            }
        };
        let waived = |name: &str| match state.story {
            Tale::Block(_) if name == "D3" => Some("not promised: a token waits for the one ahead"),
            _ => None,
        };
        Ok(RunView {
            id: run.id.clone(),
            version: state.version,
            settings,
            processes,
            tokens,
            separation,
            program: program.to_owned(),
            feasible,
            why,
            segments,
            seekable: state.story.seekable(),
            desiderata: desiderata()
                .map(|(name, asks)| DesiderataView {
                    name: name.to_owned(),
                    asks: asks.to_owned(),
                    waived: waived(name).map(str::to_owned),
                })
                .collect(),
            frame,
        })
    }
}

impl SegmentView {
    fn new(segment: &Segment) -> SegmentView {
        let facts = &segment.facts;
        let absolute = |round: Option<u64>| round.map(|round| segment.from.saturating_add(round));
        SegmentView {
            from: segment.from,
            fault: segment.change.as_ref().map(ToString::to_string),
            delays: ranges(segment.ring.delays()),
            measurers: segment.ring.measurers().map(|at| at as u32).collect(),
            feasible: facts.feasible,
            settles: facts.settles,
            legitimate_at: absolute(facts.legitimate_at),
            last_rest: absolute(facts.last_rest),
            worst_legitimate_at: absolute(facts.worst_legitimate_at),
            worst_last_rest: absolute(facts.worst_last_rest),
            cycle_time: facts.cycle_time,
            jam: facts.jam.as_ref().map(|jam| JamView {
                from: segment.from.saturating_add(jam.from),
                period: jam.period,
                queues: jam
                    .queues
                    .iter()
                    .map(|queue| QueueView {
                        process: queue.process as u32,
                        rounds: queue.rounds,
                    })
                    .collect(),
            }),
        }
    }
}

fn ranges(ascending: impl Iterator<Item = usize>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for value in ascending {
        let value = value as u32;
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == value => *last = value,
            _ => ranges.push((value, value)),
        }
    }
    ranges
}
