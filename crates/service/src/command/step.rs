//! A step of a rollout: its command, then the time to settle, then the question whether all is
//! well, all under one permit.

use std::time::{Duration, Instant};

use tokio::process::Command;
use tokio::sync::mpsc;

use super::Order;
use crate::config::Settings;
use crate::permits::CommandPermit;
use crate::request::Handle;
use crate::rollouts::Task;

/// How long after a no the question is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The permit was asked back, or the node stops.
const STOPPED: &str = "its permit was over before it had ended";

impl CommandPermit {
    /// How it ended. An error says what went wrong.
    pub(super) async fn run_step(
        &self,
        task: &Task,
        settings: &Settings,
        orders: &mut mpsc::UnboundedReceiver<Order>,
        handle: &Handle,
    ) -> Result<(), String> {
        let until = Instant::now() + self.time;
        let ended = self
            .rest(until)
            .run(
                self.task_command(&task.command, task, settings),
                orders,
                handle,
            )
            .await;
        ended.result?;
        if ended.stopped || self.stopped_within(task.settle, orders).await {
            return Err(STOPPED.into());
        }
        if task.healthy.is_empty() {
            return Ok(());
        }
        let limit = Instant::now() + settings.rollout.healthy_within;
        loop {
            let command = self.task_command(&task.healthy, task, settings);
            let rest = self.rest(until);
            let asked = rest.run(command, orders, handle).await;
            let why = match asked.result {
                _ if asked.stopped => return Err(STOPPED.into()),
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            if Instant::now() >= limit.min(until) {
                return Err(format!("not healthy in time: {why}"));
            }
            if self.stopped_within(ASK_AGAIN, orders).await {
                return Err(STOPPED.into());
            }
        }
    }

    /// The same permit, for what is left of its time.
    fn rest(&self, until: Instant) -> CommandPermit {
        CommandPermit {
            time: until.saturating_duration_since(Instant::now()),
            ..self.clone()
        }
    }

    fn task_command(&self, words: &[String], task: &Task, settings: &Settings) -> Command {
        let (program, arguments) = words
            .split_first()
            .map_or(("", words), |(first, rest)| (first, rest));
        let mut command = self.command(program, arguments, settings);
        command
            .env("HEADWAY_ROLLOUT", &task.rollout)
            .env("HEADWAY_STEP", task.step.to_string())
            .env("HEADWAY_ATTEMPT", task.attempt.to_string());
        command
    }

    /// Waits. Whether the permit was asked back meanwhile.
    async fn stopped_within(
        &self,
        time: Duration,
        orders: &mut mpsc::UnboundedReceiver<Order>,
    ) -> bool {
        let asked_back = self.asked_back(orders);
        tokio::time::timeout(time, asked_back).await.is_ok()
    }
}
