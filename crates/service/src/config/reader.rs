//! From values to [`Settings`], with every mistake noted at its place.

use std::time::Duration;

use headway_node::Timing;

use super::source::{Given, Value};
use super::{
    ApiSettings, FleetlockSettings, HookSettings, LogSettings, MembershipSettings, Mistake,
    NodeSettings, Place, RingSettings, Settings, TelemetrySettings, ZenohSettings, explain,
    parse_duration,
};
use crate::roster::valid_name;

/// Takes values one by one and notes what is wrong with each.
pub(super) struct Reader {
    pub(super) given: Given,
    pub(super) mistakes: Vec<Mistake>,
}

impl Reader {
    pub(super) fn settings(&mut self) -> Settings {
        let settings = Settings {
            node: NodeSettings {
                name: self.required("node.name"),
                listen: self.required("node.listen"),
                advertise: self.text("node.advertise"),
                state_dir: self.required("node.state_dir").into(),
                sync_state: self.flag("node.sync_state", false),
            },
            ring: self.ring(),
            zenoh: self.zenoh(),
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
            telemetry: self.telemetry(),
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

    fn zenoh(&mut self) -> Option<ZenohSettings> {
        let reopen_after = self.duration("zenoh.reopen_after", Duration::from_secs(5));
        if reopen_after < Duration::from_millis(100) {
            let message = "expected at least 100ms: a session takes a while to open";
            self.wrong("zenoh.reopen_after", message);
        }
        let names = ["zenoh.ca_file", "zenoh.certificate_file", "zenoh.key_file"];
        let files = names.map(|key| self.text(key));
        let tls = match files.clone() {
            [Some(authority), Some(certificate), Some(key)] => Some(headway_zenoh::Tls {
                authority: authority.into(),
                certificate: certificate.into(),
                key: key.into(),
            }),
            _ => None,
        };
        if tls.is_none() && files.iter().any(Option::is_some) {
            for (key, _) in names.iter().zip(&files).filter(|(_, file)| file.is_none()) {
                self.wrong(key, "is missing: certificates are three files, or none");
            }
        }
        match self.text("node.transport").as_deref() {
            None | Some("udp") => {
                if tls.is_some() {
                    let message = "is for node.transport = \"zenoh\", and this node uses UDP";
                    self.wrong(names[0], message);
                }
                None
            }
            Some("zenoh") => {
                if !headway_zenoh::AVAILABLE {
                    let message = "this program was built without Zenoh: build it by `cargo build \
                                   --release -p headway --features zenoh`";
                    self.wrong("node.transport", message);
                }
                Some(ZenohSettings { tls, reopen_after })
            }
            Some(other) => {
                let message = format!("expected \"udp\" or \"zenoh\", not \"{other}\"");
                self.wrong("node.transport", message);
                None
            }
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

    fn telemetry(&mut self) -> Option<TelemetrySettings> {
        let headers_file = self.text("telemetry.headers_file");
        let Some(endpoint) = self.text("telemetry.endpoint") else {
            if headers_file.is_some() {
                let message = "is for a collector, and telemetry.endpoint names none";
                self.wrong("telemetry.headers_file", message);
            }
            return None;
        };
        if !crate::telemetry::AVAILABLE {
            let message = "this program was built without OpenTelemetry: build it by `cargo build \
                           --release -p headway --features otel`";
            self.wrong("telemetry.endpoint", message);
        }
        let rest = endpoint.strip_prefix("http://").unwrap_or_default();
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            let message = format!(
                "expected http://HOST:PORT, not \"{endpoint}\"; for https, run a collector on \
                 this machine that passes spans on"
            );
            self.wrong("telemetry.endpoint", message);
        }
        Some(TelemetrySettings {
            endpoint: format!("http://{host}"),
            headers_file: headers_file.map(Into::into),
        })
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
