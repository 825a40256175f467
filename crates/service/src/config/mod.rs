//! What a node is told: a TOML file, variables and flags, read into [`Settings`],
//! with every mistake at its place.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use headway_node::{Config, Plan, RingId, Role, Timing};

use crate::roster::{Member, Roster, valid_name};

pub mod explain;
pub mod keys;
mod source;

pub use source::Sources;
use source::{Given, Value};

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

/// Takes values one by one and notes what is wrong with each.
struct Reader {
    given: Given,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn settings(&mut self) -> Settings {
        let settings = Settings {
            node: NodeSettings {
                name: self.required("node.name"),
                listen: self.required("node.listen"),
                advertise: self.text("node.advertise"),
                state_dir: self.required("node.state_dir").into(),
                sync_state: self.flag("node.sync_state", false),
            },
            ring: self.ring(),
            timing: self.timing(),
            hook: self.hook(),
            api: ApiSettings {
                socket: self.required("api.socket").into(),
                http: self.text("api.http"),
                lease: self.duration("api.lease", Duration::from_secs(60)),
            },
            fleetlock: FleetlockSettings {
                enabled: self.flag("fleetlock.enabled", false),
                groups: self
                    .list("fleetlock.groups")
                    .unwrap_or_else(|| vec!["default".into()]),
                wait: self.duration("fleetlock.wait", Duration::ZERO),
                patience: self.duration("fleetlock.patience", Duration::from_secs(900)),
            },
            membership: MembershipSettings {
                bypass: self.flag("membership.bypass", false),
                bypass_after: self.duration("membership.bypass_after", Duration::from_secs(3600)),
                window: self.duration("membership.window", Duration::from_secs(3)),
            },
            log: self.log(),
        };
        if self.mistakes.is_empty() {
            self.check(&settings);
        }
        settings
    }

    fn ring(&mut self) -> RingSettings {
        RingSettings {
            name: self.required("ring.name"),
            key_file: self.required("ring.key_file").into(),
            tokens: self.number("ring.tokens", 1, 1..=u32::MAX.into()) as u32,
            separation: self.number("ring.separation", 1, 1..=u32::MAX.into()) as u32,
            payload_bytes: self.number("ring.payload_bytes", 0, 0..=255) as u8,
            members: match self.given.get("ring.members") {
                Some((Value::Members(members), _)) => members.clone(),
                _ => Vec::new(),
            },
            seeds: self.list("ring.seeds").unwrap_or_default(),
        }
    }

    fn timing(&mut self) -> Timing {
        let ms = Duration::from_millis;
        Timing {
            refresh: self.duration("timing.refresh", ms(200)),
            silence: self.duration("timing.silence", ms(2000)),
            tick: self.duration("timing.tick", ms(100)),
            dwell_least: self.duration("timing.dwell_least", ms(0)),
            dwell_most: self.duration("timing.dwell_most", ms(30 * 60_000)),
            grace: self.duration("timing.grace", ms(10_000)),
        }
    }

    fn hook(&mut self) -> Option<HookSettings> {
        let command = self.list("hook.command");
        let every = match self.text("hook.when").as_deref() {
            None | Some("every") => true,
            Some("asked") => false,
            Some(other) => {
                let message = format!("expected \"every\" or \"asked\", not \"{other}\"");
                self.wrong("hook.when", message);
                true
            }
        };
        let environment = match self.given.get("hook.environment") {
            Some((Value::Map(map), _)) => map.clone(),
            _ => Vec::new(),
        };
        for (name, value) in &environment {
            if let Err(message) = crate::hook::may_set(name, value) {
                self.wrong("hook.environment", message);
            }
        }
        let command = command?;
        match command.first() {
            Some(program) if !program.is_empty() => {}
            _ => self.wrong("hook.command", "expected a program and its arguments"),
        }
        if command.iter().any(|argument| argument.contains('\0')) {
            self.wrong("hook.command", "an argument cannot contain a NUL");
        }
        Some(HookSettings {
            command,
            every,
            environment,
        })
    }

    fn log(&mut self) -> LogSettings {
        let json = match self.text("log.format").as_deref() {
            None | Some("text") => false,
            Some("json") => true,
            Some(other) => {
                let message = format!("expected \"text\" or \"json\", not \"{other}\"");
                self.wrong("log.format", message);
                false
            }
        };
        let level = match self.text("log.level") {
            None => tracing::Level::INFO,
            Some(text) => text.parse().unwrap_or_else(|_| {
                let message = format!(
                    "expected \"error\", \"warn\", \"info\", \"debug\" or \"trace\", not \"{text}\""
                );
                self.wrong("log.level", message);
                tracing::Level::INFO
            }),
        };
        LogSettings { json, level }
    }

