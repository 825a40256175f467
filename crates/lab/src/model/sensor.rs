//! A ring of sensors with drifting clocks and a lossy radio (paper, section 5.2).
//!
//! Tokens are the definitional ones: every node sends the values of all token
//! rings to its successor once a round, and works with what it heard last. Rounds
//! are kept by local clocks, each of which drifts at a rate of its own and jumps
//! forward to any later time it hears (so all follow the fastest, from whatever
//! they showed at the start). The radio is off except around the time at which the
//! predecessor's message is due; a node that has heard nothing for a few rounds
//! listens all the time until it does. A message that is not acknowledged is sent
//! again, a few times; acknowledgements are not lost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headway_core::Separation;
use headway_sim::seed::{Purpose, Random};

use super::definitional::{TokenRings, closest, moved};
use super::{CellError, Engine, Model, NewSampler, Sampled, Sampler, axes, measures, share};
use crate::cell::Cell;

/// A round, by the local clock.
const ROUND_US: i64 = 60_000_000;
/// How far clocks of neighbours may differ for a message to be heard.
const GUARD_US: i64 = 20_000;
/// From one attempt to send to the next.
const SLOT_US: i64 = 10_000;
/// A message on the air.
const MESSAGE_US: i64 = 4_000;
/// A node that has heard nothing for this many rounds listens all the time.
const SILENCE_ROUNDS: u32 = 3;
/// Power of a usual low-power radio: sending and listening, in microwatts.
const SEND_UW: i64 = 52_000;
const LISTEN_UW: i64 = 56_000;
/// The wait for recovery ends after this many turns.
const GIVE_UP_TURNS: u64 = 30;
/// D1 to D3 are counted over this many rounds after that.
const COUNTED_ROUNDS: u64 = 200;

measures! {
    enum Measured {
        D1Fails share "d1_fails" "share of rounds without exactly m tokens"
        D2Fails share "d2_fails" "share of rounds with tokens closer than d"
        D3Fails share "d3_fails" "share of rounds in which a token does not move on by one"
        AnyFails share "any_fails" "share of rounds in which any of the three fails"
        Energy count "energy_uj"
            "energy of the radio per node and round in the long run, in microjoules"
        Recovery count "recovery" "rounds from a random state until all three hold for a turn"
    }
}

/// The sensor network.
pub(super) const MODEL: Model = Model {
    name: "sensor-network",
    axes: axes! {
        "processes", "n", "16", Number(2, 1 << 10), "sensors on the ring";
        "tokens", "m", "2", Number(1, 1 << 8), "tokens";
        "separation", "d", "n/m-2", Number(1, 1 << 10),
            "hops to keep between successive tokens";
        "loss_percent", "loss", "0", Number(0, 100), "messages lost, of a hundred";
        "retransmissions", "retransmissions", "0", Number(0, 100),
            "how often an unacknowledged message is sent again at most";
        "drift_ppm", "drift", "20", Number(0, 100_000),
            "clocks are off by up to this many millionths, either way";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], _: Engine) -> NewSampler {
    let (n, m) = (cell.number("processes"), cell.number("tokens"));
    let separation = Separation::new(cell.number("separation") as u32)
        .filter(|separation| separation.fits(n as u64, m as u64))
        .ok_or_else(|| CellError::new("separation", "the tokens do not fit: m·d > n"))?;
    Ok(Box::new(SensorSampler {
        processes: n as usize,
        tokens: m as usize,
        separation,
        loss_percent: cell.number("loss_percent") as u64,
        attempts: cell.number("retransmissions") + 1,
        drift_ppm: cell.number("drift_ppm"),
        wanted: Measured::at(wanted),
    }))
}

struct SensorSampler {
    processes: usize,
    tokens: usize,
    separation: Separation,
    loss_percent: u64,
    attempts: i64,
    drift_ppm: i64,
    wanted: Vec<Measured>,
}

impl Sampler for SensorSampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let observed = Network::new(self, seed).run();
        let counted = |fails: u64| share(fails, COUNTED_ROUNDS);
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::D1Fails => counted(observed.fails[0]),
                Measured::D2Fails => counted(observed.fails[1]),
                Measured::D3Fails => counted(observed.fails[2]),
                Measured::AnyFails => counted(observed.any_fails),
                Measured::Energy => Some(observed.energy_uj),
                Measured::Recovery => observed.recovery.map(|rounds| rounds as i64),
            };
        }
        Ok(())
    }
}

