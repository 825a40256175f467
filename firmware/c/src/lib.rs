//! Headway for C. Nothing allocates, blocks or looks at a clock.
#![no_std]
// Names as C has them.
#![allow(non_camel_case_types)]

use core::mem::{align_of, size_of, MaybeUninit};
use core::panic::PanicInfo;
use core::slice;
use core::time::Duration;

use ::headway_core::program::{delay, relay};
use ::headway_core::Process;
use ::headway_node::frame::{self, Reader};
use ::headway_node::{Config, Event, Key, Machine, Plan, RingId, Role, Timing};

/// Room for a node, in words of 8 bytes.
pub const HEADWAY_NODE_WORDS: usize = 180;

/// Room for a reader of frames, in words of 8 bytes.
pub const HEADWAY_READER_WORDS: usize = 24;

/// The longest frame of a ring of 4 tokens without payload.
pub const HEADWAY_FRAME_BYTES: usize = 167;

/// The longest datagram of a ring of 4 tokens without payload.
pub const HEADWAY_DATAGRAM_BYTES: usize = 160;

type LineReader = Reader<HEADWAY_FRAME_BYTES>;

const _: () = {
    assert!(size_of::<Machine>() <= HEADWAY_NODE_WORDS * 8 && align_of::<Machine>() <= 8);
    assert!(size_of::<LineReader>() <= HEADWAY_READER_WORDS * 8);
    assert!(frame::frame_bytes(HEADWAY_DATAGRAM_BYTES) == HEADWAY_FRAME_BYTES);
};

/// A process of a ring with rounds: the paper's three variables.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct headway_process {
    /// Tokens that leave in the next round.
    pub queued: u32,
    /// Tokens that wait.
    pub resting: u32,
    /// Rounds until it may release again.
    pub counter: i32,
}

/// One round of `delay` with so many tokens arriving; `separation` is d.
#[no_mangle]
pub extern "C" fn headway_delay(
    process: headway_process,
    arriving: u32,
    separation: u32,
) -> headway_process {
    from(delay::round(
        to(process),
        arriving,
        separation.saturating_sub(1) as i32,
    ))
}

/// One round of `relay` with so many tokens arriving.
#[no_mangle]
pub extern "C" fn headway_relay(process: headway_process, arriving: u32) -> headway_process {
    from(relay::round(to(process), arriving))
}

fn to(process: headway_process) -> Process {
    Process {
        queued: process.queued,
        resting: process.resting,
        counter: process.counter,
    }
}

fn from(process: Process) -> headway_process {
    headway_process {
        queued: process.queued,
        resting: process.resting,
        counter: process.counter,
    }
}

/// What a node is told. Every node of a ring has to be told the same but its index and keys.
#[repr(C)]
pub struct headway_config {
    /// Which ring: any 16 bytes.
    pub ring: [u8; 16],
    /// This node's place, from 0.
    pub index: u32,
    /// Nodes of the ring.
    pub nodes: u32,
    /// Permits that travel, at most 4.
    pub tokens: u32,
    /// The least distance between two permits in use, in hops.
    pub separation: u32,
    /// The state is sent again after so many microseconds without a change.
    pub refresh: u64,
    /// A neighbour that was not heard for so many microseconds is silent.
    pub heartbeat_timeout: u64,
    /// The least time between two ticks, in microseconds.
    pub tick: u64,
    /// A permit is withdrawn after so many microseconds.
    pub max_hold: u64,
    /// And has to be given back within so many.
    pub stop_timeout: u64,
    /// The key that the predecessor has for this node, or NULL for none.
    pub predecessor_key: *const u8,
    /// The key that the successor has for this node, or NULL for none.
    pub successor_key: *const u8,
    /// The length of both keys, 16 at least.
    pub key_bytes: usize,
}

/// A node; only its size is known.
#[repr(C)]
pub struct headway_node {
    opaque: [u64; HEADWAY_NODE_WORDS],
}

/// A reader of frames; only its size is known.
#[repr(C)]
pub struct headway_reader {
    opaque: [u64; HEADWAY_READER_WORDS],
}

/// What happened to a call.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum headway_result {
    /// Done.
    Ok,
    /// The tokens do not fit, or there are too many.
    Plan,
    /// A time or the index makes no sense.
    Config,
    /// A key is too short.
    Key,
}

