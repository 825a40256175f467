//! scratch
use headway_walk::{generators::Generator, search::*};
use std::time::Instant;
fn main() {
    let m: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    for spec in std::env::args().skip(2) {
        let n = spec.parse::<Generator>().unwrap().network(1).unwrap();
        let t = Instant::now();
        let f = walk(&n, &Request::new(m), &mut |_| {}).unwrap();
        println!("{spec} V={} W={} {:?} bound {} ({}) by {} proved {:?} {:?}", n.len(), f.walk.len(), f.distance(), f.bound.as_ref().unwrap().distance, f.bound.as_ref().unwrap().reason, f.method, f.proved_up_to,  t.elapsed());
    }
}
