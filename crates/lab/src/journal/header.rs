//! Which sweep, and which part of it.

use serde::{Deserialize, Serialize};

use crate::VERSION;
use crate::spec::Sweep;

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version that made it.
    pub headway: String,
    /// The sweep's name.
    pub sweep: String,
    /// [`Sweep::fingerprint`], in hexadecimal.
    pub fingerprint: String,
    /// The seed.
    pub seed: u64,
    /// Samples per cell.
    pub samples: u64,
    /// Cells of the whole sweep.
    pub cells: usize,
    /// What is measured.
    pub measures: Vec<String>,
    /// Whether there is a row for every sample as well.
    pub sample_rows: bool,
    /// Which part of how many this is.
    pub shard: Shard,
}

/// Part `part` of `parts`, from 1: the cells whose number leaves `part - 1` when
/// divided by `parts`, so that parts take about equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1.
    pub part: u32,
    /// At least `part`.
    pub parts: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Shard = Shard { part: 1, parts: 1 };

    /// Whether a cell belongs to this part.
    pub fn has(self, cell: u32) -> bool {
        cell % self.parts == self.part - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(part, parts)| {
            Some((part.parse::<u32>().ok()?, parts.parse::<u32>().ok()?))
        });
        match numbers {
            Some((part, parts)) if part >= 1 && part <= parts => Ok(Shard { part, parts }),
            _ => Err("expected I/K with I from 1 to K, such as 1/4".to_owned()),
        }
    }
}

impl Header {
    /// The header of a sweep's part.
    pub fn new(sweep: &Sweep, shard: Shard) -> Header {
        Header {
            headway: VERSION.to_owned(),
            sweep: sweep.name.clone(),
            fingerprint: format!("{:016x}", sweep.fingerprint()),
            seed: sweep.seed,
            samples: sweep.samples,
            cells: sweep.cells.len(),
            measures: sweep.measure_names().map(str::to_owned).collect(),
            sample_rows: sweep.sample_rows,
            shard,
        }
    }

    /// Why results under `other` do not belong with these; `None` if they do.
    pub fn differs_from(&self, other: &Header) -> Option<String> {
        let told = |header: &Header| {
            let rows = match header.sample_rows {
                true => "samples",
                false => "cells",
            };
            [
                ("sweep", header.sweep.clone()),
                ("version", header.headway.clone()),
                ("seed", header.seed.to_string()),
                ("number of samples", header.samples.to_string()),
                ("measures", header.measures.join(", ")),
                ("kind of rows", rows.to_owned()),
                ("grid (by its fingerprint)", header.fingerprint.clone()),
            ]
        };
        let mut both = told(self).into_iter().zip(told(other));
        let ((what, mine), (_, theirs)) = both.find(|(mine, theirs)| mine != theirs)?;
        Some(format!("its {what} is {theirs}, not {mine}"))
    }
}
