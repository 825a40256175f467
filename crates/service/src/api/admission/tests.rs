//! Callers that take too long. Time is virtual: it passes at once when all wait.

use std::future::pending;

use axum::Router;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::*;

/// What a caller that says this, and then nothing more, is answered, and after how long.
async fn answered(router: Router, known: bool, said: &str) -> (String, Duration) {
    let (mut caller, node) = tokio::io::duplex(1 << 16);
    let known = Known(Arc::new(AtomicBool::new(known)));
    let began = Instant::now();
    let serving = tokio::spawn(answer(node, router, known));
    caller.write_all(said.as_bytes()).await.expect("sent");
    let mut text = String::new();
    caller.read_to_string(&mut text).await.expect("text");
    serving.await.expect("no panic");
    (text, began.elapsed())
}

fn echo() -> Router {
    Router::new()
        .route("/", post(|body: String| async { body }))
        .layer(from_fn(whole))
}

#[tokio::test(start_paused = true)]
async fn a_request_that_comes_at_once_is_answered() {
    let said = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody";
    let (text, took) = answered(echo(), false, said).await;
    assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("\r\n\r\nbody"));
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_not_waited_for() {
    for said in ["", "POST / HTTP/1.1\r\nhost: "] {
        let (text, took) = answered(echo(), true, said).await;
        assert_eq!((&*text, took), ("", MAX_TIME), "after {said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_answered_with_408() {
    let said = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nbod";
    let (text, took) = answered(echo(), true, said).await;
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert!(text.contains("the body takes too long"), "{text}");
    assert_eq!(took, MAX_TIME);
}

const ASKS: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/// Whatever is left of its answer.
#[tokio::test(start_paused = true)]
async fn a_stranger_has_so_much_time_in_all() {
    let never = Router::new().route("/", get(pending::<()>));
    let (text, took) = answered(never, false, ASKS).await;
    assert_eq!((&*text, took), ("", 2 * MAX_TIME));
}

#[tokio::test(start_paused = true)]
async fn who_has_shown_who_it_is_may_wait_for_a_permit_and_not_for_ever() {
    let late = || tokio::time::sleep(permits::MAX_WAIT);
    let (text, took) = answered(Router::new().route("/", get(late)), true, ASKS).await;
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert_eq!(took, permits::MAX_WAIT);
    let never = Router::new().route("/", get(pending::<()>));
    let (text, took) = answered(never, true, ASKS).await;
    assert_eq!((&*text, took), ("", permits::MAX_WAIT + 4 * MAX_TIME));
}

/// An answer that nobody reads does not keep the connection open.
#[tokio::test(start_paused = true)]
async fn who_does_not_read_its_answer_is_left() {
    let long = Router::new().route("/", get(|| async { vec![b'x'; 1 << 20] }));
    let (mut caller, node) = tokio::io::duplex(1 << 10);
    caller.write_all(ASKS.as_bytes()).await.expect("sent");
    let began = Instant::now();
    answer(node, long, Known::default()).await;
    assert_eq!(began.elapsed(), 2 * MAX_TIME);
}
