//! When a search has to end: every loop that can take long asks.

use std::sync::atomic::{AtomicBool, Ordering};

/// For searches that end by themselves.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Whether to end now with the best so far.
pub(crate) fn is_set(stop: &AtomicBool) -> bool {
    #[cfg(test)]
    tests::asked(stop);
    stop.load(Ordering::Relaxed)
}

/// That many nodes were looked at, which counts in tests: not too many between two
/// questions.
pub(crate) fn looked_at(nodes: usize) {
    #[cfg(test)]
    tests::WORK.set(tests::WORK.get() + nodes);
    let _ = nodes;
}

/// Work that does not count: a walk that was found is measured even in a hurry.
pub(crate) fn measuring<T>(measure: impl FnOnce() -> T) -> T {
    #[cfg(test)]
    let before = tests::WORK.get();
    let measured = measure();
    #[cfg(test)]
    tests::WORK.set(before);
    measured
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::Generator;
    use crate::search::{self, Method, Request};
    use std::cell::Cell;

    thread_local! {
        /// Nodes looked at since the last question, and the most between two.
        pub(super) static WORK: Cell<usize> = const { Cell::new(0) };
        static MOST: Cell<usize> = const { Cell::new(0) };
        /// Questions until the answer is yes, and questions asked after that.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
        static AFTER: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn asked(stop: &AtomicBool) {
        MOST.set(MOST.get().max(WORK.replace(0)));
        match LEFT.get() {
            Some(0) => {
                stop.store(true, Ordering::Relaxed);
                AFTER.set(AFTER.get() + 1);
            }
            Some(left) => LEFT.set(Some(left - 1)),
            None => {}
        }
    }

    /// Searches until the question of that number; the most work between two
    /// questions, in nodes of the network, and how many there were from then on.
    fn interrupted(generator: &str, request: &Request, at: usize) -> (usize, usize) {
        let network = generator.parse::<Generator>().unwrap().network(4).unwrap();
        let stop = AtomicBool::new(false);
        WORK.set(0);
        MOST.set(0);
        LEFT.set(Some(at));
        AFTER.set(0);
        let found = search::walk_until(&network, request, &mut |_| {}, &stop);
        LEFT.set(None);
        if request.method == Method::Best {
            // The best so far is there whenever it ends, with a bound that holds.
            let found = found.expect("a tour at least");
            let bound = found.bound.as_ref().map(|bound| bound.distance);
            assert!(found.distance() <= bound, "{generator} {at}");
        }
        MOST.set(MOST.get().max(WORK.get()));
        (MOST.get() / network.len(), AFTER.get())
    }

    /// Wherever a search is interrupted it ends soon: no loop works for long without
    /// asking, and none goes on once the answer is yes.
    #[test]
    fn every_loop_asks_and_obeys() {
        for (generator, method, tokens) in [
            ("geometric:300", Method::Best, 3),
            ("grid:2x4", Method::Best, 2),
            ("grid:4x4", Method::Exact, 2),
            ("geometric:200", Method::Formation, 3),
            ("geometric:600", Method::Orbit, 4),
        ] {
            let request = Request {
                method,
                ..Request::new(tokens)
            };
            for at in [0, 1, 5, 50, 400, 3_000, 20_000] {
                let (most, after) = interrupted(generator, &request, at);
                assert!(most <= 150, "{generator} {method} {at}: {most} networks");
                assert!(after <= 40, "{generator} {method} {at}: {after} questions");
            }
        }
    }
}
