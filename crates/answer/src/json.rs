//! Rings, runs and traces as JSON. Each answer is a type; the schemas and docs/json.md are
//! made from these types.

use headway_core::Round;
use headway_core::desiderata::{Outcome, Recovery};
use headway_sim::Fault;
use headway_sim::beliefs::Beliefs;
use headway_sim::run::Frame;
use headway_sim::state_file::AsStateFile;
use serde::Serialize;

use crate::Instance;

/// The ring that a command runs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RingJson {
    /// Seed of every random choice.
    pub seed: u64,
    /// n, the number of processes of the ring.
    pub processes: u64,
    /// m, a number of tokens.
    pub tokens: u64,
    /// d, the hops that tokens are to keep apart: what was asked for, what a ring that measures
    /// found, or what conflicts need.
    pub separation: u32,
    /// What the delaying processes run: delay, measure, measure-as-printed, shortest-lap,
    /// shortest-lap-epochs or hop-count; mixed where they differ, relay where none delays,
    /// moving-block where all processes do that.
    pub program: &'static str,
    /// The processes that delay; all others relay.
    pub delays: Vec<usize>,
    /// Whether the tokens fit: m·d ≤ n.
    pub feasible: bool,
    /// Processes of each station, if the ring is cut into stations; separations and distances
    /// then count stations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_sizes: Option<Vec<usize>>,
}

impl RingJson {
    /// The ring of an instance.
    pub fn of(instance: &Instance) -> RingJson {
        RingJson {
            seed: instance.seed,
            processes: instance.processes(),
            tokens: instance.tokens(),
            separation: instance.separation(),
            program: instance.ring.program_name(),
            delays: instance.ring.delays().collect(),
            feasible: instance.feasible(),
            station_sizes: None,
        }
    }
}

/// What a run or a forecast has shown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OutcomeJson {
    #[serde(flatten)]
    ring: RingJson,
    /// The last round, counted from the start or the last fault, after which a token can rest,
    /// over all states of this ring; null: there is no bound.
    worst_last_rest: Option<u64>,
    /// The round, counted from the start or the last fault, by which every state of this ring
    /// is legitimate; null: there is no bound.
    worst_legitimate_at: Option<u64>,
    /// Rounds that were run or forecast.
    rounds: Round,
    /// The first round at whose end the state is legitimate; null: never.
    legitimate_at: Option<Round>,
    /// The last round after which a token rests; null: none ever does.
    last_rest: Option<Round>,
    /// Smallest distance between successive tokens, in hops, while not legitimate.
    min_distance_before: Option<u64>,
    /// Smallest distance between successive tokens, in hops, since all is well.
    min_distance_after: Option<u64>,
    /// Fewest and most visits of a process since the state is legitimate; null: it is not.
    visits: Option<Visits>,
    /// Whether each of the five desired properties held.
    desiderata: Desiderata,
    /// Whether the state is legitimate; of a run, its last state.
    legitimate: bool,
    /// The faults in order, with the recovery from each: in rounds where the ring runs in
    /// lock-step, in seconds where it is real.
    recoveries: Vec<RecoveryJson>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Visits {
    /// The fewest.
    min: u64,
    /// The most.
    max: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
struct Desiderata {
    /// Tokens are conserved; null: not judged, because it is too early to say.
    d1: Option<bool>,
    /// Tokens stay apart once legitimate; null: not judged, because it is too early to say.
    d2: Option<bool>,
    /// Tokens move in every round once legitimate; null: not judged, because it is too early to
    /// say.
    d3: Option<bool>,
    /// Processes are visited equally often once legitimate; null: not judged, because it is too
    /// early to say.
    d4: Option<bool>,
    /// The ring recovers; null: not judged, because it is too early to say.
    d5: Option<bool>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct RecoveryJson {
    /// The fault, as on the command line.
    fault: String,
    /// The fault changed the state after this round.
    fault_at: Round,
    legitimate_at: Option<Round>,
    /// Rounds from the fault to legitimacy; null: another fault or the end came first.
    recovery_rounds: Option<u64>,
}

impl OutcomeJson {
    /// The outcome of an instance's run with these faults, or of a forecast.
    pub fn of(instance: &Instance, faults: &[Fault], outcome: &Outcome) -> OutcomeJson {
        let worst = instance.worst_case();
        OutcomeJson::new(
            RingJson::of(instance),
            (
                worst.map(|worst| worst.last_rest),
                worst.map(|worst| worst.legitimate_at),
            ),
            faults,
            outcome,
        )
    }

    /// The outcome of a run of any system, with the worst cases of the last rest and of
    /// legitimacy.
    pub fn new(
        ring: RingJson,
        worst: (Option<u64>, Option<u64>),
        faults: &[Fault],
        outcome: &Outcome,
    ) -> OutcomeJson {
        let mut struck: Vec<&Fault> = faults.iter().collect();
        struck.sort_by_key(|fault| fault.after_round);
        let recoveries = outcome.recoveries.iter().skip(1).zip(struck);
        let recovery = |(recovery, fault): (&Recovery, &Fault)| RecoveryJson {
            fault: fault.to_string(),
            fault_at: recovery.fault_at,
            legitimate_at: recovery.legitimate_at,
            recovery_rounds: recovery.rounds(),
        };
        let [d1, d2, d3, d4, d5] = outcome.desiderata.map(|verdict| verdict.holds);
        OutcomeJson {
            ring,
            worst_last_rest: worst.0,
            worst_legitimate_at: worst.1,
            rounds: outcome.rounds,
            legitimate_at: outcome.legitimate_at,
            last_rest: outcome.last_rest,
            min_distance_before: outcome.min_distance_before,
            min_distance_after: outcome.min_distance_after,
            visits: outcome.visits.map(|(min, max)| Visits { min, max }),
            desiderata: Desiderata { d1, d2, d3, d4, d5 },
            legitimate: outcome.legitimate,
            recoveries: recoveries.map(recovery).collect(),
        }
    }
}

/// What `headway run` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunJson {
    #[serde(flatten)]
    outcome: OutcomeJson,
    #[serde(flatten)]
    beliefs: Option<BeliefsJson>,
    /// Distances between tokens in the network below the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_network: Option<NetworkJson>,
}

/// What processes believe in that find the separation themselves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct BeliefsJson {
    /// The separation that each process believes in at the end; null: it measures nothing.
    believed: Vec<Option<u32>>,
    /// The round since which all processes that measure believe in ⌊n/m⌋; null: not yet.
    all_believe_at: Option<Round>,
}

