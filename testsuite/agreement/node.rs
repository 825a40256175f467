//! The machine that runs on real networks, in every state that its memory can have
//! and under every schedule.
//!
//! The steps are the machine's own ([`Machine::react`]): what a node does in one call
//! when it knows its neighbours' states. They are tabulated once for all triples of
//! local states, and explored by the checker under the central and the distributed
//! scheduler, neither of them fair. Legitimate: all clocks within one tick; in the
//! state of the earliest tick every token ring has one token, no two of them are at one node;
//! and whoever is a tick ahead has done what the protocol does in that state.
//!
//! These are instances in which everybody is everybody's neighbour (n = 2 and 3),
//! with logical separation 1, so that a node's counter is always 0. What happens
//! between a state and its being known is in `clocks.rs`.

use headway_check::{Control, Guarded, Model, Scheduler, guarded};
use headway_core::phase_clock::PhaseClock;
use headway_core::token_ring::{holds, released};
use headway_node::state::Domain;
use headway_node::wire::Released;
use headway_node::{Config, Key, Local, Machine, Plan, RingId};
use headway_testkit::tier::pick;

/// A node's step spoiled on purpose: before, after, and what is made of it.
type Spoil = fn(&Local, Local) -> Local;

struct Nodes {
    nodes: usize,
    clock: PhaseClock,
    values: u32,
    locals: Vec<Local>,
    /// For the first node and for the others, own, predecessor's and successor's
    /// local state: the next.
    next: Vec<Vec<u32>>,
}

impl Nodes {
    fn new(nodes: u32, tokens: u32, spoil: Spoil) -> Nodes {
        // For two tokens on two nodes there is no plan: nothing keeps them truly
        // apart. Separation 1 in logical time they can have.
        let plan = Plan::logical(nodes, tokens, 1, 1).expect("small");
        let config = |index| Config {
            turn_phases: 0,
            ..Config::new(RingId([0; 16]), index, plan)
        };
        let Domain { clock, values, .. } = config(0).domain();
        let locals = locals(clock, values, tokens);
        let count = locals.len();
        // All nodes but the first run the same program.
        let next = (0..2)
            .map(|index| {
                let mut machine = Machine::new(config(index), Key::none(), 1).expect("valid");
                let mut table = Vec::with_capacity(count.pow(nodes));
                for own in &locals {
                    for predecessor in &locals {
                        let successors = match nodes {
                            2 => std::slice::from_ref(predecessor),
                            _ => &locals[..],
                        };
                        for successor in successors {
                            let after = machine.react(own, predecessor, successor);
                            let place = place(&spoil(own, after), clock, values);
                            debug_assert!(place < count);
                            table.push(place as u32);
                        }
                    }
                }
                table
            })
            .collect();
        Nodes {
            nodes: nodes as usize,
            clock,
            values,
            locals,
            next,
        }
    }

    fn after(&self, state: &[u32], node: usize) -> u32 {
        let (n, count) = (self.nodes, self.locals.len());
        let predecessor = state[(node + n - 1) % n] as usize;
        let mut place = state[node] as usize * count + predecessor;
        if n > 2 {
            place = place * count + state[(node + 1) % n] as usize;
        }
        self.next[node.min(1)][place]
    }
}

/// Where a local state is among [`locals`].
fn place(local: &Local, clock: PhaseClock, values: u32) -> usize {
    let tokens = local.values.len() as u32;
    let code = local
        .values
        .iter()
        .rev()
        .fold(0, |code, value| code * values + value);
    let release = local.released.map_or(0, |released| {
        1 + u32::from(released.token) * values + released.previous
    });
    let phase = (local.phase + clock.tail) as u32;
    let place = (phase * values.pow(tokens) + code) * (1 + tokens * values) + release;
    (place * tokens + local.turn) as usize
}

/// All local states, in a fixed order.
fn locals(clock: PhaseClock, values: u32, tokens: u32) -> Vec<Local> {
    let mut all = Vec::new();
    let mut releases = vec![None];
    for token in 0..tokens as u16 {
        releases.extend((0..values).map(|previous| Some(Released { token, previous })));
    }
    for phase in -clock.tail..clock.modulus {
        for code in 0..values.pow(tokens) {
            let values: Vec<u32> = (0..tokens).map(|t| code / values.pow(t) % values).collect();
            for &released in &releases {
                for turn in 0..tokens {
                    all.push(Local {
                        phase,
                        values: values.clone(),
                        released,
                        counter: 0,
                        turn,
                        heard: Vec::new(),
                        block: [0; 4],
                    });
                }
            }
        }
    }
    all
}

impl Model for Nodes {
    type State = [u32; 3];

    fn states(&self) -> u64 {
        (self.locals.len() as u64).pow(self.nodes as u32)
    }

    fn state(&self, mut rank: u64) -> [u32; 3] {
        let mut state = [0; 3];
        for local in &mut state[..self.nodes] {
            *local = (rank % self.locals.len() as u64) as u32;
            rank /= self.locals.len() as u64;
        }
        state
    }

    fn rank(&self, state: &[u32; 3]) -> u64 {
        let locals = state[..self.nodes].iter().rev();
        locals.fold(0, |rank, &local| {
            rank * self.locals.len() as u64 + u64::from(local)
        })
    }

