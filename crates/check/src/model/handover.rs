//! One token handed over by an acknowledged message (paper, section 5.2), over
//! channels that hold few messages, lose them and repeat them, but keep their
//! order.
//!
//! The sender numbers its handovers modulo the number of values and repeats the
//! current number until the same number comes back. The receiver takes the token
//! when a number differs from the last one it took, and answers every message with
//! its number. The initial state may hold any numbers anywhere: stale messages can
//! then be taken for a token, and stale acknowledgements for its receipt.

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::settings::settings;
use crate::traits::{Action, Actions, Fairness, Model, Step};
use crate::{Domains, Report, actions};

const MAX_CAPACITY: usize = 4;

settings! {
    /// How messages are numbered and how many a channel holds.
    Settings {
        /// Messages that a channel holds
        capacity: usize = 2, "C";
        /// Message numbers [default: 2C]
        values: Option<u32> = None, "K";
    }
}

/// Checks the handover.
///
/// # Errors
///
/// As [`Handover::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = Handover::new(settings)?;
    let (values, capacity) = (model.values, model.capacity);
    let instance = format!("numbers modulo {values}, channels for {capacity} messages");
    let conserved = (
        "conserved",
        "after stabilization no token is lost or doubled: the receiver takes one exactly when \
         the sender ceases to have one",
    );
    actions::report(&model, "handover", instance, &[conserved], control)
}

/// A channel's messages, the oldest first.
type Channel = Vec<u8>;

/// Both parties and both channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The number of the sender's current or last handover.
    number: u8,
    /// The sender has a token and has not seen the acknowledgement.
    sending: bool,
    /// The number that the receiver took last.
    taken: u8,
    messages: Channel,
    acknowledgements: Channel,
}

/// A sender and a receiver.
#[derive(Clone, Debug)]
pub struct Handover {
    values: u64,
    capacity: usize,
    domains: Domains,
}

impl Handover {
    /// The sender and the receiver of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range.
    pub fn new(settings: &Settings) -> Result<Handover> {
        let capacity = settings.capacity;
        // As few numbers as are enough, unless said otherwise.
        let values = settings
            .values
            .map_or(2 * capacity.min(32), |values| values as usize);
        if !(2..=64).contains(&values) || !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(CheckError::settings(format!(
                "handover: 2 to 64 values and a capacity of 1 to {MAX_CAPACITY}"
            )));
        }
        let values = values as u64;
        // Contents of one channel: 1 + M + M² + …
        let contents = (0..=capacity as u32).map(|len| values.pow(len)).sum();
        Ok(Handover {
            values,
            capacity,
            domains: Domains::new([values, 2, values, contents, contents])?,
        })
    }

    fn channel(&self, mut rank: u64) -> Channel {
        let (mut length, mut ways) = (0, 1);
        while rank >= ways {
            rank -= ways;
            ways *= self.values;
            length += 1;
        }
        let digits = std::iter::successors(Some(rank), |rest| Some(rest / self.values));
        let messages = digits.take(length).map(|rest| (rest % self.values) as u8);
        messages.collect()
    }

    fn channel_rank(&self, channel: &Channel) -> u64 {
        let shorter: u64 = (0..channel.len() as u32)
            .map(|length| self.values.pow(length))
            .sum();
        let messages = channel.iter().rev();
        shorter + messages.fold(0, |rank, &message| rank * self.values + u64::from(message))
    }

    fn receive(&self, state: &State, repeated: bool) -> Option<State> {
        let mut after = state.clone();
        after.taken = take(&mut after.messages, repeated)?;
        // A message sent into a full channel is lost.
        if after.acknowledgements.len() < self.capacity {
            after.acknowledgements.push(after.taken);
        }
        Some(after)
    }

    fn acknowledge(state: &State, repeated: bool) -> Option<State> {
        let mut after = state.clone();
        let number = take(&mut after.acknowledgements, repeated)?;
        after.sending &= number != state.number;
        Some(after)
    }
}

/// The oldest message, which stays if the channel is to repeat it.
fn take(channel: &mut Channel, repeated: bool) -> Option<u8> {
    let message = *channel.first()?;
    if !repeated {
        channel.remove(0);
    }
    Some(message)
}

