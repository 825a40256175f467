//! The ring that `headway check` and `headway export` are asked about.

use clap::Args as ClapArgs;
use headway_check::CheckError;
use headway_check::model::delay_relay;
use headway_core::{Ring, Separation};
use headway_sim::placement::Delays;

use crate::flags::whole_number;

/// What `headway check` and `headway export` both need.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct InstanceFlags {
    /// Number of processes [default: 12 for delay-relay, less for the others]
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>, help_heading = "Instance")]
    pub(crate) processes: Option<usize>,

    /// Number of tokens [default: 3 for delay-relay, 2 for the others]
    #[arg(long, value_name = "M", value_parser = whole_number::<usize>, help_heading = "Instance")]
    pub(crate) tokens: Option<usize>,

    /// Hops to keep between successive tokens [default: N/M]
    #[arg(long, value_name = "D", value_parser = whole_number::<u32>, help_heading = "Instance")]
    pub(crate) separation: Option<u32>,

    /// Which processes delay: all, every:K or at:0,5,9 [default: all]
    #[arg(long, value_name = "WHICH", value_parser = crate::flags::delays, help_heading = "Instance")]
    pub(crate) delays: Option<Delays>,

    /// Values of a K-state ring, a clock's modulus, or message numbers
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>, help_heading = "Instance")]
    pub(crate) values: Option<u32>,
}

impl InstanceFlags {
    pub(super) fn processes_and_tokens(&self, processes: usize, tokens: usize) -> (usize, usize) {
        let n = self.processes.unwrap_or(processes);
        (n, self.tokens.unwrap_or(tokens.min(n.max(1))))
    }

    pub(super) fn separation_for(&self, processes: usize, tokens: usize) -> u32 {
        let most = processes / tokens.max(1);
        self.separation
            .unwrap_or_else(|| u32::try_from(most.max(1)).unwrap_or(u32::MAX))
    }

    /// The ring of delays and relays that the flags describe.
    pub(crate) fn ring_instance(
        &self,
        processes: usize,
        tokens: usize,
    ) -> Result<delay_relay::Instance, CheckError> {
        let (n, m) = self.processes_and_tokens(processes, tokens);
        if n > delay_relay::LARGEST_RING {
            return Err(CheckError::TooLarge {
                what: format!("--processes {n}"),
                need: "following more states than anyone can".into(),
                fits: format!("{} processes", delay_relay::LARGEST_RING),
            });
        }
        let delays = self.delays.clone().unwrap_or_default();
        if let Delays::Count(count) = delays {
            return Err(CheckError::Instance(format!(
                "--delays {count}: which ones? give all, every:K or at:0,5,9"
            )));
        }
        let places = delays
            .choose(n, 0)
            .map_err(|error| CheckError::Instance(format!("--delays {delays}: {error}")))?;
        let separation = Separation::new(self.separation_for(n, m)).ok_or_else(|| {
            CheckError::Instance("--separation: expected 1 to 2147483648".to_owned())
        })?;
        let ring = Ring::with_delays(separation, n, places)
            .map_err(|error| CheckError::Instance(error.to_string()))?;
        delay_relay::Instance::new(ring, m)
    }
}
