//! The errors, and how a node is made to have them without touching its code: by its
//! configuration, by the datagrams that it gets, by its memory, by its application.

use std::time::Duration;

use headway_core::phase_clock::PhaseClock;
use headway_node::state::{Domain, Variable};
use headway_node::wire::block::{self, BLOCK_BYTES, HEARD_BYTES};
use headway_node::wire::{HEADER_BYTES, field};
use headway_node::{Config, Grant, Key, MAC_BYTES, Machine, Role, Rule};
use headway_stage::world::Sabotage;

/// One error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A clock that is out of step with a neighbour does not reset.
    NoReset,
    /// The clock's modulus is at most n, so clocks can be wound round the ring.
    ClockModulusTooSmall,
    /// Resets go back to 0: there is no tail to climb.
    NoTail,
    /// The token rings have two values, whatever the ring's size.
    TwoValues,
    /// A token is passed on while its permit is being used.
    PublishBeforeWorkDone,
    /// A neighbour that is a tick ahead is read as if it were not.
    NoPreviousTick,
    /// Datagrams of another ring are accepted.
    AcceptAnyRing,
    /// Datagrams are not authenticated.
    AcceptUnauthenticated,
    /// Datagrams that are older than what is known are accepted.
    AcceptStale,
    /// A sequence number from the future is believed forever: no challenges.
    NoChallenge,
    /// Nothing is sent twice.
    NoRefresh,
    /// A clock ticks although a neighbour is behind.
    TickAlone,
    /// The delay does not wait.
    NoDelay,
    /// Every node counts fencing numbers for itself.
    FenceFromMemory,
    /// Permits are granted before anything is known to be legitimate, and the verdict
    /// says settled from the start.
    SettledAtOnce,
    /// Corrupted variables out of their domain are not put back into it.
    NoSanity,
    /// News is believed that does not include the last hand-over.
    BelieveOldNews,
    /// The way ahead is taken for free.
    NoBlock,
    /// A token that is handed over is told to be somewhere else at once.
    TellOldNews,
    /// No gate is ever opened.
    NeverOpen,
}

impl Flaw {
    pub(crate) const ALL: [Flaw; 20] = [
        Flaw::NoReset,
        Flaw::ClockModulusTooSmall,
        Flaw::NoTail,
        Flaw::TwoValues,
        Flaw::PublishBeforeWorkDone,
        Flaw::NoPreviousTick,
        Flaw::AcceptAnyRing,
        Flaw::AcceptUnauthenticated,
        Flaw::AcceptStale,
        Flaw::NoChallenge,
        Flaw::NoRefresh,
        Flaw::TickAlone,
        Flaw::NoDelay,
        Flaw::FenceFromMemory,
        Flaw::SettledAtOnce,
        Flaw::NoSanity,
        Flaw::BelieveOldNews,
        Flaw::NoBlock,
        Flaw::TellOldNews,
        Flaw::NeverOpen,
    ];

    /// Whether a ring with this rule can have it.
    pub(crate) fn concerns(self, rule: Rule) -> bool {
        match self {
            Flaw::NoReset
            | Flaw::ClockModulusTooSmall
            | Flaw::NoTail
            | Flaw::NoPreviousTick
            | Flaw::TickAlone
            | Flaw::NoDelay => rule == Rule::LockStep,
            Flaw::BelieveOldNews | Flaw::NoBlock | Flaw::TellOldNews | Flaw::NeverOpen => {
                rule == Rule::MovingBlock
            }
            _ => true,
        }
    }

    /// What it changes in a node's configuration.
    pub(crate) fn misconfigure(self) -> fn(&mut Config) {
        match self {
            Flaw::NoRefresh => |config| {
                config.timing.refresh = Duration::from_secs(100_000);
                config.timing.heartbeat_timeout = Duration::from_secs(200_000);
            },
            Flaw::NoDelay => |config| config.role = Role::Relay,
            Flaw::SettledAtOnce => |config| config.grant = Grant::Always,
            _ => |_| {},
        }
    }
}

/// A lap of the patrol after which no gate opens.
const DISTURBED: u32 = 2;

#[derive(Debug)]
pub(crate) struct Saboteur {
    flaw: Flaw,
    key: Key,
    /// Resets and phase of the node before the call.
    before: (u64, i32),
    /// Variables that were out of their domain before the call, by their place.
    impossible: Vec<(usize, u64)>,
    /// Who held a token after its last call.
    holders: Vec<bool>,
}

impl Saboteur {
    pub(crate) fn new(flaw: Flaw, key: &Key) -> Saboteur {
        Saboteur {
            flaw,
            key: key.clone(),
            before: (0, 0),
            impossible: Vec::new(),
            holders: Vec::new(),
        }
    }

    fn held(&self, node: u32) -> bool {
        self.holders.get(node as usize).copied().unwrap_or(true)
    }

