//! Rings, networks and faults drawn from a seed.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::{Config, Key, Plan, Role, Rule, Timing, recovery_bound};
use headway_stage::world::{Conditions, Sabotage, Settings, Work, World};
use headway_testkit::tier::pick;

type MakeSabotage = Box<dyn Fn(&Key) -> Box<dyn Sabotage>>;

/// Everything that a seed decides about a ring, before any fault.
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) roles: Vec<Role>,
    pub(crate) conditions: Conditions,
    pub(crate) work: Work,
    pub(crate) payload: u8,
    pub(crate) key: Key,
    pub(crate) random: ChaCha8Rng,
    /// What is wrong with the configurations.
    pub(crate) misconfigure: fn(&mut Config),
    /// What breaks the nodes, made with the ring's key.
    pub(crate) sabotage: Option<MakeSabotage>,
}

impl Scenario {
    pub(crate) fn draw(seed: u64, rule: Rule) -> Scenario {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |most: u32| random.next_u32() % most;
        let nodes = 2 + below(8);
        let separation = 1 + below(3);
        let most = match rule {
            Rule::LockStep => nodes / (separation + 1),
            Rule::MovingBlock => (nodes - 1) / separation,
        };
        let tokens = 1 + below(most.max(1));
        let plan = match rule {
            Rule::LockStep => Plan::new(nodes, tokens, separation),
            Rule::MovingBlock => Plan::moving_block(nodes, tokens, separation),
        };
        let plan = plan.expect("drawn to fit");
        let measure = below(16) == 0 && tokens > 1 && plan.separation() == nodes / tokens;
        let mut roles: Vec<Role> = (0..nodes)
            .map(|_| match below(2) {
                0 if !measure => Role::Delay,
                _ => Role::Relay,
            })
            .collect();
        let sure = below(nodes) as usize;
        roles[sure] = if measure { Role::Measure } else { Role::Delay };
        let least = Duration::from_micros(u64::from(3 + below(200)));
        let conditions = Conditions {
            delay_min: least,
            // One in four is as regular as lock-step.
            delay_max: match below(4) {
                0 => least,
                _ => least + Duration::from_micros(u64::from(below(2000))),
            },
            ..Conditions::default()
        };
        let work = Work {
            min: Duration::ZERO,
            max: Duration::from_micros(u64::from(below(3000))),
        };
        let payload = [0, 0, 4, 32][below(4) as usize];
        let key = if below(8) == 0 {
            Key::new(b"a key of the ring that is long enough").expect("long enough")
        } else {
            Key::none()
        };
        Scenario {
            seed,
            plan,
            roles,
            conditions,
            work,
            payload,
            key,
            random,
            misconfigure: |_| {},
            sabotage: None,
        }
    }

    pub(crate) fn configs(&self) -> Vec<Config> {
        let ring = Config::identity(b"seeded", &self.plan, self.payload);
        let config = |(index, &role): (usize, &Role)| Config {
            role,
            payload: self.payload,
            timing: self.timing(),
            // Half of the rings have turns of the clock as short as they may be, so that
            // a run sees many.
            turn_phases: [0, 64][(self.seed % 2) as usize],
            ..Config::new(ring, index as u32, self.plan)
        };
        let mut configs: Vec<Config> = self.roles.iter().enumerate().map(config).collect();
        configs.iter_mut().for_each(self.misconfigure);
        configs
    }

    pub(crate) fn world(&mut self) -> World {
        let settings = Settings {
            key: self.key.clone(),
            conditions: self.conditions,
            work: self.work,
            seed: self.random.next_u64(),
            sabotage: self.sabotage.as_ref().map(|sabotage| sabotage(&self.key)),
        };
        World::new(self.configs(), settings)
            .unwrap_or_else(|error| panic!("seed {}: {error}", self.seed))
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: u32) -> u32 {
        self.random.next_u32() % most
    }

    pub(crate) fn timing(&self) -> Timing {
        Timing {
            refresh: 4 * self.conditions.delay_max,
            heartbeat_timeout: 40 * self.conditions.delay_max,
            max_hold: 2 * self.work.max + Duration::from_micros(1),
            stop_timeout: self.work.max + Duration::from_micros(1),
            ..Timing::default()
        }
    }

    /// How long recovery may take.
    pub(crate) fn bound(&self) -> Duration {
        recovery_bound(
            &self.plan,
            &self.timing(),
            self.conditions.delay_max,
            self.work.max,
        )
    }

    /// A long time to watch, which a cautious bound does not make longer: some turns.
    pub(crate) fn while_watched(&self) -> Duration {
        let (nodes, tokens) = (self.plan.nodes(), self.plan.tokens());
        let plan = Plan::logical(nodes, tokens, 1, self.plan.pace()).expect("it fits closely");
        let (way, work) = (self.conditions.delay_max, self.work.max);
        recovery_bound(&plan, &self.timing(), way, work)
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "{:?}, {} nodes, {} tokens, {} apart in real time (g = {}, p = {}), roles {:?}, {:?}, {:?}",
            self.plan.rule(),
            self.plan.nodes(),
            self.plan.tokens(),
            self.plan.wanted(),
            self.plan.separation(),
            self.plan.pace(),
            self.roles,
            self.conditions,
            self.work
        )
    }
}

/// Asks a promise of `runs` seeds in the soak, a third of them in the large tier, and a
/// ninetieth in the small one, on all cores. The first failure is told with its seed and the
/// command that repeats it. Returns the largest of what the promise returns.
pub(crate) fn every_seed(
    name: &str,
    runs: u64,
    rule: Rule,
    promise: fn(Scenario) -> Result<f64, String>,
) -> f64 {
    let one = |seed| promise(Scenario::draw(seed, rule));
    if let Ok(seed) = std::env::var("HEADWAY_SEED") {
        let seed = seed.parse().expect("HEADWAY_SEED is a number");
        return one(seed).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
    let runs = pick(runs / 90, runs / 3, runs);
    let next = AtomicU64::new(0);
    let answer = Mutex::new((0.0_f64, None::<(u64, String)>));
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= runs {
                        break;
                    }
                    let told = std::panic::catch_unwind(AssertUnwindSafe(|| one(seed)))
                        .unwrap_or_else(|_| Err("it panicked".to_owned()));
                    let mut answer = answer.lock().expect("no panic while it is held");
                    match told {
                        Ok(figure) => answer.0 = answer.0.max(figure),
                        Err(failure) => {
                            let first = answer.1.as_ref().is_none_or(|(other, _)| seed < *other);
                            if first {
                                answer.1 = Some((seed, failure));
                            }
                            next.store(runs, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let (largest, failure) = answer.into_inner().expect("no panic while it is held");
    if let Some((seed, failure)) = failure {
        panic!(
            "seed {seed}: {failure}\nagain: HEADWAY_SEED={seed} cargo test \
             -p headway-stage --test it {name} -- --nocapture"
        );
    }
    println!("{name}, {rule:?}: {runs} runs, largest {largest:.2}");
    largest
}
