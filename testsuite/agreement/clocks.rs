//! The phase clock as nodes have it: each knows of its neighbour what it was last told.
//!
//! The clock's proof is about processes that read their neighbours' phases. Here what a
//! node knows is a variable of its own, anything at the start, and so is a phase that is
//! under way: sending puts the own phase under way in place of what was, receiving makes
//! it known. Every one of these steps happens again and again if it can, and nothing else
//! is known about their order.
//!
//! Then the clock as it is proved does not stabilize, not even two of them: what a node
//! knew of its neighbour before both were reset lets it leave the tail too early, and
//! so on forever. With *acknowledged* phases it does: at phase 0 and below, a node goes
//! on only when the neighbour is known to know its present phase.
//!
//! Legitimate: the two are in step, and so is what is known or under way, which is no
//! newer than the truth; and two that think themselves current or acknowledged are.

use headway_check::{Action, Actions, Control, Fairness, Model, Step, actions};
use headway_core::phase_clock::PhaseClock;

/// Two clocks.
#[derive(Clone, Copy)]
struct Clocks {
    clock: PhaseClock,
    /// Whether a clock at 0 or below waits to be known.
    acknowledged: bool,
}

/// What there is of each: its phase, and what came from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    phase: i32,
    known: Told,
    under_way: Told,
}

/// What the other has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    phase: i32,
    /// It has not changed since.
    current: bool,
    /// It knew the present phase of whom it told.
    acknowledges: bool,
}

type State = [Node; 2];

impl Clocks {
    fn phases(&self) -> u64 {
        (self.clock.modulus + self.clock.tail) as u64
    }

    /// Ticks from one phase to another, forwards.
    fn ahead(&self, from: i32, to: i32) -> i32 {
        (to - from).rem_euclid(self.clock.modulus)
    }
}

impl Model for Clocks {
    type State = State;

    fn states(&self) -> u64 {
        self.phases().pow(6) << 8
    }

    fn state(&self, mut rank: u64) -> State {
        let mut digit = |base: u64| {
            let digit = rank % base;
            rank /= base;
            digit as i32
        };
        let mut node = || {
            let phase = digit(self.phases()) - self.clock.tail;
            let mut told = || Told {
                phase: digit(self.phases()) - self.clock.tail,
                current: digit(2) == 1,
                acknowledges: digit(2) == 1,
            };
            Node {
                phase,
                known: told(),
                under_way: told(),
            }
        };
        [node(), node()]
    }

    fn rank(&self, state: &State) -> u64 {
        let phase = |phase: i32| (phase + self.clock.tail) as u64;
        let digits = state.iter().flat_map(|node| {
            let told = [node.known, node.under_way].into_iter().flat_map(|told| {
                [
                    (phase(told.phase), self.phases()),
                    (u64::from(told.current), 2),
                    (u64::from(told.acknowledges), 2),
                ]
            });
            std::iter::once((phase(node.phase), self.phases())).chain(told)
        });
        let digits: Vec<(u64, u64)> = digits.collect();
        let digits = digits.iter().rev();
        digits.fold(0, |rank, (digit, base)| rank * base + digit)
    }

    fn legitimate(&self, state: &State) -> bool {
        (0..2).all(|i| {
            let (own, other) = (&state[i], &state[1 - i]);
            let known = own.known.phase;
            let sound = |told: &Told| {
                // No newer than the truth, no older than what is known, in step; and
                // current only if it is the truth.
                self.clock.in_step(own.phase, told.phase)
                    && self.ahead(told.phase, other.phase) <= 2
                    && (!told.current || told.phase == other.phase)
                    && self.ahead(known, told.phase) <= 2
            };
            self.clock.in_step(own.phase, other.phase) && sound(&own.known) && sound(&own.under_way)
        })
    }

    fn show(&self, state: &State) -> String {
        let told = |told: &Told| {
            format!(
                "{}{}{}",
                told.phase,
                if told.current { "c" } else { "" },
                if told.acknowledges { "a" } else { "" }
            )
        };
        let nodes = state.iter().map(|node| {
            format!(
                "{} [{} {}]",
                node.phase,
                told(&node.known),
                told(&node.under_way)
            )
        });
        nodes.collect::<Vec<_>>().join(", ")
    }
}

impl Actions for Clocks {
    fn actions(&self) -> Vec<Action> {
        [
            "step 0",
            "step 1",
            "receive 0",
            "receive 1",
            "send to 0",
            "send to 1",
        ]
        .map(|name| Action {
            name,
            fairness: Fairness::Strong,
        })
        .to_vec()
    }

    fn steps(&self, state: &State, steps: &mut Vec<Step<State>>) {
        for i in 0..2 {
            let (own, other) = (state[i], state[1 - i]);
            let mut add = |kind: usize, after: State| {
                if after != *state {
                    let action = kind + i;
                    steps.push(Step {
                        action,
                        state: after,
                    });
                }
            };
            let waits = self.acknowledged && own.phase <= 0 && !own.known.acknowledges;
            let step = self.clock.step(own.phase, &[own.known.phase]);
            if let Some(step) = step.filter(|_| !waits) {
                let mut after = *state;
                after[i].phase = self.clock.stepped(own.phase, step);
                after[i].known.acknowledges = false;
                after[i].under_way.acknowledges = false;
                after[1 - i].known.current = false;
                after[1 - i].under_way.current = false;
                add(0, after);
            }
            let mut received = *state;
            received[i].known = Told {
                acknowledges: own.known.acknowledges || own.under_way.acknowledges,
                ..own.under_way
            };
            add(2, received);
            let mut sent = *state;
            sent[i].under_way = Told {
                phase: other.phase,
                current: true,
                acknowledges: other.known.current,
            };
            add(4, sent);
        }
    }
}

fn explore(modulus: i32, tail: i32, acknowledged: bool) -> actions::ActionsAnswer {
    let clock = PhaseClock { modulus, tail };
    let model = Clocks {
        clock,
        acknowledged,
    };
    let answer = actions::explore(&model, &Control::default()).expect("small");
    let show = |rank: &u64| model.show(&model.state(*rank));
    println!(
        "two clocks of {modulus} phases and a tail of {tail}{}: {} states, {} legitimate",
        if acknowledged { ", acknowledged" } else { "" },
        answer.states,
        answer.legitimate,
    );
    if let Some((from, to)) = answer.closure_violation {
        println!("  not closed: {} -> {}", show(&from), show(&to));
    }
    if let Some(lasso) = &answer.divergence {
        let cycle: Vec<String> = lasso.cycle.iter().map(show).collect();
        println!("  forever: {}", cycle.join("\n            "));
    }
    answer
}

#[test]
fn acknowledged_clocks_stabilize_whatever_was_known() {
    // The node's own modulus for two, 2n + 1, and the least tail, n - 2.
    let answer = explore(5, 0, true);
    assert!(answer.legitimate > 0);
    assert_eq!(answer.closure_violation, None);
    assert_eq!(answer.divergence, None);
}

#[test]
fn clocks_that_believe_what_they_knew_do_not() {
    let answer = explore(4, 0, false);
    assert!(answer.divergence.is_some());
}
