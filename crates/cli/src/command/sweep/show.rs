//! `--show`: the initial state of one sample.

use std::io::Write;
use std::str::FromStr;

use headway_lab::{Sweep, sweep as lab_sweep};
use headway_sim::state_file;

use crate::failure::{Answer, Failure};
use crate::report::style::DIM;

/// A sample, by its numbers in samples.csv.
#[derive(Clone, Copy, Debug)]
pub(super) struct Show {
    cell: u32,
    sample: u64,
}

impl FromStr for Show {
    type Err = String;

    fn from_str(text: &str) -> Result<Show, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(cell, sample)| Some((cell.parse().ok()?, sample.parse().ok()?)));
        let (cell, sample) =
            numbers.ok_or("expected the numbers of a cell and of a sample of it, such as 3/17")?;
        Ok(Show { cell, sample })
    }
}

impl Show {
    pub(super) fn print(self, sweep: &Sweep) -> Result<Answer, Failure> {
        let Show { cell, sample } = self;
        let cells = sweep.cells.len();
        let Some(values) = sweep.cells.get(cell as usize).map(|cell| &cell.values) else {
            let last = cells.saturating_sub(1);
            return Err(Failure::new(format!(
                "--show {cell}/{sample}: no cell {cell}; the sweep has cells 0 to {last}"
            )));
        };
        if sample >= sweep.samples {
            let last = sweep.samples - 1;
            return Err(Failure::new(format!(
                "--show {cell}/{sample}: no sample {sample}; a cell has samples 0 to {last}"
            ))
            .help(format!("ask for more of them: --samples {}", sample + 1)));
        }
        let Some((ring, state)) = lab_sweep::state(sweep, cell, sample) else {
            return Err(Failure::new(format!(
                "--show: samples of the model {} have no ring file",
                sweep.model.name
            )));
        };
        let values = values.iter().map(|(axis, value)| format!("{axis} {value}"));
        let _ = writeln!(
            anstream::stderr(),
            "{DIM}sample {sample} of cell {cell}, seed {}: {}{DIM:#}",
            sweep.seed,
            values.collect::<Vec<_>>().join(", ")
        );
        anstream::stdout().write_all(state_file::render(&ring, &state).as_bytes())?;
        Ok(Answer::Yes)
    }
}
