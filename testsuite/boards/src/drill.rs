//! What is done to a ring of boards, and what is checked.

use std::path::Path;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use headway_firmware::report::{Order, Status};
use headway_node::{Config, Plan, recovery_rounds};

use crate::board::MEMORY_BYTES;
use crate::numbers;
use crate::setup::Settings;
use crate::wire::Faults;
use crate::yard::Yard;

/// An instruction takes so many nanoseconds of a board's time.
pub const INSTRUCTION_NANOS: u64 = 32;

/// How long anything may take; nothing depends on it unless something is wrong.
const LIMIT: Duration = Duration::from_secs(120);

/// Memory that has to be left, in bytes.
const MIN_FREE_BYTES: u32 = 64;

/// A ring and how long to watch it.
#[derive(Clone, Copy, Debug)]
pub struct Drill {
    /// What the ring keeps up.
    pub plan: Plan,
    /// Whether datagrams are authenticated, under a key for each link.
    pub keys: bool,
    /// Turns to watch after everything that is done to it.
    pub turns: u32,
    /// How often everything is done to it.
    pub times: u32,
    /// What is wrong with the lines.
    pub faults: Faults,
    /// Everything random follows from it.
    pub seed: u64,
}

impl Drill {
    /// Eight boards, two tokens two apart, on bad lines.
    ///
    /// # Panics
    ///
    /// Never: these tokens fit.
    pub fn new(seed: u64) -> Drill {
        Drill {
            plan: Plan::new(8, 2, 2).expect("they fit"),
            keys: false,
            turns: 10,
            times: 1,
            faults: Faults {
                loss: 0.0002,
                repeat: 0.0002,
                corrupt: 0.0002,
                delay: Duration::from_millis(3),
            },
            seed,
        }
    }

    /// How the ring is set up.
    pub fn settings(&self) -> Settings {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut key = || {
            let mut key = vec![0; 32];
            random.fill_bytes(&mut key);
            key
        };
        let nodes = self.plan.nodes();
        Settings {
            plan: self.plan,
            ring: Config::identity(b"greenhouse", &self.plan, 0),
            fence_floor: 0,
            boards: (0..nodes).collect(),
            times: [40, 2000, 0, 2000, 100],
            sample: 5,
            patience: 30_000,
            keys: self.keys.then(|| (0..nodes).map(|_| key()).collect()),
            faults: self.faults,
            seed: self.seed,
        }
    }

    /// Does everything to a ring of boards with this program, and tells what it has seen.
    ///
    /// # Errors
    ///
    /// The first promise that was broken.
    pub fn run(&self, image: &Path, tell: &mut dyn FnMut(String)) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let nodes = self.plan.nodes();
        tell(format!(
            "{nodes} boards, {} tokens at least {} apart{}; of 10,000 bytes {:.0} are lost, {:.0} \
             repeated, {:.0} changed; delays up to {:?}; seed {}",
            self.plan.tokens(),
            self.plan.wanted(),
            if self.keys {
                ", a key for each link"
            } else {
                ""
            },
            self.faults.loss * 1e4,
            self.faults.repeat * 1e4,
            self.faults.corrupt * 1e4,
            self.faults.delay,
            self.seed
        ));
        let yard = Yard::start(image, folder.path(), self.settings())?;
        let mut run = Run {
            drill: self,
            image,
            yard,
            random: ChaCha8Rng::seed_from_u64(self.seed ^ 0x5EED),
            tell,
        };
        run.settles("power on")?;
        run.watch()?;
        for _ in 0..self.times {
            run.everything()?;
        }
        run.sums_up()
    }
}

/// A ring that something is done to.
struct Run<'r> {
    drill: &'r Drill,
    image: &'r Path,
    yard: Yard,
    random: ChaCha8Rng,
    tell: &'r mut dyn FnMut(String),
}

