//! Mistakes in a configuration: each at its place, with what was expected.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use headway_node::Machine;
use headway_service::config::{Place, Settings, Sources, example, explain, keys};
use headway_service::identity::Identity;
use headway_stage::world::{self, Work, World};

static GOOD: LazyLock<String> = LazyLock::new(|| {
    let mut text = MEMBERS_WITHOUT_KEYS.to_owned();
    for number in 1..=3 {
        let address = format!("address = \"10.0.0.{number}:7400\"\n");
        text = text.replace(&address, &(address.clone() + &own(number)));
    }
    text
});

fn own(number: u8) -> String {
    format!("key = \"{}\"\n", Identity::new(&[number; 64]).public())
}

const MEMBERS_WITHOUT_KEYS: &str = r#"[node]
name = "a"
listen = "127.0.0.1:7400"
state_dir = "/tmp/state"
[ring]
name = "web"
# how many, and how far apart
tokens = 1
separation = 1
[[ring.members]]
name = "a"
address = "10.0.0.1:7400"
[[ring.members]]
name = "b"
address = "10.0.0.2:7400"
[[ring.members]]
name = "c"
address = "10.0.0.3:7400"
[api]
socket = "/tmp/node.sock"
"#;

fn read(text: &str) -> Result<Settings, Vec<String>> {
    let sources = Sources {
        text: text.to_owned(),
        ..Sources::default()
    };
    Settings::read(&sources).map_err(|mistakes| {
        let place = |place: &Place| match place {
            Place::File { line, column } => format!("{line}:{column}: "),
            _ => String::new(),
        };
        mistakes
            .iter()
            .map(|mistake| format!("{}{mistake}", place(&mistake.place)))
            .collect()
    })
}

