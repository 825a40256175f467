//! Asking boards how they are, and waiting until they have settled.

use std::time::{Duration, Instant};

use headway_firmware::report::Order;

use crate::yard::{Member, Yard};

impl Yard {
    /// Asks all boards how they are, and waits for their answers.
    ///
    /// # Errors
    ///
    /// When one does not answer.
    pub fn ask(&mut self) -> Result<(), String> {
        for index in self.settings.boards.clone() {
            self.members[index as usize].status = None;
            self.order(index, Order::Tell);
        }
        let mut asked = Instant::now();
        // A board whose memory was overwritten may answer only after its watchdog has bitten,
        // 8 s of its own time, which is longer here on a busy machine.
        let answered = self.run_until(Duration::from_secs(120), |yard| {
            let members = yard.members.iter();
            let silent: Vec<u32> = (0..)
                .zip(members)
                .filter(|(_, member)| member.board.is_some() && member.status.is_none())
                .map(|(index, _)| index)
                .collect();
            // A board that has just started did not hear it.
            if asked.elapsed() > Duration::from_secs(1) {
                asked = Instant::now();
                for &index in &silent {
                    yard.order(index, Order::Tell);
                }
            }
            silent.is_empty()
        });
        if answered {
            Ok(())
        } else {
            Err("a board does not answer".to_owned())
        }
    }

    /// Runs until all have called the ring settled for a whole turn since the latest fault,
    /// and says how many rounds that took.
    ///
    /// # Errors
    ///
    /// When that takes longer than `limit`, or a board is dead.
    pub fn settle(&mut self, limit: Duration) -> Result<u32, String> {
        let end = Instant::now() + limit;
        let turn = self.settings.plan.nodes();
        loop {
            self.run_for(Duration::from_millis(50));
            self.ask()?;
            let boards = || self.members.iter().filter(|member| member.board.is_some());
            let rounds = |member: &Member| {
                let rounds = member.status.map_or(0, |status| status.rounds);
                // Whoever has started again counts anew.
                rounds.checked_sub(member.rounds_at_fault).unwrap_or(rounds)
            };
            let long = |member: &Member| member.poked || rounds(member) > turn;
            let settled = self.members.iter().all(|member| member.settled) && boards().all(long);
            let trusted = boards().filter(|member| !member.poked);
            let most = trusted.map(rounds).max().unwrap_or(0);
            if settled {
                self.observer.settled(self.began.elapsed());
                return Ok(most);
            }
            if Instant::now() > end {
                let unsettled: Vec<u32> = (0..)
                    .zip(&self.members)
                    .filter(|(_, member)| !member.settled)
                    .map(|(index, _)| index)
                    .collect();
                return Err(format!(
                    "not settled within {limit:?} and {most} rounds: members {unsettled:?}"
                ));
            }
        }
    }
}
