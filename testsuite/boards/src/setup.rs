//! How a ring of boards is set up, and what each board is told.

use headway_firmware::page::Page;
use headway_node::{Plan, RingId};

use crate::wire::Faults;

/// A ring.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the ring keeps up.
    pub plan: Plan,
    /// Which ring.
    pub ring: RingId,
    /// Fencing numbers are above this.
    pub fence_floor: u64,
    /// The members that are boards; the others are programs that connect by themselves.
    pub boards: Vec<u32>,
    /// Times of boards in milliseconds: refresh, heartbeat_timeout, tick, max_hold, stop_timeout.
    pub times: [u32; 5],
    /// How long a measurement takes, in milliseconds.
    pub sample: u32,
    /// A board that has executed no round for so many milliseconds starts again.
    pub patience: u32,
    /// Keys, by the link after each member.
    pub keys: Option<Vec<Vec<u8>>>,
    /// What is wrong with every line.
    pub faults: Faults,
    /// Everything random follows from it.
    pub seed: u64,
}

/// What a board is told.
pub(crate) fn page(settings: &Settings, index: u32) -> Page<'static> {
    let plan = &settings.plan;
    Page {
        ring: settings.ring,
        index,
        nodes: plan.nodes(),
        tokens: plan.tokens(),
        separation: plan.wanted(),
        fence_floor: settings.fence_floor,
        times: settings.times,
        sample: settings.sample,
        patience: settings.patience,
        salt: 0,
        keys: None,
    }
}

/// The keys of a board's links before and after it.
pub(crate) fn keys(settings: &Settings, index: u32) -> Option<[Vec<u8>; 2]> {
    let nodes = settings.plan.nodes();
    let before = (index + nodes - 1) % nodes;
    let keys = settings.keys.as_ref()?;
    Some([before, index].map(|link| keys[link as usize].clone()))
}
