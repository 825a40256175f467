//! What a node does with what it knows: looks which tokens are here, and takes the steps of
//! the ring's [`Rule`]. In lock-step it steps its clock and executes rounds; what it does in
//! a ring of moving blocks is in `block.rs`.

use headway_core::phase_clock::Step;
use headway_core::token_ring::{holds, released};

use crate::config::Grant;
use crate::link::{Link, Tick};
use crate::permit::{Stage, Token};
use crate::wire::Released;
use crate::{Machine, Rule};

/// How many steps one call makes at most. In good order a call makes two; a recovery
/// continues in the next calls.
const MAX_STEPS: usize = 8;

impl Machine {
    /// Goes as far as what is known allows.
    pub(crate) fn advance(&mut self) {
        if !self.joined() && !self.join() {
            return;
        }
        for _ in 0..MAX_STEPS {
            self.observe();
            let made = match self.config.plan.rule() {
                Rule::LockStep => self.step(),
                Rule::MovingBlock => self.step_by_block(),
            };
            if !made {
                return;
            }
        }
        self.observe();
        self.unfinished = true;
    }

    /// Looks which tokens are here.
    fn observe(&mut self) {
        let state = &mut self.state;
        for token in state.tokens.iter_mut() {
            if token.stage == Stage::Working && token.blocked(self.now, &self.times).is_none() {
                token.withdraw(self.now);
            }
        }
        // A node that was just restored hears from its neighbours soon enough.
        if state.links.iter().any(|link| !link.known) {
            return;
        }
        let rule = self.config.plan.rule();
        if rule == Rule::LockStep && !self.in_step() {
            self.trouble();
        }
        let state = &mut self.state;
        let predecessor = &state.links[0];
        let tick = match rule {
            Rule::LockStep => predecessor.tick_at(state.phase, self.domain.clock, &self.config),
            Rule::MovingBlock => Some(Tick::Current),
        };
        let Some(tick) = tick else {
            return;
        };
        let separation = state.program.separation(&self.config);
        let unclean = |token: &&Token| !token.clean_by_block();
        let mut unclean_count = state.tokens.iter().filter(unclean).count();
        let mut lost = false;
        for (index, token) in state.tokens.iter_mut().enumerate() {
            let theirs = predecessor.value(index, tick);
            let held = holds(token.value, theirs, self.config.index == 0);
            if held && token.rounds == 0 {
                let settled = match rule {
                    Rule::LockStep => {
                        let verdict = &mut state.verdict;
                        verdict.arrival(token.arrived, separation, &self.config);
                        token.arrive();
                        verdict.settled(&self.config)
                    }
                    Rule::MovingBlock => {
                        unclean_count -= usize::from(unclean(&&*token));
                        token.arrive_by_block(self.config.plan.nodes());
                        unclean_count += usize::from(unclean(&&*token));
                        state.moved_at = self.now;
                        unclean_count == 0
                    }
                };
                state
                    .payloads
                    .set(index, state.arriving_payloads.get(index));
                if self.config.grant == Grant::Always || settled {
                    token.stage = Stage::Working;
                    token.since = self.now;
                }
            } else if !held && token.rounds > 0 {
                token.leave();
                lost = true;
            }
        }
        if lost {
            self.trouble();
        }
    }

    /// Something is not legitimate: no permit is to be used until it is again.
    pub(crate) fn trouble(&mut self) {
        self.state.verdict.wrong();
        if self.config.plan.rule() == Rule::MovingBlock {
            for token in self.state.tokens.iter_mut() {
                token.arrived = 0;
            }
        }
        if self.config.grant == Grant::WhenSettled {
            for token in self.state.tokens.iter_mut() {
                token.withdraw(self.now);
            }
        }
    }

    /// Whether the clock is in step with neighbours that are all known.
    fn in_step(&self) -> bool {
        let mut links = self.state.links.iter();
        links.all(|link| self.domain.clock.in_step(self.state.phase, link.phase))
    }

