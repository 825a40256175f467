//! Zenoh's own configuration, for listening and for connecting.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use zenoh::Config;

use crate::options::{Options, Tls};

/// More than one datagram with everything that Zenoh adds.
const MAX_MESSAGE_BYTES: usize = 128 * 1024;

/// Zenoh gives up a connection that is silent for this long.
const LEASE_MS: u64 = 4000;

/// Any error of Zenoh's, with what was being done.
pub(crate) fn failed(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

/// Where sessions publish and read.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn new(ring: &str) -> Keys {
        Keys {
            prefix: format!("headway/{}", chunk(ring)),
        }
    }

    /// The state of the ring, told by a neighbour.
    pub(crate) fn ring(&self, sender: &str) -> String {
        self.key("ring", &chunk(sender))
    }

    /// Everything else, told by anybody.
    pub(crate) fn control(&self, sender: &str) -> String {
        self.key("control", &chunk(sender))
    }

    /// A neighbour's complaint that it does not hear this node.
    pub(crate) fn unheard(&self, sender: &str) -> String {
        self.key("unheard", &chunk(sender))
    }

    /// The liveliness token of a node.
    pub(crate) fn alive(&self, node: &str) -> String {
        self.key("alive", &chunk(node))
    }

    pub(crate) fn all_ring(&self) -> String {
        self.key("ring", "*")
    }

    pub(crate) fn all_unheard(&self) -> String {
        self.key("unheard", "*")
    }

    pub(crate) fn all_control(&self) -> String {
        self.key("control", "*")
    }

    pub(crate) fn all_alive(&self) -> String {
        self.key("alive", "*")
    }

    fn key(&self, kind: &str, who: &str) -> String {
        format!("{}/{kind}/{who}", self.prefix)
    }
}

/// A name as one part of a key, whatever is in it.
pub(crate) fn chunk(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "~{byte:02x}");
        }
    }
    if text.is_empty() { "~".into() } else { text }
}

/// To hear: listens, connects to nobody. With certificates, only `neighbours` may
/// publish on the ring's keys.
pub(crate) fn listening(
    options: &Options,
    keys: &Keys,
    neighbours: &BTreeSet<String>,
) -> io::Result<Config> {
    let mut config = common(options)?;
    let endpoint = endpoint(options, &options.listen);
    set(&mut config, "listen/endpoints", &json!([endpoint]))?;
    if options.tls.is_some() {
        let rules = access_control(keys, neighbours);
        set(&mut config, "access_control", &rules)?;
    }
    Ok(config)
}

/// To tell: connects to one address, listens nowhere.
pub(crate) fn connecting(options: &Options, address: &str) -> io::Result<Config> {
    let mut config = common(options)?;
    set(&mut config, "listen/endpoints", &json!([]))?;
    let endpoint = endpoint(options, address);
    set(&mut config, "connect/endpoints", &json!([endpoint]))?;
    Ok(config)
}

fn endpoint(options: &Options, address: &str) -> String {
    let protocol = if options.tls.is_some() { "tls" } else { "tcp" };
    format!("{protocol}/{address}")
}