/// What the application should know.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum headway_event_kind {
    /// Nothing.
    None,
    /// The application may work, until `headway_node_done`.
    Granted,
    /// It has to stop, and to say so by `headway_node_done`.
    Withdrawn,
    /// Everything was legitimate for a whole turn.
    Settled,
    /// Something is not.
    Unsettled,
    /// A neighbour is silent, or is heard again, or a datagram was rejected.
    Other,
}

/// Something that the application should know.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct headway_event {
    /// What.
    pub kind: headway_event_kind,
    /// Of a permit: its token.
    pub token: u32,
    /// Of a permit: its fencing number.
    pub fence: u64,
}

/// Makes a node in `node`. `incarnation` is a number that it never had before: a random one.
///
/// # Safety
///
/// `node` and `config` are valid, and so are the keys in it.
#[no_mangle]
pub unsafe extern "C" fn headway_node_init(
    node: *mut headway_node,
    config: *const headway_config,
    incarnation: u64,
) -> headway_result {
    // SAFETY: the caller says so.
    let told = unsafe { &*config };
    let Ok(plan) = Plan::new(told.nodes, told.tokens, told.separation) else {
        return headway_result::Plan;
    };
    let timing = Timing {
        refresh: Duration::from_micros(told.refresh),
        heartbeat_timeout: Duration::from_micros(told.heartbeat_timeout),
        tick: Duration::from_micros(told.tick),
        min_hold: Duration::ZERO,
        max_hold: Duration::from_micros(told.max_hold),
        stop_timeout: Duration::from_micros(told.stop_timeout),
    };
    let config = Config {
        role: Role::usual(told.index, told.nodes),
        timing,
        ..Config::new(RingId(told.ring), told.index, plan)
    };
    let Ok(mut machine) = Machine::new(config, Key::none(), incarnation) else {
        return headway_result::Config;
    };
    for (peer, key) in [
        (config.predecessor(), told.predecessor_key),
        (config.successor(), told.successor_key),
    ] {
        if !key.is_null() {
            // SAFETY: the caller says so.
            let Some(key) = Key::new(unsafe { slice::from_raw_parts(key, told.key_bytes) }) else {
                return headway_result::Key;
            };
            machine.set_link_key(peer, &key);
        }
    }
    // SAFETY: there is room for it, and it is aligned, as is asserted above.
    unsafe { node.cast::<Machine>().write(machine) };
    headway_result::Ok
}

/// # Safety
///
/// `node` was made by `headway_node_init`.
unsafe fn machine<'n>(node: *mut headway_node) -> &'n mut Machine {
    // SAFETY: the caller says so.
    unsafe { &mut *node.cast::<Machine>() }
}

/// A datagram has arrived. Whether it was believed. `now` is in microseconds since any
/// moment, here and everywhere.
///
/// # Safety
///
/// `node` was made by `headway_node_init`, and `datagram` has so many bytes.
#[no_mangle]
pub unsafe extern "C" fn headway_node_datagram(
    node: *mut headway_node,
    now: u64,
    datagram: *const u8,
    bytes: usize,
) -> bool {
    // SAFETY: the caller says so.
    let (node, datagram) = unsafe { (machine(node), slice::from_raw_parts(datagram, bytes)) };
    node.handle_datagram(Duration::from_micros(now), datagram)
        .is_ok()
}

/// Time has passed.
///
/// # Safety
///
/// `node` was made by `headway_node_init`.
#[no_mangle]
pub unsafe extern "C" fn headway_node_timeout(node: *mut headway_node, now: u64) {
    // SAFETY: the caller says so.
    unsafe { machine(node) }.handle_timeout(Duration::from_micros(now));
}

/// When to call `headway_node_timeout` at the latest.
///
/// # Safety
///
/// `node` was made by `headway_node_init`.
#[no_mangle]
pub unsafe extern "C" fn headway_node_next(node: *mut headway_node) -> u64 {
    // SAFETY: the caller says so.
    unsafe { machine(node) }.poll_timeout().as_micros() as u64
}

