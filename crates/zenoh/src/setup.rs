//! Zenoh's own configuration, for listening and for connecting.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use zenoh::Config;

use crate::options::{Options, Tls};

/// More than one datagram with everything that Zenoh adds.
const MOST_MESSAGE_BYTES: usize = 128 * 1024;

/// Without a sign of life for this long, Zenoh gives a connection up.
const LEASE_MS: u64 = 4000;

/// Any error of Zenoh's, with what was being done.
pub(crate) fn failed(what: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{what}: {error}"))
}

/// What one session puts and reads where.
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
        format!("{}/ring/{}", self.prefix, chunk(sender))
    }

    /// Everything else, told by anybody.
    pub(crate) fn control(&self, sender: &str) -> String {
        format!("{}/control/{}", self.prefix, chunk(sender))
    }

    /// A neighbour's complaint that it does not hear this node.
    pub(crate) fn unheard(&self, sender: &str) -> String {
        format!("{}/unheard/{}", self.prefix, chunk(sender))
    }

    /// The liveliness token of a node.
    pub(crate) fn alive(&self, node: &str) -> String {
        format!("{}/alive/{}", self.prefix, chunk(node))
    }

    pub(crate) fn all_ring(&self) -> String {
        format!("{}/ring/*", self.prefix)
    }

    pub(crate) fn all_unheard(&self) -> String {
        format!("{}/unheard/*", self.prefix)
    }

    pub(crate) fn all_control(&self) -> String {
        format!("{}/control/*", self.prefix)
    }

    pub(crate) fn all_alive(&self) -> String {
        format!("{}/alive/*", self.prefix)
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

/// To hear: listens, connects to nobody. With certificates, `neighbours` are the
/// only ones that may put anything on the ring's keys.
pub(crate) fn listening(
    options: &Options,
    keys: &Keys,
    neighbours: &BTreeSet<String>,
) -> io::Result<Config> {
    let endpoint = endpoint(options, &options.listen);
    let mut config = common(options)?;
    set(
        &mut config,
        "listen/endpoints",
        &format!("[{}]", text(&endpoint)),
    )?;
    if options.tls.is_some() {
        set(
            &mut config,
            "access_control",
            &access_control(keys, neighbours),
        )?;
    }
    Ok(config)
}

/// To tell: connects to one address, listens nowhere.
pub(crate) fn connecting(options: &Options, address: &str) -> io::Result<Config> {
    let endpoint = endpoint(options, address);
    let mut config = common(options)?;
    set(&mut config, "listen/endpoints", "[]")?;
    set(
        &mut config,
        "connect/endpoints",
        &format!("[{}]", text(&endpoint)),
    )?;
    Ok(config)
}

fn endpoint(options: &Options, address: &str) -> String {
    let protocol = if options.tls.is_some() { "tls" } else { "tcp" };
    format!("{protocol}/{address}")
}

fn common(options: &Options) -> io::Result<Config> {
    let mut config = Config::default();
    let lease = LEASE_MS.to_string();
    let most = MOST_MESSAGE_BYTES.to_string();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        // In the background, for ever, and soon.
        ("connect/timeout_ms", "-1"),
        ("connect/exit_on_failure", "false"),
        (
            "connect/retry",
            "{ period_init_ms: 100, period_max_ms: 1000, period_increase_factor: 2 }",
        ),
        ("listen/timeout_ms", "0"),
        ("listen/exit_on_failure", "true"),
        ("open/return_conditions/connect_scouted", "false"),
        ("open/return_conditions/declares", "false"),
        ("adminspace/enabled", "false"),
        ("transport/link/tx/lease", &*lease),
        ("transport/link/rx/max_message_size", &*most),
        // A datagram that finds no room is lost at once.
        (
            "transport/link/tx/queue/congestion_control/drop",
            "{ wait_before_drop: 0, max_wait_before_drop_fragments: 0 }",
        ),
        ("transport/shared_memory/enabled", "false"),
    ] {
        set(&mut config, key, value)?;
    }
    if let Some(tls) = &options.tls {
        set(&mut config, "transport/link/tls", &certificates(tls)?)?;
        // Nothing else is spoken, whatever an endpoint says.
        set(&mut config, "transport/link/protocols", "[\"tls\"]")?;
    }
    Ok(config)
}

fn certificates(tls: &Tls) -> io::Result<String> {
    let path = |path: &Path| match path.to_str() {
        Some(path) => Ok(text(path)),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: the path is not UTF-8", path.display()),
        )),
    };
    let (authority, certificate, key) = (
        path(&tls.authority)?,
        path(&tls.certificate)?,
        path(&tls.key)?,
    );
    Ok(format!(
        "{{ root_ca_certificate: {authority}, enable_mtls: true, verify_name_on_connect: true, \
         close_link_on_expiration: true, \
         listen_certificate: {certificate}, listen_private_key: {key}, \
         connect_certificate: {certificate}, connect_private_key: {key} }}"
    ))
}

/// Nothing is allowed but what is listed: a neighbour puts the ring's state, or that it
/// hears nothing, under its own name; anybody with a certificate puts control datagrams, which carry the
/// ring's key; this node says that it reads and that it lives.
fn access_control(keys: &Keys, neighbours: &BTreeSet<String>) -> String {
    let mut rules = Vec::new();
    let mut subjects = vec!["{ id: \"anybody\" }".to_owned()];
    let mut policies = Vec::new();
    let mut allow = |id: &str, messages: &str, flow: &str, expressions: &[String]| {
        let expressions: Vec<String> = expressions.iter().map(|key| text(key)).collect();
        rules.push(format!(
            "{{ id: {}, permission: \"allow\", flows: [{}], messages: [{messages}], \
             key_exprs: [{}] }}",
            text(id),
            text(flow),
            expressions.join(", ")
        ));
    };
    allow("control", "\"put\"", "ingress", &[keys.all_control()]);
    allow(
        "reads",
        "\"declare_subscriber\"",
        "egress",
        &[keys.all_ring(), keys.all_control(), keys.all_unheard()],
    );
    allow(
        "lives",
        "\"liveliness_token\"",
        "egress",
        &[keys.all_alive()],
    );
    allow(
        "asks",
        "\"liveliness_query\", \"declare_liveliness_subscriber\"",
        "ingress",
        &[keys.all_alive()],
    );
    policies.push(
        "{ rules: [\"control\", \"reads\", \"lives\", \"asks\"], subjects: [\"anybody\"] }"
            .to_owned(),
    );
    for name in neighbours {
        let id = text(&format!("neighbour {name}"));
        allow(
            &format!("neighbour {name}"),
            "\"put\"",
            "ingress",
            &[keys.ring(name), keys.unheard(name)],
        );
        subjects.push(format!(
            "{{ id: {id}, cert_common_names: [{}] }}",
            text(name)
        ));
        policies.push(format!("{{ rules: [{id}], subjects: [{id}] }}"));
    }
    format!(
        "{{ enabled: true, default_permission: \"deny\", rules: [{}], subjects: [{}], \
         policies: [{}] }}",
        rules.join(", "),
        subjects.join(", "),
        policies.join(", ")
    )
}

fn set(config: &mut Config, key: &str, value: &str) -> io::Result<()> {
    config
        .insert_json5(key, value)
        .map_err(|error| failed(&format!("Zenoh does not take {key} = {value}"), error))
}

/// A text as JSON has it.
fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
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