fn common(options: &Options) -> io::Result<Config> {
    let mut config = Config::default();
    for (key, value) in [
        ("mode", json!("peer")),
        ("scouting/multicast/enabled", json!(false)),
        ("scouting/gossip/enabled", json!(false)),
        // In the background, without end, and soon.
        ("connect/timeout_ms", json!(-1)),
        ("connect/exit_on_failure", json!(false)),
        (
            "connect/retry",
            json!({ "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 }),
        ),
        ("listen/timeout_ms", json!(0)),
        ("listen/exit_on_failure", json!(true)),
        ("open/return_conditions/connect_scouted", json!(false)),
        ("open/return_conditions/declares", json!(false)),
        ("adminspace/enabled", json!(false)),
        ("transport/link/tx/lease", json!(LEASE_MS)),
        (
            "transport/link/rx/max_message_size",
            json!(MAX_MESSAGE_BYTES),
        ),
        // A datagram that finds no room is lost at once.
        (
            "transport/link/tx/queue/congestion_control/drop",
            json!({ "wait_before_drop": 0, "max_wait_before_drop_fragments": 0 }),
        ),
        ("transport/shared_memory/enabled", json!(false)),
    ] {
        set(&mut config, key, &value)?;
    }
    if let Some(tls) = &options.tls {
        set(&mut config, "transport/link/tls", &certificates(tls)?)?;
        // Nothing else is spoken, whatever an endpoint says.
        set(&mut config, "transport/link/protocols", &json!(["tls"]))?;
    }
    Ok(config)
}

fn certificates(tls: &Tls) -> io::Result<Value> {
    let text = |path: &Path| match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: the path is not UTF-8", path.display()),
        )),
    };
    let (certificate, key) = (text(&tls.certificate)?, text(&tls.key)?);
    Ok(json!({
        "root_ca_certificate": text(&tls.authority)?,
        "enable_mtls": true,
        "verify_name_on_connect": true,
        "close_link_on_expiration": true,
        "listen_certificate": certificate,
        "listen_private_key": key,
        "connect_certificate": certificate,
        "connect_private_key": key,
    }))
}

/// Allows nothing but this: a neighbour publishes the ring's state, or that it hears
/// nothing, under its own name; anybody with a certificate publishes control datagrams,
/// which carry the ring's key; this node says that it reads and that it lives.
fn access_control(keys: &Keys, neighbours: &BTreeSet<String>) -> Value {
    let rule = |id: &str, messages: &[&str], flow: &str, keys: &[String]| {
        json!({
            "id": id,
            "permission": "allow",
            "flows": [flow],
            "messages": messages,
            "key_exprs": keys,
        })
    };
    let read = [keys.all_ring(), keys.all_control(), keys.all_unheard()];
    let alive = [keys.all_alive()];
    let asks = ["liveliness_query", "declare_liveliness_subscriber"];
    let mut rules = vec![
        rule("control", &["put"], "ingress", &[keys.all_control()]),
        rule("reads", &["declare_subscriber"], "egress", &read),
        rule("lives", &["liveliness_token"], "egress", &alive),
        rule("asks", &asks, "ingress", &alive),
    ];
    let mut subjects = vec![json!({ "id": "anybody" })];
    let for_all = ["control", "reads", "lives", "asks"];
    let mut policies = vec![json!({ "rules": for_all, "subjects": ["anybody"] })];
    for name in neighbours {
        let id = format!("neighbour {name}");
        let tells = [keys.ring(name), keys.unheard(name)];
        rules.push(rule(&id, &["put"], "ingress", &tells));
        subjects.push(json!({ "id": id, "cert_common_names": [name] }));
        policies.push(json!({ "rules": [id], "subjects": [id] }));
    }
    json!({
        "enabled": true,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    })
}

fn set(config: &mut Config, key: &str, value: &Value) -> io::Result<()> {
    config
        .insert_json5(key, &value.to_string())
        .map_err(|error| failed(&format!("Zenoh does not take {key} = {value}"), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_make_other_keys() {
        assert_eq!(chunk("node-1.example_b"), "node-1.example_b");
        assert_eq!(chunk("a/b"), "a~2fb");
        assert_eq!(chunk("**"), "~2a~2a");
        assert_eq!(chunk(""), "~");
        assert_ne!(chunk("~2f"), chunk("/"));
    }

    #[test]
    fn zenoh_understands_what_it_is_told() {
        let mut options = Options::new("web \"1\"", "a", "127.0.0.1:7400");
        let keys = Keys::new(&options.ring);
        listening(&options, &keys, &BTreeSet::new()).unwrap();
        connecting(&options, "[::1]:7400").unwrap();
        options.tls = Some(Tls {
            authority: "/etc/head way/\"ca\".pem".into(),
            certificate: "/etc/headway/a.pem".into(),
            key: "/etc/headway/a.key".into(),
        });
        let neighbours = ["b".to_owned(), "h\"\\".to_owned()].into();
        listening(&options, &keys, &neighbours).unwrap();
        connecting(&options, "b.example:7400").unwrap();
    }
}
