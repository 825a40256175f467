//! The ring that `headway check` and `headway export` are asked about.

use clap::Args as ClapArgs;
use headway_answer::check;
use headway_check::CheckError;
use headway_check::model::delay_relay::Instance;
use headway_sim::placement::Delays;
use serde::Serialize;

use crate::flags::whole_number;

/// How many processes and tokens; by default N and M.
#[derive(ClapArgs, Clone, Debug, Serialize)]
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

/// A ring of delays and relays.
#[derive(ClapArgs, Clone, Debug, Serialize)]
pub(crate) struct RingFlags<const N: usize, const M: usize> {
    #[command(flatten)]
    #[serde(flatten)]
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
        let flags = serde_json::to_value(self).unwrap_or_default();
        check::ring(flags.as_object().cloned().unwrap_or_default(), N, M)
    }
}
