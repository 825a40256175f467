//! From one pass over the initial state to blocks and their keys.

use headway_core::Process;

use super::{Delay, TimelineGroup};
use crate::forecast::settle::Group;
use crate::forecast::sites::Visitor;
use crate::forecast::{Forecast, Shape};

/// What a pass has found so far; the fields of [`super::Movement`].
pub(super) struct Build<'a> {
    shape: Shape,
    settled: &'a [Group],
    all_delays: bool,
    /// The largest c - x since tokens last started somewhere. A delay that does not
    /// exceed it makes nobody wait, because every token that passes it has passed the
    /// larger one.
    gap_best: i64,
    pub(super) delays: Vec<Delay>,
    pub(super) block_groups: Vec<usize>,
    pub(super) groups: Vec<TimelineGroup>,
}

impl Visitor for Build<'_> {
    fn tokens(&mut self, at: u64, _: u32, _: u32) {
        self.gap_best = i64::MIN;
        let group = self.settled[self.groups.len()];
        let relay_key = 1 - i128::from(at) + i128::from(group.tokens_to_here);
        let in_block = self.groups.len() > self.block_groups[self.block_groups.len() - 1];
        let relay_max = match self.groups.last() {
            Some(previous) if in_block => previous.relay_max.max(relay_key),
            _ => relay_key,
        };
        self.groups.push(TimelineGroup {
            group,
            block: self.delays.len(),
            relay_key,
            relay_max,
            next: 0,
        });
        if self.shape.starts_delay {
            self.end_block(at, 0);
        }
    }

    fn delay(&mut self, at: u64, counter: u32) {
        let key = i64::from(counter) - at as i64;
        if !self.shape.starts_delay && (self.all_delays || key > self.gap_best) {
            self.gap_best = key;
            self.end_block(at, counter);
        }
    }

    fn delays(&mut self, at: u64, run: &[Process]) {
        for (at, process) in (at..).zip(run) {
            // A counter is below d, so a delay d or more behind cannot exceed the best.
            let none = self.shape.pace as i64 - at as i64 <= self.gap_best;
            if self.shape.starts_delay || (none && !self.all_delays) {
                return;
            }
            self.delay(at, process.counter as u32);
        }
    }
}

impl<'a> Build<'a> {
    pub(super) fn of(forecast: &'a Forecast<'_>, all_delays: bool) -> Build<'a> {
        let mut build = Build {
            shape: forecast.shape,
            settled: &forecast.settling.groups,
            all_delays,
            gap_best: i64::MIN,
            delays: Vec::new(),
            block_groups: vec![0],
            groups: Vec::with_capacity(forecast.settling.groups.len()),
        };
        forecast.sites.scan(forecast.shape.from, &mut build);
        build.link();
        build
    }

    fn end_block(&mut self, at: u64, counter: u32) {
        let open = self.block_groups[self.block_groups.len() - 1];
        let tokens = self
            .groups
            .last()
            .map_or(0, |last| last.group.tokens_to_here);
        let tokens = i128::from(tokens) * i128::from(self.shape.pace);
        let own = i128::from(counter) + 1 - i128::from(at) + tokens;
        // The first group's `own` is the maximum from there to the delay.
        let key = self
            .groups
            .get(open)
            .map_or(own, |first| own.max(first.group.own()));
        self.delays.push(Delay {
            at,
            counter,
            key,
            next: 0,
        });
        self.block_groups.push(self.groups.len());
    }

    /// Finds next larger keys from the back, over two turns: a stack of the blocks
    /// ahead whose keys are larger than all between.
    fn link(&mut self) {
        let blocks = self.delays.len();
        let lost = self.shape.turn_loss();
        let mut stack: Vec<(usize, i128)> = Vec::new();
        for block in (0..2 * blocks).rev() {
            let (turn, index) = (block / blocks, block % blocks);
            let key = self.delays[index].key - turn as i128 * lost;
            if turn == 0 {
                for group in self.block_groups[index]..self.block_groups[index + 1] {
                    // From the block's last group on; keys grow towards the first.
                    let group = self.block_groups[index] + self.block_groups[index + 1] - 1 - group;
                    let own = self.groups[group].group.own();
                    self.groups[group].next = pop_to(&mut stack, own, block);
                }
            }
            let next = pop_to(&mut stack, key, block);
            if turn == 0 {
                self.delays[index].next = next;
            }
            stack.push((block, key));
        }
    }
}

/// Pops what is not larger than `key`; how far ahead the next larger one is.
fn pop_to(stack: &mut Vec<(usize, i128)>, key: i128, block: usize) -> u32 {
    while stack.last().is_some_and(|&(_, other)| other <= key) {
        stack.pop();
    }
    stack.last().map_or(0, |&(other, _)| (other - block) as u32)
}
