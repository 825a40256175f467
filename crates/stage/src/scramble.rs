//! The worst that can happen to a node's memory: every variable anything.

use headway_node::Machine;
use headway_node::state::{Stage, Variable};
use headway_node::wire::Released;

/// Overwrites every variable of a node with what `random` gives, within its domain or
/// not. Only the configuration, the key and the statistics survive.
pub fn scramble(node: &mut Machine, random: &mut dyn FnMut() -> u64) {
    let (config, domain) = (*node.config(), *node.domain());
    let now = node.now().as_micros() as u64;
    let incarnations: [u64; 2] = std::array::from_fn(|at| {
        let link = node.state().links.get(at);
        link.map_or(0, |link| link.incarnation)
    });
    let state = node.state_mut();
    state.visit(&config, &domain, &mut |variable| match variable {
        Variable::Flag(flag) => *flag = random() & 1 == 0,
        // Half of the draws are in the domain, where they do more harm.
        Variable::Phase(phase) => {
            let drawn = random();
            *phase = (drawn >> 32) as i32;
            if drawn & 1 == 1 {
                let phases = domain.phases();
                *phase = phase.rem_euclid(phases.end - phases.start) + phases.start;
            }
        }
        Variable::Below(number, limit) => *number = mostly_below(random(), limit),
        Variable::Counter(number, _) => *number = (random() >> 32) as i32,
        Variable::Limited(number, _) => *number = (random() >> 32) as u32,
        Variable::Released(released) => {
            *released = (random() & 1 == 0).then(|| Released {
                token: (random() % (u64::from(config.plan.tokens()) + 1)) as u16,
                previous: mostly_below(random(), domain.values),
            });
        }
        Variable::Rounds(rounds) => *rounds = any_size(random) as u32,
        Variable::Stage(stage) => *stage = Stage::ALL[(random() % 4) as usize],
        // Below 2^48: nothing heals a fencing number at its end.
        Variable::Fence(fence) => *fence = random() >> 16,
        Variable::Moment(moment) => {
            let drawn = random();
            *moment = match drawn & 3 {
                0 => drawn,
                1 => 0,
                _ => now.saturating_sub(drawn >> 44),
            };
        }
        Variable::Number(number) => *number = any_size(random),
        Variable::Total(_) => {}
        Variable::Bytes(bytes) => bytes.fill_with(|| random() as u8),
    });
    // What would otherwise make the corruption harmless: a node without a state takes
    // one from its neighbours, and one that knows of another incarnation does not
    // believe sequence numbers.
    state.joined = !random().is_multiple_of(8);
    for (link, incarnation) in state.links.iter_mut().zip(incarnations) {
        if random() & 1 == 0 {
            link.incarnation = incarnation;
        }
    }
    for token in &mut state.tokens {
        token.rounds = (random() % 3) as u32;
    }
}

fn mostly_below(drawn: u64, limit: u32) -> u32 {
    let number = (drawn >> 32) as u32;
    if drawn & 7 == 0 {
        number
    } else {
        number % limit
    }
}

/// A number with any number of bits.
fn any_size(random: &mut dyn FnMut() -> u64) -> u64 {
    let bits = random() % 64;
    random() >> bits
}