/// The application has finished with a permit, or has stopped as it was asked to. Whether
/// there was such a permit.
///
/// # Safety
///
/// `node` was made by `headway_node_init`.
#[no_mangle]
pub unsafe extern "C" fn headway_node_done(
    node: *mut headway_node,
    now: u64,
    token: u32,
    fence: u64,
) -> bool {
    // SAFETY: the caller says so.
    let node = unsafe { machine(node) };
    node.handle_work_done(Duration::from_micros(now), token, fence, None)
}

/// Writes the next datagram into `buffer`, and its receiver's index into `to`. Its length; 0
/// if there is none, or no room for it.
///
/// # Safety
///
/// `node` was made by `headway_node_init`, `buffer` has room for `bytes`, `to` is valid.
#[no_mangle]
pub unsafe extern "C" fn headway_node_transmit(
    node: *mut headway_node,
    to: *mut u32,
    buffer: *mut u8,
    bytes: usize,
) -> usize {
    // SAFETY: the caller says so.
    let (node, buffer) = unsafe { (machine(node), slice::from_raw_parts_mut(buffer, bytes)) };
    if node.config().datagram_bytes() > bytes {
        return 0;
    }
    match node.poll_transmit(buffer) {
        Some(transmit) => {
            // SAFETY: the caller says so.
            unsafe { to.write(transmit.to) };
            transmit.bytes
        }
        None => 0,
    }
}

/// The next thing that the application should know.
///
/// # Safety
///
/// `node` was made by `headway_node_init`.
#[no_mangle]
pub unsafe extern "C" fn headway_node_event(node: *mut headway_node) -> headway_event {
    use headway_event_kind as Kind;
    // SAFETY: the caller says so.
    let (kind, token, fence) = match unsafe { machine(node) }.poll_event() {
        None => (Kind::None, 0, 0),
        Some(Event::Granted { token, fence }) => (Kind::Granted, token, fence),
        Some(Event::Withdrawn { token, fence }) => (Kind::Withdrawn, token, fence),
        Some(Event::Settled) => (Kind::Settled, 0, 0),
        Some(Event::Unsettled) => (Kind::Unsettled, 0, 0),
        Some(_) => (Kind::Other, 0, 0),
    };
    headway_event { kind, token, fence }
}

/// Whether everything that this node saw for a whole turn was legitimate.
///
/// # Safety
///
/// `node` was made by `headway_node_init`.
#[no_mangle]
pub unsafe extern "C" fn headway_node_settled(node: *mut headway_node) -> bool {
    // SAFETY: the caller says so.
    unsafe { machine(node) }.settled()
}

/// Writes a datagram as a frame for a serial line. Its length; 0 if there is no room for it.
///
/// # Safety
///
/// `datagram` has so many bytes, and `frame` room for `room`.
#[no_mangle]
pub unsafe extern "C" fn headway_frame_write(
    datagram: *const u8,
    bytes: usize,
    frame: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller says so.
    let (datagram, line) = unsafe {
        (
            slice::from_raw_parts(datagram, bytes),
            slice::from_raw_parts_mut(frame, room),
        )
    };
    frame::write(datagram, line).unwrap_or(0)
}

/// Makes a reader of frames in `reader`.
///
/// # Safety
///
/// `reader` is valid.
#[no_mangle]
pub unsafe extern "C" fn headway_reader_init(reader: *mut headway_reader) {
    let room = reader.cast::<MaybeUninit<LineReader>>();
    // SAFETY: there is room for it, and it is aligned, as is asserted above.
    unsafe { &mut *room }.write(LineReader::new());
}

/// The next byte of the line. If it ends a datagram: its length, and where it is until the
/// next call; else 0.
///
/// # Safety
///
/// `reader` was made by `headway_reader_init`, and `datagram` is valid.
#[no_mangle]
pub unsafe extern "C" fn headway_reader_push(
    reader: *mut headway_reader,
    byte: u8,
    datagram: *mut *const u8,
) -> usize {
    // SAFETY: the caller says so.
    match unsafe { &mut *reader.cast::<LineReader>() }.push(byte) {
        Some(found) => {
            // SAFETY: the caller says so.
            unsafe { datagram.write(found.as_ptr()) };
            found.len()
        }
        None => 0,
    }
}

extern "C" {
    /// What to do when something is wrong that cannot be: the program that uses the library
    /// says, and does not return. A board starts again.
    fn headway_stop() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it has no arguments and no result.
    unsafe { headway_stop() }
}
