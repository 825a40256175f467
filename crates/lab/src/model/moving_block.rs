//! The moving block beside lock-step by phase clock, on one scale of time.
//!
//! In a unit of time every process acts once, in an order that is drawn anew: it reads
//! what its neighbours have told and does all it can. Who has got a token for which it has
//! asked works on it for a while, and does not pass it on meanwhile: under lock-step it does
//! not end the round.

use std::ops::ControlFlow;

use headway_core::Separation;
use headway_sim::asynchronous::AsynchronousRing;
use headway_sim::moving_block::{Action, MovingBlockRing, MovingBlockRun};
use headway_sim::seed::{Purpose, Random};
use headway_sim::settings::RingProgram;
use headway_sim::{Run, placement::Delays, run, start};
use strum::{Display, EnumString, VariantNames};

use super::{CellError, Engine, Model, NewSampler, Sampled, Sampler, axes, measures, share};
use crate::cell::Cell;

measures! {
    enum Measured {
        Hops share "hops" "hops of all tokens in a unit of time"
        Wait share "wait" "from asking to getting a token, in units of time, on average"
        TrueDistance count "true_distance" "the smallest distance at any time, in hops"
        Recovery count "recovery" "units of time from a random state to a legitimate one; in lock-step with clocks that agree already"
    }
}

/// What keeps tokens apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
enum Rule {
    LockStep,
    MovingBlock,
}

/// How long works are, for one mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
enum Lengths {
    Equal,
    /// One in ten takes ten times as long, the others nothing.
    Unequal,
}

/// The moving block and lock-step.
pub(super) const MODEL: Model = Model {
    name: "moving-block",
    axes: axes! {
        "processes", "n", "60", Number(3, 1 << 12), "processes on the ring";
        "separation", "d", "5", Number(1, 1 << 12), "the true distance wanted, in hops";
        "tokens", "m", "n/(2*d)", Number(2, 1 << 12), "tokens";
        "rule", "rule", "moving-block", Word(Rule::VARIANTS), "what keeps tokens apart";
        "work", "w", "10", Number(0, 1 << 16), "how long a process works on average";
        "lengths", "lengths", "equal", Word(Lengths::VARIANTS),
            "all works alike; or one in ten takes ten times as long and the others nothing";
        "idle", "idle", "0", Number(0, 1 << 20),
            "time on average from the end of a work to the next request; 0 is full demand";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], _: Engine) -> NewSampler {
    let number = |name| cell.number(name) as usize;
    let sampler = MovingBlockSampler {
        processes: number("processes"),
        tokens: number("tokens"),
        distance: number("separation") as u32,
        rule: cell.parsed("rule")?,
        work: number("work") as u64,
        lengths: cell.parsed("lengths")?,
        idle: number("idle") as u64,
        wanted: Measured::at(wanted),
    };
    let (n, m, d) = (sampler.processes, sampler.tokens, sampler.distance as usize);
    let least = match sampler.rule {
        Rule::LockStep => m * (d + 1),
        Rule::MovingBlock => m * d + 1,
    };
    if n < least {
        let rule = sampler.rule;
        return Err(CellError::new(
            "tokens",
            format!("{m} tokens {d} apart need {least} processes under {rule}"),
        ));
    }
    Ok(Box::new(sampler))
}

struct MovingBlockSampler {
    processes: usize,
    tokens: usize,
    distance: u32,
    rule: Rule,
    work: u64,
    lengths: Lengths,
    idle: u64,
    wanted: Vec<Measured>,
}

/// A ring under one of the rules.
enum Tested {
    /// And the round of the latest token that has come to each process.
    LockStep(AsynchronousRing, Vec<u64>),
    MovingBlock(MovingBlockRing),
}

impl MovingBlockSampler {
    /// The separation in logical time and the pace that keep the distance in lock-step: the
    /// quickest that fit.
    fn logical(&self) -> (u32, u64) {
        let (d, room) = (self.distance, (self.processes / self.tokens) as u32);
        let pace = d.div_ceil(room - d);
        (d + d.div_ceil(pace), pace.into())
    }

    fn separation(&self) -> Sampled<Separation> {
        Ok(Separation::new(self.logical().0).ok_or("a separation is at least 1")?)
    }

    fn ring(&self) -> Sampled<Tested> {
        let (n, m) = (self.processes, self.tokens);
        Ok(match self.rule {
            Rule::LockStep => {
                let (separation, pace) = (self.separation()?, self.logical().1);
                let ring = AsynchronousRing::with_tokens(n, m as u32, separation, pace);
                Tested::LockStep(ring?, vec![0; n])
            }
            Rule::MovingBlock => {
                let mut ring = MovingBlockRing::new(n, m, self.distance);
                ring.place(&(0..m).map(|token| token * n / m).collect::<Vec<_>>());
                Tested::MovingBlock(ring)
            }
        })
    }

