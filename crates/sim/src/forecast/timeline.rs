//! Every wait of every token.

use headway_core::Round;

use super::settle::Group;
use super::sites::Visitor;
use super::{Forecast, Shape};

/// What is needed to ask about single rounds and tokens.
///
/// Positions are those of the unrolled ring (`sites.rs`); *blocks* are its
/// stretches of relays with the delay that ends each, numbered on and on over the
/// turns. Keys are β + m·d as in `settle.rs`.
#[derive(Clone, Debug)]
pub struct Timeline<'a> {
    pub(super) forecast: &'a Forecast<'a>,
    /// The delays of one turn.
    pub(super) delays: Vec<Delay>,
    /// The groups in block j are `block_groups[j]..block_groups[j+1]`.
    pub(super) block_groups: Vec<usize>,
    pub(super) groups: Vec<TimelineGroup>,
}

/// A delay and its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    pub(super) at: u64,
    pub(super) counter: u32,
    /// The largest key in the block.
    pub(super) key: i128,
    /// How many blocks further on the next larger key is; 0 if there is none.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TimelineGroup {
    pub(super) group: Group,
    pub(super) block: usize,
    /// 1 - x - l, plus m: what a pile here means to tokens that pass relays only.
    pub(super) relay_key: i128,
    /// The largest relay key in the block from its beginning to here.
    pub(super) relay_max: i128,
    /// The first block, counted on from the group's own, with a key larger than
    /// the group's `own`; 0 if there is none.
    next: u32,
}

/// A token rests at a process after each of the rounds `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Which token, as numbered in [`headway_core::tokens::Tokens`].
    pub token: u64,
    /// Where.
    pub process: u64,
    /// The first round after which it rests there; 0: it did at the start.
    pub from: Round,
    /// The last one; it is released in the next.
    pub to: Round,
}

impl Wait {
    /// How many states it rests in; as many rounds late it will be.
    fn rounds(&self) -> u64 {
        self.to - self.from + 1
    }
}