    fn legitimate(&self, state: &[u32; 3]) -> bool {
        let nodes: Vec<&Local> = state[..self.nodes]
            .iter()
            .map(|&local| &self.locals[local as usize])
            .collect();
        let n = nodes.len();
        let in_step = |one: &&&Local| {
            nodes
                .iter()
                .all(|other| self.clock.in_step(one.phase, other.phase))
        };
        if !nodes.iter().all(|one| in_step(&one)) {
            return false;
        }
        // Three clocks within one tick of each other, pair by pair, are at two ticks
        // at most, but for a modulus of 3.
        let earliest = nodes.iter().map(|node| node.phase).find(|&phase| {
            nodes
                .iter()
                .all(|node| [phase, self.clock.after(phase)].contains(&node.phase))
        });
        let Some(tick) = earliest else { return false };
        let ahead = |node: &Local| node.phase != tick;
        let value = |node: usize, token: usize| match nodes[node].released {
            Some(released) if ahead(nodes[node]) && usize::from(released.token) == token => {
                released.previous
            }
            _ => nodes[node].values[token],
        };
        let held = |node: usize, token: usize| {
            holds(
                value(node, token),
                value((node + n - 1) % n, token),
                node == 0,
            )
        };
        let tokens = nodes[0].values.len();
        let mut taken = vec![false; n];
        for token in 0..tokens {
            let mut holders = (0..n).filter(|&node| held(node, token));
            match (holders.next(), holders.next()) {
                (Some(holder), None) if !taken[holder] => taken[holder] = true,
                _ => return false,
            }
        }
        (0..n).filter(|&node| ahead(nodes[node])).all(|node| {
            let should = (0..tokens).find(|&token| held(node, token));
            match (nodes[node].released, should) {
                (None, None) => true,
                (Some(done), Some(token)) => {
                    let before = value((node + n - 1) % n, token);
                    usize::from(done.token) == token
                        && nodes[node].values[token]
                            == released(done.previous, before, node == 0, self.values)
                }
                _ => false,
            }
        })
    }

    fn show(&self, state: &[u32; 3]) -> String {
        let nodes = state[..self.nodes].iter();
        let nodes: Vec<String> = nodes
            .map(|&local| format!("{:?}", self.locals[local as usize]))
            .collect();
        nodes.join("\n")
    }
}

impl Guarded for Nodes {
    fn processes(&self) -> usize {
        self.nodes
    }

    fn step(&self, state: &[u32; 3], node: usize) -> Option<[u32; 3]> {
        let mut after = *state;
        after[node] = self.after(state, node);
        (after != *state).then_some(after)
    }
}

fn as_is(_: &Local, after: Local) -> Local {
    after
}

fn check(model: &Nodes, scheduler: Scheduler) -> guarded::GuardedAnswer {
    guarded::explore(model, scheduler, &Control::default()).expect("small")
}

#[test]
fn the_machine_stabilizes_from_every_state_under_every_schedule() {
    let rings = [(2, 1), (2, 2), (3, 1)];
    for &(nodes, tokens) in pick(&rings[..2], &rings, &rings) {
        let model = Nodes::new(nodes, tokens, as_is);
        for scheduler in [Scheduler::Central, Scheduler::Distributed] {
            let answer = check(&model, scheduler);
            println!(
                "{nodes} nodes, {tokens} tokens, {scheduler:?}: {} states, {} legitimate, worst {:?}",
                answer.states, answer.legitimate, answer.worst
            );
            assert!(answer.legitimate > 0);
            let broken = answer.closure_violation.map(|(from, to)| {
                format!(
                    "{}\n->\n{}",
                    model.show(&model.state(from)),
                    model.show(&model.state(to))
                )
            });
            assert_eq!(broken, None, "closure");
            assert_eq!(answer.legitimate_deadlock, None);
            let lasso = answer.divergence.as_ref().map(|lasso| {
                let states = lasso.stem.iter().chain(&lasso.cycle);
                let states: Vec<String> =
                    states.map(|&rank| model.show(&model.state(rank))).collect();
                states.join("\n\n")
            });
            assert_eq!(lasso, None, "convergence");
        }
    }
}

#[test]
fn a_machine_that_does_not_reset_is_found_out() {
    let stubborn: Spoil = |before, after| {
        if before.phase > 0 && after.phase < 0 {
            before.clone()
        } else {
            after
        }
    };
    let answer = check(&Nodes::new(2, 1, stubborn), Scheduler::Central);
    assert!(answer.divergence.is_some());
}

#[test]
fn a_machine_that_forgets_its_previous_tick_is_found_out() {
    let forgetful: Spoil = |_, after| Local {
        released: None,
        ..after
    };
    let answer = check(&Nodes::new(2, 2, forgetful), Scheduler::Distributed);
    assert!(answer.closure_violation.is_some() || answer.divergence.is_some());
}

#[test]
fn local_states_are_numbered_without_gaps() {
    let clock = PhaseClock {
        modulus: 5,
        tail: 2,
    };
    for (at, local) in locals(clock, 3, 2).iter().enumerate() {
        assert_eq!(place(local, clock, 3), at);
    }
}
