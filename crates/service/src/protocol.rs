//! The thread that runs a node: it alone touches the [`Agent`], and carries out what the
//! agent wants done, in its order.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use sd_notify::NotifyState;
use tokio::sync::{mpsc, oneshot};

use crate::agent::alarm::Seldom;
use crate::agent::{Agent, Beside, Destination, Effect};
use crate::clock::{epoch, since_boot};
use crate::command::Order;
use crate::permits::{CommandPermit, Outcome};
use crate::request::{Answer, Envelope, Reply, Request, RequestId};
use crate::store::{Store, Stored};
use crate::transport::ByName;

/// Datagrams taken in a row before requests and timeouts are looked at.
const MAX_DATAGRAMS: usize = 32;

/// Longer than any datagram that is listened to.
const BUFFER_BYTES: usize = 2048;

/// For requests of the shell itself, which needs no answer.
const NOBODY: RequestId = 0;

/// A node, and what it acts upon.
pub(crate) struct Shell {
    pub(crate) agent: Agent,
    pub(crate) transport: ByName,
    pub(crate) store: Store,
    pub(crate) identity_file: PathBuf,
    /// For the task that runs the command.
    pub(crate) commands: mpsc::UnboundedSender<Order>,
    /// On the clock of the machine.
    pub(crate) began: Duration,
    pub(crate) world: World,
}

/// Tells systemd that the protocol is alive, on a thread of its own: while systemd does not read,
/// that waits.
fn feeder() -> SyncSender<()> {
    let (feeder, alive) = sync_channel(1);
    std::thread::spawn(move || {
        for () in alive {
            let _ = sd_notify::notify(&[NotifyState::Watchdog]);
        }
    });
    feeder
}

/// What the shell remembers of the world.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// Who waits for an answer.
    replies: BTreeMap<RequestId, oneshot::Sender<Reply>>,
    last_request: RequestId,
    /// Neighbours that the transport could not find yet.
    unreached: Vec<Beside>,
    /// Datagrams that could not be sent.
    unsent: u64,
    said: Seldom,
}

impl Shell {
    /// Runs until the agent has stopped, or the transport is broken.
    ///
    /// The watchdog of systemd is fed here, once a loop, so that a node whose protocol
    /// hangs is restarted, and one whose neighbour is dead is not.
    ///
    /// # Errors
    ///
    /// When the transport is broken.
    pub(crate) fn run(mut self, requests: &Receiver<Envelope>) -> io::Result<()> {
        let mut buffer = [0; BUFFER_BYTES];
        let watchdog = sd_notify::watchdog_enabled().map(|every| (every / 3, feeder()));
        let mut fed = Instant::now();
        self.carry_out();
        loop {
            let wait = self.agent.poll_timeout().saturating_sub(self.now());
            let wait = wait.min(Duration::from_millis(500));
            let mut received = self.transport.receive(&mut buffer, wait)?;
            for _ in 0..MAX_DATAGRAMS {
                let Some(bytes) = received else { break };
                self.agent.handle_datagram(self.now(), &buffer[..bytes]);
                // Answered before the next is looked for: somebody waits for the token.
                self.carry_out();
                received = self.transport.receive(&mut buffer, Duration::ZERO)?;
            }
            if let Some(bytes) = received {
                self.agent.handle_datagram(self.now(), &buffer[..bytes]);
            }
            while let Ok((request, reply)) = requests.try_recv() {
                self.world.last_request += 1;
                let id = self.world.last_request;
                self.world.replies.extend(reply.map(|reply| (id, reply)));
                self.agent.handle_request(self.now(), id, request);
                self.carry_out();
            }
            if self.now() >= self.agent.poll_timeout() {
                self.agent.handle_clock(epoch(self.now()));
                self.agent.handle_timeout(self.now());
            }
            self.carry_out();
            if self.agent.finished(self.now()) {
                if let Err(error) = self.store.finish() {
                    tracing::error!(%error, "the state may not be on the disk");
                }
                return Ok(());
            }
            if let Some((every, feeder)) = &watchdog
                && fed.elapsed() >= *every
            {
                fed = Instant::now();
                let _ = feeder.try_send(());
            }
        }
    }

