//! A ring while it runs: what is done to it, and what is seen of it.

use std::time::Duration;

use headway_stage::live_ring::{Carrier, LiveRing, NodeSample};
use headway_stage::observer::Permit;
use strum::VariantArray as _;

use super::order::{Chance, Fault, HELP, Order, span};
use super::summary::Summary;
use crate::report::count;

/// The ring is looked at this often.
pub(super) const SAMPLE: Duration = Duration::from_millis(10);

/// How long rates are averaged over.
const RATE_OVER: Duration = Duration::from_secs(1);

/// A ring that runs, seen from outside.
pub(super) struct Session {
    ring: LiveRing,
    /// To come, the next one last.
    faults: Vec<Fault>,
    duration: Option<Duration>,
    nodes: Vec<NodeSample>,
    news: Vec<String>,
    events: Vec<(Duration, String)>,
    violations_told: usize,
    rate: Rate,
    settled: bool,
    quit: bool,
}

/// How fast it goes.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    at: Duration,
    rounds: u64,
    hops: u64,
    rounds_per_second: f64,
    hops_per_second: f64,
}

/// What is at one place of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Quiet,
    Unsettled,
    Dead,
    Permit(u32),
}

impl Session {
    pub(super) fn new(
        ring: LiveRing,
        mut faults: Vec<Fault>,
        duration: Option<Duration>,
    ) -> Session {
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.at));
        Session {
            ring,
            faults,
            duration,
            nodes: Vec::new(),
            news: Vec::new(),
            events: Vec::new(),
            violations_told: 0,
            rate: Rate::default(),
            settled: false,
            quit: false,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.ring.now()
    }

    /// Does what is due and looks at the ring. Whether it goes on.
    pub(super) fn step(&mut self) -> bool {
        let now = self.now();
        while let Some(fault) = self.faults.pop_if(|fault| fault.at <= now) {
            self.carry_out(&fault.order);
        }
        self.nodes = self.ring.sample();
        self.note_settling();
        self.note_violations();
        self.measure_rate();
        !self.quit && self.duration.is_none_or(|duration| self.now() < duration)
    }

    /// Somebody has typed a line.
    pub(super) fn type_in(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        match line.parse::<Order>() {
            Ok(order) => self.carry_out(&order),
            Err(error) => self.news.push(error),
        }
    }

    fn carry_out(&mut self, order: &Order) {
        match order {
            Order::Help => self.news.push(HELP.to_owned()),
            Order::Quit => self.quit = true,
            order => {
                let done = order.carry_out(&mut self.ring);
                let now = self.now();
                let remark = match done {
                    Ok(()) => order.to_string(),
                    Err(error) => format!("{order} was not done: {error}"),
                };
                self.news.push(format!("{} {remark}", clock(now)));
                self.events.push((now, remark));
            }
        }
    }

    fn note_settling(&mut self) {
        let settled = self.ring.observer().is_settled();
        if settled && !self.settled {
            let now = self.now();
            let fault = self
                .ring
                .observer()
                .recoveries()
                .last()
                .map(|fault| fault.at);
            let since = fault.unwrap_or_default();
            let rounds = self.ring.recovery_rounds().last();
            let rounds = rounds.map_or(0, |&(_, rounds)| rounds);
            let took = (now - since).as_secs_f64();
            self.news.push(format!(
                "{} settled, after {took:.3} s and {}",
                clock(now),
                count(rounds, "round")
            ));
        }
        self.settled = settled;
    }

    fn note_violations(&mut self) {
        let observer = self.ring.observer();
        let new = &observer.violations()[self.violations_told..];
        self.violations_told += new.len();
        let new = new.iter().map(|violation| format!("VIOLATION {violation}"));
        self.news.extend(new);
    }

    fn measure_rate(&mut self) {
        let now = self.now();
        let passed = now - self.rate.at;
        if passed < RATE_OVER {
            return;
        }
        let (rounds, hops) = (self.rounds(), self.hops());
        let per_second = |new: u64, old: u64| new.saturating_sub(old) as f64 / passed.as_secs_f64();
        self.rate = Rate {
            at: now,
            rounds,
            hops,
            rounds_per_second: per_second(rounds, self.rate.rounds),
            hops_per_second: per_second(hops, self.rate.hops),
        };
    }

    /// What has happened since this was last asked.
    pub(super) fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    fn rounds(&self) -> u64 {
        let rounds = self.nodes.iter().map(|node| node.rounds);
        rounds.max().unwrap_or_default()
    }

    fn hops(&self) -> u64 {
        self.nodes.iter().map(|node| node.hops).sum()
    }

    /// The ring in a sentence.
    pub(super) fn title(&self) -> String {
        let settings = self.ring.settings();
        let plan = settings.plan;
        let over = match settings.carrier {
            Carrier::Memory => "memory",
            Carrier::Udp => "UDP sockets",
        };
        let keyed = if settings.key.authenticates() {
            "authenticated"
        } else {
            "not authenticated"
        };
        let pace = match plan.pace() {
            1 => "a round every tick".to_owned(),
            pace => format!("a round every {pace} ticks"),
        };
        format!(
            "{} over {over}, {keyed}; {} at least {} apart: {} apart in rounds, {pace}, room for {}; seed {}",
            count(u64::from(plan.nodes()), "node"),
            count(u64::from(plan.tokens()), "token"),
            plan.wanted(),
            plan.separation(),
            plan.capacity(),
            settings.seed,
        )
    }

    /// What the network does to datagrams, in words.
    pub(super) fn weather(&self) -> String {
        let mut faults = self.ring.faults().faults();
        let mut words = Vec::new();
        for chance in Chance::VARIANTS {
            let probability = *chance.of(&mut faults);
            if probability > 0.0 {
                words.push(format!("{chance} {probability}"));
            }
        }
        if !faults.delay.is_zero() {
            words.push(format!("delay up to {}", span(faults.delay)));
        }
        let cut = faults.cut.iter().filter(|(from, to)| from < to);
        words.extend(cut.map(|(from, to)| format!("cut {from}|{to}")));
        if words.is_empty() {
            "good".to_owned()
        } else {
            words.join(", ")
        }
    }

    pub(super) fn permits(&self) -> Vec<Permit> {
        let mut permits = self.ring.observer().permits().to_vec();
        permits.sort_by_key(|permit| permit.node);
        permits
    }

    /// The ring, `group` nodes in one place.
    pub(super) fn places(&self, group: usize) -> Vec<Place> {
        let mut places: Vec<Place> = self
            .nodes
            .chunks(group.max(1))
            .map(|nodes| {
                if nodes.iter().any(|node| !node.alive) {
                    Place::Dead
                } else if nodes.iter().all(|node| node.settled) {
                    Place::Quiet
                } else {
                    Place::Unsettled
                }
            })
            .collect();
        for permit in self.permits() {
            if let Some(place) = places.get_mut(permit.node as usize / group.max(1)) {
                *place = Place::Permit(permit.token);
            }
        }
        places
    }

    /// Distances between the permits in use now, and the least of all.
    pub(super) fn distances(&self) -> (Vec<u32>, Option<u32>) {
        let permits = self.permits();
        let observer = self.ring.observer();
        // Round the ring; of two permits there is one distance.
        let pairs = match permits.len() {
            many @ 3.. => many,
            few => few.saturating_sub(1),
        };
        let next = permits.iter().cycle().skip(1);
        let apart = permits.iter().zip(next).take(pairs);
        let apart = apart.map(|(one, other)| observer.distance(one.node, other.node));
        (apart.collect(), observer.least_distance())
    }

    /// Settled or not, and how fast.
    pub(super) fn state(&self) -> String {
        let dead = self.nodes.iter().filter(|node| !node.alive).count();
        let deaf = self
            .nodes
            .iter()
            .filter(|node| node.alive && node.deaf)
            .count();
        let settled = self.nodes.iter().filter(|node| node.settled).count();
        let mut state = if self.settled {
            "settled".to_owned()
        } else {
            format!("{settled} of {} nodes settled", self.nodes.len())
        };
        if dead > 0 {
            state = format!("{state}, {dead} dead");
        }
        if deaf > 0 {
            state = format!("{state}, {deaf} do not hear a neighbour");
        }
        state
    }

    pub(super) fn speed(&self) -> String {
        format!(
            "{:.0} rounds/s, {:.0} hops/s",
            self.rate.rounds_per_second, self.rate.hops_per_second
        )
    }

    pub(super) fn closest(&self) -> String {
        match self.distances().1 {
            Some(hops) => format!("closest so far {hops}"),
            None => "no two permits at once yet".to_owned(),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// One line for a log.
    pub(super) fn line(&self) -> String {
        let group = self.nodes.len().div_ceil(64);
        let ring: String = self.places(group).into_iter().map(letter).collect();
        format!(
            "{} {ring}  {}; {}; {}",
            clock(self.now()),
            self.state(),
            self.speed(),
            self.closest()
        )
    }

    /// Stops the ring and sums up.
    pub(super) fn finish(mut self) -> Summary {
        let nodes = self.ring.sample();
        let (title, elapsed) = (self.title(), self.now());
        self.ring.stop();
        let observer = self.ring.observer().clone();
        Summary {
            title,
            observer,
            ring: self.ring,
            nodes,
            elapsed,
            events: self.events,
        }
    }
}

/// How a place is written.
pub(super) fn letter(place: Place) -> char {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    match place {
        Place::Quiet => '·',
        Place::Unsettled => '~',
        Place::Dead => '×',
        Place::Permit(token) => LETTERS.get(token as usize).map_or('#', |&c| char::from(c)),
    }
}

fn clock(now: Duration) -> String {
    format!("{:8.3} s", now.as_secs_f64())
}
