//! What single values do not show: whether they fit each other.

use std::time::Duration;

use super::explain::duration;
use super::source::Reader;
use super::{Settings, Transport};
use crate::membership::roster::{RosterError, valid_name};

impl Settings {
    /// Notes everything that does not fit.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        for (key, name) in [
            ("node.name", &self.node.name),
            ("ring.name", &self.ring.name),
        ] {
            if !valid_name(name) {
                reader.wrong(key, RosterError::Name(name.clone()).to_string());
            }
        }
        self.check_zenoh(reader);
        self.check_hook(reader);
        self.check_telemetry(reader);
        let group = |group: &&String| !crate::api::fleetlock::valid_group(group);
        if let Some(group) = self.fleetlock.groups.iter().find(group) {
            let message = format!("`{group}` is no group: expected letters, digits, `.` or `-`");
            reader.wrong("fleetlock.groups", message);
        }
        if self.fleetlock.enabled && self.api.http.is_none() {
            reader.wrong(
                "fleetlock.enabled",
                "FleetLock needs an HTTP address: set api.http",
            );
        }
        let least = self.timing.dwell_most + self.timing.grace;
        if self.membership.bypass && self.membership.bypass_after < least {
            let message = format!(
                "{} is shorter than timing.dwell_most + timing.grace = {}: a member that is \
                 bypassed could still be using its permit",
                duration(self.membership.bypass_after),
                duration(least)
            );
            reader.wrong("membership.bypass_after", message);
        }
        if self.timing.grace < Duration::from_millis(100) {
            let message = "expected at least 100ms: a command has to have time to stop";
            reader.wrong("timing.grace", message);
        }
        self.check_roster(reader);
    }

    fn check_zenoh(&self, reader: &mut Reader<'_>) {
        if self.zenoh.reopen_after < Duration::from_millis(100) {
            let message = "expected at least 100ms: a session takes a while to open";
            reader.wrong("zenoh.reopen_after", message);
        }
        let files = [
            ("zenoh.ca_file", &self.zenoh.ca_file),
            ("zenoh.certificate_file", &self.zenoh.certificate_file),
            ("zenoh.key_file", &self.zenoh.key_file),
        ];
        if files.iter().any(|(_, file)| file.is_some()) {
            for (key, _) in files.iter().filter(|(_, file)| file.is_none()) {
                reader.wrong(key, "is missing: certificates are three files, or none");
            }
        }
        match self.node.transport {
            Transport::Udp if self.zenoh.tls().is_some() => {
                let message = "is for node.transport = \"zenoh\", and this node uses UDP";
                reader.wrong("zenoh.ca_file", message);
            }
            Transport::Zenoh if !headway_zenoh::AVAILABLE => {
                let message = "this program was built without Zenoh: build it by `cargo build \
                               --release -p headway --features zenoh`";
                reader.wrong("node.transport", message);
            }
            _ => {}
        }
    }

    fn check_hook(&self, reader: &mut Reader<'_>) {
        for (name, value) in &self.hook.environment {
            if let Err(message) = crate::hook::may_set(name, value) {
                reader.wrong("hook.environment", message);
            }
        }
        let Some(command) = &self.hook.command else {
            return;
        };
        if command.first().is_none_or(String::is_empty) {
            reader.wrong("hook.command", "expected a program and its arguments");
        }
        if command.iter().any(|argument| argument.contains('\0')) {
            reader.wrong("hook.command", "an argument cannot contain a NUL");
        }
    }

    fn check_telemetry(&self, reader: &mut Reader<'_>) {
        let Some(endpoint) = &self.telemetry.endpoint else {
            if self.telemetry.headers_file.is_some() {
                let message = "is for a collector, and telemetry.endpoint names none";
                reader.wrong("telemetry.headers_file", message);
            }
            return;
        };
        if !crate::telemetry::AVAILABLE {
            let message = "this program was built without OpenTelemetry: build it by `cargo build \
                           --release -p headway --features otel`";
            reader.wrong("telemetry.endpoint", message);
        }
        let rest = endpoint.strip_prefix("http://").unwrap_or_default();
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            let message = format!(
                "expected http://HOST:PORT, not \"{endpoint}\"; for https, run a collector on \
                 this machine that passes spans on"
            );
            reader.wrong("telemetry.endpoint", message);
        }
    }

    fn check_roster(&self, reader: &mut Reader<'_>) {
        let Some(roster) = self.first_roster() else {
            if self.ring.seeds.is_empty() {
                let message = "is missing: list the members, or give ring.seeds to ask for them";
                reader.wrong("ring.members", message);
            } else if self.node.advertise.is_none() {
                let message =
                    "is missing: with ring.seeds, others have to be told where this node is";
                reader.wrong("node.advertise", message);
            }
            return;
        };
        if !self.ring.seeds.is_empty() {
            let message = "give either ring.members or ring.seeds, not both";
            return reader.wrong("ring.seeds", message);
        }
        if let Err(error) = roster.check() {
            return reader.wrong("ring.members", error.to_string());
        }
        let Some(index) = roster.index(&self.node.name) else {
            let names: Vec<&str> = roster.members.iter().map(|member| &*member.name).collect();
            let message = format!(
                "`{}` is not among ring.members ({}); a node that is added later gives ring.seeds \
                 instead",
                self.node.name,
                names.join(", ")
            );
            return reader.wrong("node.name", message);
        };
        match self.plan(roster.members.len()) {
            Err(error) => reader.wrong("ring.tokens", error.to_string()),
            Ok(plan) => match self.machine(&roster, index as u32, plan).check() {
                Ok(()) => {}
                Err(error @ headway_node::ConfigError::Timing { field, .. }) => {
                    reader.wrong(&format!("timing.{field}"), error.to_string());
                }
                Err(error) => reader.wrong("ring.payload_bytes", error.to_string()),
            },
        }
    }
}
