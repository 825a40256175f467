//! Wherever a search is interrupted it ends soon, with a walk and a bound that hold.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use headway_walk::network::generators::Generator;
use headway_walk::walk::search::{self, Method, Request};

/// How long a search goes on after it was told to stop.
fn overrun(generator: &str, request: &Request, after: Duration) -> Duration {
    let network = generator.parse::<Generator>().unwrap().network(4).unwrap();
    let stop = AtomicBool::new(after.is_zero());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(after);
            stop.store(true, Ordering::Relaxed);
        });
        let found = search::walk_until(&network, request, &mut |_| {}, &stop);
        if request.method == Method::Best {
            // The best so far is there whenever it ends, with a bound that holds.
            let found = found.expect("a tour at least");
            let bound = found.bound.as_ref().map(|bound| bound.distance);
            assert!(found.distance() <= bound, "{generator} {after:?}");
        }
    });
    begun.elapsed().saturating_sub(after)
}

/// No loop works for long without asking, and none goes on once the answer is yes. Each of
/// these searches takes minutes or longer by itself.
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
        for after in [0, 1, 10, 50, 250] {
            let overrun = overrun(generator, &request, Duration::from_millis(after));
            let limit = Duration::from_secs(10);
            assert!(overrun < limit, "{generator} {method} {after}: {overrun:?}");
        }
    }
}

/// What a walk keeps on a large network takes long to find out, so a search that is stopped has
/// none that it can tell about; on a small one it has.
#[test]
fn a_walk_is_judged_to_the_end_or_not_told() {
    let stop = AtomicBool::new(true);
    let request = Request {
        method: Method::Tree,
        ..Request::new(2)
    };
    for (side, told) in [(70, false), (20, true)] {
        let network = Generator::Grid(side, side).network(0).unwrap();
        let found = search::walk_until(&network, &request, &mut |_| {}, &stop);
        assert_eq!(found.is_some(), told, "{side}");
    }
}
