//! Reading nets and writing results, for all subcommands.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args as ClapArgs;
use headway_core::{Configuration, Ring};
use headway_petri::{Marking, Net, pnml, ring, svg};

use crate::failure::{Failure, expect_ending, read_bytes, warn};
use crate::flags::{RingFlags, missing_memory, read_state_file};

/// Which net, and its marking.
#[derive(ClapArgs, Clone, Debug)]
pub(super) struct NetFlags {
    /// A net in PNML, or a state file of a ring in JSON
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// The id of the net, if the file has several
    #[arg(long, value_name = "ID")]
    net: Option<String>,

    /// Put another number of tokens on a place (repeatable)
    #[arg(long = "mark", value_name = "PLACE=TOKENS")]
    marks: Vec<Mark>,
}

/// `--mark`.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    place: String,
    tokens: u64,
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

/// What a net is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be looked at or played.
    Use,
    /// To be written again, for which its looks matter too.
    WriteAgain,
}

impl Purpose {
    /// Writing again, if there is a file to write to.
    pub(super) fn of(output: Option<&PathBuf>) -> Purpose {
        output.map_or(Purpose::Use, |_| Purpose::WriteAgain)
    }
}

/// A net that was read.
pub(super) struct Plant {
    pub(super) net: Net,
    pub(super) marking: Marking,
}

impl Plant {
    /// The ring that the net embodies, if it is one of a ring.
    pub(super) fn ring(&self) -> Result<(Ring, Configuration), ring::NotARing> {
        ring::from_net(&self.net, &self.marking)
    }
}

impl NetFlags {
    /// Reads the net; remarks go to standard error.
    pub(super) fn read(&self, purpose: Purpose) -> Result<Plant, Failure> {
        let mut plant = read_net(&self.file, self.net.as_deref(), purpose)?;
        for mark in &self.marks {
            let place = plant.net.find_place(&mark.place).ok_or_else(|| {
                Failure::new(format!(
                    "--mark {}={}: there is no such place in {}",
                    mark.place,
                    mark.tokens,
                    self.file.display()
                ))
                .help(format!(
                    "its places: {}",
                    shortened(&all_places(&plant.net))
                ))
            })?;
            plant.marking.0[place] = mark.tokens;
        }
        let tokens = plant.marking.total();
        if tokens > u64::MAX.into() {
            return Err(Failure::new(format!(
                "{}: the places have {tokens} tokens together, more than 2^64-1",
                self.file.display()
            ))
            .help("give some of them fewer tokens, as with --mark PLACE=TOKENS"));
        }
        Ok(plant)
    }
}

/// Reads a net from PNML or the net of a ring from a state file.
pub(super) fn read_net(path: &Path, id: Option<&str>, purpose: Purpose) -> Result<Plant, Failure> {
    let bytes = read_bytes(path)?;
    if is_json(&bytes) {
        if let Some(id) = id {
            return Err(Failure::new(format!(
                "--net {id}: {} is a state file, which describes one ring",
                path.display()
            ))
            .help("drop --net"));
        }
        let state = read_state_file(path)?;
        return of_ring(&state.ring, &state.configuration);
    }
    let nets = pnml::read(&bytes).map_err(|error| {
        let text = String::from_utf8_lossy(&bytes);
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
                Failure::new(format!("{} has {} nets", path.display(), ids.len()))
                    .help(format!("choose one with --net: {}", ids.join(", "))),
            );
        }
        None => nets.into_iter().next(),
        Some(id) => nets.into_iter().find(|net| net.net.id == id),
    };
    let Some(imported) = chosen else {
        return Err(Failure::new(format!(
            "--net {}: there is no such net in {}",
            id.unwrap_or_default(),
            path.display()
        ))
        .help(format!("choose one of {}", ids.join(", "))));
    };
    let told = |remark: &&pnml::Remark| purpose == Purpose::WriteAgain || !remark.only_looks;
    for remark in imported.remarks.iter().filter(told) {
        warn(format!("{}: {remark}", path.display()));
    }
    Ok(Plant {
        net: imported.net,
        marking: imported.marking,
    })
}

/// A place with its name, transition and arcs.
const BYTES_PER_PLACE: u64 = 300;

/// The net of the ring that flags describe.
pub(super) fn of_flags(flags: &RingFlags) -> Result<Plant, Failure> {
    let instance = flags.instance()?;
    of_ring(&instance.ring, &instance.start)
}

fn of_ring(ring: &Ring, state: &Configuration) -> Result<Plant, Failure> {
    let minor = ring.delays().count() as u64 * u64::from(ring.separation().hops());
    let places = ring.len() as u64 + minor;
    if let Some(missing) = missing_memory(places, BYTES_PER_PLACE) {
        return Err(
            Failure::new(format!("the net of {places} places {missing}"))
                .help("a delay has as many places as the separation; take fewer, or less of it"),
        );
    }
    let (net, marking) = ring::to_net(ring, state).map_err(|error| {
        Failure::new(error).help("use --program fixed, and a separation that is not too large")
    })?;
    Ok(Plant { net, marking })
}

/// Whether a file is JSON: by its first character that is not white space.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

/// Writes to a file, or to standard output without one or for `-`.
pub(super) fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    match path.filter(|path| path.as_os_str() != "-") {
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
        Some(path) => {
            let failed = |error: std::io::Error| Failure::writing(path, &error);
            let mut out = BufWriter::new(File::create(path).map_err(failed)?);
            write(&mut out).map_err(failed)?;
            out.flush().map_err(failed)?;
        }
    }
    Ok(())
}

/// Writes a net as PNML.
pub(super) fn write_pnml(path: Option<&Path>, net: &Net, marking: &Marking) -> Result<(), Failure> {
    write_to(path, |mut out| pnml::write(net, marking, &mut out))
}

/// Draws a net, if a picture is asked for.
pub(super) fn write_svg(
    path: Option<&Path>,
    net: &Net,
    marking: &Marking,
    highlight: &svg::Highlight,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    expect_ending(path, "svg")?;
    write_to(Some(path), |out| {
        out.write_all(svg::draw(net, marking, highlight).as_bytes())
    })
}

/// Ids of all places.
fn all_places(net: &Net) -> Vec<String> {
    place_ids(net, &(0..net.places()).collect::<Vec<_>>())
}

/// Ids of places, in order.
pub(super) fn place_ids(net: &Net, places: &[usize]) -> Vec<String> {
    places
        .iter()
        .map(|&place| net.place_id(place).to_owned())
        .collect()
}

/// The names of transitions.
pub(super) fn transition_ids(net: &Net, transitions: impl Iterator<Item = usize>) -> Vec<String> {
    transitions
        .map(|transition| net.transition_id(transition).to_owned())
        .collect()
}

/// A list of names, cut after a dozen for people to read.
pub(super) fn shortened(names: &[String]) -> String {
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