/// A node's clock: what it showed at some time, and its rate.
#[derive(Clone, Copy)]
struct Clock {
    at_us: i64,
    shows_us: i64,
    rate_ppm: i64,
}

impl Clock {
    fn read(&self, now_us: i64) -> i64 {
        let passed = i128::from(now_us - self.at_us) * i128::from(1_000_000 + self.rate_ppm);
        self.shows_us + (passed / 1_000_000) as i64
    }

    /// When it will show a time.
    fn when(&self, shows_us: i64) -> i64 {
        let to_pass = i128::from(shows_us - self.shows_us) * 1_000_000;
        let rate = i128::from(1_000_000 + self.rate_ppm);
        self.at_us + ((to_pass + rate - 1).div_euclid(rate)) as i64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A round begins at a node, unless its clock has jumped since.
    Round { node: usize, jumps: u32 },
    /// A node sends, for the k-th time in this round.
    Send { node: usize, attempt: i64 },
    /// The observer looks.
    Look,
}

struct Network<'a> {
    sampler: &'a SensorSampler,
    random: Random,
    rings: TokenRings,
    clocks: Vec<Clock>,
    /// The round each node is in, by its own clock.
    rounds: Vec<i64>,
    jumps: Vec<u32>,
    heard: Vec<Vec<u32>>,
    silence: Vec<u32>,
    agenda: BinaryHeap<Reverse<(i64, Happening)>>,
    sent: u64,
    listened_us: i64,
    observer: Observer,
}

#[derive(Default)]
struct Observer {
    looks: u64,
    next_us: i64,
    before: Option<Vec<usize>>,
    good_since: Option<u64>,
    recovery: Option<u64>,
    fails: [u64; 3],
    any_fails: u64,
    energy_uj: i64,
}

