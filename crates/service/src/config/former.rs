//! Names of before. One that is given is refused with what to say today, and a test looks for
//! all of them in the files of the project.

/// A former name, and the name of today; or, in words, what to do instead.
pub const FORMER: &[(&str, &str)] = &[
    ("timing.silence", "timing.heartbeat_timeout"),
    ("timing.dwell_least", "timing.min_hold"),
    ("timing.dwell_most", "timing.max_hold"),
    ("timing.grace", "timing.stop_timeout"),
    ("hook.command", "command.run"),
    ("hook.when", "command.when"),
    ("hook.environment", "command.environment"),
    (
        "hook",
        "the section is [command], and its keys are run, when and environment",
    ),
    ("ring.operator_key", "ring.recovery_key"),
    (
        "ring.key_file",
        "every member has a key pair: list the members in ring.members with what `headway node \
         identity` prints on each",
    ),
    (
        "ring.payload_bytes",
        "commands get no data from tokens: leave it out",
    ),
    (
        "ring.seeds",
        "list some members with their keys in ring.members, and set node.advertise",
    ),
    (
        "ring.etcd",
        "the members decide among themselves: leave it out",
    ),
    (
        "node.transport",
        "datagrams are UDP: leave it out; for boards see docs/embedded.md",
    ),
    (
        "zenoh",
        "datagrams are UDP: leave it out, and use WireGuard where they are to be encrypted",
    ),
    ("serial", "datagrams are UDP: see docs/embedded.md"),
    ("telemetry", "have Prometheus fetch /metrics from api.http"),
    ("--dwell-least", "--min-hold"),
    ("--dwell-most", "--max-hold"),
    ("--dwell", "--hold"),
    ("--silence", "--heartbeat-timeout"),
    ("--grace", "--stop-timeout"),
    ("--operator", "--recovery-key"),
    ("node ask", "node request"),
    ("/v1/roster", "/v1/membership"),
    ("/v1/terms", "/v1/ring-settings"),
    ("/v1/hook", "/v1/command"),
    ("/v1/operator", "/v1/recovery-key"),
    ("headway_roster_version", "headway_membership_version"),
    ("headway_hook_runs_total", "headway_command_runs_total"),
    (
        "headway_hook_failures_total",
        "headway_command_failures_total",
    ),
];

/// What whoever gives a former name is told.
pub fn former(name: &str) -> Option<String> {
    let (_, today) = FORMER.iter().find(|(former, _)| *former == name)?;
    // A command has a space as well.
    Some(match today.contains(' ') && !name.contains(' ') {
        true => format!("is gone: {today}"),
        false => format!("is called `{today}` now"),
    })
}
