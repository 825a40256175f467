//! scratch
use headway_check::export::*;
use headway_check::model::delay_relay::Instance;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let l: Language = a[1].parse().unwrap();
    let p = |i: usize| a[i].parse::<usize>().unwrap();
    let s = if a[2] == "k" { Source::KState { processes: p(3), values: p(4) as u32 } } else if a.len() > 5 { Source::DelayRelay(Instance::with_delays(p(2), p(3), p(4) as u32, a[5].split(',').map(|x| x.parse().unwrap())).unwrap()) } else { Source::DelayRelay(Instance::uniform(p(2), p(3), p(4) as u32).unwrap()) };
    print!("{}", export(&s, l));
}
