//! Reading nets and writing results, for all subcommands.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
pub(super) use headway_answer::petri::{Mark, Plant, is_json, place_ids, shortened};
use headway_petri::{Marking, Net, pnml, svg};

use crate::failure::{Failure, expect_ending, read_bytes, warn, write_to};
use crate::flags::RingFlags;

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

impl NetFlags {
    /// Reads the net; remarks go to standard error.
    pub(super) fn read(&self, purpose: Purpose) -> Result<Plant, Failure> {
        let mut plant = read_net(&self.file, self.net.as_deref(), purpose)?;
        plant.mark(&self.file, &self.marks)?;
        Ok(plant)
    }
}

/// Reads a net from PNML or the net of a ring from a state file.
pub(super) fn read_net(path: &Path, id: Option<&str>, purpose: Purpose) -> Result<Plant, Failure> {
    let (plant, remarks) = Plant::read(path, &read_bytes(path)?, id)?;
    let told = |remark: &&pnml::Remark| purpose == Purpose::WriteAgain || !remark.only_looks;
    for remark in remarks.iter().filter(told) {
        warn(format!("{}: {remark}", path.display()));
    }
    Ok(plant)
}

/// The net of the ring that flags describe.
pub(super) fn of_flags(flags: &RingFlags) -> Result<Plant, Failure> {
    let instance = flags.instance()?;
    Plant::of_ring(&instance.ring, &instance.start)
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
