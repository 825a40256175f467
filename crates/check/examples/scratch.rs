//! scratch
use headway_check::model::*;
use headway_check::*;
use headway_core::phase_clock::PhaseClock;
fn main() {
    for n in 3..=7u32 {
        for s in Scheduler::ALL {
            for k in [n - 1, n] { if k < 2 {continue}
            let t = std::time::Instant::now();
            let r = k_state::check(n as usize, k, s, Limits::default(), &Control::default()).unwrap();
            println!("{n} K{k} {s} states {} legit {} cl {} co {} {:?} {:?}", r.states, r.legitimate, r.closure, r.convergence, r.worst, t.elapsed());
            }
        }
    }
    for n in 3..=5 {
        for s in [Scheduler::Central, Scheduler::Distributed, Scheduler::Synchronous] {
            for (dk, dt) in [(0, 0), (-1, 0), (0, -1), (-1,-1)] {
            let mut c = PhaseClock::for_ring(n); c.modulus += dk; c.tail += dt;
            if c.tail < 0 { continue }
            let t = std::time::Instant::now();
            let r = phase_clock::check(n as usize, c, s, Limits::default(), &Control::default()).unwrap();
            println!("{n} {c:?} {s} states {} legit {} cl {} co {} dead {:?} {:?} {:?}", r.states, r.legitimate, r.closure, r.convergence, r.property("no-deadlock").unwrap().holds, r.worst, t.elapsed());
        } }
    }
}
