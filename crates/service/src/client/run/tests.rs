use super::*;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A permit for an hour, with a lease of 60 s.
fn permit() -> Permit {
    Permit {
        permit: "5".into(),
        token: 0,
        fencing: 7,
        lease_ms: 60_000,
        most_ms: 3_600_000,
        stop_timeout_ms: 10_000,
    }
}

/// When a permit is over by what a node says, and how long the command may take to end then. The
/// node is told how often it was asked before.
async fn over(says: impl AsyncFn(u32) -> Extended) -> (Duration, Duration) {
    let given = Instant::now();
    let asked = std::cell::Cell::new(0);
    let extend = async || says(asked.replace(asked.get() + 1)).await;
    let within = permit().keep(given, extend).await;
    (given.elapsed(), within)
}

/// Whether it was asked for too much, or something hangs: a node that has heard nothing for a
/// whole lease has given the permit to somebody else.
#[tokio::test(start_paused = true)]
async fn a_command_has_ended_before_its_lease_is_over_if_the_node_does_not_answer() {
    let hangs = over(async |_| std::future::pending().await);
    assert_eq!(hangs.await, (s(50), s(10)));
    let knows_nothing = over(async |_| Extended::Unknown);
    assert_eq!(knows_nothing.await, (s(50), s(10)));
    // From the last time that it was heard.
    let falls_silent = over(async |asked| match asked {
        0 => Extended::Yes,
        _ => std::future::pending().await,
    });
    assert_eq!(falls_silent.await, (s(20 + 50), s(10)));
}

/// A stall, a restart: the node will say so if the permit is over.
#[tokio::test(start_paused = true)]
async fn a_command_goes_on_if_the_node_cannot_say_yet_whether_its_permit_counts() {
    let says = async |asked| match asked % 2 {
        0 => Extended::Unknown,
        _ => Extended::Yes,
    };
    assert_eq!(over(says).await, (s(3600), s(10)));
}

#[tokio::test(start_paused = true)]
async fn a_command_ends_when_the_node_says_no() {
    assert_eq!(over(async |_| Extended::No).await, (s(20), s(10)));
}

/// A node that does not run keeps the permit until it is back: killed, it leaves its socket;
/// stopped, it does not.
#[tokio::test(start_paused = true)]
async fn a_command_goes_on_while_its_node_does_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    drop(listener);
    let killed = over(async |_| permit().extend(&socket).await);
    assert_eq!(killed.await, (s(3600), s(10)));
    std::fs::remove_file(&socket).expect("removed");
    let stopped = over(async |_| permit().extend(&socket).await);
    assert_eq!(stopped.await, (s(3600), s(10)));
}