#[test]
fn every_mistake_is_named_with_its_line_and_key() {
    assert!(read(&GOOD).is_ok());
    let add = |more: &str| format!("{}{more}", *GOOD);
    let cases = [
        (
            GOOD.replace("tokens = 1", "tokens = 3"),
            "8:10: ring.tokens: 3 tokens 1 hop apart need 4 nodes, one of slack, and there are 3: take at most 2 tokens",
        ),
        (
            GOOD.replace("tokens = 1", "tokens = 0"),
            "8:10: ring.tokens: expected a whole number from 1 to 4294967295, not 0",
        ),
        (
            GOOD.replace("tokens = 1", "tokens = \"1\""),
            "8:10: ring.tokens: expected a whole number from 1 to 4294967295, not \"1\"",
        ),
        (
            GOOD.replace("tokens = 1", "token = 1"),
            "8:1: ring.token: there is no such key; did you mean `ring.tokens`?",
        ),
        (
            GOOD.replace("[api]", "[apis]"),
            "22:2: apis: there is no section `apis`; did you mean `api`?",
        ),
        (
            GOOD.replace("name = \"web\"\n", ""),
            "ring.name: is missing",
        ),
        (
            GOOD.replace("name = \"a\"\nlisten", "name = \"z\"\nlisten"),
            "node.advertise: is missing: `z` is not among ring.members (a, b, c), so it asks them for the membership, and they have to know where it is",
        ),
        (
            GOOD.replace("name = \"b\"", "name = \"a\""),
            "10:1: ring.members: name `a` is there twice",
        ),
        (
            GOOD.replace("10.0.0.2:7400", "10.0.0.2"),
            "16:11: ring.members: `10.0.0.2` is no address: expected HOST:PORT",
        ),
        (
            GOOD.replace("name = \"b\"", "nme = \"b\""),
            "15:1: ring.members: unknown field `nme`, expected one of `name`, `address`, `http`, `key`",
        ),
        (
            add("[timing]\nrefresh = \"20\"\n"),
            "25:11: timing.refresh: expected a length of time in quotes, such as \"20ms\", \"1.5s\", \"5m\", \"2h\" or \"1d\", not \"20\"",
        ),
        (
            add("[timing]\nrefresh = 20\n"),
            "25:11: timing.refresh: expected a length of time in quotes, such as \"20ms\", \"1.5s\", \"5m\", \"2h\" or \"1d\", not 20",
        ),
        (
            add("[timing]\nheartbeat_timeout = \"1ms\"\n"),
            "25:21: timing.heartbeat_timeout: `heartbeat_timeout` is 1ms: longer than `refresh`",
        ),
        (
            add("[membership]\nbypass = true\n"),
            "25:10: membership.bypass: expected \"auto\" or \"never\", not true",
        ),
        (
            add("[command]\nrun = \"reboot\"\n"),
            "25:7: command.run: expected a list of texts: [\"…\", \"…\"], not \"reboot\"",
        ),
        (
            add("[command]\nrun = []\n"),
            "25:7: command.run: expected a program and its arguments",
        ),
        (
            add("[command]\nwhen = \"never\"\n"),
            "25:8: command.when: expected \"requested\" or \"every\", not \"never\"",
        ),
        (
            add("[command]\nrun = [\"x\"]\nenvironment = { LD_PRELOAD = \"x.so\" }\n"),
            "26:15: command.environment: `LD_PRELOAD` changes what programs run, and is not passed on",
        ),
        (
            add("[command]\nrun = [\"x\"]\nenvironment = { HEADWAY_FENCE = \"1\" }\n"),
            "26:15: command.environment: `HEADWAY_FENCE` is set by Headway itself",
        ),
        (
            add("[command]\nrun = [\"x\"]\nenvironment = { \"A=B\" = \"1\" }\n"),
            "26:15: command.environment: `A=B` is no name of a variable: expected letters, digits and `_`",
        ),
        (
            add("[fleetlock]\nenabled = true\n"),
            "25:11: fleetlock.enabled: FleetLock needs an HTTP address: set api.http",
        ),
        (
            add("[fleetlock]\ngroups = [\"a b\"]\n"),
            "25:10: fleetlock.groups: `a b` is no group: expected letters, digits, `.` or `-`",
        ),
        (
            add("[fleetlock]\nslots = { default = 9 }\n"),
            "25:9: fleetlock.slots: 9 slots for `default`, and ring.tokens is 1: expected at most that",
        ),
        (
            add("[fleetlock]\nslots = { workers = 1 }\n"),
            "25:9: fleetlock.slots: `workers` is not among fleetlock.groups",
        ),
        (
            add("[fleetlock]\nslots = { default = 0 }\n"),
            "25:9: fleetlock.slots: expected names with whole numbers from 1 on: { NAME = 2 }, not { default = 0 }",
        ),
        (
            add("[log]\nlevel = \"loud\"\n"),
            "25:9: log.level: expected \"error\", \"warn\", \"info\", \"debug\" or \"trace\", not \"loud\"",
        ),
        (
            GOOD.replace("[ring]", "transport = \"serial\"\n[ring]"),
            "5:1: node.transport: is gone: datagrams are UDP: leave it out; for boards see docs/embedded.md",
        ),
        (
            add("[serial]\npredecessor = \"/dev/ttyUSB0\"\n"),
            "24:2: serial: is gone: datagrams are UDP: see docs/embedded.md",
        ),
        (
            add("[zenoh]\nca_file = \"/ca.pem\"\n"),
            "24:2: zenoh: is gone: datagrams are UDP: leave it out, and use WireGuard where they are to be encrypted",
        ),
        (
            add("[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\n"),
            "24:2: telemetry: is gone: have Prometheus fetch /metrics from api.http",
        ),
        (
            add("[ring]\nname = \"twice\"\n"),
            "24:2: this is not TOML: duplicate key",
        ),
        (
            GOOD.replace("separation = 1", "separation = 1\npayload_bytes = 8"),
            "10:1: ring.payload_bytes: is gone: commands get no data from tokens: leave it out",
        ),
        (
            GOOD.replace("separation = 1", "separation = 1\nseeds = [\"h:1\"]"),
            "10:1: ring.seeds: is gone: list some members with their keys in ring.members, and set node.advertise",
        ),
        (
            GOOD.replace("separation = 1", "separation = 1\nkey_file = \"x\""),
            "10:1: ring.key_file: is gone: every member has a key pair: list the members in ring.members with what `headway node identity` prints on each",
        ),
        (
            GOOD.replace(
                "separation = 1",
                "separation = 1\netcd = [\"http://e:2379\"]",
            ),
            "10:1: ring.etcd: is gone: the members decide among themselves: leave it out",
        ),
        (
            add("[hook]\ncommand = [\"x\"]\n"),
            "24:2: hook: is gone: the section is [command], and its keys are run, when and environment",
        ),
        (
            add("[timing]\ndwell_most = \"1h\"\n"),
            "25:1: timing.dwell_most: is called `timing.max_hold` now",
        ),
    ];
    for (text, expected) in cases {
        let mistakes = read(&text).expect_err(expected);
        assert!(
            mistakes.iter().any(|mistake| mistake == expected),
            "expected {expected}\ngot {mistakes:#?}"
        );
    }
}