impl<'a> Network<'a> {
    /// Everything anything: values, counters, what was heard, clocks.
    fn new(sampler: &'a SensorSampler, seed: u64) -> Network<'a> {
        let (n, m) = (sampler.processes, sampler.tokens);
        let mut random = Random::new(seed, Purpose::Other(0));
        let rings = TokenRings::random(n, m, sampler.separation, seed);
        let clocks: Vec<Clock> = (0..n)
            .map(|_| Clock {
                at_us: 0,
                shows_us: random.below(10 * ROUND_US as u64) as i64,
                rate_ppm: random.below(2 * sampler.drift_ppm as u64 + 1) as i64 - sampler.drift_ppm,
            })
            .collect();
        let modulus = u64::from(rings.modulus);
        let heard = (0..n).map(|_| (0..m).map(|_| random.below(modulus) as u32).collect());
        let mut network = Network {
            heard: heard.collect(),
            random,
            rounds: clocks
                .iter()
                .map(|clock| clock.shows_us / ROUND_US)
                .collect(),
            clocks,
            jumps: vec![0; n],
            silence: vec![SILENCE_ROUNDS; n],
            agenda: BinaryHeap::new(),
            sent: 0,
            listened_us: 0,
            observer: Observer::default(),
            rings,
            sampler,
        };
        for node in 0..n {
            network.expect_round(node);
        }
        network.expect_look(0);
        network
    }

    fn run(mut self) -> Observer {
        let until = GIVE_UP_TURNS * self.clocks.len() as u64 + COUNTED_ROUNDS;
        while self.observer.looks < until
            && let Some(Reverse((now_us, happening))) = self.agenda.pop()
        {
            match happening {
                Happening::Round { node, jumps } if jumps == self.jumps[node] => {
                    self.begin_round(node, now_us);
                    self.expect_round(node);
                }
                Happening::Round { .. } => {}
                Happening::Send { node, attempt } => self.send(node, attempt, now_us),
                Happening::Look => self.look(now_us),
            }
        }
        let rounds = COUNTED_ROUNDS as i64 * self.clocks.len() as i64;
        let joules = |microwatts: i64, us: i64| i128::from(microwatts) * i128::from(us) / 1_000_000;
        let sending = joules(SEND_UW, self.sent as i64 * MESSAGE_US);
        let listening = joules(LISTEN_UW, self.listened_us);
        self.observer.energy_uj = ((sending + listening) / i128::from(rounds)) as i64;
        self.observer
    }

    fn expect_round(&mut self, node: usize) {
        let at = self.clocks[node].when((self.rounds[node] + 1) * ROUND_US);
        let jumps = self.jumps[node];
        self.agenda
            .push(Reverse((at, Happening::Round { node, jumps })));
    }

    fn begin_round(&mut self, node: usize, now_us: i64) {
        self.rounds[node] = self.clocks[node].read(now_us) / ROUND_US;
        let heard = std::mem::take(&mut self.heard[node]);
        self.rings.step(node, &heard);
        self.heard[node] = heard;
        self.silence[node] = self.silence[node].saturating_add(1);
        self.listened_us += if self.listens_always(node) {
            ROUND_US
        } else {
            self.window_us()
        };
        let send = Happening::Send { node, attempt: 1 };
        self.agenda.push(Reverse((now_us + GUARD_US, send)));
    }

    fn listens_always(&self, node: usize) -> bool {
        self.silence[node] > SILENCE_ROUNDS
    }

    /// For how long a node listens from the beginning of a round.
    fn window_us(&self) -> i64 {
        2 * GUARD_US + self.sampler.attempts * SLOT_US
    }

    fn send(&mut self, node: usize, attempt: i64, now_us: i64) {
        self.sent += 1;
        let next = (node + 1) % self.clocks.len();
        let arrives = now_us + MESSAGE_US;
        let phase = self.clocks[next].read(arrives).rem_euclid(ROUND_US);
        let listening = phase < self.window_us() || self.listens_always(next);
        let lost = self.random.chance(self.sampler.loss_percent, 100);
        if listening && !lost {
            self.hear(node, next, arrives);
        } else if attempt < self.sampler.attempts {
            let again = Happening::Send {
                node,
                attempt: attempt + 1,
            };
            self.agenda.push(Reverse((now_us + SLOT_US, again)));
        }
    }

    fn hear(&mut self, from: usize, node: usize, now_us: i64) {
        let m = self.rings.tokens;
        self.heard[node].copy_from_slice(&self.rings.values[from * m..(from + 1) * m]);
        self.silence[node] = 0;
        let theirs = self.clocks[from].read(now_us);
        if theirs > self.clocks[node].read(now_us) {
            self.clocks[node].at_us = now_us;
            self.clocks[node].shows_us = theirs;
            self.jumps[node] += 1;
            // Over a boundary: that round begins now.
            if theirs / ROUND_US > self.rounds[node] {
                self.begin_round(node, now_us);
            }
            self.expect_round(node);
        }
    }

    /// The observer looks in the middle of every round of the clock that is most
    /// ahead.
    fn expect_look(&mut self, now_us: i64) {
        let ahead = self.clocks.iter().max_by_key(|clock| clock.read(now_us));
        let at = ahead.map_or(now_us, |clock| clock.when(self.observer.next_us));
        self.agenda
            .push(Reverse((at.max(now_us + 1), Happening::Look)));
    }

    fn look(&mut self, now_us: i64) {
        let ahead = self.clocks.iter().map(|clock| clock.read(now_us)).max();
        let ahead = ahead.unwrap_or(0);
        if ahead >= self.observer.next_us {
            self.judge();
            let round = (ahead - ROUND_US / 2).div_euclid(ROUND_US);
            self.observer.next_us = (round + 1) * ROUND_US + ROUND_US / 2;
        }
        self.expect_look(now_us);
    }

    fn judge(&mut self) {
        let n = self.clocks.len();
        let places = self.rings.places();
        let all: Vec<usize> = match &places {
            Some(places) => places.clone(),
            None => (0..self.rings.tokens)
                .flat_map(|token| self.rings.holders(token))
                .collect(),
        };
        let d = self.sampler.separation.hops() as usize;
        let moved_on = match (&self.observer.before, &places) {
            (Some(before), Some(places)) => moved(before, places, n),
            _ => false,
        };
        let holds = [places.is_some(), closest(&all, n) >= d, moved_on];
        let good = holds.iter().all(|&holds| holds);
        let observer = &mut self.observer;
        let round = observer.looks;
        observer.looks += 1;
        observer.good_since = good.then(|| observer.good_since.unwrap_or(round));
        if observer.recovery.is_none() {
            observer.recovery = observer
                .good_since
                .filter(|since| round - since >= n as u64);
        }
        if round == GIVE_UP_TURNS * n as u64 {
            (self.sent, self.listened_us) = (0, 0);
        }
        if round >= GIVE_UP_TURNS * n as u64 {
            for (fails, holds) in observer.fails.iter_mut().zip(holds) {
                *fails += u64::from(!holds);
            }
            observer.any_fails += u64::from(!good);
        }
        observer.before = places;
    }
}
