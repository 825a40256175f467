//! A node's part in the protocol, without its times and its knowledge of others:
//! what a checker looks at.

use alloc::vec::Vec;

use crate::permit::Token;
use crate::wire::Released;
use crate::wire::block::Told;
use crate::{Machine, Rule};

/// What a node publishes, and its program's variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// Its clock.
    pub phase: i32,
    /// Its value on every token ring.
    pub values: Vec<u32>,
    /// What its latest tick changed.
    pub released: Option<Released>,
    /// Rounds until a delay may release again.
    pub counter: i32,
    /// The token that is released first if held.
    pub turn: u32,
    /// In a ring of moving blocks, the predecessor's values that it has heard; empty in
    /// lock-step.
    pub heard: Vec<u32>,
    /// In a ring of moving blocks, what it tells its predecessor: news, its value on the
    /// patrol's ring, what the patrol carries. And what it remembers since the patrol came.
    pub block: [u32; 4],
}

impl Machine {
    /// Its part in the protocol.
    pub fn local(&self) -> Local {
        let state = &self.state;
        Local {
            phase: state.phase,
            values: state.tokens.iter().map(|token| token.value).collect(),
            released: state.released,
            counter: state.program.counter,
            turn: state.program.turn,
            heard: match self.config.plan.rule() {
                Rule::LockStep => Vec::new(),
                Rule::MovingBlock => state.links[0].values.to_vec(),
            },
            block: [
                state.block.news,
                state.block.patrol,
                state.block.lap,
                state.block.watch,
            ],
        }
    }

    /// Makes it `own`, knowing its predecessor and its successor to be as given, and them
    /// to know it; it remembers nothing else. No permit is granted, so no application is
    /// waited for.
    pub fn assume(&mut self, own: &Local, predecessor: &Local, successor: &Local) {
        let state = &mut self.state;
        (state.joined, state.resuming) = (true, false);
        state.phase = own.phase;
        state.released = own.released;
        state.program.counter = own.counter;
        state.program.turn = own.turn;
        let block = &mut state.block;
        [block.news, block.patrol, block.lap, block.watch] = own.block;
        for (token, &value) in state.tokens.iter_mut().zip(&own.values) {
            *token = Token {
                value,
                fence: token.fence,
                arriving_fence: token.arriving_fence,
                ..Token::default()
            };
        }
        state.verdict.wrong();
        let last = state.links.len() - 1;
        for (index, known) in [(0, predecessor), (last, successor)] {
            let link = &mut state.links[index];
            link.known = true;
            link.joining = false;
            link.acknowledged = true;
            link.phase = known.phase;
            link.released = known.released;
            link.values.copy_from_slice(&known.values);
        }
        let [news, patrol, lap, _] = successor.block;
        *state.told = Told {
            news,
            patrol,
            lap,
            ..Told::default()
        };
        for (heard, value) in state.heard_of.iter_mut().zip(&successor.heard) {
            *heard = *value;
        }
    }

    /// What it would be after one call if it were as [`Machine::assume`] makes it.
    pub fn react(&mut self, own: &Local, predecessor: &Local, successor: &Local) -> Local {
        self.assume(own, predecessor, successor);
        // Long after everything, the patrol too, so that nothing has to be waited for.
        let timing = &self.config.timing;
        let long = timing.tick.saturating_add(timing.refresh);
        self.handle_timeout(self.now().saturating_add(long));
        self.local()
    }
}
