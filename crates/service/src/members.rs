//! The members that a list wants on a ring, and what makes a roster's members those.
//!
//! Nothing here changes a ring: `headway node members apply` asks a node to.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::config::{Mistake, Place, place};
pub use crate::membership::roster::Member;
use crate::membership::roster::RosterError;

/// Reads a list of members: JSON, `[{"name": "a", "address": "192.0.2.1:7400"}]`, or TOML,
/// `[[ring.members]]` as in the configuration. Each may have a `key` and an `http`, too.
///
/// # Errors
///
/// When it is neither, a member is not one, one is there twice, or nobody is listed.
pub fn read(text: &str) -> Result<Vec<Member>, Mistake> {
    let start = text.trim_start();
    let table = |c: char| c == '[' || c.is_alphabetic();
    let list = start.strip_prefix('[');
    let json = list.is_some_and(|rest| !rest.trim_start().starts_with(table));
    if json || start.starts_with('{') {
        from_json(text)
    } else {
        from_toml(text)
    }
}

fn from_json(text: &str) -> Result<Vec<Member>, Mistake> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json);
    let mistaken = |key: String, error: &serde_json::Error| {
        let message = error.to_string();
        let (message, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
        Mistake {
            key,
            place: Place::File {
                line: error.line().max(1),
                column: error.column().max(1),
            },
            message: message.to_owned(),
        }
    };
    let List(members) = read.map_err(|error| mistaken(path(&error), error.inner()))?;
    json.end()
        .map_err(|error| mistaken(String::new(), &error))?;
    Ok(members)
}

fn from_toml(text: &str) -> Result<Vec<Member>, Mistake> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        ring: Ring,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Ring {
        members: List,
    }
    let mistaken = |key: String, error: &toml::de::Error| Mistake {
        key,
        place: place(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Mistake {
            key: String::new(),
            place: Place::Missing,
            message: NOBODY.to_owned(),
        });
    }
    let toml = toml::Deserializer::parse(text);
    let toml = toml.map_err(|error| mistaken(String::new(), &error))?;
    let read = serde_path_to_error::deserialize(toml);
    let file: File = read.map_err(|error| mistaken(path(&error), error.inner()))?;
    Ok(file.ring.members.0)
}

const NOBODY: &str = "nobody is listed: expected members, each with `name` and `address`";

fn path<E>(error: &serde_path_to_error::Error<E>) -> String {
    let path = error.path().to_string();
    if path == "." { String::new() } else { path }
}

/// Members of different names and addresses; at least one.
struct List(Vec<Member>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<List, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = List;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of members, each with `name` and `address`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let mut members = Vec::new();
                let (mut names, mut addresses) = (BTreeSet::new(), BTreeSet::new());
                while let Some(member) = list.next_element::<Member>()? {
                    for (what, value, seen) in [
                        ("name", &member.name, &mut names),
                        ("address", &member.address, &mut addresses),
                    ] {
                        if !seen.insert(value.clone()) {
                            let value = value.clone();
                            return Err(A::Error::custom(RosterError::Twice { what, value }));
                        }
                    }
                    members.push(member);
                }
                if members.is_empty() {
                    return Err(A::Error::custom(NOBODY));
                }
                Ok(List(members))
            }
        }

        from.deserialize_seq(Members)
    }
}

/// What makes a roster's members those of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// To add, at the end of the ring.
    pub add: Vec<Member>,
    /// To remove, by name.
    pub remove: Vec<String>,
    /// Names of members that are on the ring as others than the list says, and how. A member
    /// becomes another by being removed and added.
    pub differ: Vec<(String, String)>,
}

/// A list that is more likely cut than true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the list has {listed} of the {of} members: more likely it is not whole than that the others \
     are gone, so nothing is changed"
)]
pub struct TooFew {
    /// Members of the ring that are listed.
    pub listed: usize,
    /// Members that the ring has.
    pub of: usize,
}

/// Compares a roster's members with those that are wanted. A key or an HTTP address that the
/// list does not give is not compared.
///
/// # Errors
///
/// When the list has no more than half of the members.
pub fn changes(roster: &[Member], wanted: &[Member]) -> Result<Changes, TooFew> {
    let on_ring = |name: &str| roster.iter().find(|member| member.name == name);
    let listed = |member: &&Member| wanted.iter().any(|wanted| wanted.name == member.name);
    let (stay, go): (Vec<&Member>, Vec<&Member>) = roster.iter().partition(listed);
    if go.len() >= stay.len() && !go.is_empty() {
        return Err(TooFew {
            listed: stay.len(),
            of: roster.len(),
        });
    }
    let differs = |wanted: &Member| {
        let here = on_ring(&wanted.name)?;
        let text = |key: &Option<_>| key.as_ref().map(ToString::to_string);
        [
            (
                "address",
                Some(wanted.address.clone()),
                Some(here.address.clone()),
            ),
            ("http", wanted.http.clone(), here.http.clone()),
            ("key", text(&wanted.key), text(&here.key)),
        ]
        .into_iter()
        .find(|(_, wanted, here)| wanted.is_some() && wanted != here)
        .map(|(what, listed, here)| {
            let [listed, here] = [listed, here].map(|value| value.unwrap_or("none".into()));
            let how = format!("its {what} is {here} on the ring, and {listed} in the list");
            (wanted.name.clone(), how)
        })
    };
    let new = wanted
        .iter()
        .filter(|member| on_ring(&member.name).is_none());
    Ok(Changes {
        add: new.cloned().collect(),
        remove: go.iter().map(|member| member.name.clone()).collect(),
        differ: wanted.iter().filter_map(differs).collect(),
    })
}

#[cfg(test)]
mod tests;
