//! scratch
use headway_check::model::*;
use headway_check::*;
fn show(r: &Report) {
    println!("{} {} states {} legit {} cl {} co {} {:?}", r.model, r.instance, r.states, r.legitimate, r.closure, r.convergence, r.worst);
    for p in &r.properties { if !p.holds { println!("  {} FAILS {}", p.name, p.says); if let Some(t) = &p.counterexample { for (i,s) in t.states.iter().enumerate().take(14) { println!("   {i} {s}"); } println!("   {} repeats {:?}", t.states.len(), t.repeats_from); } } }
}
fn main() {
    for (n, m, d, s, mon) in [(4,2,2,4,vec![0]), (6,2,3,4,vec![0]),(6,2,2,4,vec![0]),(6,3,2,4,vec![0]), (4,2,2,4,vec![0,2])] {
        let t = std::time::Instant::now();
        let r = monitor::check(n, m, d, s, &mon, Limits::default(), &Control::default()).unwrap();
        show(&r); println!("{:?}", t.elapsed());
    }
    for c in 1..=2 { for v in 2..=7 {
        let t = std::time::Instant::now();
        let r = handover::check(v, c, Limits::default(), &Control::default()).unwrap();
        show(&r); println!("{:?}", t.elapsed());
    }}
}