    /// What single values do not show.
    fn check(&mut self, settings: &Settings) {
        for (key, name) in [
            ("node.name", &settings.node.name),
            ("ring.name", &settings.ring.name),
        ] {
            if !valid_name(name) {
                let message = format!(
                    "`{name}` is no name: expected 1 to 64 letters, digits, `.`, `-` or `_`"
                );
                self.wrong(key, message);
            }
        }
        let group = |group: &&String| !crate::api::fleetlock::valid_group(group);
        if let Some(group) = settings.fleetlock.groups.iter().find(group) {
            let message = format!("`{group}` is no group: expected letters, digits, `.` or `-`");
            self.wrong("fleetlock.groups", message);
        }
        if settings.fleetlock.enabled && settings.api.http.is_none() {
            self.wrong(
                "fleetlock.enabled",
                "FleetLock needs an HTTP address: set api.http",
            );
        }
        let membership = &settings.membership;
        let least = settings.timing.dwell_most + settings.timing.grace;
        if membership.bypass && membership.bypass_after < least {
            let message = format!(
                "{} is shorter than timing.dwell_most + timing.grace = {}: a member that is \
                 bypassed could still be using its permit",
                explain::duration(membership.bypass_after),
                explain::duration(least)
            );
            self.wrong("membership.bypass_after", message);
        }
        if settings.timing.grace < Duration::from_millis(100) {
            let message = "expected at least 100ms: a command has to have time to stop";
            self.wrong("timing.grace", message);
        }
        self.check_roster(settings);
    }

    fn check_roster(&mut self, settings: &Settings) {
        let ring = &settings.ring;
        match (ring.members.is_empty(), ring.seeds.is_empty()) {
            (true, true) => {
                let message = "is missing: list the members, or give ring.seeds to ask for them";
                return self.wrong("ring.members", message);
            }
            (true, false) => {
                if settings.node.advertise.is_none() {
                    let message = "is missing: with ring.seeds, others have to be told where this \
                                   node is";
                    self.wrong("node.advertise", message);
                }
                return;
            }
            (false, false) => {
                let message = "give either ring.members or ring.seeds, not both";
                return self.wrong("ring.seeds", message);
            }
            (false, true) => {}
        }
        let Some(roster) = settings.first_roster() else {
            return;
        };
        if let Err(error) = roster.check() {
            return self.wrong("ring.members", error.to_string());
        }
        let Some(index) = roster
            .members
            .iter()
            .position(|member| member.name == settings.node.name)
        else {
            let names: Vec<&str> = roster.members.iter().map(|member| &*member.name).collect();
            let message = format!(
                "`{}` is not among ring.members ({}); a node that is added later gives ring.seeds \
                 instead",
                settings.node.name,
                names.join(", ")
            );
            return self.wrong("node.name", message);
        };
        match settings.plan(roster.members.len()) {
            Err(error) => self.wrong("ring.tokens", error.to_string()),
            Ok(plan) => {
                let config = settings.machine(&roster, index as u32, plan);
                match config.check() {
                    Ok(()) => {}
                    Err(error @ headway_node::ConfigError::Timing { field, .. }) => {
                        self.wrong(&format!("timing.{field}"), error.to_string());
                    }
                    Err(error) => self.wrong("ring.payload_bytes", error.to_string()),
                }
            }
        }
    }

    fn wrong(&mut self, key: &str, message: impl Into<String>) {
        let place = self
            .given
            .get(key)
            .map_or(Place::Missing, |(_, place)| place.clone());
        self.mistakes.push(Mistake::new(key, place, message));
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.given.get(key) {
            Some((Value::Text(text), _)) => Some(text.clone()),
            _ => None,
        }
    }

    fn required(&mut self, key: &str) -> String {
        match self.text(key) {
            Some(text) if !text.is_empty() => text,
            // What was given and could not be read has been complained about.
            None if self.mistakes.iter().any(|mistake| mistake.key == key) => String::new(),
            _ => {
                self.wrong(key, "is missing");
                String::new()
            }
        }
    }

    fn list(&self, key: &str) -> Option<Vec<String>> {
        match self.given.get(key) {
            Some((Value::List(list), _)) => Some(list.clone()),
            _ => None,
        }
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        match self.given.get(key) {
            Some((Value::Flag(flag), _)) => *flag,
            _ => default,
        }
    }

    fn number(&mut self, key: &str, default: i64, range: std::ops::RangeInclusive<i64>) -> i64 {
        match self.given.get(key) {
            Some((Value::Integer(number), _)) if range.contains(number) => *number,
            Some((Value::Integer(number), _)) => {
                let message = format!(
                    "expected {} to {}, not {number}",
                    range.start(),
                    range.end()
                );
                self.wrong(key, message);
                default
            }
            _ => default,
        }
    }

    fn duration(&mut self, key: &str, default: Duration) -> Duration {
        let Some(text) = self.text(key) else {
            return default;
        };
        parse_duration(&text).unwrap_or_else(|| {
            let message = format!(
                "`{text}` is no length of time: expected for instance 20ms, 1.5s, 5m, 2h, 1d"
            );
            self.wrong(key, message);
            default
        })
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
