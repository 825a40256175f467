//! What happens when m·d > n.

use super::window::Window;
use super::{Movement, Shape};

/// The regime of a ring with more tokens than fit, once it has set in.
///
/// Every delay releases a token every d rounds, and a token needs m·d rounds for
/// a turn instead of n; the difference it spends in queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jam {
    /// From this round on, at the latest, the state repeats every `period` rounds.
    pub from: u64,
    /// d: rounds between two releases of any process, so the throughput is 1/d.
    pub period: u64,
    /// Where tokens queue, by ascending process.
    pub queues: Vec<Queue>,
}

/// A process at which every token waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Where.
    pub process: u64,
    /// Rounds that every token rests here, in every turn. Divided by d it is the
    /// number of tokens that rest here on average.
    pub rounds: u64,
}

impl Movement<'_> {
    /// How the ring jams; `None` when it does not.
    pub fn jam(&self) -> Option<Jam> {
        (!self.shape().settles()).then(|| find(self))
    }
}

/// A token waits where the maximum of β over the turn behind it rises.
fn find(line: &Movement<'_>) -> Jam {
    let Shape { pace, .. } = *line.shape();
    let blocks = line.delays.len() as i128;
    let mut queues = Vec::new();
    // From the last block of a turn backwards, over the blocks of one turn each.
    let mut window = Window::new(2 * blocks - 1, |block| line.key(block));
    window.extend_left(blocks - 1);
    for block in (blocks..2 * blocks).rev() {
        let here = window.max().unwrap_or(0);
        window.shrink_right(block - 1);
        window.extend_left(block - 1 - blocks);
        let before = window.max().unwrap_or(0);
        if here > before {
            queues.push(Queue {
                process: line.shape().process(line.delay_at(block)),
                rounds: (here - before) as u64,
            });
        }
    }
    queues.sort_by_key(|queue| queue.process);
    Jam {
        from: line.jammed_at(),
        period: pace,
        queues,
    }
}
