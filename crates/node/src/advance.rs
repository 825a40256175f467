//! What a node does with what it knows: looks which tokens are here, steps its clock,
//! executes rounds.

use headway_core::phase_clock::Step;
use headway_core::token_ring::holds;

use crate::config::Grant;
use crate::link::{Link, Tick};
use crate::permit::Stage;
use crate::{Flaw, Machine};

/// How many steps of the clock one call makes at most. In good order a call makes
/// two; the rest of a recovery is made in the next calls.
const MOST_STEPS: usize = 8;

impl Machine {
    /// Goes as far as what is known allows.
    pub(crate) fn advance(&mut self) {
        if !self.joined && !self.join() {
            return;
        }
        for _ in 0..MOST_STEPS {
            self.observe();
            if !self.step() {
                return;
            }
            self.transmit_all();
        }
        self.observe();
        self.unfinished = true;
    }

    /// Looks which tokens are here.
    fn observe(&mut self) {
        for stay in &mut self.stays {
            if stay.stage == Stage::Working && stay.blocked(self.now, &self.times).is_none() {
                stay.withdraw(self.now);
            }
        }
        // A node that was just restored hears from its neighbours soon enough.
        if self.links.iter().any(|link| !link.known) {
            return;
        }
        if !self.in_step() {
            self.trouble();
        }
        let predecessor = &self.links[0];
        let Some(tick) = predecessor.tick_at(self.phase, self.clock, &self.config) else {
            return;
        };
        let separation = self.rule.separation(&self.config);
        let mut lost = false;
        for (token, stay) in self.stays.iter_mut().enumerate() {
            let theirs = predecessor.value(token, tick);
            let held = holds(self.rings.values[token], theirs, self.config.index == 0);
            if held && stay.rounds == 0 {
                stay.rounds = 1;
                self.rings.arrive(token, &self.config);
                self.verdict.arrival(stay.arrived, separation, &self.config);
                stay.arrived = 0;
                let may = self.config.grant == Grant::Always || self.verdict.settled(&self.config);
                if may {
                    stay.stage = Stage::Working;
                    stay.since = self.now;
                }
            } else if !held && stay.rounds > 0 {
                stay.leave();
                lost = true;
            }
        }
        if lost {
            self.trouble();
        }
    }

    /// Something is not legitimate: no permit is to be used until it is again.
    fn trouble(&mut self) {
        self.verdict.wrong();
        if self.config.grant == Grant::WhenSettled {
            for stay in &mut self.stays {
                stay.withdraw(self.now);
            }
        }
    }

    /// Of neighbours that are all known.
    fn in_step(&self) -> bool {
        let mut links = self.links.iter();
        links.all(|link| self.clock.in_step(self.phase, link.phase))
    }

    /// One step of the clock, and the round that goes with it. Whether it was made.
    fn step(&mut self) -> bool {
        self.pausing = false;
        if self.links.iter().any(|link| !link.known) {
            return false;
        }
        let mut phases = [0; 2];
        for (phase, link) in phases.iter_mut().zip(&self.links) {
            *phase = link.phase;
        }
        let step = match self.clock.step(self.phase, &phases[..self.links.len()]) {
            None if self.config.has(Flaw::TickAlone) && self.in_step() => Step::Tick,
            None => return false,
            Some(Step::Reset) if self.config.has(Flaw::NoReset) => return false,
            Some(step) => step,
        };
        let known = self.links.iter().all(|link| link.acknowledged);
        if self.phase <= 0 && !known && !self.config.has(Flaw::NoAcknowledgement) {
            return false;
        }
        if step == Step::Tick && !self.tick() {
            return false;
        }
        if step != Step::Tick {
            self.rings.released = None;
            self.resets += u64::from(step == Step::Reset);
            self.trouble();
        }
        self.phase = self.clock.stepped(self.phase, step);
        self.ticked = self.now;
        if self.phase <= 0 {
            self.links.iter_mut().for_each(Link::ask);
        }
        true
    }

    /// What there is to do before the clock ticks. Whether it may.
    fn tick(&mut self) -> bool {
        if self.now - self.ticked < self.times.tick {
            self.pausing = true;
            return false;
        }
        let next = self.clock.after(self.phase);
        if next % self.config.plan.pace() as i32 != 0 {
            self.rings.released = None;
            return true;
        }
        let predecessor = &self.links[0];
        let tick = predecessor.tick_at(self.phase, self.clock, &self.config);
        let tick = tick.unwrap_or(Tick::Current);
        let held = self.stays.iter().filter(|stay| stay.rounds > 0).count() as u32;
        let arriving = self.stays.iter().filter(|stay| stay.rounds == 1).count() as u32;
        let (mut rule, releases) = self.rule.round(held, arriving, &self.config);
        if releases {
            let token = self.next_token();
            let stay = &mut self.stays[token];
            let blocked = stay.blocked(self.now, &self.times).is_some();
            if blocked && !self.config.has(Flaw::PublishBeforeWorkDone) {
                return false;
            }
            stay.leave();
            rule.turn = (token as u32 + 1) % self.config.plan.tokens();
            let theirs = predecessor.value(token, tick);
            self.rings.release(token, theirs, &self.config);
            self.hops = self.hops.wrapping_add(1);
        } else {
            self.rings.released = None;
        }
        self.rule = rule;
        self.rounds = self.rounds.wrapping_add(1);
        self.verdict.round();
        let turn = self.config.plan.nodes();
        for stay in &mut self.stays {
            stay.arrived = stay.arrived.saturating_add(1);
            let rests = stay.rounds > 0;
            if rests {
                stay.rounds = stay.rounds.saturating_add(1);
            }
            let late = stay.arrived > turn;
            if rests || late {
                self.verdict.wrong();
            }
        }
        true
    }

    /// The token that is released next: the first that is here, in turn.
    fn next_token(&self) -> usize {
        let tokens = self.stays.len();
        let turn = self.rule.turn as usize;
        (0..tokens)
            .map(|offset| (turn + offset) % tokens)
            .find(|&token| self.stays[token].rounds > 0)
            .unwrap_or(turn)
    }
}
