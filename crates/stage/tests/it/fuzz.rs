//! The decoder and the machine under anything: random and mutated datagrams, authentic
//! nonsense, any sequence of calls. No panic, no growth, no allocation after the start.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::{Config, Event, Key, Machine, Plan, Role};
use headway_stage::scramble;
use headway_testkit::tier::pick;

#[global_allocator]
static HEAP: Counting = Counting;

thread_local! {
    /// How often this thread has asked for memory or given it back. Other tests allocate beside
    /// this one.
    static COUNTED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNTED.set(COUNTED.get() + 1);
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        COUNTED.set(COUNTED.get() + 1);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

struct Subject {
    machine: Machine,
    peers: Vec<Machine>,
    random: ChaCha8Rng,
    now: Duration,
    buffer: Vec<u8>,
    datagram: Vec<u8>,
}

impl Subject {
    fn new(seed: u64) -> Subject {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |most: u32| random.next_u32() % most;
        let (nodes, separation) = (2 + below(7), 1 + below(3));
        let tokens = 1 + below((nodes / (separation + 1)).max(1));
        let plan = match below(2) {
            0 => Plan::new(nodes, tokens, separation),
            _ => Plan::moving_block(nodes, tokens, separation),
        };
        let plan = plan.expect("fits");
        let payload = [0, 7, 255][below(3) as usize];
        let key = match below(2) {
            0 => Key::none(),
            _ => Key::new(&[42; 32]).expect("long enough"),
        };
        let role = [Role::Delay, Role::Relay, Role::Measure][below(3) as usize];
        let ring = Config::identity(b"fuzz", &plan, payload);
        let config = |index| Config {
            payload,
            role,
            largest_datagram: 9000,
            ..Config::new(ring, index, plan)
        };
        let mut nodes = (0..nodes)
            .map(|index| Machine::new(config(index), key.clone(), index.into()).expect("valid"));
        let machine = nodes.next().expect("at least two");
        let peers = nodes.collect();
        Subject {
            buffer: vec![0; machine.config().datagram_bytes()],
            datagram: Vec::with_capacity(2 * machine.config().datagram_bytes()),
            machine,
            peers,
            random,
            now: Duration::from_secs(1),
        }
    }

    fn below(&mut self, most: usize) -> usize {
        (self.random.next_u64() % most as u64) as usize
    }

    /// One call of any kind, with anything.
    fn call(&mut self) {
        let step = 1 << self.below(24);
        self.now += Duration::from_micros(self.random.next_u64() % step);
        match self.below(10) {
            0 => {
                // Noise of any length.
                let length = self.below(2 * self.buffer.len());
                self.datagram.clear();
                for _ in 0..length {
                    let byte = self.random.next_u32() as u8;
                    self.datagram.push(byte);
                }
                let _ = self.machine.handle_datagram(self.now, &self.datagram);
            }
            1..=5 => {
                // What a peer says, whose memory may be anything; then mutated or not.
                let peer = self.below(self.peers.len());
                let random = &mut self.random;
                let peer = &mut self.peers[peer];
                if random.next_u32() & 1 == 0 {
                    scramble(peer, &mut || random.next_u64());
                }
                peer.handle_timeout(self.now);
                while let Some(sent) = peer.poll_transmit(&mut self.buffer) {
                    self.datagram.clear();
                    self.datagram.extend_from_slice(&self.buffer[..sent.bytes]);
                    if random.next_u32() & 1 == 0 {
                        let at = random.next_u64() as usize % sent.bytes;
                        self.datagram[at] ^= random.next_u32() as u8;
                    }
                    if random.next_u32() & 7 == 0 {
                        let length = random.next_u64() as usize % sent.bytes;
                        self.datagram.truncate(length);
                    }
                    let _ = self.machine.handle_datagram(self.now, &self.datagram);
                }
            }
            6 => {
                let token = self.random.next_u32() >> (self.random.next_u32() % 32);
                let fence = self.random.next_u64() >> (self.random.next_u32() % 64);
                let payload = [self.random.next_u32() as u8; 300];
                let length = self.below(payload.len());
                let payload = Some(&payload[..length]);
                self.machine
                    .handle_work_done(self.now, token, fence, payload);
            }
            7 if self.below(4) == 0 => {
                let random = &mut self.random;
                scramble(&mut self.machine, &mut || random.next_u64());
            }
            // A clock that runs backwards.
            8 if self.below(8) == 0 => {
                self.now /= 2;
                self.machine.handle_timeout(self.now);
            }
            _ => self.machine.handle_timeout(self.now),
        }
        self.answer();
    }

    /// What an application does: bounded in every way.
    fn answer(&mut self) {
        let tokens = self.machine.config().plan.tokens() as usize;
        let mut events = 0;
        while let Some(event) = self.machine.poll_event() {
            events += 1;
            assert!(events < 4 * tokens + 40, "events without end");
            if let Event::Granted { token, fence } = event {
                let payload = self.machine.payload(token).len();
                assert!(payload <= usize::from(self.machine.config().payload));
                if self.random.next_u32() & 1 == 0 {
                    self.machine.handle_work_done(self.now, token, fence, None);
                }
            }
        }
        let mut datagrams = 0;
        while let Some(sent) = self.machine.poll_transmit(&mut self.buffer) {
            datagrams += 1;
            assert!(datagrams <= 2, "more datagrams than neighbours");
            assert_eq!(sent.bytes, self.buffer.len());
            let to = sent.to as usize;
            let _ = self.peers[to - 1].handle_datagram(self.now, &self.buffer);
        }
        self.machine.handle_timeout(self.now);
        let next = self.machine.poll_timeout();
        assert!(next.as_micros() >= self.now.as_micros(), "due in the past");
    }
}

#[test]
fn any_calls_with_anything() {
    let machines = pick(125, 4_000, 40_000);
    let mut moved = 0;
    for seed in 0..machines {
        let mut subject = Subject::new(seed);
        let before = COUNTED.get();
        for _ in 0..400 {
            subject.call();
        }
        assert_eq!(COUNTED.get(), before, "seed {seed}: it allocated");
        moved += u64::from(subject.machine.rounds() > 0 || subject.machine.resets() > 0);
    }
    // Fuzzing that never gets past the door would show nothing.
    assert!(
        2 * moved > machines,
        "{moved} of {machines} machines ever moved"
    );
    println!("{moved} of {machines} machines moved");
    // The counter-test: what allocates is counted.
    let before = COUNTED.get();
    drop(std::hint::black_box(Box::new(before)));
    assert_eq!(COUNTED.get(), before + 2);
}
