//! What the counters are after a round.

use crate::forecast::Timeline;
use crate::forecast::window::Window;

impl Timeline<'_> {
    /// Counters after round t: those that still run down from the start, and those
    /// set by tokens that have passed in the last d-1 rounds.
    pub(super) fn counters(&self, t: i128, passed: &[(i128, i128)]) -> Vec<(u64, u32)> {
        let top = i128::from(self.shape().pace) - 1;
        if top == 0 {
            return Vec::new();
        }
        let front = passed[0].0;
        // Later none of the initial counters runs any more.
        let mut released = (t < top).then(|| vec![false; self.delays.len()]);
        let mut counters = Vec::new();
        let mut window = Window::new(front, |block| self.key(block));
        for entry in self.groups.iter().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            window.extend_left(own);
            for token in first..first + entry.group.count() {
                let mut block = passed[token as usize].0;
                // Where the next token has been released too, this one was d rounds before.
                while block >= own {
                    window.shrink_right(block);
                    let key = window
                        .max()
                        .map_or(entry.group.own(), |max| max.max(entry.group.own()));
                    let since = t - self.delay_at(block) - self.y(token, key);
                    if since >= top {
                        break;
                    }
                    let (_, index) = self.turn(block);
                    let process = self.shape().process(i128::from(self.delays[index].at));
                    counters.push((process, (top - since) as u32));
                    if let Some(released) = &mut released {
                        released[index] = true;
                    }
                    block -= 1;
                }
            }
        }
        if let Some(released) = released {
            counters.extend(self.untouched(t, |index| !released[index]));
        }
        counters
    }

    pub(super) fn untouched(&self, t: i128, chosen: impl Fn(usize) -> bool) -> Vec<(u64, u32)> {
        let delays = self.delays.iter().enumerate();
        delays
            .filter(|&(index, delay)| i128::from(delay.counter) > t && chosen(index))
            .map(|(_, delay)| {
                let counter = i128::from(delay.counter) - t;
                (self.shape().process(i128::from(delay.at)), counter as u32)
            })
            .collect()
    }
}
