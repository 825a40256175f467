//! What the application is told.

use crate::Machine;
use crate::permit::Stage;
use crate::wire::Rejected;

/// Something that the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The application may work, under this fencing number. The token stays until
    /// [`Machine::handle_work_done`].
    Granted {
        /// Which token.
        token: u32,
        /// Larger than that of any permit for this token before.
        fence: u64,
    },
    /// The application has to stop, and to say so by
    /// [`Machine::handle_work_done`]. The token waits for [`Timing::stop_timeout`] at most.
    /// A machine whose memory was corrupted may not remember the permit: an application
    /// that works for long compares with [`Machine::held`] now and then.
    ///
    /// [`Timing::stop_timeout`]: crate::Timing::stop_timeout
    Withdrawn {
        /// Which token.
        token: u32,
        /// The number under which it was granted.
        fence: u64,
    },
    /// For a whole turn everything that this node saw was legitimate.
    Settled,
    /// Something is not legitimate.
    Unsettled,
    /// A neighbour has not been heard for [`Timing::heartbeat_timeout`].
    ///
    /// [`Timing::heartbeat_timeout`]: crate::Timing::heartbeat_timeout
    Silent {
        /// Its index.
        node: u32,
    },
    /// A silent neighbour was heard.
    Heard {
        /// Its index.
        node: u32,
    },
    /// Datagrams were rejected.
    Rejected {
        /// Why.
        reason: Rejected,
        /// How many since the last such event.
        count: u64,
    },
}

/// What the application was told last, apart from permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    settled: bool,
    silent: [bool; 2],
    /// The low half of each count, because fewer are rejected between two looks.
    rejected: [u32; Rejected::ALL.len()],
}

impl Machine {
    /// The next thing that the application should know.
    pub fn poll_event(&mut self) -> Option<Event> {
        for (index, token) in (0..).zip(self.state.tokens.iter_mut()) {
            let current = match token.stage {
                Stage::Working => token.fence,
                // The application has said that it is done, and needs no answer.
                Stage::Done => token.reported,
                Stage::Free | Stage::Stopping => 0,
            };
            if token.reported != 0 && token.reported != current {
                let fence = core::mem::take(&mut token.reported);
                return Some(Event::Withdrawn {
                    token: index,
                    fence,
                });
            }
            if current != 0 && token.reported == 0 {
                token.reported = current;
                return Some(Event::Granted {
                    token: index,
                    fence: current,
                });
            }
        }
        let settled = self.settled();
        if settled != self.reported.settled {
            self.reported.settled = settled;
            return Some(if settled {
                Event::Settled
            } else {
                Event::Unsettled
            });
        }
        for (link, reported) in self.state.links.iter().zip(&mut self.reported.silent) {
            if link.silent != *reported {
                *reported = link.silent;
                let node = link.node;
                return Some(if link.silent {
                    Event::Silent { node }
                } else {
                    Event::Heard { node }
                });
            }
        }
        let counts = self.rejected.iter().zip(&mut self.reported.rejected);
        for (reason, (&count, reported)) in Rejected::ALL.into_iter().zip(counts) {
            let count = count as u32;
            if count != *reported {
                let new = count.wrapping_sub(core::mem::replace(reported, count));
                let count = u64::from(new);
                return Some(Event::Rejected { reason, count });
            }
        }
        None
    }
}
