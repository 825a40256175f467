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
    /// [`Machine::handle_work_done`]. The token waits for [`Timing::grace`] at most.
    /// After a corruption of the machine's memory it may not remember whom to tell:
    /// an application that works for long compares with [`Machine::held`] now and
    /// then.
    ///
    /// [`Timing::grace`]: crate::Timing::grace
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
    /// A neighbour has not been heard for [`Timing::silence`].
    ///
    /// [`Timing::silence`]: crate::Timing::silence
    Silent {
        /// Its index.
        node: u32,
    },
    /// A silent neighbour was heard.
    Heard {
        /// Its index.
        node: u32,
    },
    /// Datagrams were not listened to.
    Rejected {
        /// Why.
        reason: Rejected,
        /// How many since the last such event.
        count: u64,
    },
}

/// What the application was told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) settled: bool,
    pub(crate) silent: [bool; 2],
    pub(crate) rejected: [u64; Rejected::ALL.len()],
}

impl Machine {
    /// The next thing that the application should know.
    pub fn poll_event(&mut self) -> Option<Event> {
        for (token, stay) in self.stays.iter_mut().enumerate() {
            let fence = self.rings.fences[token];
            let token = token as u32;
            let current = match stay.stage {
                Stage::Working => fence,
                // It has said that it is done, and needs no answer.
                Stage::Done => stay.told,
                Stage::Free | Stage::Stopping => 0,
            };
            if stay.told != 0 && stay.told != current {
                let fence = core::mem::take(&mut stay.told);
                return Some(Event::Withdrawn { token, fence });
            }
            if current != 0 && stay.told == 0 {
                stay.told = current;
                return Some(Event::Granted { token, fence });
            }
        }
        let settled = self.settled();
        if settled != self.told.settled {
            self.told.settled = settled;
            return Some(if settled {
                Event::Settled
            } else {
                Event::Unsettled
            });
        }
        for (link, told) in self.links.iter().zip(&mut self.told.silent) {
            if link.silent != *told {
                *told = link.silent;
                let node = link.node;
                return Some(if link.silent {
                    Event::Silent { node }
                } else {
                    Event::Heard { node }
                });
            }
        }
        for (reason, (&count, told)) in Rejected::ALL
            .into_iter()
            .zip(self.rejected.iter().zip(&mut self.told.rejected))
        {
            if count != *told {
                let count = count.wrapping_sub(core::mem::replace(told, count));
                return Some(Event::Rejected { reason, count });
            }
        }
        None
    }
}
