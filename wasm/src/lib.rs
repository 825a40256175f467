//! The desk of `headway serve` within a web page: a request in JSON in, an answer out, both
//! as bytes in the memory that page and program share.
//!
//! The page calls `room` for a place, writes the request there, and calls `ask`, which gives
//! the place of the answer: four bytes for the length of its head, the head in JSON, the body.

use std::cell::RefCell;

use headway_page::{Desk, Limits, Request, set_now_ms};
use serde::Deserialize;
use serde_json::json;

/// What the page writes before the body.
#[derive(Deserialize)]
struct Head {
    method: String,
    path: String,
    query: String,
    kind: String,
    now_ms: u64,
}

thread_local! {
    static DESK: Desk = Desk::new(&Limits::default(), false);
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A place for a request of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.resize(bytes, 0);
        room.as_mut_ptr()
    })
}

/// Answers the request that was written: its head has this many bytes, the rest is its body.
/// The place of the answer, which lasts until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn ask(head_bytes: usize) -> *const u8 {
    let asked = ROOM.take();
    let answer = answer(&asked, head_bytes);
    ANSWER.with_borrow_mut(|kept| {
        *kept = answer;
        kept.as_ptr()
    })
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER.with_borrow(Vec::len)
}

fn answer(asked: &[u8], head_bytes: usize) -> Vec<u8> {
    let (head, body) = asked.split_at(head_bytes.min(asked.len()));
    let Ok(head) = serde_json::from_slice::<Head>(head) else {
        return packed(&json!({ "status": 400 }), b"");
    };
    set_now_ms(head.now_ms);
    let request = Request {
        method: head.method,
        path: head.path,
        query: head.query,
        kind: head.kind,
        body: body.to_vec().into(),
    };
    match DESK.with(|desk| desk.answer(&request)) {
        None => packed(&json!({ "status": 404 }), b""),
        Some(answer) => {
            let head = json!({ "status": answer.status.as_u16(), "kind": answer.kind });
            packed(&head, &answer.body)
        }
    }
}

fn packed(head: &serde_json::Value, body: &[u8]) -> Vec<u8> {
    let head = head.to_string();
    let length = (head.len() as u32).to_le_bytes();
    [&length, head.as_bytes(), body].concat()
}