impl Run<'_> {
    fn everything(&mut self) -> Result<(), String> {
        let nodes = self.drill.plan.nodes();
        // A cut line is no fault: everything is promised meanwhile, but progress.
        let link = self.any();
        self.yard.cut(link, true);
        self.yard.run_for(Duration::from_millis(700));
        self.yard.cut(link, false);
        self.watch_after(&format!("line {link} cut for 0.7 s"))?;

        self.yard.ask()?;
        self.yard.fault("scramble");
        for index in 0..nodes {
            let seed = self.random.next_u64();
            self.yard.order(index, Order::Scramble { seed });
        }
        self.settles("memory of all boards scrambled")?;
        self.watch()?;

        let index = self.any();
        self.yard.ask()?;
        self.yard.fault("reset");
        self.starts_again(index, Order::Reset)?;
        self.settles(&format!("board {index} reset"))?;
        self.watch()?;

        let index = self.any();
        self.yard.ask()?;
        self.yard.fault("power");
        self.yard.power_off(index);
        self.yard.run_for(Duration::from_millis(300));
        self.yard.power_on(index)?;
        self.settles(&format!("board {index} without power for 0.3 s"))?;
        self.watch()?;

        let index = self.any();
        let offset = self.random.next_u32() % (MEMORY_BYTES / 2);
        let mut bytes = vec![0; MEMORY_BYTES as usize / 2];
        self.random.fill_bytes(&mut bytes);
        self.yard.ask()?;
        self.yard.fault("overwritten");
        self.yard.poke(index, offset, &bytes)?;
        self.settles(&format!(
            "half the memory of board {index} overwritten from outside"
        ))?;
        self.watch()?;

        let index = self.any();
        self.yard.ask()?;
        self.yard.fault("hang");
        self.starts_again(index, Order::Hang)?;
        self.settles(&format!("board {index} hung until its watchdog reset it"))?;
        self.watch()
    }

    fn any(&mut self) -> u32 {
        self.random.next_u32() % self.drill.plan.nodes()
    }

    /// Gives a board an order until it has started once more: like any byte, one of an order
    /// may be lost.
    fn starts_again(&mut self, index: u32, order: Order) -> Result<(), String> {
        let before = self.yard.starts(index);
        for _ in 0..LIMIT.as_secs() / 5 {
            self.yard.order(index, order);
            let again = |yard: &mut Yard| yard.starts(index) > before;
            if self.yard.run_until(Duration::from_secs(5), again) {
                return Ok(());
            }
        }
        Err(format!("board {index} has not started again"))
    }

    /// Runs until the ring has settled, within the stated bound.
    fn settles(&mut self, after: &str) -> Result<(), String> {
        let bound = recovery_rounds(&self.drill.plan);
        let rounds = self.yard.settle(LIMIT)?;
        if u64::from(rounds) > bound {
            return Err(format!(
                "{after}: settled after {rounds} rounds, the stated bound is {bound}"
            ));
        }
        (self.tell)(format!(
            "✓ {after}: settled after {rounds} rounds (stated bound {bound})"
        ));
        Ok(())
    }

    /// Watches for some turns: the promises, equal visits, and who was awake when.
    fn watch(&mut self) -> Result<(), String> {
        self.watch_after("")
    }

    fn watch_after(&mut self, after: &str) -> Result<(), String> {
        let plan = self.drill.plan;
        self.yard.ask()?;
        let before = self.yard.statuses();
        let visits = |yard: &Yard| yard.observer().visits().iter().copied().min().unwrap_or(0);
        let wanted = visits(&self.yard) + u64::from(self.drill.turns * plan.tokens());
        if !self.yard.run_until(LIMIT, |yard| visits(yard) >= wanted) {
            return Err(format!("{after}: permits stopped"));
        }
        self.yard.ask()?;
        if let Some(violation) = self.yard.observer().violations().first() {
            return Err(format!("broken promise: {violation}"));
        }
        let seen = self.yard.observer().visits();
        let (least, most) = (seen.iter().min(), seen.iter().max());
        let apart = most.zip(least).map_or(0, |(most, least)| most - least);
        if apart > u64::from(plan.tokens()) {
            return Err(format!("unequal visits: {seen:?}"));
        }
        let after_it = self.yard.statuses();
        awake(&plan, self.drill.settings().sample, &before, &after_it)?;
        if !after.is_empty() {
            (self.tell)(format!("✓ {after}: no promise broken, and it goes on"));
        }
        Ok(())
    }

    fn sums_up(&mut self) -> Result<(), String> {
        let statuses = self.yard.statuses();
        let sum = |field: fn(&Status) -> u64| statuses.iter().map(field).sum::<u64>();
        let (now, rounds) = (sum(|s| s.now), sum(|s| s.rounds.into()));
        let awake = now - sum(|s| s.asleep);
        (self.tell)(format!(
            "✓ permits: {:?} since it settled last, least distance {}",
            self.yard.observer().visits(),
            match self.yard.observer().least_distance() {
                Some(hops) => hops.to_string(),
                None => "of a single one".to_owned(),
            }
        ));
        let share = |part: u64| 100.0 * part as f64 / now as f64;
        (self.tell)(format!(
            "  processor awake {:.2} % of the time, {} instructions a round; sensor on {:.2} %",
            share(awake),
            awake * 1000 / INSTRUCTION_NANOS / rounds.max(1),
            share(sum(|s| s.sensing))
        ));
        let deepest = statuses.iter().map(|status| status.stack).max();
        let deepest = deepest.unwrap_or(0);
        let limit = if self.drill.keys { 6144 } else { MEMORY_BYTES };
        // Only where somebody can say how large the program is.
        let used = numbers::size(self.image).map_or(0, |size| size.ram) + deepest;
        if used + MIN_FREE_BYTES > limit {
            return Err(format!(
                "{used} bytes of {limit} were used, {deepest} of them by the stack: too near the end"
            ));
        }
        (self.tell)(format!(
            "  bytes harmed on the lines {}, broken frames {}, rejected datagrams {}; stack at \
             most {} bytes",
            self.yard.harmed(),
            sum(|s| s.broken.into()),
            sum(|s| s.rejected.into()),
            deepest
        ));
        Ok(())
    }
}

/// In n rounds a board has a permit in m, whatever d is; the sensor is on for the time of
/// the measurements, and each is made whole.
fn awake(plan: &Plan, sample: u32, before: &[Status], after: &[Status]) -> Result<(), String> {
    let (nodes, tokens) = (i64::from(plan.nodes()), i64::from(plan.tokens()));
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        let permits = i64::from(after.permits) - i64::from(before.permits);
        let samples = i64::from(after.samples) - i64::from(before.samples);
        let rounds = i64::from(after.rounds) - i64::from(before.rounds);
        if (permits * nodes - rounds * tokens).abs() > nodes * tokens {
            return Err(format!(
                "board {index} had {permits} permits in {rounds} rounds, and should have {tokens} \
                 in {nodes}"
            ));
        }
        // One that is being made is counted next time.
        let least = u64::try_from(samples - 1).unwrap_or(0) * u64::from(sample) * 1000;
        let on = after.sensing - before.sensing;
        if on < least || (permits - samples).abs() > tokens {
            return Err(format!(
                "board {index}: {samples} measurements of {sample} ms under {permits} permits in \
                 {on} µs"
            ));
        }
    }
    Ok(())
}
