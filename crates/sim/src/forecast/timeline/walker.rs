//! One token from wait to wait.

use headway_core::Round;

use super::{Movement, TimelineGroup};
use crate::forecast::Wait;

/// Follows one token from wait to wait.
pub(super) struct Walker<'a> {
    line: &'a Movement<'a>,
    token: u64,
    number: u64,
    /// Where it is in the initial state, unrolled.
    pub(super) start: i128,
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

impl<'a> Walker<'a> {
    /// For a token of this group.
    pub(super) fn new(line: &'a Movement<'a>, token: u64, group: usize) -> Walker<'a> {
        let shape = line.shape();
        let start = line.groups[group].group;
        let first = shape.tokens - start.tokens_to_here;
        let resting = token - first < u64::from(start.resting);
        Walker {
            line,
            token,
            number: shape.number(token),
            start: i128::from(start.at) - i128::from(!resting),
            resting,
            group,
            y: 1 - i128::from(start.at),
            stage: Stage::Start,
        }
    }

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
