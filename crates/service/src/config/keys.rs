//! Every key of the configuration, once: its type, its default or an example, its help, and
//! whether a change needs a restart. The file, the variables and the example are all made
//! from this list.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::key::{Change, Key, Presence, Section, settings};
use super::source::Reader;
use super::value::{Bypass, LogFormat, When};
use crate::identity::SignerKey;
use crate::membership::roster::Member;

/// All keys, section by section.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

settings! {
    /// This machine.
    node: NodeSettings {
        /// This node's name in the membership
        name: String, Required "a", Restart;
        /// Where to receive datagrams
        listen: String, Required "0.0.0.0:7400", Restart;
        /// The address that others reach this node at; needed by a node that is added, else the membership says
        advertise: Option<String>, Optional "192.0.2.1:7400", Restart;
        /// Folder for saved state, so that a restart is not treated as a fault
        state_dir: PathBuf, Required "/var/lib/headway", Restart;
        /// This node's key pairs, made at the first start; `identity` in state_dir if left out
        identity_file: Option<PathBuf>, Optional "/var/lib/headway/identity", Restart;
        /// Wait for the disk at every change: after a power cut the node goes on, costs time
        sync_state: bool, Default false, Restart;
        /// At a clean stop, pass the command's permit on instead of keeping it for the restart
        hand_on: bool, Default false, Reload;
    }
    /// The ring, the same on every node. Tokens, separation and all times are those of the first
    /// membership; later the membership counts, and `headway node set` changes it.
    ring: RingSettings {
        /// The ring's name
        name: String, Required "web", Restart;
        /// The public key that may recover a lost membership for all, from `headway node identity --recovery-key`
        recovery_key: Option<SignerKey>, Optional "hwo1…", Restart;
        /// How many permits travel
        tokens: NonZeroU32, Shown 1, Reload;
        /// Minimum real-time distance between permits, in hops; tokens * separation < members
        separation: NonZeroU32, Shown 1, Reload;
        /// The first members, in the order of the ring; later changes spread by themselves
        members: Vec<Member>, Optional [], Restart;
    }
    /// How long things take, at every node the same, in whole milliseconds.
    timing: TimingSettings {
        /// Send the state again after this long without a change
        refresh: Duration, Default "200ms", Reload;
        /// A neighbour not heard for this long is silent
        heartbeat_timeout: Duration, Default "2s", Reload;
        /// Least time that a token stays at a node; 0ms is as fast as messages travel
        tick: Duration, Default "100ms", Reload;
        /// A permit's token stays at least this long
        min_hold: Duration, Default "0ms", Reload;
        /// A permit is asked back after this long
        max_hold: Duration, Default "30m", Reload;
        /// From asking a permit back (SIGTERM) to its end (SIGKILL before)
        stop_timeout: Duration, Default "10s", Reload;
    }
    /// A command to run when a permit comes. There is no shell; its environment has
    /// HEADWAY_TOKEN, HEADWAY_FENCE, HEADWAY_DEADLINE and more.
    command: CommandSettings {
        /// Program and arguments
        run: Option<Vec<String>>, Optional ["/usr/local/bin/restart-web", "--gently"], Reload;
        /// Only when "requested" (headway node request), or at "every" permit, again and again
        when: When, Default "requested", Reload;
        /// More variables for the command
        environment: BTreeMap<String, String>, Optional { LANG = "C" }, Reload;
    }
    /// Rollouts: commands that `headway rollout start` on any member runs on this one, too.
    rollout: RolloutSettings {
        /// Programs that they may run here, as they name them; "*" for any, none if left out
        allow: Vec<String>, Optional ["/usr/local/bin/upgrade-web"], Reload;
        /// How long a member may take until it is healthy, with --healthy
        healthy_within: Duration, Default "5m", Reload;
    }
    /// For programs: wait for a permit, extend, release.
    api: ApiSettings {
        /// Unix socket; membership is changed here only
        socket: PathBuf, Required "/run/headway/node.sock", Restart;
        /// HTTP address: API, FleetLock, health, metrics
        http: Option<String>, Optional "127.0.0.1:7480", Restart;
        /// File holding the API token, without which nothing changes there; readable by this user only
        token_file: Option<PathBuf>, Optional "/etc/headway/api.token", Restart;
        /// Names that the HTTP address answers for, beside addresses and localhost
        hosts: Vec<String>, Optional ["a.example"], Reload;
        /// A program that does not extend its permit for this long loses it
        lease: Duration, Default "60s", Reload;
    }
    /// The FleetLock protocol, for Zincati and other clients, on the HTTP address.
    fleetlock: FleetlockSettings {
        /// Serve /v1/pre-reboot and /v1/steady-state
        enabled: bool, Default false, Reload;
        /// Groups whose clients may ask
        groups: Vec<String>, Default ["default"], Reload;
        /// How many machines of a group at a time, if fewer than ring.tokens; same on every node
        slots: BTreeMap<String, NonZeroU32>, Optional { default = 1 }, Reload;
        /// Ids that may ask here, with * for any end of one; all if left out
        ids: Vec<String>, Default [], Reload;
        /// How long a request waits for its turn before the answer is no
        wait: Duration, Default "5m", Reload;
        /// Forget a request that is not repeated for this long
        patience: Duration, Default "15m", Reload;
    }
    /// What to do about a member that is silent.
    membership: MembershipSettings {
        /// "auto" closes the ring without it when no permit can be in use there; or "never"
        bypass: Bypass, Default "auto", Reload;
        /// Not before it has been silent for this long
        bypass_after: Duration, Default "10s", Reload;
        /// How long to wait for an answer before a member is bypassed, back or added
        window: Duration, Default "3s", Reload;
    }
    /// What is written to standard error.
    log: LogSettings {
        /// "text" or "json"
        format: LogFormat, Default "text", Restart;
        /// "error", "warn", "info", "debug" or "trace"
        level: tracing::Level, Default "info", Reload;
    }
}