impl<'a> Timeline<'a> {
    pub(super) fn new(forecast: &'a Forecast<'a>) -> Timeline<'a> {
        let mut build = Build {
            shape: forecast.shape,
            settled: &forecast.settling.groups,
            delays: Vec::new(),
            block_groups: vec![0],
            groups: Vec::with_capacity(forecast.settling.groups.len()),
        };
        forecast.sites.scan(forecast.shape.from, &mut build);
        build.link();
        Timeline {
            forecast,
            delays: build.delays,
            block_groups: build.block_groups,
            groups: build.groups,
        }
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.forecast.shape
    }

    /// All waits that begin no later than `until`, token by token, each token's in
    /// order of time. On a ring that settles there are finitely many, so `until`
    /// may be as large as one likes.
    pub fn waits(&self, until: Round) -> impl Iterator<Item = Wait> + '_ {
        (0..self.shape().tokens).flat_map(move |number| {
            self.waits_of(self.shape().token(number))
                .take_while(move |wait| wait.from <= until)
        })
    }

    /// The way of a token, by its number in [`headway_core::tokens::Tokens`], as
    /// far as `until`.
    ///
    /// # Panics
    ///
    /// When there is no such token.
    pub fn trajectory(&self, token: u64, until: Round) -> Trajectory {
        assert!(token < self.shape().tokens, "there is no token {token}");
        self.way_of(self.shape().token(token), until)
    }

    /// The way of a token of the unrolled ring.
    pub(super) fn way_of(&self, token: u64, until: Round) -> Trajectory {
        let walker = self.waits_of(token);
        let start = walker.start;
        let waits: Vec<Wait> = walker.take_while(|wait| wait.from <= until).collect();
        let mut rested = 0;
        let rested_before = waits.iter().map(|wait| {
            let before = rested;
            rested += wait.rounds();
            before
        });
        Trajectory {
            shape: *self.shape(),
            start,
            rested_before: rested_before.collect(),
            waits,
        }
    }

    /// The waits of a token of the unrolled ring.
    fn waits_of(&self, token: u64) -> Walker<'_> {
        let group_index = self.group_of(token);
        let TimelineGroup { group, .. } = self.groups[group_index];
        let first = self.shape().tokens - group.tokens_to_here;
        let resting = token - first < u64::from(group.resting);
        Walker {
            line: self,
            token,
            number: self.shape().number(token),
            start: i128::from(group.at) - i128::from(!resting),
            resting,
            group: group_index,
            y: 1 - i128::from(group.at),
            stage: Stage::Start,
        }
    }

    /// Token 0 is in the last group.
    fn group_of(&self, token: u64) -> usize {
        let from_behind = self.shape().tokens - token;
        self.groups
            .partition_point(|entry| entry.group.tokens_to_here < from_behind)
    }

    /// The position of the delay of a block.
    pub(super) fn delay_at(&self, block: i128) -> i128 {
        let (turn, index) = self.turn(block);
        i128::from(self.delays[index].at) + turn * i128::from(self.shape().processes)
    }

    /// The largest key in a block.
    pub(super) fn key(&self, block: i128) -> i128 {
        let (turn, index) = self.turn(block);
        self.delays[index].key - turn * self.shape().turn_loss()
    }

    /// How many turns on a block is, and which one of the turn it is.
    pub(super) fn turn(&self, block: i128) -> (i128, usize) {
        let blocks = self.delays.len() as i128;
        (block.div_euclid(blocks), block.rem_euclid(blocks) as usize)
    }

    /// y at a delay whose window has this maximum.
    pub(super) fn y(&self, token: u64, key: i128) -> i128 {
        let Shape { tokens, pace, .. } = *self.shape();
        key - (i128::from(tokens) - i128::from(token)) * i128::from(pace)
    }

    /// y at a relay whose window has this maximum.
    pub(super) fn relay_y(&self, token: u64, key: i128) -> i128 {
        key - i128::from(self.shape().tokens) + i128::from(token)
    }

    /// The relays of a block where tokens start: the group numbers.
    pub(super) fn relay_groups(&self, index: usize) -> std::ops::Range<usize> {
        let range = self.block_groups[index]..self.block_groups[index + 1];
        match self.groups[range.clone()].last() {
            Some(last) if last.group.at == self.delays[index].at => range.start..range.end - 1,
            _ => range,
        }
    }

    /// What a relay key has gained in so many turns: x grows by n, l falls by m.
    pub(super) fn relay_turns(&self, turns: i128) -> i128 {
        let Shape {
            tokens, processes, ..
        } = *self.shape();
        turns * (i128::from(tokens) - i128::from(processes))
    }
}

/// Follows one token from wait to wait.
struct Walker<'a> {
    line: &'a Timeline<'a>,
    token: u64,
    number: u64,
    /// Where it is in the initial state, unrolled.
    start: i128,
    resting: bool,
    group: usize,
    /// Release rounds less positions, so far.
    y: i128,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Where it starts.
    Start,
    /// On relays where tokens start, from this group up to the block's delay.
    Relays { block: i128, group: usize },
    /// At the delay of a block.
    Delay { block: i128 },
    /// No further waits.
    Done,
}

impl Iterator for Walker<'_> {
    type Item = Wait;

    fn next(&mut self) -> Option<Wait> {
        loop {
            let wait = match self.stage {
                Stage::Start => self.at_start(),
                Stage::Relays { block, group } => self.at_relay(block, group),
                Stage::Delay { block } => self.at_delay(block),
                Stage::Done => return None,
            };
            if wait.is_some() {
                return wait;
            }
        }
    }
}

