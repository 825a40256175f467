//! An order of a ring in which members in conflict are near one another. Uses nothing of walks.
//!
//! Tokens that keep d hops apart are never at two members that are less than d hops apart.
//! The fewer hops there are between members in conflict, the smaller d may be, and the more
//! tokens the ring has room for. Graph theory calls the least number of hops to which every
//! conflict can be brought the *cyclic bandwidth* of the conflicts; d is one more. To find it
//! is NP-hard. [`best`] has orders from several ideas (`start`), improves them (`improve`) and
//! compares them with what no order can undercut ([`bound`]); where the two differ, an exact
//! search (`exact`) closes the gap if it is not too large for it. [`stations`] is the other
//! way to let members have their turn: whole groups without conflicts.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::network::Node;
use crate::plan::conflicts::Conflicts;
use crate::random::Choices;

pub mod bound;
pub mod conflicts;
mod exact;
mod improve;
mod start;
pub mod stations;
pub mod svg;

pub use bound::Bound;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of all random choices.
    pub seed: u64,
    /// How hard to look: 10 takes about ten times as long as 1.
    pub effort: u32,
}

/// An order and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Every member once, as they are on the ring.
    pub order: Vec<Node>,
    /// d: members in conflict are less than this many hops apart.
    pub separation: u32,
    /// What no order can undercut.
    pub bound: Bound,
}

impl Found {
    /// Whether no order has a smaller separation.
    pub fn is_optimal(&self) -> bool {
        self.separation == self.bound.separation
    }
}

/// Looks for the order with the least separation. `progress` is told what is being tried;
/// soon after `stop` becomes true the best so far is returned.
///
/// ```
/// use headway_walk::plan::conflicts::Input;
/// use headway_walk::plan::{self, Request};
/// let conflicts = Input::Groups.read("a,b,c\nb,c,d\nc,d,e\nd,e,a\ne,a,b\nx\ny\nz").unwrap();
/// let never = false.into();
/// let found = plan::best(&conflicts, Request { seed: 1, effort: 1 }, &mut |_| {}, &never);
/// assert_eq!((found.separation, found.is_optimal()), (5, true));
/// ```
pub fn best(
    conflicts: &Conflicts,
    request: Request,
    progress: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Found {
    progress("bounding what any order needs");
    let mut found = Found {
        order: (0..conflicts.len() as Node).collect(),
        separation: u32::MAX,
        bound: bound::lower(conflicts, stop),
    };
    let mut search = Search {
        conflicts,
        stop,
        found: &mut found,
    };
    let mut starts = start::orders(conflicts);
    for order in &starts {
        search.offer(order);
    }
    starts.sort_by_cached_key(|order| improve::hops(conflicts, order));
    let mut choices = Choices::new(request.seed, 0);
    for order in starts {
        if !search.is_done() {
            progress("improving an order");
            let least = search.found.bound.separation - 1;
            let moves = moves(conflicts) * request.effort as usize;
            let better = improve::order(conflicts, order, least, moves, &mut choices, stop);
            search.offer(&better);
        }
    }
    search.exact(request.effort, progress);
    found
}

/// Moves to improve an order: fewer where each has to look at many conflicts.
fn moves(conflicts: &Conflicts) -> usize {
    let usual = 2 * conflicts.pairs() / conflicts.len() + 1;
    (10_000_000 / usual).clamp(1000, 40_000 + 20 * conflicts.len())
}

struct Search<'a> {
    conflicts: &'a Conflicts,
    stop: &'a AtomicBool,
    found: &'a mut Found,
}

impl Search<'_> {
    fn offer(&mut self, order: &[Node]) {
        let separation = improve::hops(self.conflicts, order) + 1;
        if separation < self.found.separation {
            self.found.separation = separation;
            self.found.order = order.to_vec();
        }
    }

    fn is_done(&self) -> bool {
        self.found.is_optimal() || self.stop.load(Ordering::Relaxed)
    }

    /// Tries the least separation that is not excluded until it is found; where that takes
    /// too long, one between it and what was found.
    fn exact(&mut self, effort: u32, progress: &mut dyn FnMut(&str)) {
        if self.conflicts.len() > exact::MAX_MEMBERS || self.is_done() {
            return;
        }
        let search = exact::Search::new(self.conflicts);
        let mut unknown = self.found.bound.separation;
        let mut tries = 0;
        while unknown < self.found.separation && !self.is_done() && tries < MAX_TRIES {
            progress(&format!(
                "looking for an order with a separation of {unknown}"
            ));
            match search
                .clone()
                .within(unknown - 1, u64::from(effort), self.stop)
            {
                exact::Answer::Found(order) => self.offer(&order),
                exact::Answer::Impossible => {
                    unknown += 1;
                    self.found.bound = Bound::exhausted(unknown);
                }
                exact::Answer::GaveUp => {
                    tries += 1;
                    unknown = (unknown + self.found.separation).div_ceil(2);
                }
            }
        }
    }
}

/// Searches that may give up.
const MAX_TRIES: u32 = 4;
