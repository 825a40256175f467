//! The ring that `headway check` and `headway export` are asked about.

use clap::Args as ClapArgs;
use headway_check::CheckError;
use headway_check::model::delay_relay::{Instance, MAX_PROCESSES};
use headway_sim::placement::Delays;

use crate::flags::whole_number;

/// How many processes and tokens; by default N and M.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct Size<const N: usize, const M: usize> {
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        value_parser = whole_number::<usize>,
        help = format!("Number of processes [default: {N}]")
    )]
    pub(crate) processes: Option<usize>,

    #[arg(
        short = 'm',
        long,
        value_name = "M",
        value_parser = whole_number::<usize>,
        help = format!("Number of tokens [default: {M}]")
    )]
    pub(crate) tokens: Option<usize>,
}

impl<const N: usize, const M: usize> Size<N, M> {
    pub(super) fn processes(&self) -> usize {
        self.processes.unwrap_or(N)
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens.unwrap_or(M.min(self.processes().max(1)))
    }

    /// The separation given, or the largest that fits.
    pub(super) fn separation(&self, given: Option<u32>) -> u32 {
        let largest = (self.processes() / self.tokens().max(1)).max(1);
        given.unwrap_or_else(|| u32::try_from(largest).unwrap_or(u32::MAX))
    }

    /// The separation given, or the largest that leaves one process over.
    pub(super) fn separation_with_slack(&self, given: Option<u32>) -> u32 {
        let largest = (self.processes().max(1) - 1) / self.tokens().max(1);
        given.unwrap_or_else(|| u32::try_from(largest.max(1)).unwrap_or(u32::MAX))
    }
}

/// A ring of delays and relays.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct RingFlags<const N: usize, const M: usize> {
    #[command(flatten)]
    pub(crate) size: Size<N, M>,

    /// Hops to keep between successive tokens [default: N/M]
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
    pub(crate) separation: Option<u32>,

    /// Which processes delay: all, every:K or at:0,5,9 [default: all]
    #[arg(long, value_name = "WHICH", value_parser = crate::flags::delays)]
    pub(crate) delays: Option<Delays>,
}

impl<const N: usize, const M: usize> RingFlags<N, M> {
    /// The ring that the flags describe.
    pub(crate) fn instance(&self) -> Result<Instance, CheckError> {
        let (n, m) = (self.size.processes(), self.size.tokens());
        let separation = self.size.separation(self.separation);
        if n > MAX_PROCESSES {
            // Refused, before its delays are listed.
            return Instance::uniform(n, m, separation);
        }
        let delays = self.delays.clone().unwrap_or_default();
        let wrong = |why: &str| CheckError::Settings(format!("--delays {delays}: {why}"));
        if let Delays::Count(_) = delays {
            return Err(wrong("which ones? give all, every:K or at:0,5,9"));
        }
        let places = delays.choose(n, 0);
        let places = places.map_err(|error| wrong(&error.to_string()))?;
        Instance::with_delays(n, m, separation, places)
    }
}
