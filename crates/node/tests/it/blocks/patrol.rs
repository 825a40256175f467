//! The patrol of a ring of moving blocks: what it gathers, and how often it comes.

use std::time::Duration;

use headway_node::{Machine, Summary};

use super::ring::*;
use super::wanted::all;

impl Ring {
    /// So many milliseconds, in which nodes work only with tokens that are kept.
    fn work(&mut self, milliseconds: u64, keep: impl Fn(u32) -> bool) {
        for _ in 0..milliseconds {
            for at in all() {
                self.pass_on(at, |held| !keep(held.token));
            }
            self.step(&all());
        }
    }

    fn summaries(&self) -> Vec<Summary> {
        self.nodes.iter().map(Machine::summary).collect()
    }
}

/// A lap later every node knows how many there are, how many work and how many have not settled,
/// and the marks; and what changes is known a lap after it has.
#[test]
fn every_node_has_a_summary_of_all() {
    for tokens in [1, 2] {
        let mut ring = Ring::of(|index| config_of(index, tokens));
        for (at, node) in ring.nodes.iter_mut().enumerate() {
            node.set_mark(10 + at as u32);
        }
        ring.work(3000, |_| false);
        assert!(ring.nodes.iter().all(Machine::settled));
        // Everybody who has a token works.
        ring.work(1000, |_| true);
        let mut all = Summary {
            nodes: NODES as u32,
            permits: tokens,
            unsettled: 0,
            least_mark: 10,
            most_mark: 14,
        };
        assert_eq!(ring.summaries(), [all; NODES]);
        ring.nodes[2].set_mark(3);
        ring.nodes[3].set_mark(30);
        ring.work(1000, |token| token > 0);
        all = Summary {
            permits: tokens - 1,
            least_mark: 3,
            most_mark: 30,
            ..all
        };
        // The other token may have found somebody at work.
        let permits = |summary: &Summary| summary.permits - all.permits <= 1;
        let summaries = ring.summaries();
        assert!(summaries.iter().all(permits), "{summaries:?}");
        let rest = summaries.into_iter().map(|summary| Summary {
            permits: all.permits,
            ..summary
        });
        assert_eq!(rest.collect::<Vec<_>>(), [all; NODES]);
    }
}

/// A node that has lost everything has not settled, says the patrol, until it has.
#[test]
fn who_has_not_settled_is_counted() {
    let mut ring = Ring::new();
    ring.work(3000, |_| false);
    ring.lose(3);
    ring.nodes[3].set_mark(7);
    let mut counted = false;
    for _ in 0..3000 {
        ring.work(1, |_| false);
        counted |= ring.nodes[0].summary().unsettled > 0;
    }
    assert!(counted && ring.nodes.iter().all(Machine::settled));
    let Summary {
        unsettled,
        most_mark,
        ..
    } = ring.nodes[0].summary();
    assert_eq!((unsettled, most_mark), (0, 7));
}

/// Where there is one token, a node passes the patrol on four times in a refresh at most; else
/// once in four ticks.
#[test]
fn the_patrol_takes_its_time() {
    let ms = Duration::from_millis;
    for (tokens, tick, refresh, pause) in [
        (1, 0, 80, 20),
        (1, 10, 80, 40),
        (1, 2, 80, 20),
        (2, 5, 80, 20),
        (2, 10, 20, 40),
    ] {
        let mut ring = Ring::of(|index| {
            let mut config = config_of(index, tokens);
            config.timing.tick = ms(tick);
            config.timing.refresh = ms(refresh);
            config
        });
        ring.work(3000, |_| false);
        for at in all() {
            let mut passed = Vec::new();
            let mut before = ring.nodes[at].rounds();
            for _ in 0..2000 {
                ring.work(1, |_| false);
                let rounds = ring.nodes[at].rounds();
                if rounds > before {
                    passed.push((ring.now, rounds - before));
                }
                before = rounds;
            }
            let least = passed.windows(2).map(|two| two[1].0 - two[0].0).min();
            let least = least.expect("it comes again");
            assert!(passed.iter().all(|(_, times)| *times == 1));
            assert!(least >= ms(pause), "n{at}: {least:?}");
            // As a ring of five can, and not much less often.
            assert!(
                passed.len() as u64 >= 2000 / (5 * pause + 200),
                "{}",
                passed.len()
            );
        }
    }
}

/// A node whose gate is open for a token keeps the patrol until that token has gone; a token that
/// is not here has nothing to go for.
#[test]
fn the_token_of_an_open_gate_goes_before_the_patrol() {
    for here in [true, false] {
        let mut ring = Ring::of(|index| config_of(index, 2));
        ring.work(3000, |_| false);
        ring.work(1000, |_| true);
        let holds = |at: usize| Some((at, ring.nodes[at].held().next()?.token));
        let (at, token) = all().into_iter().find_map(holds).expect("it works");
        let opened = if here { token } else { 1 - token };
        ring.nodes[at].state_mut().block.watch = 2 + opened;
        let rounds = ring.nodes[at].rounds();
        ring.work(1000, |_| true);
        assert_eq!(ring.nodes[at].rounds() == rounds, here);
        ring.work(1000, |_| false);
        assert!(ring.nodes[at].rounds() > rounds);
    }
}