impl Walker<'_> {
    fn at_start(&mut self) -> Option<Wait> {
        let line = self.line;
        let TimelineGroup {
            group,
            block,
            relay_key,
            ..
        } = line.groups[self.group];
        let at = i128::from(group.at);
        let block_number = block as i128;
        if group.at == line.delays[block].at {
            self.y = line.y(self.token, group.own());
            self.stage = self.after(block_number, line.groups[self.group].next);
        } else {
            self.y = line.relay_y(self.token, relay_key);
            self.stage = Stage::Relays {
                block: block_number,
                group: self.group + 1,
            };
        }
        let released = self.y + at;
        let from = Round::from(!self.resting);
        (self.resting || released > 1).then(|| self.wait(at, from, released))
    }

    fn at_relay(&mut self, block: i128, group: usize) -> Option<Wait> {
        let line = self.line;
        let (turn, index) = line.turn(block);
        if group >= line.relay_groups(index).end {
            self.stage = Stage::Delay { block };
            return None;
        }
        self.stage = Stage::Relays {
            block,
            group: group + 1,
        };
        let entry = &line.groups[group];
        let key = entry.relay_key + line.relay_turns(turn);
        let at = i128::from(entry.group.at) + turn * i128::from(line.shape().processes);
        self.raise(line.relay_y(self.token, key), at)
    }

    fn at_delay(&mut self, block: i128) -> Option<Wait> {
        let line = self.line;
        let (_, index) = line.turn(block);
        let TimelineGroup {
            group,
            block: own,
            next,
            ..
        } = line.groups[self.group];
        let (key, next) = if block == own as i128 {
            (group.own(), next)
        } else {
            (line.key(block), line.delays[index].next)
        };
        self.stage = self.after(block, next);
        self.raise(line.y(self.token, key), line.delay_at(block))
    }

    /// Only blocks with a larger key than all before make a token wait, be it on
    /// the block's relays or at its delay.
    fn after(&self, block: i128, next: u32) -> Stage {
        if next == 0 {
            return Stage::Done;
        }
        let block = block + i128::from(next);
        let (_, index) = self.line.turn(block);
        Stage::Relays {
            block,
            group: self.line.block_groups[index],
        }
    }

    fn raise(&mut self, y: i128, at: i128) -> Option<Wait> {
        if y <= self.y {
            return None;
        }
        let arrives = self.y + at;
        self.y = y;
        Some(self.wait(at, arrives as Round, y + at))
    }

    fn wait(&self, at: i128, from: Round, released: i128) -> Wait {
        Wait {
            token: self.number,
            process: self.line.shape().process(at),
            from,
            to: (released - 1) as Round,
        }
    }
}

/// The way of one token: one hop a round, except while it rests.
#[derive(Clone, Debug)]
pub struct Trajectory {
    shape: Shape,
    start: i128,
    waits: Vec<Wait>,
    /// For every wait, the rounds spent in those before it.
    rested_before: Vec<u64>,
}

impl Trajectory {
    /// The waits, in order of time.
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// The process at which the token is after a round, and whether it rests.
    /// Exact up to the round that the trajectory was asked for.
    pub fn place(&self, round: Round) -> (u64, bool) {
        let begun = self.waits.partition_point(|wait| wait.from <= round);
        let resting = begun > 0 && self.waits[begun - 1].to >= round;
        (self.shape.process(self.position(round)), resting)
    }

    /// The position on the unrolled ring: a hop for every round so far in which
    /// the token did not rest.
    pub(super) fn position(&self, round: Round) -> i128 {
        let rested = match self.waits.partition_point(|wait| wait.from < round) {
            0 => 0,
            begun => {
                let wait = self.waits[begun - 1];
                self.rested_before[begun - 1] + wait.to.min(round - 1) - wait.from + 1
            }
        };
        self.start + i128::from(round) - i128::from(rested)
    }
}

struct Build<'a> {
    shape: Shape,
    settled: &'a [Group],
    delays: Vec<Delay>,
    block_groups: Vec<usize>,
    groups: Vec<TimelineGroup>,
}

impl Visitor for Build<'_> {
    fn tokens(&mut self, at: u64, _: u32, _: u32) {
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
        if !self.shape.starts_delay {
            self.end_block(at, counter);
        }
    }
}

impl Build<'_> {
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
