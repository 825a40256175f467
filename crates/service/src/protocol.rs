//! The thread that runs a node: it alone touches the [`Agent`] and the transport.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use sd_notify::NotifyState;

use crate::agent::Agent;
use crate::reach::Reach;
use crate::request::Request;

/// Datagrams taken in a row before requests and timeouts are looked at.
const MOST_DATAGRAMS: usize = 32;

/// Longer than any datagram that is listened to.
const BUFFER_BYTES: usize = 2048;

/// Runs until the agent has stopped, or the transport is broken.
///
/// The watchdog of systemd is fed here, once a loop, so that a node whose protocol
/// hangs is restarted, and one whose neighbour is dead is not.
///
/// # Errors
///
/// When the transport is broken.
pub fn run(
    mut agent: Agent,
    transport: &mut dyn Reach,
    requests: &Receiver<Request>,
    began: Instant,
) -> std::io::Result<()> {
    let mut buffer = [0; BUFFER_BYTES];
    let watchdog = sd_notify::watchdog_enabled().map(|every| every / 3);
    let mut fed = Instant::now();
    agent.flush(transport);
    loop {
        let now = began.elapsed();
        let wait = agent
            .poll_timeout()
            .saturating_sub(now)
            .min(Duration::from_millis(500));
        let mut received = transport.receive(&mut buffer, wait)?;
        for _ in 0..MOST_DATAGRAMS {
            let Some(bytes) = received else { break };
            agent.handle_datagram(began.elapsed(), &buffer[..bytes]);
            // Answered before the next is looked for: somebody waits for the token.
            agent.flush(transport);
            received = transport.receive(&mut buffer, Duration::ZERO)?;
        }
        if let Some(bytes) = received {
            agent.handle_datagram(began.elapsed(), &buffer[..bytes]);
        }
        while let Ok(request) = requests.try_recv() {
            agent.handle(began.elapsed(), request);
        }
        let now = began.elapsed();
        if now >= agent.poll_timeout() {
            agent.handle_timeout(now);
        }
        agent.flush(transport);
        if agent.finished(began.elapsed()) {
            return Ok(());
        }
        if let Some(every) = watchdog
            && fed.elapsed() >= every
        {
            fed = Instant::now();
            let _ = sd_notify::notify(&[NotifyState::Watchdog]);
        }
    }
}