    fn now(&self) -> Duration {
        since_boot().saturating_sub(self.began)
    }

    fn carry_out(&mut self) {
        let unreached = std::mem::take(&mut self.world.unreached);
        self.reach(unreached);
        while let Some(effect) = self.agent.poll_effect() {
            match effect {
                Effect::KeepState(state) => {
                    let result = self.store.save_state(&state);
                    self.stored(Stored::State, result);
                }
                Effect::KeepRoster(roster) => {
                    let result = self.store.save_roster(&roster);
                    self.stored(Stored::Roster, result);
                }
                Effect::KeepIdentity(identities) => {
                    let result = identities.write(&self.identity_file);
                    self.stored(Stored::Identity, result);
                }
                Effect::KeepNotes(notes) => {
                    let result = self.store.save_notes(&notes);
                    self.stored(Stored::Notes, result);
                }
                Effect::KeepRollouts(bytes) => {
                    let result = self.store.save_rollouts(&bytes);
                    self.stored(Stored::Rollouts, result);
                }
                Effect::Neighbours(beside) => self.reach(beside),
                Effect::Send(to, datagram) => self.send(to, &datagram),
                Effect::Reply(id, reply) => self.reply(id, reply),
                Effect::StartCommand(permit) => self.start_command(permit),
                Effect::StopCommand(grant) => {
                    // If nobody is there to stop it, it is not running.
                    let _ = self.commands.send(Order::Stop(grant));
                }
            }
        }
    }

    fn stored(&mut self, what: Stored, result: io::Result<()>) {
        let result = result.map_err(|error| error.to_string());
        self.agent.handle_stored(self.now(), what, result);
    }

    /// Tells the transport where the neighbours are. Those that it does not find are tried
    /// again.
    fn reach(&mut self, beside: Vec<Beside>) {
        for beside in beside {
            let Beside {
                node,
                name,
                address,
            } = &beside;
            if let Err(error) = self.transport.reach(*node, address) {
                let now = since_boot();
                if error.kind() != io::ErrorKind::WouldBlock && self.world.said.may(now, name) {
                    tracing::warn!(member = %name, %address, %error, "no way to it");
                }
                self.world.unreached.push(beside);
            }
        }
    }

    /// What cannot be sent is lost, and loss is allowed for.
    fn send(&mut self, to: Destination, datagram: &[u8]) {
        let sent = match to {
            Destination::Neighbour(node) => self.transport.send(node, datagram),
            Destination::Address(address) => self.transport.send_to(&address, datagram),
        };
        self.world.unsent += u64::from(sent.is_err());
    }

    fn reply(&mut self, id: RequestId, mut reply: Reply) {
        if let Ok(Answer::Status(status)) = &mut reply {
            status.counts.unsent = self.world.unsent;
        }
        let unheard = match self.world.replies.remove(&id) {
            Some(waiting) => waiting.send(reply).err(),
            None => Some(reply),
        };
        // Whoever has gone away does not need its answer, but does not use a permit either.
        if let Some(Ok(Answer::Permit(given))) = unheard {
            let release = Request::Release {
                ticket: given.ticket,
            };
            self.agent.handle_request(self.now(), NOBODY, release);
        }
    }

    fn start_command(&mut self, permit: CommandPermit) {
        let (grant, step) = (permit.grant, permit.task.is_some());
        if self.commands.send(Order::Start(permit)).is_err() {
            let why = "nobody is there to run it".to_owned();
            let ended = if step {
                Request::StepEnded {
                    grant,
                    result: Err(why),
                    took: Duration::ZERO,
                }
            } else {
                Request::CommandEnded {
                    grant,
                    outcome: Outcome::Failed,
                    took: Duration::ZERO,
                }
            };
            self.agent.handle_request(self.now(), NOBODY, ended);
        }
    }
}
