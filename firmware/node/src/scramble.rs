//! Puts anything into a node's memory, to see the ring recover.

use headway_node::Machine;
use headway_node::state::Variable;

/// Overwrites every variable of a node, within its domain or not.
pub(crate) fn scramble(node: &mut Machine, seed: u64) {
    let mut number = seed | 1;
    let mut random = || {
        // Any numbers will do (Marsaglia's xorshift).
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number
    };
    let (config, domain) = (*node.config(), *node.domain());
    let phases = domain.phases();
    let state = node.state_mut();
    state.visit(&config, &domain, &mut |variable| {
        let drawn = random();
        // Half of the draws are in the domain, where they do more harm.
        let within = drawn & 1 == 0;
        let drawn = drawn >> 1;
        match variable {
            Variable::Flag(flag) => *flag = within,
            Variable::Phase(phase) if within => {
                let count = (phases.end - phases.start) as u32;
                *phase = phases.start + (drawn as u32 % count) as i32;
            }
            Variable::Below(number, limit) if within => *number = drawn as u32 % limit,
            Variable::Phase(number) | Variable::Counter(number, _) => *number = drawn as i32,
            Variable::Rounds(number) if within => *number = drawn as u32 % 32,
            Variable::Below(number, _)
            | Variable::Limited(number, _)
            | Variable::Rounds(number) => *number = drawn as u32,
            // Nothing heals a fencing number at its end.
            Variable::Fence(number) => *number = drawn >> 16,
            Variable::Moment(number) | Variable::Number(number) => *number = drawn,
            Variable::Bytes(bytes) => bytes.fill(drawn as u8),
            Variable::Stage(_) => drop(variable.set(drawn & 3)),
            Variable::Released(_) => drop(variable.set((drawn & 7) << 32 | drawn >> 60)),
            Variable::Total(_) => {}
        }
    });
    state.joined = true;
}