/// Whether the messages are some of `old`, then some of `new`.
fn old_then_new(channel: &Channel, old: u8, new: u8) -> bool {
    let mut rest = channel.iter().skip_while(|&&number| number == old);
    rest.all(|&number| number == new)
}

/// Whether the sender still has the token: it sends, and the receiver has not
/// taken this number.
fn sender_has_it(state: &State) -> bool {
    state.sending && state.taken != state.number
}

/// The first four are fair.
const NAMES: [&str; 8] = [
    "a token arrives at the sender",
    "send",
    "receive",
    "acknowledge",
    "receive and keep a copy",
    "acknowledge and keep a copy",
    "lose a message",
    "lose an acknowledgement",
];

impl Model for Handover {
    type State = State;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut values = self.domains.values(rank);
        let mut next = || values.next().expect("five variables");
        State {
            number: next() as u8,
            sending: next() == 1,
            taken: next() as u8,
            messages: self.channel(next()),
            acknowledgements: self.channel(next()),
        }
    }

    fn rank(&self, state: &State) -> u64 {
        self.domains.rank([
            state.number.into(),
            state.sending.into(),
            state.taken.into(),
            self.channel_rank(&state.messages),
            self.channel_rank(&state.acknowledgements),
        ])
    }

    fn legitimate(&self, state: &State) -> bool {
        let new = state.number;
        let old = ((u64::from(new) + self.values - 1) % self.values) as u8;
        let all = |channel: &Channel, number| channel.iter().all(|&message| message == number);
        if !state.sending {
            return state.taken == new
                && all(&state.messages, new)
                && all(&state.acknowledgements, new);
        }
        if state.taken == new {
            all(&state.messages, new) && old_then_new(&state.acknowledgements, old, new)
        } else {
            state.taken == old
                && old_then_new(&state.messages, old, new)
                && all(&state.acknowledgements, old)
        }
    }

    fn show(&self, state: &State) -> String {
        let list = |channel: &Channel| {
            let numbers = channel.iter().map(ToString::to_string);
            format!("[{}]", numbers.collect::<Vec<_>>().join(" "))
        };
        format!(
            "sender {} {}  messages {}  receiver took {}  acknowledgements {}",
            if state.sending {
                "sends"
            } else {
                "is done with"
            },
            state.number,
            list(&state.messages),
            state.taken,
            list(&state.acknowledgements)
        )
    }
}

impl Actions for Handover {
    fn actions(&self) -> Vec<Action> {
        let actions = NAMES.iter().enumerate();
        actions
            .map(|(index, name)| Action {
                name,
                fairness: if index < 4 {
                    Fairness::Strong
                } else {
                    Fairness::Unfair
                },
            })
            .collect()
    }

    fn steps(&self, state: &State, steps: &mut Vec<Step<State>>) {
        let mut add = |action, state: Option<State>| {
            steps.extend(state.map(|state| Step { action, state }));
        };
        add(
            0,
            (!state.sending).then(|| State {
                number: ((u64::from(state.number) + 1) % self.values) as u8,
                sending: true,
                ..state.clone()
            }),
        );
        if state.sending && state.messages.len() < self.capacity {
            let mut after = state.clone();
            after.messages.push(state.number);
            add(1, Some(after));
        }
        add(2, self.receive(state, false));
        add(3, Handover::acknowledge(state, false));
        add(4, self.receive(state, true));
        add(5, Handover::acknowledge(state, true));
        let mut lost = state.clone();
        add(6, take(&mut lost.messages, false).map(|_| lost));
        let mut lost = state.clone();
        add(7, take(&mut lost.acknowledgements, false).map(|_| lost));
    }

    fn violates(&self, before: &State, step: &Step<State>) -> Option<&'static str> {
        let after = &step.state;
        let takes = before.taken != after.taken;
        let had = sender_has_it(before) || step.action == 0;
        let gives_up = had && !sender_has_it(after);
        (takes != gives_up).then_some("conserved")
    }
}
