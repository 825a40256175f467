//! Every key of the configuration, once: the file, the environment variables, the
//! flags and the example are all made from this table.

/// What kind of value a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// A length of time: `20ms`, `1.5s`, `5m`, `2h`, `1d`.
    Duration,
    /// Several texts.
    List,
    /// Names with values.
    Map,
    /// Names with addresses.
    Members,
}

impl Kind {
    /// How such a value is written in a variable or a flag.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Kind::Text => "TEXT",
            Kind::Integer => "NUMBER",
            Kind::Flag => "true|false",
            Kind::Duration => "DURATION",
            Kind::List => "A,B,…",
            Kind::Map => "NAME=VALUE,…",
            Kind::Members => "NAME=ADDRESS,…",
        }
    }
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Section and name: `timing.refresh`.
    pub path: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// What the example file shows.
    pub example: &'static str,
    /// Whether the example file shows it as a comment.
    pub optional: bool,
}

impl Key {
    /// The environment variable that overrides the file.
    pub fn variable(&self) -> String {
        format!("HEADWAY_{}", self.path.replace('.', "_").to_uppercase())
    }

    /// The flag that overrides both, without its dashes.
    pub fn flag(&self) -> String {
        self.path.replace(['.', '_'], "-")
    }

    /// `timing` of `timing.refresh`.
    pub fn section(&self) -> &'static str {
        self.path.split('.').next().unwrap_or_default()
    }

    /// `refresh` of `timing.refresh`.
    pub fn name(&self) -> &'static str {
        self.path.split('.').nth(1).unwrap_or_default()
    }
}

const fn key(
    path: &'static str,
    kind: Kind,
    example: &'static str,
    optional: bool,
    about: &'static str,
) -> Key {
    Key {
        path,
        kind,
        about,
        example,
        optional,
    }
}

/// What a section is about, for the example file.
pub const SECTIONS: &[(&str, &str)] = &[
    ("node", "This machine."),
    ("ring", "The ring. Every node has to be told the same here."),
    (
        "zenoh",
        "Certificates for the transport Zenoh, all in PEM. Without them nothing is\n\
         # encrypted, and the ring's key alone protects the ring, as over UDP.",
    ),
    ("timing", "How long things take."),
    (
        "hook",
        "A command that is run when a permit comes. Without a shell; its environment has\n\
         # HEADWAY_TOKEN, HEADWAY_FENCE, HEADWAY_DEADLINE, HEADWAY_PAYLOAD and more.",
    ),
    ("api", "For programs: wait for a permit, extend, release."),
    (
        "fleetlock",
        "The FleetLock protocol, for Zincati and other clients, on the HTTP address.",
    ),
    ("membership", "What to do about a member that is gone."),
    ("log", "What is written to standard error."),
    (
        "telemetry",
        "OpenTelemetry: a span for every permit that was used, and for settling. In a program\n\
         # that was built with it.",
    ),
];

