//! Who should be on the ring, as others know it: DNS (SRV records), Consul, or Kubernetes.
//!
//! Nothing here changes a ring. [`Source::find`] asks, [`changes`] compares with a roster, and
//! whoever wants that proposes the changes to a node, as `headway node add` and `remove` do.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::membership::roster::{valid_address, valid_name};

#[cfg(feature = "dns")]
mod dns;
mod http;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Members by name, with the addresses where they receive datagrams.
pub type Found = BTreeMap<String, String>;

/// Whom to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// SRV records: a member's name is the first label of its host's.
    Dns {
        /// `_headway._udp.example.org`
        name: String,
        /// Another server than the system's.
        server: Option<SocketAddr>,
    },
    /// The instances of a service in Consul: a member's name is its node's there.
    Consul {
        /// `127.0.0.1:8500`
        host: String,
        /// Which service.
        service: String,
    },
    /// The endpoints of a service in Kubernetes: a member's name is its pod's.
    Kubernetes {
        /// `127.0.0.1:8001`, where `kubectl proxy` listens.
        host: String,
        /// Its namespace.
        namespace: String,
        /// Which service.
        service: String,
    },
}

/// Why it is not known who should be there.
#[derive(Debug, Error)]
pub enum DiscoveryError {
    /// Not how a source is written.
    #[error(
        "`{0}` is no source: expected dns:NAME, dns:NAME@SERVER:PORT, \
         consul:http://HOST:PORT/SERVICE or kubernetes:http://HOST:PORT/NAMESPACE/SERVICE"
    )]
    NoSource(String),
    /// Left out of this program.
    #[error(
        "this program was built without DNS: build it by `cargo build --release -p headway \
         --features dns`"
    )]
    NoDns,
    /// It does not answer, or not as it should.
    #[error("{0} does not say who is there: {1}")]
    Silent(Source, String),
    /// It lists what cannot be a member.
    #[error("{0} lists `{1}` at `{2}`, which is no member: expected a name and HOST:PORT")]
    NoMember(Source, String, String),
    /// It lists two of one name.
    #[error("{0} lists `{1}` twice")]
    Twice(Source, String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Dns { name, .. } => write!(formatter, "DNS ({name})"),
            Source::Consul { host, .. } => write!(formatter, "Consul at {host}"),
            Source::Kubernetes { host, .. } => write!(formatter, "Kubernetes at {host}"),
        }
    }
}

impl FromStr for Source {
    type Err = DiscoveryError;

    fn from_str(text: &str) -> Result<Source, DiscoveryError> {
        let source = match text.split_once(':') {
            Some(("dns", rest)) => dns_source(rest),
            Some(("consul", rest)) => http_source(rest).and_then(|(host, path)| match path[..] {
                [service] => Some(Source::Consul {
                    host,
                    service: service.to_owned(),
                }),
                _ => None,
            }),
            Some(("kubernetes", rest)) => {
                http_source(rest).and_then(|(host, path)| match path[..] {
                    [namespace, service] => Some(Source::Kubernetes {
                        host,
                        namespace: namespace.to_owned(),
                        service: service.to_owned(),
                    }),
                    _ => None,
                })
            }
            _ => None,
        };
        source.ok_or_else(|| DiscoveryError::NoSource(text.to_owned()))
    }
}

fn dns_source(rest: &str) -> Option<Source> {
    let (name, server) = match rest.split_once('@') {
        Some((name, server)) => (name, Some(server.parse().ok()?)),
        None => (rest, None),
    };
    let name = name.to_owned();
    (!name.is_empty()).then_some(Source::Dns { name, server })
}

/// Host and port, and the parts of the path, which have to be plain.
fn http_source(rest: &str) -> Option<(String, Vec<&str>)> {
    let (host, path) = rest.strip_prefix("http://")?.split_once('/')?;
    let path: Vec<&str> = path.split('/').collect();
    let plain = path.iter().all(|part| valid_name(part));
    (plain && valid_address(host)).then(|| (host.to_owned(), path))
}

impl Source {
    /// Everybody that it lists, whether they are well at the moment or not. Not from asynchronous
    /// code, which would stand still.
    ///
    /// # Errors
    ///
    /// When it does not answer, or lists what cannot be a member. Nobody at all is an error, too.
    pub fn find(&self) -> Result<Found, DiscoveryError> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build();
        let runtime = runtime.map_err(|error| self.silent(&error.to_string()))?;
        let listed = runtime.block_on(async {
            let listed = tokio::time::timeout(PATIENCE, self.list()).await;
            listed.unwrap_or_else(|_| Err(self.silent("it takes too long")))
        })?;
        if listed.is_empty() {
            return Err(self.silent("nobody is listed"));
        }
        let mut found = Found::new();
        for (name, address) in listed {
            if !valid_name(&name) || !valid_address(&address) {
                return Err(DiscoveryError::NoMember(self.clone(), name, address));
            }
            if let Some(twice) = found.insert(name.clone(), address.clone())
                && twice != address
            {
                return Err(DiscoveryError::Twice(self.clone(), name));
            }
        }
        Ok(found)
    }

    fn silent(&self, why: &str) -> DiscoveryError {
        DiscoveryError::Silent(self.clone(), why.to_owned())
    }

    async fn list(&self) -> Result<Vec<(String, String)>, DiscoveryError> {
        let listed = match self {
            #[cfg(feature = "dns")]
            Source::Dns { name, server } => dns::list(name, *server).await,
            #[cfg(not(feature = "dns"))]
            Source::Dns { .. } => return Err(DiscoveryError::NoDns),
            Source::Consul { host, service } => http::consul(host, service).await,
            Source::Kubernetes {
                host,
                namespace,
                service,
            } => http::kubernetes(host, namespace, service).await,
        };
        listed.map_err(|why| self.silent(&why))
    }
}

/// What makes a roster what a source lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// To add, with their addresses.
    pub add: Found,
    /// To remove.
    pub remove: Vec<String>,
    /// Elsewhere than the roster says. A member moves by being removed and added.
    pub moved: Vec<String>,
    /// So many are not listed that the source is more likely wrong than they are gone.
    pub doubtful: bool,
}

/// Compares a roster with what a source lists. When it lists no more than half of the members,
/// nobody is removed.
pub fn changes(roster: &Found, found: &Found) -> Changes {
    let not_listed = roster.keys().filter(|name| !found.contains_key(*name));
    let remove: Vec<String> = not_listed.cloned().collect();
    let doubtful = remove.len() * 2 >= roster.len().max(1);
    let new = found.iter().filter(|(name, _)| !roster.contains_key(*name));
    let elsewhere = |(name, address): (&String, &String)| {
        let known = roster.get(name);
        known
            .is_some_and(|known| known != address)
            .then(|| name.clone())
    };
    Changes {
        add: new.map(|(name, at)| (name.clone(), at.clone())).collect(),
        moved: found.iter().filter_map(elsewhere).collect(),
        remove: if doubtful { Vec::new() } else { remove },
        doubtful,
    }
}

#[cfg(test)]
mod tests;
