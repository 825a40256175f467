//! One state of a run as it is shown.

use headway_core::{Configuration, Ring, Round};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class::ClassView;
use super::segment::{Look, closest};
use super::story::Story;
use crate::error::ApiError;
use crate::limits::Limits;

/// One state of a run as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Which run.
    pub run: String,
    /// Grows when the run's segments change: then the run is worth asking for again.
    pub version: u64,
    /// The round that leads to this state.
    pub round: u64,
    /// Which segment of the run it belongs to.
    pub segment: usize,
    /// Rounds since the segment began.
    pub since_fault: u64,
    /// Whether the run goes on by itself.
    pub playing: bool,
    /// Rounds a second.
    pub speed: f64,
    /// At which process each token is. Tokens keep their number for good, also through faults;
    /// token k+1 starts behind token k.
    pub at: Vec<u32>,
    /// The tokens that rest; the others are queued and will arrive at the next process in the
    /// next round.
    pub resting: Vec<u32>,
    /// Process and value of the counters that are not 0, ascending; null on rings of more than
    /// `limits.counters_up_to` processes.
    pub counters: Option<Vec<(u32, i32)>>,
    /// The smallest distance between successive tokens, in hops; of one token, n.
    pub closest: Option<u64>,
    /// Legitimate, or which clause fails where.
    #[serde(flatten)]
    pub legitimacy: LegitimacyView,
    /// Whether D1 to D5 hold; null: too early to judge (D2 to D4 before the state is
    /// legitimate, D5 before it has recovered). In a jam D5 does not.
    pub holds: [Option<bool>; 5],
    /// Fewest and most visits of a process since the state became legitimate.
    pub visits: Option<(u64, u64)>,
    /// The further variables of measuring processes.
    pub measuring: Vec<MeasuringView>,
    /// The class, while somebody presents the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ClassView>,
}

/// Legitimate, or the first clause that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LegitimacyView {
    /// Whether the state is legitimate.
    pub legitimate: bool,
    /// `leg:0` to `leg:4` or `measured`; of a moving block `apart`, `news` or `stuck`.
    pub clause: Option<String>,
    /// Where.
    pub process: Option<u32>,
    /// In words.
    pub because: Option<String>,
}

/// The variables of a measuring process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuringView {
    /// Where.
    pub process: u32,
    /// The separation found, less 1.
    pub base: i32,
    /// Whether a token is being timed.
    pub timing: bool,
    /// Rounds since it was released.
    pub elapsed: u32,
    /// Arrivals to let pass before it is due.
    pub ignore: i32,
}

/// How a run is going on when a frame is made.
#[derive(Clone, Debug)]
pub(crate) struct Playing {
    pub(crate) run: String,
    pub(crate) version: u64,
    pub(crate) playing: bool,
    pub(crate) speed: f64,
}

impl LegitimacyView {
    pub(crate) fn of(ring: &Ring, state: &Configuration, tokens: u64) -> LegitimacyView {
        let failed = ring.legitimate(state, tokens).err();
        LegitimacyView {
            legitimate: failed.is_none(),
            clause: failed.map(|failed| failed.clause().name().to_owned()),
            process: failed.and_then(|failed| failed.process().map(|at| at as u32)),
            because: failed.map(|failed| failed.to_string()),
        }
    }
}

impl Frame {
    pub(crate) fn new(
        story: &Story,
        round: Round,
        playing: Playing,
        limits: &Limits,
    ) -> Result<Frame, ApiError> {
        let (index, look) = story.look(round)?;
        let segment = &story.segments()[index];
        let (at, resting) = by_number(&segment.ids, &look);
        Ok(Frame {
            run: playing.run,
            version: playing.version,
            round,
            segment: index,
            since_fault: round - segment.from,
            playing: playing.playing,
            speed: playing.speed,
            at,
            resting,
            counters: counters(&look.state, limits),
            closest: closest(&look.state),
            legitimacy: LegitimacyView::of(&segment.ring, &look.state, segment.start.tokens()),
            holds: look.holds,
            visits: look.visits,
            measuring: measuring(&look.state),
            class: None,
        })
    }
}

fn by_number(ids: &[u32], look: &Look) -> (Vec<u32>, Vec<u32>) {
    let mut at = vec![0; ids.len()];
    let mut resting = Vec::new();
    for (&id, place) in ids.iter().zip(&look.places) {
        at[id as usize] = place.process;
        if place.resting {
            resting.push(id);
        }
    }
    resting.sort_unstable();
    (at, resting)
}

/// The counters that are not 0; `None` when the ring is too large to show them.
pub(crate) fn counters(state: &Configuration, limits: &Limits) -> Option<Vec<(u32, i32)>> {
    let counters = state.processes.iter().zip(0..);
    (state.processes.len() as u64 <= limits.counters_up_to).then(|| {
        counters
            .filter(|(process, _)| process.counter != 0)
            .map(|(process, index)| (index, process.counter))
            .collect()
    })
}

fn measuring(state: &Configuration) -> Vec<MeasuringView> {
    let variables = state.measuring.iter();
    variables
        .map(|(&process, variables)| MeasuringView {
            process: process as u32,
            base: variables.base,
            timing: variables.timing,
            elapsed: variables.elapsed,
            ignore: variables.ignore,
        })
        .collect()
}
