//! What single values do not show: whether they fit each other.

use headway_node::Plan;

use super::Settings;
use super::source::Reader;
use crate::membership::roster::terms::MIN_STOP_TIMEOUT;
use crate::membership::roster::{Roster, RosterError, valid_name};

impl Settings {
    /// Notes everything that does not fit.
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        for (key, name) in [
            ("node.name", &self.node.name),
            ("ring.name", &self.ring.name),
        ] {
            let error = RosterError::Name(name.clone());
            reader.expect(key, valid_name(name), error.to_string());
        }
        let group = |group: &&String| !crate::api::fleetlock::valid_group(group);
        if let Some(group) = self.fleetlock.groups.iter().find(group) {
            let message = format!("`{group}` is no group: expected letters, digits, `.` or `-`");
            reader.wrong("fleetlock.groups", message);
        }
        let tokens = self.ring.tokens;
        for (group, slots) in &self.fleetlock.slots {
            let message = format!("`{group}` is not among fleetlock.groups");
            let known = self.fleetlock.groups.contains(group);
            reader.expect("fleetlock.slots", known, message);
            let message = format!(
                "{slots} slots for `{group}`, and ring.tokens is {tokens}: expected at most that"
            );
            reader.expect("fleetlock.slots", *slots <= tokens, message);
        }
        reader.expect(
            "fleetlock.enabled",
            !self.fleetlock.enabled || self.api.http.is_some(),
            "FleetLock needs an HTTP address: set api.http",
        );
        reader.expect(
            "fleetlock.enabled",
            !self.fleetlock.enabled || self.api.token_file.is_some(),
            "FleetLock clients have to show who they are: set api.token_file, and give them the \
             address http://fleetlock:TOKEN@HOST:PORT/",
        );
        reader.expect(
            "timing.stop_timeout",
            self.timing.stop_timeout >= MIN_STOP_TIMEOUT,
            "expected at least 100ms: a command has to have time to stop",
        );
        for (key, time) in [
            ("timing.refresh", self.timing.refresh),
            ("timing.heartbeat_timeout", self.timing.heartbeat_timeout),
            ("timing.tick", self.timing.tick),
            ("timing.min_hold", self.timing.min_hold),
            ("timing.max_hold", self.timing.max_hold),
            ("timing.stop_timeout", self.timing.stop_timeout),
        ] {
            let whole = time.subsec_nanos().is_multiple_of(1_000_000);
            reader.expect(key, whole, "expected whole milliseconds");
        }
        self.check_hook(reader);
        match self.first_roster() {
            Some(roster) => self.check_roster(&roster, reader),
            None => self.check_guest(reader),
        }
    }

    /// A node that asks the members that it lists for the roster.
    fn check_guest(&self, reader: &mut Reader<'_>) {
        if self.ring.members.is_empty() {
            let message = "is missing: list the members, each with the key that `headway node \
                           identity` prints on its machine";
            return reader.wrong("ring.members", message);
        }
        let members = self.ring.members.iter();
        let names: Vec<&str> = members.map(|member| &*member.name).collect();
        let message = format!(
            "is missing: `{}` is not among ring.members ({}), so it asks them for the membership, and \
             they have to know where it is",
            self.node.name,
            names.join(", ")
        );
        reader.expect("node.advertise", self.node.advertise.is_some(), message);
        if let Err(error) = self.listed().check() {
            reader.wrong("ring.members", error.to_string());
        }
    }

    fn check_hook(&self, reader: &mut Reader<'_>) {
        for (name, value) in &self.command.environment {
            if let Err(message) = crate::command::may_set(name, value) {
                reader.wrong("command.environment", message);
            }
        }
        if let Some(command) = &self.command.run {
            let program = command.first().is_some_and(|program| !program.is_empty());
            let message = "expected a program and its arguments";
            reader.expect("command.run", program, message);
            let text = !command.iter().any(|argument| argument.contains('\0'));
            reader.expect("command.run", text, "an argument cannot contain a NUL");
        }
    }

    fn check_roster(&self, roster: &Roster, reader: &mut Reader<'_>) {
        if let Err(error) = roster.check() {
            return reader.wrong("ring.members", error.to_string());
        }
        // The first machine of a ring waits for the next one.
        if let [_] = roster.members[..] {
            return;
        }
        // Whoever is not among them is a guest.
        let index = roster.index(&self.node.name).unwrap_or_default();
        // All of them, not only as many as fit.
        let (nodes, terms) = (roster.active().count() as u32, roster.terms);
        let plan = match Plan::of_fleet(nodes, terms.tokens, terms.separation) {
            Ok(plan) => plan,
            Err(error) => return reader.wrong("ring.tokens", error.to_string()),
        };
        if let Err(error) = roster.place(index as u32, plan).check() {
            let key = match error {
                headway_node::ConfigError::Timing { field, .. } => format!("timing.{field}"),
                _ => "ring.tokens".into(),
            };
            reader.wrong(&key, error.to_string());
        }
    }
}
