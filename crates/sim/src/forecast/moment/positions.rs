//! Where the tokens are after a round.

use crate::forecast::Movement;
use crate::forecast::window::Window;

impl Movement<'_> {
    /// For every token, the last block whose delay it has been released from by
    /// round t, and its y there; the block before its own when there is none.
    pub(super) fn passed(&self, t: i128) -> Vec<(i128, i128)> {
        let mut passed = Vec::with_capacity(self.shape().tokens as usize);
        let mut block = self.first_token_at_most(t);
        let mut window = Window::new(block, |block| self.key(block));
        for entry in self.groups.iter().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            window.extend_left(own);
            for token in first..first + entry.group.count() {
                let mut y = i128::MIN;
                while block >= own {
                    let key = window
                        .max()
                        .map_or(entry.group.own(), |max| max.max(entry.group.own()));
                    y = self.y(token, key);
                    if self.delay_at(block) + y <= t {
                        break;
                    }
                    block -= 1;
                    window.shrink_right(block);
                }
                passed.push((block.max(own - 1), y));
            }
        }
        passed
    }

    /// A block beyond which token 0 cannot be: it moves at most one hop a round, and
    /// after its first turn it is released from the turn's last block no earlier
    /// than that block's key says, which is m·d rounds later with every turn.
    fn first_token_at_most(&self, t: i128) -> i128 {
        let shape = self.shape();
        let (processes, tokens, pace) = (shape.processes, shape.tokens, shape.pace);
        let (n, turn_rounds) = (i128::from(processes), i128::from(tokens) * i128::from(pace));
        let start = self
            .groups
            .last()
            .map_or(0, |entry| i128::from(entry.group.at));
        let by_hops = (start + t).div_euclid(n);
        let by_key = match self.delays.last() {
            Some(last) => {
                let earliest = i128::from(last.at) + self.y(0, last.key);
                (t - earliest).div_euclid(turn_rounds).max(0) + 1
            }
            None => 0,
        };
        (by_hops.min(by_key).max(0) + 1) * self.delays.len() as i128 - 1
    }

    /// Where every token is after round t, and whether it rests.
    pub(super) fn positions(&self, t: i128, passed: &[(i128, i128)]) -> Vec<(i128, bool)> {
        let mut positions = Vec::with_capacity(passed.len());
        let mut first_relays: Option<FirstRelays<'_>> = None;
        for (index, entry) in self.groups.iter().enumerate().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            for token in first..first + entry.group.count() {
                let (block, y) = passed[token as usize];
                let (next, y) = if block >= own {
                    self.on_relays(t, token, block, y)
                } else if entry.group.at == self.delays[entry.block].at {
                    // It has been there since round 1, and waits for the counter.
                    (i128::from(entry.group.at), i128::MAX)
                } else {
                    let relays = match &mut first_relays {
                        Some(relays) if relays.block == entry.block => relays,
                        other => other.insert(FirstRelays::new(self, entry.block)),
                    };
                    relays.locate(t, token, index)
                };
                positions.push(stop_or_go(t, next, y));
            }
        }
        positions
    }

    /// A token beyond the delay of `block`, left with this y: where it next has to
    /// stop, at a pile on the relays or at the next delay, and its y until then.
    fn on_relays(&self, t: i128, token: u64, block: i128, y: i128) -> (i128, i128) {
        let (turn, index) = self.turn(block + 1);
        let offset = turn * i128::from(self.shape().processes);
        let gain = self.relay_turns(turn);
        let range = self.relay_groups(index);
        let at = |group: usize| i128::from(self.groups[group].group.at) + offset;
        let y_at = |group: usize| {
            let key = self.groups[group].relay_max + gain;
            y.max(self.relay_y(token, key))
        };
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = usize::midpoint(low, high);
            if at(middle) + y_at(middle) <= t {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let y = if low > range.start { y_at(low - 1) } else { y };
        let next = if low < range.end {
            at(low)
        } else {
            self.delay_at(block + 1)
        };
        (next, y)
    }
}

/// A token that has to stop at `next` and is released from every position x
/// before it in round x + y: moving, or arrived and resting.
fn stop_or_go(t: i128, next: i128, y: i128) -> (i128, bool) {
    if y < i128::MAX && t - y < next {
        (t - y, false)
    } else {
        (next, true)
    }
}

/// Tokens that have not yet passed a delay, on the relays of their first block.
struct FirstRelays<'a> {
    line: &'a Movement<'a>,
    block: usize,
    /// The last group at whose position the token before this one has left.
    reached: i128,
    window: Window<Box<dyn Fn(i128) -> i128 + 'a>>,
}

impl<'a> FirstRelays<'a> {
    fn new(line: &'a Movement<'a>, block: usize) -> FirstRelays<'a> {
        let reached = line.relay_groups(block).end as i128 - 1;
        let key = Box::new(|group: i128| line.groups[group as usize].relay_key);
        FirstRelays {
            line,
            block,
            reached,
            window: Window::new(reached, key),
        }
    }

    /// Where a token of this group next has to stop, and its y until then.
    fn locate(&mut self, t: i128, token: u64, group: usize) -> (i128, i128) {
        let own = group as i128;
        self.window.extend_left(own - 1);
        let at = |group: i128| i128::from(self.line.groups[group as usize].group.at);
        let mut y = i128::MAX;
        while self.reached >= own {
            if let Some(key) = self.window.max() {
                y = self.line.relay_y(token, key);
                if at(self.reached) + y <= t {
                    break;
                }
            }
            self.reached -= 1;
            self.window.shrink_right(self.reached);
        }
        if self.reached < own {
            return (at(own), i128::MAX);
        }
        let next = self.reached as usize + 1;
        let next = if next < self.line.relay_groups(self.block).end {
            at(next as i128)
        } else {
            i128::from(self.line.delays[self.block].at)
        };
        (next, y)
    }
}
