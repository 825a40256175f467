//! scratch
use headway_check::model::delay_relay::{Instance, reduced};
use headway_check::{Control, Limits};
fn main() {
    let (mut bad, mut tot) = (0, 0);
    for n in 1..=13_usize { for m in 1..=5usize { for d in 1..=8u32 {
        if m * d as usize > n { continue }
        for set in 1..1u64 << n {
            let mask = (1u64 << n) - 1;
            if !(1..n).all(|t| ((set >> t) | (set << (n - t))) & mask >= set) { continue }
            let i = Instance::with_delays(n, m, d, (0..n).filter(|i| set >> i & 1 == 1)).unwrap();
            let a = reduced::explore(&i, Limits::default(), &Control::default()).unwrap();
            let w = a.worst.unwrap().0;
            let ds: Vec<usize> = i.ring().delays().collect();
            let dd = u64::from(d);
            let best = (0..ds.len()).map(|k| {
                let g = if k == 0 { ds[0] + n - ds[ds.len()-1] } else { ds[k] - ds[k-1] } as u64;
                let g1 = if d == 1 || m == 1 { dd } else { g.max(dd) };
                g1 + (dd - 1).saturating_sub(g).max(1)
            }).max().unwrap();
            let f = (m as u64 - 1) * dd + best - 1;
            tot += 1;
            if f != w { bad += 1; if bad < 20 { println!("n{n} m{m} d{d} {ds:?} worst {w} formula {f}"); } }
        }
    }}}
    println!("total {tot} bad {bad}");
}
