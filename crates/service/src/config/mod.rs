//! What a node is told: a TOML file, variables and flags, read into [`Settings`],
//! with every mistake at its place.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use headway_node::{Config, Plan, RingId, Role, Timing};

use crate::roster::{Member, Roster};

mod example;
pub mod explain;
pub mod keys;
mod reader;
mod source;

pub use example::example;
use reader::Reader;
pub use source::Sources;

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file, counted from 1.
    File {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// In this environment variable.
    Variable(String),
    /// In this flag.
    Flag(String),
    /// Nowhere.
    Missing,
}

/// Something wrong in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which key, if it is one key's.
    pub key: String,
    /// Where it was given.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Mistake {
    fn new(key: &str, place: Place, message: impl Into<String>) -> Mistake {
        Mistake {
            key: key.to_owned(),
            place,
            message: message.into(),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Variable(name) => write!(formatter, "{name}: ")?,
            Place::Flag(name) => write!(formatter, "--{name}: ")?,
            Place::File { .. } | Place::Missing => {}
        }
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}

/// A configuration that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// This machine.
    pub node: NodeSettings,
    /// What all nodes agree on.
    pub ring: RingSettings,
    /// How it is told over Zenoh, if it is.
    pub zenoh: Option<ZenohSettings>,
    /// How long things take.
    pub timing: Timing,
    /// The command to run, if any.
    pub hook: Option<HookSettings>,
    /// For programs.
    pub api: ApiSettings,
    /// For FleetLock clients.
    pub fleetlock: FleetlockSettings,
    /// When members are gone.
    pub membership: MembershipSettings,
    /// What is written.
    pub log: LogSettings,
    /// Where spans go, if anywhere.
    pub telemetry: Option<TelemetrySettings>,
}

/// `[node]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// Its name in the roster.
    pub name: String,
    /// Where it receives.
    pub listen: String,
    /// Where others reach it, if the roster does not say.
    pub advertise: Option<String>,
    /// Where its state is kept.
    pub state_dir: PathBuf,
    /// Whether to wait for the disk.
    pub sync_state: bool,
}

/// `[ring]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingSettings {
    /// Its name.
    pub name: String,
    /// Where the key is.
    pub key_file: PathBuf,
    /// Permits.
    pub tokens: u32,
    /// True separation, in hops.
    pub separation: u32,
    /// Bytes that a token carries at most.
    pub payload_bytes: u8,
    /// The first roster, if this is one of its members.
    pub members: Vec<Member>,
    /// Whom to ask for a roster.
    pub seeds: Vec<String>,
}

/// `[zenoh]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZenohSettings {
    /// Certificates, if there are any.
    pub tls: Option<headway_zenoh::Tls>,
    /// When a session is opened anew.
    pub reopen_after: Duration,
}

/// `[hook]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSettings {
    /// Program and arguments.
    pub command: Vec<String>,
    /// At every permit, or only when asked.
    pub every: bool,
    /// More variables.
    pub environment: Vec<(String, String)>,
}

/// `[api]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiSettings {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The HTTP address.
    pub http: Option<String>,
    /// How long a permit lasts without being extended.
    pub lease: Duration,
}

/// `[fleetlock]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetlockSettings {
    /// Whether it is served.
    pub enabled: bool,
    /// Which groups may ask.
    pub groups: Vec<String>,
    /// How long a request waits.
    pub wait: Duration,
    /// How long a wish is remembered.
    pub patience: Duration,
}

/// `[membership]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MembershipSettings {
    /// Whether silent members are bypassed.
    pub bypass: bool,
    /// After how long.
    pub bypass_after: Duration,
    /// How long to wait for a majority.
    pub window: Duration,
}

/// `[telemetry]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// The collector: `http://HOST:PORT`, without a slash at the end.
    pub endpoint: String,
    /// Where headers for it are, if it wants any.
    pub headers_file: Option<PathBuf>,
}

/// `[log]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// JSON lines instead of text.
    pub json: bool,
    /// How much.
    pub level: tracing::Level,
}

