//! scratch
use headway_check::model::*;
use headway_check::*;
use asynchronous::Clocking;
use delay_relay::Instance;
fn show(r: &Report) {
    println!("{} {} states {} legit {} cl {} co {} {:?} {:?}", r.model, r.instance, r.states, r.legitimate, r.closure, r.convergence, r.worst, r.figures);
    for p in &r.properties { if !p.holds { println!("  {} FAILS {}", p.name, p.says); if let Some(t) = &p.counterexample { for (i,s) in t.states.iter().enumerate().take(14) { println!("   {i} {s}"); } println!("   {} repeats {:?}", t.states.len(), t.repeats_from); } } }
}
fn main() {
    for (n, g, p) in [(4,2,1),(4,2,2),(6,3,1),(6,3,2),(6,3,3),(8,4,1),(8,4,2),(8,4,4)] {
        let t = std::time::Instant::now();
        let i = Instance::with_delays(n, 2, g, [0]).unwrap();
        let r = asynchronous::check(&i, Clocking::for_ring(n, p), Scheduler::Central, Limits::default(), &Control::default()).unwrap();
        show(&r); println!("{:?}", t.elapsed());
    }
    let i = Instance::with_delays(4, 2, 2, 0..4).unwrap();
    for c in [Clocking::for_ring(4,1), Clocking{every_start:true, ..Clocking::for_ring(4,1)}, Clocking{previous:false, ..Clocking::for_ring(4,1)}, Clocking{modulus:4, ..Clocking::for_ring(4,1)}, Clocking{modulus:3, ..Clocking::for_ring(4,1)}, Clocking{modulus:5, ..Clocking::for_ring(4,1)},  Clocking{modulus:2, ..Clocking::for_ring(4,1)}] {
        for s in [Scheduler::Central, Scheduler::Distributed] {
        let t = std::time::Instant::now();
        let r = asynchronous::check(&i, c, s, Limits::default(), &Control::default()).unwrap();
        show(&r); println!("{:?}", t.elapsed());
    } }
    for c in 3..=3 { for v in [5, 6] {
        let t = std::time::Instant::now();
        let r = handover::check(v, c, Limits::default(), &Control::default()).unwrap();
        show(&r); println!("{:?}", t.elapsed());
    }}
}
