//! How much of everything is taken on.

use schemars::JsonSchema;
use serde::Serialize;

/// Limits on sizes, numbers and rates. A request beyond one is refused with a
/// sentence that names it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Limits {
    /// Processes of a ring.
    pub processes: u64,
    /// Tokens on a ring.
    pub tokens: u64,
    /// Processes of a ring that measures: it is run in lock-step.
    pub measuring_processes: u64,
    /// Faults of a run.
    pub faults: usize,
    /// Runs at one time. Beyond it the one that nobody has looked at for longest
    /// makes room.
    pub runs: usize,
    /// Open event streams.
    pub viewers: usize,
    /// Open connections, viewers included.
    pub connections: usize,
    /// Rounds of a window.
    pub window_rounds: u64,
    /// Points and rests of a window.
    pub window_points: usize,
    /// Process-rounds of lock-step for one answer.
    pub lock_step: u64,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Rings up to this size have their counters in every frame.
    pub counters_up_to: u64,
    /// Frames a second and viewer.
    pub frames_per_second: u32,
    /// Nodes of a network.
    pub network_nodes: usize,
    /// Links of a network.
    pub network_links: usize,
    /// The last round that can be asked for: what a browser counts exactly.
    pub largest_round: u64,
    /// Requests a second from one address, in the long run.
    pub requests_per_second: f64,
    /// Requests from one address at once.
    pub request_burst: f64,
    /// A run that nobody looks at is dropped after this many seconds.
    pub idle_run_s: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            processes: 100_000,
            tokens: 100_000,
            measuring_processes: 2_000,
            faults: 200,
            runs: 64,
            viewers: 512,
            connections: 1_024,
            window_rounds: 1_000_000,
            window_points: 200_000,
            lock_step: 200_000_000,
            body_bytes: 8 << 20,
            counters_up_to: 2_000,
            frames_per_second: 30,
            network_nodes: 1_000,
            network_links: 20_000,
            largest_round: (1 << 53) - 1,
            requests_per_second: 200.0,
            request_burst: 600.0,
            idle_run_s: 1_800,
        }
    }
}