/// Distances in the network below a ring.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NetworkJson {
    /// How many nodes.
    pub nodes: usize,
    /// The distance that tokens at the ring's separation keep forever; null: nothing is
    /// promised.
    pub distance_promised: Option<u32>,
    /// The distance between the closest tokens at the start.
    pub distance_at_start: Option<u32>,
    /// The smallest before the state is legitimate.
    pub least_distance_while_stabilizing: Option<u32>,
    /// The smallest since then.
    pub least_distance_once_legitimate: Option<u32>,
    /// After every round.
    pub least_distance_by_round: Vec<NetworkRound>,
}

/// Distances in the network after a round.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NetworkRound {
    /// After which round; 0 is the start.
    pub round: Round,
    /// Hops between two tokens in the network.
    pub distance: Option<u32>,
    /// Whether the state is legitimate; of a run, its last state.
    pub legitimate: bool,
}

impl RunJson {
    /// A run's outcome, with what its processes believe if they find the separation themselves
    /// (then the largest of these is the separation), and its network if it is over one.
    pub fn new(
        mut outcome: OutcomeJson,
        beliefs: Option<&Beliefs>,
        over_network: Option<NetworkJson>,
    ) -> RunJson {
        if let Some((_, largest)) = beliefs.and_then(Beliefs::range) {
            outcome.ring.separation = largest;
        }
        let beliefs = beliefs.map(|beliefs| BeliefsJson {
            believed: beliefs.believed().to_vec(),
            all_believe_at: beliefs.all_since(),
        });
        RunJson {
            outcome,
            beliefs,
            over_network,
        }
    }
}

/// A state in the form of the state file, which has a schema of its own.
#[cfg(feature = "schemas")]
pub(crate) struct StateSchema;

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for StateSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "State".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "$ref": "state.json" })
    }
}

/// A state in the form of the state file, with the round that led there.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StateAt<'a> {
    #[serde(flatten)]
    pub(crate) file: AsStateFile<'a>,
    pub(crate) round: Round,
}

/// A line of a trace: the ring, then a state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TraceLine {
    /// The first line.
    Ring {
        /// The version that wrote this.
        headway: &'static str,
        /// The ring.
        #[serde(flatten)]
        ring: RingJson,
    },
    /// Every other line.
    State {
        /// After which round; 0 is the start.
        round: Round,
        /// Whether the state is legitimate; of a run, its last state.
        legitimate: bool,
        /// Smallest distance between successive tokens in this state, in hops; null: there are
        /// not two.
        closest: Option<u64>,
        /// Where every token is.
        token_places: Vec<TokenPlace>,
        /// The counter of every process.
        counters: Vec<i32>,
        /// The clause of legitimacy that fails.
        #[serde(skip_serializing_if = "Option::is_none")]
        clause: Option<&'static str>,
        /// The reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// The fault, as on the command line.
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
}

/// Where a token is.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TokenPlace {
    /// A process, from 0.
    process: usize,
    /// Whether it rests there; otherwise it is queued to leave.
    resting: bool,
}

impl TraceLine {
    /// The first line.
    pub fn ring(instance: &Instance) -> TraceLine {
        TraceLine::Ring {
            headway: env!("CARGO_PKG_VERSION"),
            ring: RingJson::of(instance),
        }
    }

    /// The line of a state.
    pub fn state(frame: &Frame<'_>) -> TraceLine {
        let places = frame.tokens.places().iter();
        let illegitimate = frame.illegitimate();
        TraceLine::State {
            round: frame.round,
            legitimate: frame.legitimate,
            closest: frame.tokens.min_distance(),
            token_places: places
                .map(|place| TokenPlace {
                    process: place.process(),
                    resting: place.resting,
                })
                .collect(),
            counters: frame
                .configuration()
                .processes
                .iter()
                .map(|process| process.counter)
                .collect(),
            clause: illegitimate.as_ref().map(|why| why.clause().name()),
            because: illegitimate.as_ref().map(ToString::to_string),
            fault: frame.fault.map(ToString::to_string),
        }
    }
}

/// An answer on one line.
///
/// # Panics
///
/// Never: all keys are text, and no number is refused.
pub fn line(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("answers are objects with text as keys")
}

/// An answer for people to read as well, and for files.
///
/// # Panics
///
/// Never: all keys are text, and no number is refused.
pub fn pretty(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).expect("answers are objects with text as keys") + "\n"
}
