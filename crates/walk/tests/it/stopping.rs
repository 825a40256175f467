//! Wherever a search is interrupted it ends soon, with a walk and a bound that hold.

use std::sync::atomic::{AtomicBool, Ordering};

use headway_walk::network::generators::Generator;
use headway_walk::walk::search::{self, Found, Method, Request};

/// What a search finds that is told to stop when it begins its stage of this number.
fn stopped(generator: &str, request: &Request, stage: usize) -> Option<Found> {
    let network = generator.parse::<Generator>().unwrap().network(4).unwrap();
    let (stop, mut stages) = (AtomicBool::new(false), 0);
    let mut progress = |_: &str| {
        stop.fetch_or(stages == stage, Ordering::Relaxed);
        stages += 1;
    };
    search::walk_until(&network, request, &mut progress, &stop)
}

/// No loop works for long without asking, and none goes on once the answer is yes: each of these
/// searches takes minutes or longer by itself.
#[test]
fn every_loop_asks_and_obeys() {
    for (generator, method, tokens) in [
        ("geometric:300", Method::Best, 3),
        ("grid:5x5", Method::Exact, 2),
        ("geometric:200", Method::Formation, 3),
        ("geometric:3000", Method::Orbit, 4),
        ("torus:90x90", Method::Short, 2),
    ] {
        let request = Request {
            method,
            effort: 1000,
            ..Request::new(tokens)
        };
        let found = stopped(generator, &request, 1);
        if method == Method::Best {
            // The best so far is there whenever it ends, with a bound that holds.
            for found in [
                found,
                stopped(generator, &request, 0),
                stopped(generator, &request, 2),
            ] {
                let found = found.expect("a tour at least");
                let bound = found.bound.as_ref().map(|bound| bound.distance);
                assert!(found.distance() <= bound);
            }
        }
    }
}

/// What a walk keeps on a large network takes long to find out, so a search that is stopped has
/// none that it can tell about; on a small one it has.
#[test]
fn a_walk_is_judged_to_the_end_or_not_told() {
    let request = Request {
        method: Method::Tree,
        ..Request::new(2)
    };
    assert_eq!(stopped("grid:300x300", &request, 0), None);
    assert!(stopped("grid:20x20", &request, 0).is_some());
}