    /// Changes a datagram before its receiver sees it.
    fn tamper(&self, node: &mut Machine, datagram: &mut [u8]) {
        let Some(signed) = datagram.len().checked_sub(MAC_BYTES) else {
            return;
        };
        let (content, mac) = datagram.split_at_mut(signed);
        let authentic = self.key.verify(content, mac);
        if content.len() < HEADER_BYTES || !authentic && self.flaw != Flaw::AcceptUnauthenticated {
            return;
        }
        let config = *node.config();
        let own: Vec<u32> = node
            .state()
            .tokens
            .iter()
            .map(|token| token.value)
            .collect();
        let sender = u32::from_be_bytes(content[field::SENDER].try_into().unwrap());
        let links = &mut node.state_mut().links;
        let Some(link) = links.iter_mut().find(|link| link.node() == sender) else {
            return;
        };
        let number = |at| u64::from_be_bytes(<[u8; 8]>::try_from(&content[at]).unwrap());
        match self.flaw {
            Flaw::AcceptAnyRing => content[field::RING].copy_from_slice(&config.ring.0),
            Flaw::AcceptStale => {
                link.incarnation = number(field::INCARNATION);
                link.sequence = 0;
            }
            Flaw::NoChallenge => {
                let newer = number(field::INCARNATION) == link.incarnation
                    && number(field::SEQUENCE) > link.sequence;
                if !newer {
                    content[field::ECHO].copy_from_slice(&(!link.challenge).to_be_bytes());
                }
            }
            Flaw::NoPreviousTick => content[field::RELEASED].fill(0xFF),
            Flaw::TickAlone => {
                let theirs = i32::from_be_bytes(content[field::PHASE].try_into().unwrap());
                let phase = caught_up(node, theirs);
                content[field::PHASE].copy_from_slice(&phase.to_be_bytes());
            }
            Flaw::BelieveOldNews if sender == config.successor() => {
                let heard = content.len() - HEARD_BYTES * own.len();
                for (place, value) in content[heard..].chunks_mut(HEARD_BYTES).zip(&own) {
                    place.copy_from_slice(&value.to_be_bytes());
                }
            }
            // It counts as told by the predecessor, to whom it matters.
            Flaw::NoBlock | Flaw::TellOldNews => {
                let block = content.len() - HEARD_BYTES * own.len() - BLOCK_BYTES;
                let news = &mut content[block..][block::field::NEWS];
                if self.flaw == Flaw::NoBlock || news == [0; 4] && !self.held(sender) {
                    news.copy_from_slice(&config.plan.separation().to_be_bytes());
                }
            }
            Flaw::NeverOpen => {
                let block = content.len() - HEARD_BYTES * own.len() - BLOCK_BYTES;
                content[block..][block::field::LAP].copy_from_slice(&DISTURBED.to_be_bytes());
            }
            Flaw::FenceFromMemory => {
                let tokens = config.plan.tokens() as usize;
                for token in content[HEADER_BYTES..].chunks_mut(12).take(tokens) {
                    token[4..].fill(0);
                }
            }
            _ => {}
        }
        mac.copy_from_slice(&self.key.sign(content));
    }
}

impl Sabotage for Saboteur {
    fn domain(&self, config: &Config) -> Domain {
        let whole = config.domain();
        let (nodes, pace) = (config.plan.nodes() as i32, config.plan.pace() as i32);
        let clock = match self.flaw {
            Flaw::ClockModulusTooSmall => PhaseClock {
                modulus: ((nodes / pace).max(1) * pace).max(3),
                tail: nodes,
            },
            Flaw::NoTail => PhaseClock {
                tail: 0,
                ..whole.clock
            },
            _ => whole.clock,
        };
        let values = match self.flaw {
            Flaw::TwoValues => 2,
            _ => whole.values,
        };
        Domain {
            clock,
            values,
            ..whole
        }
    }

    fn before(&mut self, node: &mut Machine, datagram: Option<&mut Vec<u8>>) {
        self.before = (node.resets(), node.phase());
        match self.flaw {
            Flaw::SettledAtOnce => node.state_mut().verdict.clean = u32::MAX,
            Flaw::NoSanity => self.impossible = impossible(node),
            Flaw::NeverOpen => {
                let state = node.state_mut();
                state.told.lap = DISTURBED;
                state.block.watch = state.block.watch.min(1);
            }
            Flaw::TickAlone => {
                for at in 0..node.state().links.len() {
                    let theirs = node.state().links[at].phase;
                    node.state_mut().links[at].phase = caught_up(node, theirs);
                }
            }
            _ => {}
        }
        if let Some(datagram) = datagram {
            self.tamper(node, datagram);
        }
    }

    fn after(&mut self, node: &mut Machine) {
        let (resets, phase) = self.before;
        match self.flaw {
            Flaw::SettledAtOnce => node.state_mut().verdict.clean = u32::MAX,
            Flaw::NoReset if node.resets() > resets => node.state_mut().phase = phase,
            Flaw::NoSanity => put_back(node, &self.impossible),
            Flaw::TellOldNews => {
                let index = node.config().index as usize;
                self.holders
                    .resize(self.holders.len().max(index + 1), false);
                self.holders[index] = node.held().next().is_some();
            }
            _ => {}
        }
    }

    fn ends_early(&self) -> bool {
        self.flaw == Flaw::PublishBeforeWorkDone
    }
}

/// A neighbour's phase, or the node's own if the neighbour is a tick behind.
fn caught_up(node: &Machine, theirs: i32) -> i32 {
    let behind = theirs >= 0 && node.domain().clock.after(theirs) == node.phase();
    if behind { node.phase() } else { theirs }
}

/// Every phase and value that is out of its domain, with its place among the variables.
fn impossible(node: &mut Machine) -> Vec<(usize, u64)> {
    let (config, domain) = (*node.config(), *node.domain());
    let (mut place, mut found) = (0, Vec::new());
    node.state_mut().visit(&config, &domain, &mut |variable| {
        let out = match &variable {
            Variable::Phase(phase) => !domain.phases().contains(*phase),
            Variable::Below(number, limit) => **number >= *limit,
            _ => false,
        };
        if out {
            found.push((place, variable.get()));
        }
        place += 1;
    });
    found
}

/// Undoes the repair of variables that were out of their domain.
fn put_back(node: &mut Machine, found: &[(usize, u64)]) {
    let (config, domain) = (*node.config(), *node.domain());
    let mut place = 0;
    node.state_mut().visit(&config, &domain, &mut |variable| {
        if let Some((_, was)) = found.iter().find(|(found, _)| *found == place) {
            variable.set(*was);
        }
        place += 1;
    });
}
