//! scratch
use headway_walk::{generators::Generator, bound, formation, kept, tour};
use std::time::Instant;
fn main() {
    let m: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    for spec in std::env::args().skip(2) {
        let n = spec.parse::<Generator>().unwrap().network(1).unwrap();
        let t = Instant::now();
        let b = bound::upper(&n, m).unwrap();
        println!("{spec} V={} bound {} {} {:?}", n.len(), b.distance, b.reason, t.elapsed());
        let s = tour::short(&n, 1, 20*n.len()+20000);
        let t = Instant::now();
        println!("  short {} keeps {:?} {:?}", s.len(), kept::nearest(&n, &s, &kept::Offsets::furthest(s.len(), m)), t.elapsed());
        let mut d = b.distance;
        while d > 0 {
            let t = Instant::now();
            let w = formation::attempt(&n, m, d, 1, 0, 300_000 + 100*n.len());
            println!("  d={d} {:?} {:?}", w.as_ref().map(|w| (w.len(), kept::nearest(&n, w, &kept::Offsets::furthest(w.len(), m)).unwrap().distance)), t.elapsed());
            if w.is_some() { break; }
            d = d * 9/10;
        }
    }
}