/// All keys, section by section.
pub const KEYS: &[Key] = &[
    key(
        "node.name",
        Kind::Text,
        "\"a\"",
        false,
        "This node's name in the roster",
    ),
    key(
        "node.listen",
        Kind::Text,
        "\"0.0.0.0:7400\"",
        false,
        "Where to receive datagrams",
    ),
    key(
        "node.transport",
        Kind::Text,
        "\"udp\"",
        true,
        "\"udp\", or \"zenoh\" in a program that was built with it",
    ),
    key(
        "node.advertise",
        Kind::Text,
        "\"192.0.2.1:7400\"",
        true,
        "The address that others reach this node at; needed with seeds, else the roster says",
    ),
    key(
        "node.state_dir",
        Kind::Text,
        "\"/var/lib/headway\"",
        false,
        "Folder for the state that makes a restart no fault",
    ),
    key(
        "node.sync_state",
        Kind::Flag,
        "false",
        true,
        "Wait for the disk at every change: survives a power cut, costs time",
    ),
    key("ring.name", Kind::Text, "\"web\"", false, "The ring's name"),
    key(
        "ring.key_file",
        Kind::Text,
        "\"/etc/headway/ring.key\"",
        false,
        "File with the ring's key, readable by this user only",
    ),
    key(
        "ring.tokens",
        Kind::Integer,
        "1",
        false,
        "How many permits travel",
    ),
    key(
        "ring.separation",
        Kind::Integer,
        "1",
        false,
        "How many hops two permits are apart at least, truly",
    ),
    key(
        "ring.payload_bytes",
        Kind::Integer,
        "0",
        true,
        "Bytes that a token carries at most, 0 to 255",
    ),
    key(
        "ring.members",
        Kind::Members,
        "",
        false,
        "The first roster, in the order of the ring; later ones spread by themselves",
    ),
    key(
        "ring.seeds",
        Kind::List,
        "[\"192.0.2.1:7400\"]",
        true,
        "Instead of members: addresses to ask for the roster, for a node that is added",
    ),
    key(
        "zenoh.ca_file",
        Kind::Text,
        "\"/etc/headway/ca.pem\"",
        true,
        "Certificate of the authority that has signed every node's",
    ),
    key(
        "zenoh.certificate_file",
        Kind::Text,
        "\"/etc/headway/node.pem\"",
        true,
        "This node's certificate: node.name as common name, its host as alternative name",
    ),
    key(
        "zenoh.key_file",
        Kind::Text,
        "\"/etc/headway/node.key\"",
        true,
        "The certificate's private key, readable by this user only",
    ),
    key(
        "zenoh.reopen_after",
        Kind::Duration,
        "\"5s\"",
        true,
        "The session to a neighbour that is silent for this long is opened anew",
    ),
    key(
        "timing.refresh",
        Kind::Duration,
        "\"200ms\"",
        true,
        "The state is sent again after this long without a change",
    ),
    key(
        "timing.silence",
        Kind::Duration,
        "\"2s\"",
        true,
        "A neighbour not heard for this long is silent",
    ),
    key(
        "timing.tick",
        Kind::Duration,
        "\"100ms\"",
        true,
        "Least time between two ticks; 0ms is as fast as messages travel",
    ),
    key(
        "timing.dwell_least",
        Kind::Duration,
        "\"0ms\"",
        true,
        "A permit's token stays at least this long",
    ),
    key(
        "timing.dwell_most",
        Kind::Duration,
        "\"30m\"",
        true,
        "A permit is withdrawn after this long",
    ),
    key(
        "timing.grace",
        Kind::Duration,
        "\"10s\"",
        true,
        "Time from asking a permit back (SIGTERM) to its end (SIGKILL before)",
    ),
    key(
        "hook.command",
        Kind::List,
        "[\"/usr/local/bin/restart-web\", \"--gently\"]",
        true,
        "Program and arguments",
    ),
    key(
        "hook.when",
        Kind::Text,
        "\"every\"",
        true,
        "\"every\" permit, or only when \"asked\" (headway node ask)",
    ),
    key(
        "hook.environment",
        Kind::Map,
        "{ LANG = \"C\" }",
        true,
        "More variables for the command",
    ),
    key(
        "api.socket",
        Kind::Text,
        "\"/run/headway/node.sock\"",
        false,
        "Unix socket; membership is changed here only",
    ),
    key(
        "api.http",
        Kind::Text,
        "\"127.0.0.1:7480\"",
        true,
        "HTTP address: API, FleetLock, health, metrics",
    ),
    key(
        "api.lease",
        Kind::Duration,
        "\"60s\"",
        true,
        "A program that does not extend its permit for this long loses it",
    ),
    key(
        "fleetlock.enabled",
        Kind::Flag,
        "false",
        true,
        "Serve /v1/pre-reboot and /v1/steady-state",
    ),
    key(
        "fleetlock.groups",
        Kind::List,
        "[\"default\"]",
        true,
        "Groups whose clients may ask",
    ),
    key(
        "fleetlock.wait",
        Kind::Duration,
        "\"0ms\"",
        true,
        "How long a request waits for its turn before it is told no",
    ),
    key(
        "fleetlock.patience",
        Kind::Duration,
        "\"15m\"",
        true,
        "A request that is not repeated for this long is forgotten",
    ),
    key(
        "membership.bypass",
        Kind::Flag,
        "false",
        true,
        "Close the ring without a member that is silent for long",
    ),
    key(
        "membership.bypass_after",
        Kind::Duration,
        "\"1h\"",
        true,
        "How long; at least dwell_most + grace",
    ),
    key(
        "membership.window",
        Kind::Duration,
        "\"3s\"",
        true,
        "How long to wait for a majority to answer",
    ),
    key(
        "log.format",
        Kind::Text,
        "\"text\"",
        true,
        "\"text\" or \"json\"",
    ),
    key(
        "log.level",
        Kind::Text,
        "\"info\"",
        true,
        "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"",
    ),
    key(
        "telemetry.endpoint",
        Kind::Text,
        "\"http://127.0.0.1:4318\"",
        true,
        "A collector that takes OTLP over HTTP; /v1/traces is added",
    ),
    key(
        "telemetry.headers_file",
        Kind::Text,
        "\"/etc/headway/collector.headers\"",
        true,
        "Lines of NAME: VALUE to send along, in a file readable by this user only",
    ),
];

/// The key with this path.
pub fn named(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}