#[test]
fn all_mistakes_at_once() {
    let text = GOOD
        .replace("tokens = 1", "tokens = true")
        .replace("listen", "lisen");
    let mistakes = read(&text).unwrap_err();
    assert_eq!(
        mistakes,
        [
            "3:1: node.lisen: there is no such key; did you mean `node.listen`?",
            "8:10: ring.tokens: expected a whole number from 1 to 4294967295, not true",
            "node.listen: is missing",
        ]
    );
}

#[test]
fn variables_win_over_the_file() {
    let mut sources = Sources {
        text: GOOD.to_owned(),
        ..Sources::default()
    };
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    sources.variables = BTreeMap::from([
        variable("HEADWAY_TIMING_REFRESH", "30ms"),
        variable("HEADWAY_TIMING_TICK", "7ms"),
        variable("HEADWAY_COMMAND_RUN", "[\"/bin/true\", \"a b\"]"),
        variable("HEADWAY_COMMAND_ENVIRONMENT", "A=1,B=2"),
        // What a command is given is no mistake if a node is started from one.
        variable("HEADWAY_TOKEN", "3"),
    ]);
    let settings = Settings::read(&sources).unwrap();
    assert_eq!(settings.timing.refresh.as_millis(), 30);
    assert_eq!(settings.timing.tick.as_millis(), 7);
    let command = settings.command;
    assert_eq!(command.run.unwrap(), ["/bin/true", "a b"]);
    assert_eq!(command.environment.len(), 2);
    sources
        .variables
        .insert("HEADWAY_TIMING_REFRSH".into(), "1s".into());
    sources
        .variables
        .insert("HEADWAY_RING_TOKENS".into(), "many".into());
    for former in ["HEADWAY_TIMING_GRACE", "HEADWAY_ZENOH_CA_FILE"] {
        sources.variables.insert(former.into(), "1s".into());
    }
    let mistakes = Settings::read(&sources).unwrap_err();
    let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "HEADWAY_RING_TOKENS: ring.tokens: expected a whole number from 1 to 4294967295, not `many`",
            "HEADWAY_TIMING_GRACE: timing.grace: is called `timing.stop_timeout` now",
            "HEADWAY_TIMING_REFRSH: there is no such variable; did you mean `HEADWAY_TIMING_REFRESH`?",
            "HEADWAY_ZENOH_CA_FILE: zenoh: is gone: datagrams are UDP: leave it out, and use WireGuard where they are to be encrypted",
        ]
    );
}

#[test]
fn every_key_has_a_variable_and_help() {
    let mut names = std::collections::BTreeSet::new();
    for key in keys() {
        assert!(names.insert(key.variable()), "{}", key.path);
        assert!(
            key.path.contains('.') && !key.help.is_empty(),
            "{}",
            key.path
        );
    }
}

#[test]
fn the_example_is_correct_with_and_without_its_comments() {
    // With the keys of some members for those that are to be filled in.
    let mut example = example();
    for number in 1..=3 {
        let key = Identity::new(&[number; 64]).public();
        example = example.replacen("hw1…", &key.to_string(), 1);
    }
    let operator = Identity::new(&[9; 64]).signer().public();
    let example = example.replace("hwo1…", &operator.to_string());
    let settings = Settings::read(&Sources {
        text: example.clone(),
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(settings.ring.members.len(), 3);
    // Every commented key as well, but slots, which have no default to compare.
    let excluded = ["slots"];
    let text: Vec<String> = example
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest.contains(" = ") && !excluded.iter().any(|key| rest.starts_with(key)) =>
            {
                rest.to_owned()
            }
            _ => line.to_owned(),
        })
        .collect();
    let all = Settings::read(&Sources {
        text: text.join("\n"),
        ..Sources::default()
    })
    .unwrap();
    // What is shown as a default is the default.
    assert_eq!(all.timing, settings.timing);
    assert_eq!(
        (all.fleetlock, all.membership, all.log),
        (settings.fleetlock, settings.membership, settings.log)
    );
    assert_eq!(all.api.lease, settings.api.lease);
}