    /// One step of the clock, and the round that goes with it. Whether it was made.
    fn step(&mut self) -> bool {
        let links = &self.state.links;
        if links.iter().any(|link| !link.known) {
            return false;
        }
        let mut phases = [0; 2];
        for (phase, link) in phases.iter_mut().zip(links.iter()) {
            *phase = link.phase;
        }
        let clock = self.domain.clock;
        let Some(step) = clock.step(self.state.phase, &phases[..links.len()]) else {
            return false;
        };
        if self.state.phase <= 0 && !links.iter().all(|link| link.acknowledged) {
            return false;
        }
        if step == Step::Tick && !self.tick() {
            return false;
        }
        if step != Step::Tick {
            self.state.released = None;
            self.resets += u64::from(step == Step::Reset);
            self.trouble();
        }
        self.state.phase = clock.stepped(self.state.phase, step);
        self.state.ticked = self.now;
        if self.state.phase <= 0 {
            self.state.links.iter_mut().for_each(Link::ask);
        }
        self.transmit_all();
        true
    }

    /// What there is to do before the clock ticks. Whether it may.
    fn tick(&mut self) -> bool {
        if !self.pause_over(self.state.ticked, self.times.tick) {
            return false;
        }
        let state = &mut self.state;
        let next = self.domain.clock.after(state.phase);
        if next % self.config.plan.pace() as i32 != 0 {
            state.released = None;
            return true;
        }
        let here = |rounds: fn(u32) -> bool| {
            let tokens = state.tokens.iter();
            tokens.filter(|token| rounds(token.rounds)).count() as u32
        };
        let (held, arriving) = (here(|rounds| rounds > 0), here(|rounds| rounds == 1));
        let (mut program, releases) = state.program.round(held, arriving, &self.config);
        let mut change = None;
        if releases {
            let here = |token: &Token| token.rounds > 0;
            let index = self.next_token(here).unwrap_or(program.turn as usize);
            let token = &self.state.tokens[index];
            if token.blocked(self.now, &self.times).is_some() {
                return false;
            }
            change = Some(Released {
                token: index as u16,
                previous: token.value,
            });
            self.pass_on(index);
            program.turn = self.state.program.turn;
        }
        let state = &mut self.state;
        state.released = change;
        state.program = program;
        state.rounds = state.rounds.wrapping_add(1);
        state.verdict.round();
        for token in state.tokens.iter_mut() {
            token.arrived = token.arrived.saturating_add(1);
            let rests = token.rounds > 0;
            if rests {
                token.rounds = token.rounds.saturating_add(1);
            }
            let late = token.arrived > self.config.plan.nodes();
            if rests || late {
                state.verdict.wrong();
            }
        }
        true
    }

    /// The first token in turn of which this is true.
    pub(crate) fn next_token(&self, is: impl Fn(&Token) -> bool) -> Option<usize> {
        let tokens = self.state.tokens.len();
        let turn = self.state.program.turn as usize;
        (0..tokens)
            .map(|offset| (turn + offset) % tokens)
            .find(|&token| is(&self.state.tokens[token]))
    }

    /// Passes a token on, by one write to the own value.
    pub(crate) fn pass_on(&mut self, index: usize) {
        let state = &mut self.state;
        let predecessor = &state.links[0];
        let tick = match self.config.plan.rule() {
            Rule::LockStep => predecessor.tick_at(state.phase, self.domain.clock, &self.config),
            Rule::MovingBlock => None,
        };
        let theirs = predecessor.value(index, tick.unwrap_or(Tick::Current));
        let token = &mut state.tokens[index];
        token.leave();
        let first = self.config.index == 0;
        token.value = released(token.value, theirs, first, self.domain.values);
        state.program.turn = (index as u32 + 1) % self.config.plan.tokens();
        state.hops = state.hops.wrapping_add(1);
    }
}
