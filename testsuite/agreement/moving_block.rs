//! The machine in a ring of moving blocks, in every state that its memory can have.
//!
//! The steps are the machine's own ([`Machine::react`]): what a node does in one call when
//! it reads its neighbours' records. A record says which values of its predecessor a node
//! has heard, so a hand-over is under way until the successor has been called. Every node
//! is called again and again; nothing else is assumed of the schedule. As it should be: one
//! token, one patrol, no gate open. The checker finds the states from which it stays so, and
//! that every run ends there.

use headway_check::{Action, Actions, Control, Domains, Fairness, Model, Step, actions};
use headway_core::token_ring::holds;
use headway_node::state::Domain;
use headway_node::{Config, Key, Local, Machine, Plan, RingId};
use headway_testkit::tier::pick;

/// A node's step spoiled on purpose.
type Spoil = fn(Local) -> Local;

struct Blocks {
    nodes: usize,
    /// Of a local state: value, heard, news, patrol, lap, watch.
    local: Domains,
    /// For the first node and for the others, own, predecessor's and successor's local
    /// state: the next.
    next: [Vec<u32>; 2],
}

/// The lengths of laps and watches with one token.
const LAPS: u64 = 4;
const WATCHES: u64 = 3;
const OPEN: u32 = 2;

impl Blocks {
    /// Tokens wait for `news` or, as they do where there is one, they do not.
    fn new(nodes: u32, values: u32, news: bool, spoil: Spoil) -> Blocks {
        let plan = Plan::moving_block(nodes, 1, 1).expect("small");
        let k = u64::from(values);
        let local = Domains::new([k, k, 2, k, LAPS, WATCHES]).expect("small");
        let all: Vec<Local> = (0..local.states())
            .map(|rank| decode(&local, rank))
            .collect();
        let next = [0, 1].map(|index| {
            let config = Config::new(RingId([0; 16]), index, plan);
            let domain = Domain {
                values,
                news,
                ..config.domain()
            };
            let machine = Machine::with_domain(config, domain, Key::none(), 1);
            let mut machine = machine.expect("valid");
            let mut table = Vec::new();
            for own in &all {
                for predecessor in &all {
                    let successors = match nodes {
                        2 => std::slice::from_ref(predecessor),
                        _ => &all[..],
                    };
                    for successor in successors {
                        let after = spoil(machine.react(own, predecessor, successor));
                        table.push(encode(&local, &after));
                    }
                }
            }
            table
        });
        Blocks {
            nodes: nodes as usize,
            local,
            next,
        }
    }

    fn count(&self) -> usize {
        self.local.states() as usize
    }

    fn after(&self, state: &[u32], node: usize) -> u32 {
        let n = self.nodes;
        let mut place = state[node] as usize * self.count() + state[(node + n - 1) % n] as usize;
        if n > 2 {
            place = place * self.count() + state[(node + 1) % n] as usize;
        }
        self.next[node.min(1)][place]
    }
}

fn decode(local: &Domains, rank: u64) -> Local {
    let mut numbers = local.values(rank).map(|number| number as u32);
    let mut number = || numbers.next().expect("six of them");
    let (value, heard) = (number(), number());
    let block = [number(), number(), number(), number()];
    Local {
        phase: 0,
        values: vec![value],
        released: None,
        counter: 0,
        turn: 0,
        heard: vec![heard],
        block,
    }
}

fn encode(local: &Domains, node: &Local) -> u32 {
    let [news, patrol, lap, watch] = node.block;
    let numbers = [node.values[0], node.heard[0], news, patrol, lap, watch];
    local.rank(numbers.map(u64::from)) as u32
}

impl Model for Blocks {
    type State = [u32; 3];

    fn states(&self) -> u64 {
        self.local.states().pow(self.nodes as u32)
    }

    fn state(&self, mut rank: u64) -> [u32; 3] {
        let mut state = [0; 3];
        for local in &mut state[..self.nodes] {
            *local = (rank % self.local.states()) as u32;
            rank /= self.local.states();
        }
        state
    }

    fn rank(&self, state: &[u32; 3]) -> u64 {
        let locals = state[..self.nodes].iter().rev();
        locals.fold(0, |rank, &local| {
            rank * self.local.states() + u64::from(local)
        })
    }

    fn legitimate(&self, state: &[u32; 3]) -> bool {
        let n = self.nodes;
        let nodes = state[..n].iter();
        let nodes: Vec<Local> = nodes
            .map(|&rank| decode(&self.local, rank.into()))
            .collect();
        let patrol = |node: usize| nodes[node % n].block[1];
        let value = |node: usize| nodes[node % n].values[0];
        let tokens = (0..n).filter(|&node| holds(value(node), value(node + n - 1), node == 0));
        let patrols = (0..n).filter(|&node| holds(patrol(node), patrol(node + 1), node == 0));
        tokens.count() == 1 && patrols.count() == 1 && nodes.iter().all(|node| node.block[3] < OPEN)
    }

    fn show(&self, state: &[u32; 3]) -> String {
        let nodes = state[..self.nodes].iter();
        let nodes: Vec<String> = nodes
            .map(|&rank| format!("{:?}", decode(&self.local, rank.into())))
            .collect();
        nodes.join("\n")
    }
}

impl Actions for Blocks {
    fn actions(&self) -> Vec<Action> {
        let call = |name| Action {
            name,
            fairness: Fairness::Weak,
        };
        ["node 0", "node 1", "node 2"][..self.nodes]
            .iter()
            .map(|name| call(name))
            .collect()
    }

    fn steps(&self, state: &[u32; 3], steps: &mut Vec<Step<[u32; 3]>>) {
        for action in 0..self.nodes {
            let mut after = *state;
            after[action] = self.after(state, action);
            if after != *state {
                steps.push(Step {
                    action,
                    state: after,
                });
            }
        }
    }

    fn looks_for_closure(&self) -> bool {
        true
    }
}

fn check(model: &Blocks) -> actions::ActionsAnswer {
    actions::explore(model, &Control::default()).expect("small")
}

#[test]
fn the_machine_stabilizes_from_every_state() {
    let rings = [(2, 3, true), (2, 3, false), (3, 2, true), (3, 2, false)];
    for &(nodes, values, news) in pick(&rings[..2], &rings, &rings) {
        let model = Blocks::new(nodes, values, news, |after| after);
        let answer = check(&model);
        println!(
            "{nodes} nodes, {values} values, news {news}: {} states, {} legitimate",
            answer.states, answer.legitimate
        );
        assert!(answer.legitimate > 0);
        assert_eq!(answer.closure_violation, None);
        let lasso = answer.divergence.map(|lasso| {
            let states = lasso.stem.iter().chain(&lasso.cycle);
            let states: Vec<String> = states.map(|&rank| model.show(&model.state(rank))).collect();
            states.join("\n\n")
        });
        assert_eq!(lasso, None, "convergence");
    }
}

/// What the patrol is for.
#[test]
fn a_machine_that_never_opens_a_gate_is_found_out() {
    let answer = check(&Blocks::new(3, 1, true, |mut after| {
        // No calm lap is ever told.
        after.block[2] = after.block[2] / 2 * 2;
        after
    }));
    assert!(answer.divergence.is_some());
}