/// Every member has a key of its own; and what to do about a file that gives none.
#[test]
fn keys_are_everybodys_own() {
    let refused = |text: &str| read(text).unwrap_err().join("\n");
    let none = refused(MEMBERS_WITHOUT_KEYS);
    assert!(none.contains("`a` has no key"), "{none}");
    assert!(none.contains("`headway node identity`"), "{none}");
    assert!(explain(&read(&GOOD).unwrap(), None).contains("a pair for each member"));
    let mixed = refused(&GOOD.replace(&own(2), ""));
    assert!(mixed.contains("`b` has no key"), "{mixed}");
    let same = refused(&GOOD.replace(&own(2), &own(1)));
    assert!(same.contains("`a` and `b` have the same key"), "{same}");
    let typed = refused(&GOOD.replace(&own(2), "key = \"hw1x\"\n"));
    assert!(typed.contains("`hw1x` is no node's key"), "{typed}");
    // One that is not among them asks them.
    let guest = GOOD.replacen("name = \"a\"", "name = \"d\"", 1);
    let missing = refused(&guest);
    assert!(
        missing.contains("node.advertise: is missing: `d` is not among"),
        "{missing}"
    );
    let guest = guest.replace("[ring]", "advertise = \"10.0.0.4:7400\"\n[ring]");
    let guest = read(&guest).unwrap();
    assert!(guest.first_roster().is_none());
    assert!(explain(&guest, None).contains("asked for at 10.0.0.1:7400, 10.0.0.2:7400"));
    assert!(read(&GOOD).unwrap().first_roster().is_some());
}

#[test]
fn what_a_configuration_means_is_said() {
    let text = explain(&read(&GOOD).unwrap(), None);
    for part in [
        "members               3",
        "tokens                1 of at most 2",
        "protocol              moving block",
        "worst-case recovery   21.8s when nobody works",
        "(stated, not proved)",
        "idle traffic          at most",
    ] {
        assert!(text.contains(part), "{part} not in\n{text}");
    }
}

/// The bound on idle traffic is one, and no wild guess, by nodes on virtual time.
#[test]
fn idle_traffic_is_what_was_said() {
    for (members, tokens, separation) in [(3, 1, 1), (3, 2, 1), (12, 2, 5), (20, 6, 3)] {
        let list: String = (3..members)
            .map(|at| {
                let key = own(at as u8 + 1);
                format!("[[ring.members]]\nname = \"m{at}\"\naddress = \"h{at}:1\"\n{key}")
            })
            .collect();
        let text = GOOD
            .replace("tokens = 1", &format!("tokens = {tokens}"))
            .replace("separation = 1", &format!("separation = {separation}"))
            .replace("[api]", &format!("{list}[api]"));
        let settings = read(&text).unwrap();
        let told = explain(&settings, None);
        let (_, told) = told.split_once("idle traffic          at most ").unwrap();
        let most: f64 = told.split(' ').next().unwrap().parse().unwrap();
        let roster = settings.first_roster().unwrap();
        let plan = roster.plan().unwrap();
        let configs = (0..members as u32).map(|index| roster.place(index, plan));
        let bytes = roster.place(0, plan).datagram_bytes() as f64;
        let idle = Work {
            min: Duration::ZERO,
            max: Duration::ZERO,
        };
        let conditions = world::Settings {
            work: idle,
            ..world::Settings::default()
        };
        let mut world = World::new(configs, conditions).unwrap();
        while !world.settled() {
            world.run_for(Duration::from_secs(1));
        }
        let sent = |world: &World| -> u64 { world.machines().iter().map(Machine::datagrams).sum() };
        let before = sent(&world);
        world.run_for(Duration::from_secs(100));
        let rate = (sent(&world) - before) as f64 * bytes / 100.0 / f64::from(members);
        assert!(
            rate <= most && rate > most / 2.0,
            "{rate} of {most}: {text}"
        );
    }
}