/// The commented file to begin with, as `headway node init` writes it.
pub fn example() -> String {
    let members = [("a", 1), ("b", 2), ("c", 3)].map(|(name, host)| {
        format!(
            "[[ring.members]]\nname = \"{name}\"\naddress = \"192.0.2.{host}:7400\"\n\
             key = \"hw1…\"\n"
        )
    });
    file_with(&[], &members.concat())
}

/// The same file with these values, in TOML, by key, and these members.
pub fn file_with(values: &[(&str, String)], members: &str) -> String {
    let mut text = String::from(
        "# A node of a Headway ring.\n\
         #\n\
         # Every key can also be given as an environment variable, which wins over this file:\n\
         # timing.refresh is HEADWAY_TIMING_REFRESH. Lines that are commented out show the\n\
         # default or an example. Then: headway node check-config --config THIS_FILE\n",
    );
    for section in SECTIONS {
        text.push('\n');
        for line in section.about {
            text.push_str(&format!("#{line}\n"));
        }
        text.push_str(&format!("[{}]\n", section.name));
        for key in section.keys.iter().filter(|key| key.path != "ring.members") {
            let given = values.iter().find(|(path, _)| *path == key.path);
            let hash = match key.presence {
                Presence::Required | Presence::Shown => "",
                Presence::Default | Presence::Optional if given.is_some() => "",
                Presence::Default | Presence::Optional => "# ",
            };
            let (_, name) = key.names();
            let value = given.map_or(key.example, |(_, value)| value);
            text.push_str(&format!("# {}.\n{hash}{name} = {value}\n", key.help));
        }
        if section.name == "ring" {
            text.push_str(
                "# The first members, in the order of the ring. Only for the first start: later\n\
                 # `headway node add` and `remove` change them on any node, and that spreads. A key\n\
                 # is what `headway node identity` prints on that machine.\n",
            );
            text.push_str(members);
        }
    }
    text
}
