//! Petri nets: reading, exact analysis, separation.

use std::path::Path;
use std::str::FromStr;

use headway_core::{Configuration, Ring};
use headway_petri::{Marking, Net, pnml, ring};

use crate::instance::{missing_memory, parse_state_file};
use crate::sentence::{form, set, setting};
use crate::{Failure, say};

mod analysis;
mod behaviour;
pub mod separate;

pub use analysis::{Analysis, AnalysisJson, RingFacts};
pub use behaviour::{Behaviour, Found};

/// A net that was read.
pub struct Plant {
    /// Its structure.
    pub net: Net,
    /// Its tokens.
    pub marking: Marking,
}

impl Plant {
    /// The ring that the net embodies.
    ///
    /// # Errors
    ///
    /// Why it is not the net of a ring.
    pub fn ring(&self) -> Result<(Ring, Configuration), ring::NotARing> {
        ring::from_net(&self.net, &self.marking)
    }

    /// Puts other numbers of tokens on places of the net, which is from this file.
    ///
    /// # Errors
    ///
    /// A place that there is not, or more tokens than can be counted.
    pub fn mark(&mut self, path: &Path, marks: &[Mark]) -> Result<(), Failure> {
        for mark in marks {
            let place = self.net.find_place(&mark.place).ok_or_else(|| {
                Failure::of(say![
                    set("mark", format!("{}={}", mark.place, mark.tokens)),
                    format!(": no such place in {}", path.display()),
                ])
                .help(format!("its places: {}", shortened(&all_places(&self.net))))
            })?;
            self.marking.0[place] = mark.tokens;
        }
        let tokens = self.marking.total();
        if tokens > u64::MAX.into() {
            return Err(Failure::new(format!(
                "{}: the places have {tokens} tokens together, more than 2^64-1",
                path.display()
            ))
            .advice(say![
                "give some of them fewer tokens, as with ",
                form("mark", "PLACE=TOKENS"),
            ]));
        }
        Ok(())
    }

    /// The net of a text in PNML, or of a ring's state file, at a path; and what was
    /// tolerated in it.
    ///
    /// # Errors
    ///
    /// The line that is wrong, or that there are several nets and `id` chooses none.
    pub fn read(
        path: &Path,
        bytes: &[u8],
        id: Option<&str>,
    ) -> Result<(Plant, Vec<pnml::Remark>), Failure> {
        if is_json(bytes) {
            if let Some(id) = id {
                let file = path.display();
                return Err(Failure::of(say![
                    set("net", id),
                    format!(": {file} is a state file, which describes one ring"),
                ])
                .advice(say!["drop ", setting("net")]));
            }
            let state = parse_state_file(path, &String::from_utf8_lossy(bytes))?;
            let plant = Plant::of_ring(&state.ring, &state.configuration)?;
            return Ok((plant, Vec::new()));
        }
        let nets = pnml::read(bytes).map_err(|error| {
            let text = String::from_utf8_lossy(bytes);
            let failure = Failure::in_text(path, &text, error.line, error.column, error.what);
            if text.trim_start().starts_with('<') {
                failure
            } else {
                failure.help("expected a net in PNML, which is XML, or a ring's state file in JSON")
            }
        })?;
        let ids: Vec<String> = nets.iter().map(|net| net.net.id.clone()).collect();
        let several = ids.len() > 1;
        let chosen = match id {
            None if several => {
                return Err(
                    Failure::new(format!("{} has {} nets", path.display(), ids.len())).advice(
                        say![
                            "choose one with ",
                            setting("net"),
                            format!(": {}", ids.join(", ")),
                        ],
                    ),
                );
            }
            None => nets.into_iter().next(),
            Some(id) => nets.into_iter().find(|net| net.net.id == id),
        };
        let Some(imported) = chosen else {
            return Err(Failure::of(say![
                set("net", id.unwrap_or_default()),
                format!(": no such net in {}", path.display()),
            ])
            .help(format!("choose one of {}", ids.join(", "))));
        };
        let plant = Plant {
            net: imported.net,
            marking: imported.marking,
        };
        Ok((plant, imported.remarks))
    }

    /// The net of a ring in a state.
    ///
    /// # Errors
    ///
    /// When it is too large, or the ring measures.
    pub fn of_ring(ring: &Ring, state: &Configuration) -> Result<Plant, Failure> {
        let minor = ring.delays().count() as u64 * u64::from(ring.separation().hops());
        let places = ring.len() as u64 + minor;
        if let Some(missing) = missing_memory(places, BYTES_PER_PLACE) {
            return Err(
                Failure::new(format!("the net of {places} places {missing}")).help(
                    "a delay has as many places as the separation; take fewer, or less of it",
                ),
            );
        }
        let (net, marking) = ring::to_net(ring, state).map_err(|error| {
            Failure::new(error).advice(say![
                "use ",
                set("program", "fixed"),
                ", and a separation that is not too large",
            ])
        })?;
        Ok(Plant { net, marking })
    }
}

/// So many tokens on a place.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its id.
    pub place: String,
    /// How many.
    pub tokens: u64,
}

impl FromStr for Mark {
    type Err = String;

    fn from_str(text: &str) -> Result<Mark, String> {
        let expected = || "expected PLACE=TOKENS, as in p1=2".to_owned();
        let (place, tokens) = text.rsplit_once('=').ok_or_else(expected)?;
        Ok(Mark {
            place: place.to_owned(),
            tokens: tokens.parse().map_err(|_| expected())?,
        })
    }
}

/// A place with its name, transition and arcs.
const BYTES_PER_PLACE: u64 = 300;

/// Whether a file is JSON: by its first character that is not white space.
pub fn is_json(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

/// Ids of all places.
fn all_places(net: &Net) -> Vec<String> {
    place_ids(net, &(0..net.places()).collect::<Vec<_>>())
}

/// Ids of places, in order.
pub fn place_ids(net: &Net, places: &[usize]) -> Vec<String> {
    places
        .iter()
        .map(|&place| net.place_id(place).to_owned())
        .collect()
}

/// The names of transitions.
pub fn transition_ids(net: &Net, transitions: impl Iterator<Item = usize>) -> Vec<String> {
    transitions
        .map(|transition| net.transition_id(transition).to_owned())
        .collect()
}

/// A list of names, cut after a dozen for people to read.
pub fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 12;
    if names.len() <= SHOWN {
        return names.join(" ");
    }
    format!(
        "{} ... ({} in all)",
        names[..SHOWN - 1].join(" "),
        names.len()
    )
}