    fn recovery(&self, seed: u64) -> Sampled<i64> {
        let (n, m) = (self.processes, self.tokens);
        let (rounds, pace) = match self.rule {
            Rule::LockStep => {
                let program = RingProgram::Fixed;
                let ring = program.ring(self.separation()?, n, &Delays::All, seed)?;
                let start = start::random(&ring, m as u32, seed);
                let outcome = run(&Run::new(ring, start), |_| ControlFlow::Continue(()))?;
                (outcome.legitimate_at, self.logical().1)
            }
            Rule::MovingBlock => {
                let mut run = MovingBlockRun::new(n, m, self.distance);
                run.seed = seed;
                let outcome = run.run(|frame| match frame.legitimate {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
                (outcome?.legitimate_at, 1)
            }
        };
        let rounds = rounds.ok_or("it never settled")?;
        Ok(i64::try_from(rounds * pace)?)
    }

    fn drawn_work(&self, random: &mut Random) -> u64 {
        match self.lengths {
            Lengths::Equal => self.work,
            Lengths::Unequal if random.chance(1, 10) => 10 * self.work,
            Lengths::Unequal => 0,
        }
    }

    fn drawn_idle(&self, random: &mut Random) -> u64 {
        // Any time up to twice the mean.
        random.below(2 * self.idle + 1)
    }

    fn observe(&self, seed: u64) -> Sampled<Seen> {
        let mut ring = self.ring()?;
        let n = self.processes;
        let mut random = Random::new(seed, Purpose::Other(0));
        let mut order: Vec<usize> = (0..n).collect();
        // Until when each process works, and since when it asks.
        let (mut works, mut asks) = (vec![0; n], vec![0; n]);
        for asked in &mut asks {
            *asked = self.drawn_idle(&mut random);
        }
        let mut seen = Seen {
            closest: n as u64,
            ..Seen::default()
        };
        // Tokens take a while to find the distances that suit them.
        let warm = 20 * n as u64 + 5 * self.work;
        let length = warm + 40 * n as u64 + 200 * self.work;
        for now in 0..length {
            for last in (1..n).rev() {
                order.swap(last, random.index(last + 1));
            }
            for &process in &order {
                let arrived = ring.arrives(process);
                seen.hops += u64::from(arrived && now >= warm);
                if arrived && now >= asks[process] {
                    if now >= warm {
                        seen.waits += 1;
                        seen.waited += now - asks[process];
                    }
                    works[process] = now + self.drawn_work(&mut random);
                    asks[process] = works[process] + self.drawn_idle(&mut random);
                }
                ring.act(process, now < works[process]);
                seen.closest = seen.closest.min(ring.closest());
            }
        }
        seen.time = length - warm;
        Ok(seen)
    }
}

impl Tested {
    /// Whether a token has come to a process.
    fn arrives(&mut self, process: usize) -> bool {
        match self {
            Tested::LockStep(ring, seen) => ring
                .offered(process)
                .is_some_and(|round| std::mem::replace(&mut seen[process], round) < round),
            Tested::MovingBlock(ring) => ring.act(process, Action::Receive),
        }
    }

    /// A process does what it can: while it works, it keeps its token.
    fn act(&mut self, process: usize, works: bool) {
        match self {
            Tested::LockStep(ring, _) if works && ring.before_round(process) => {}
            Tested::LockStep(ring, _) => ring.activate(process),
            Tested::MovingBlock(ring) => {
                ring.act(process, Action::Hear);
                if !works {
                    ring.act(process, Action::Give);
                }
                ring.act(process, Action::Tell);
            }
        }
    }

    fn closest(&self) -> u64 {
        match self {
            Tested::LockStep(ring, _) => ring.closest_ever(),
            Tested::MovingBlock(ring) => ring.closest().max(0) as u64,
        }
    }
}

#[derive(Default)]
struct Seen {
    time: u64,
    hops: u64,
    waits: u64,
    waited: u64,
    closest: u64,
}

impl Sampler for MovingBlockSampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let observed = self
            .wanted
            .iter()
            .any(|wanted| *wanted != Measured::Recovery);
        let seen = if observed {
            self.observe(seed)?
        } else {
            Seen::default()
        };
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::Hops => share(seen.hops, seen.time),
                Measured::Wait => share(seen.waited, seen.waits),
                Measured::TrueDistance => Some(seen.closest as i64),
                Measured::Recovery => Some(self.recovery(seed)?),
            };
        }
        Ok(())
    }
}
