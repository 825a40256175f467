//! A sweep described by flags.

use std::fmt::Write as _;

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use headway_answer::sweep::Grid;
use headway_lab::Sweep;
use headway_sim::settings::{RingProgram, Start};

use crate::failure::Failure;
use crate::flags::{one_of, possible_values};

/// The grid, what to measure, what to draw.
#[derive(ClapArgs, Clone, Debug, Default)]
pub(crate) struct GridFlags {
    /// Numbers of processes [default: 24]
    #[arg(short = 'n', long, value_name = "N", num_args = 1.., help_heading = "Axes")]
    processes: Vec<String>,

    /// Numbers of tokens [default: 2]
    #[arg(short = 'm', long, value_name = "M", num_args = 1.., help_heading = "Axes")]
    tokens: Vec<String>,

    /// Hops to keep between successive tokens [default: n/m]
    #[arg(short = 'd', long, value_name = "D", num_args = 1.., help_heading = "Axes")]
    separation: Vec<String>,

    /// Which processes delay: all, a number, even:K, every:K, at:0,5,9 [default: all]
    #[arg(long, value_name = "WHICH", num_args = 1.., help_heading = "Axes")]
    delays: Vec<String>,

    /// Initial states [default: random]
    #[arg(long, value_name = "STATE", num_args = 1.., value_parser = one_of::<Start>(), help_heading = "Axes")]
    start: Vec<Start>,

    /// What the delaying processes run [default: fixed]
    #[arg(long, value_name = "PROGRAM", num_args = 1.., value_parser = lock_step_programs(), help_heading = "Axes")]
    program: Vec<String>,

    /// Faults such as scramble:25%@0, or none [default: none]
    #[arg(long, value_name = "FAULT", num_args = 1.., help_heading = "Axes")]
    fault: Vec<String>,

    /// What to measure [default: legitimate_at last_rest]
    #[arg(long, value_name = "WHAT", num_args = 1.., help_heading = "Results")]
    measure: Vec<String>,

    /// Percentiles to keep
    #[arg(long, value_name = "P", num_args = 1.., help_heading = "Results")]
    percentiles: Vec<String>,

    /// Draw the first measure against this axis or measure
    #[arg(long, value_name = "AXIS", help_heading = "Results")]
    x: Option<String>,

    /// One line for every combination of values of these axes
    #[arg(long, value_name = "AXIS", num_args = 1.., requires = "x", help_heading = "Results")]
    series: Vec<String>,

    /// Name of the results
    #[arg(
        long,
        value_name = "NAME",
        default_value = "sweep",
        help_heading = "Results"
    )]
    name: String,
}

fn lock_step_programs() -> PossibleValuesParser {
    let all = possible_values::<RingProgram>();
    PossibleValuesParser::new(all.take(RingProgram::LOCK_STEP.len()))
}

impl GridFlags {
    fn axes(&self) -> [(&'static str, Vec<String>); 7] {
        let start = self.start.iter().map(ToString::to_string);
        [
            ("processes", self.processes.clone()),
            ("tokens", self.tokens.clone()),
            ("separation", self.separation.clone()),
            ("delays", self.delays.clone()),
            ("start", start.collect()),
            ("program", self.program.clone()),
            ("fault", self.fault.clone()),
        ]
    }

    /// A flag that describes the sweep, if there is any.
    pub(super) fn first_given(&self) -> Option<String> {
        let others = [
            ("measure", !self.measure.is_empty()),
            ("percentiles", !self.percentiles.is_empty()),
            ("x", self.x.is_some()),
        ];
        let axes = self.axes();
        let mut given = axes
            .iter()
            .map(|(name, values)| (*name, !values.is_empty()));
        let axis = given.find(|(_, given)| *given);
        axis.or_else(|| others.into_iter().find(|(_, given)| *given))
            .map(|(name, _)| format!("--{name}"))
    }

    /// The sweep file, the sweep, and the command that says the same.
    pub(super) fn sweep(&self) -> Result<(String, Sweep, String), Failure> {
        let grid = Grid {
            name: self.name.clone(),
            axes: self
                .axes()
                .map(|(name, values)| (name.to_owned(), values))
                .into(),
            measure: self.measure.clone(),
            percentiles: self.percentiles.clone(),
            x: self.x.clone(),
            series: self.series.clone(),
        };
        let (text, sweep) = grid.sweep()?;
        let mut command = "headway sweep".to_owned();
        for (name, values) in self.axes() {
            if !values.is_empty() {
                let _ = write!(command, " --{name} {}", values.join(" "));
            }
        }
        if !self.measure.is_empty() {
            let _ = write!(command, " --measure {}", self.measure.join(" "));
        }
        Ok((text, sweep, command))
    }
}
