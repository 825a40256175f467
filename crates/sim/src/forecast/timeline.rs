//! Every wait of every token.

use std::ops::Deref;

use headway_core::Round;

use super::settle::Group;
use super::{Forecast, Shape, Trajectory, Wait};

mod build;
mod walker;

use build::Build;
use walker::Walker;

/// Where and when tokens wait, and so where every token is after any round.
///
/// Positions are those of the unrolled ring (`sites.rs`); *blocks* are its
/// stretches of relays with the delay that ends each, numbered on and on over the
/// turns. Keys are β + m·d as in `settle.rs`.
#[derive(Clone, Debug)]
pub struct Movement<'a> {
    pub(super) forecast: &'a Forecast<'a>,
    /// The delays of one turn. One that no token ever waits at may be missing: to
    /// tokens it is a relay.
    pub(super) delays: Vec<Delay>,
    /// The groups in block j are `block_groups[j]..block_groups[j+1]`.
    pub(super) block_groups: Vec<usize>,
    pub(super) groups: Vec<TimelineGroup>,
}

/// The same with all delays, and so with the counters after any round.
#[derive(Clone, Debug)]
pub struct Timeline<'a>(Movement<'a>);

impl<'a> Deref for Timeline<'a> {
    type Target = Movement<'a>;

    fn deref(&self) -> &Movement<'a> {
        &self.0
    }
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

impl<'a> Timeline<'a> {
    pub(super) fn new(forecast: &'a Forecast<'a>) -> Timeline<'a> {
        Timeline(Movement::with(forecast, true))
    }
}

impl<'a> Movement<'a> {
    pub(super) fn new(forecast: &'a Forecast<'a>) -> Movement<'a> {
        Movement::with(forecast, false)
    }

    fn with(forecast: &'a Forecast<'a>, all_delays: bool) -> Movement<'a> {
        let build = Build::of(forecast, all_delays);
        Movement {
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
        let waits = walker.take_while(|wait| wait.from <= until).collect();
        Trajectory::new(*self.shape(), start, waits)
    }

    /// The waits of a token of the unrolled ring.
    fn waits_of(&self, token: u64) -> Walker<'_> {
        Walker::new(self, token, self.group_of(token))
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