impl Settings {
    /// Understands what was given.
    ///
    /// # Errors
    ///
    /// All mistakes, in the order in which they are found.
    pub fn read(sources: &Sources) -> Result<Settings, Vec<Mistake>> {
        let (given, mistakes) = sources.read();
        // Of a file that cannot be read, nothing else is worth saying.
        let unread = |mistake: &Mistake| {
            mistake.key.is_empty() && matches!(mistake.place, Place::File { .. })
        };
        if mistakes.iter().any(unread) {
            return Err(mistakes);
        }
        let mut reader = Reader { given, mistakes };
        let settings = reader.settings();
        if reader.mistakes.is_empty() {
            Ok(settings)
        } else {
            Err(reader.mistakes)
        }
    }

    /// The plan for so many members.
    ///
    /// # Errors
    ///
    /// When the tokens do not fit.
    pub fn plan(&self, members: usize) -> Result<Plan, headway_node::PlanError> {
        let nodes = u32::try_from(members).unwrap_or(u32::MAX);
        Plan::new(nodes, self.ring.tokens, self.ring.separation)
    }

    /// The node's configuration as place `index` of a roster with this plan.
    pub fn machine(&self, roster: &Roster, index: u32, plan: Plan) -> Config {
        let ring = Config::identity(&roster.identity(), &plan, self.ring.payload_bytes);
        Config {
            role: Role::usual(index, plan.nodes()),
            payload: self.ring.payload_bytes,
            timing: self.timing,
            fence_floor: roster.version << 40,
            ..Config::new(ring, index, plan)
        }
    }

    /// What the configuration of another node has to have the same.
    pub fn agreement(&self) -> [u8; 9] {
        let mut bytes = [0; 9];
        bytes[0..4].copy_from_slice(&self.ring.tokens.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.ring.separation.to_be_bytes());
        bytes[8] = self.ring.payload_bytes;
        bytes
    }

    /// The roster that the file gives, unless it gives seeds.
    pub fn first_roster(&self) -> Option<Roster> {
        (!self.ring.members.is_empty()).then(|| Roster {
            version: 1,
            ring: self.ring.name.clone(),
            members: self.ring.members.clone(),
            bypassed: Vec::new(),
        })
    }

    /// Which keys differ and are only read when the node starts.
    pub fn needs_restart(&self, new: &Settings) -> Vec<&'static str> {
        let mut keys = Vec::new();
        let mut check = |key, same: bool| {
            if !same {
                keys.push(key);
            }
        };
        check("node.name", self.node.name == new.node.name);
        check("node.listen", self.node.listen == new.node.listen);
        check("node.transport", self.zenoh == new.zenoh);
        check("telemetry.endpoint", self.telemetry == new.telemetry);
        check("node.advertise", self.node.advertise == new.node.advertise);
        check("node.state_dir", self.node.state_dir == new.node.state_dir);
        check(
            "node.sync_state",
            self.node.sync_state == new.node.sync_state,
        );
        check("ring.name", self.ring.name == new.ring.name);
        check("ring.tokens", self.ring.tokens == new.ring.tokens);
        check(
            "ring.separation",
            self.ring.separation == new.ring.separation,
        );
        check(
            "ring.payload_bytes",
            self.ring.payload_bytes == new.ring.payload_bytes,
        );
        check("ring.members", self.ring.members == new.ring.members);
        check("ring.seeds", self.ring.seeds == new.ring.seeds);
        check("api.socket", self.api.socket == new.api.socket);
        check("api.http", self.api.http == new.api.http);
        check("log.format", self.log.json == new.log.json);
        keys
    }
}

/// `20ms`, `1.5s`, `5m`, `2h`, `1d`; at most ten years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    let total = number * seconds;
    (0.0..=3.2e8)
        .contains(&total)
        .then(|| Duration::from_secs_f64(total))
}

/// The identity of a ring by name only, for control datagrams.
pub(crate) fn ring_name_id(name: &str) -> RingId {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(b"headway ring name 1");
    hash.update(name.as_bytes());
    let mut id = RingId([0; 16]);
    id.0.copy_from_slice(&hash.finalize()[..16]);
    id
}
