use super::*;

const RULES: Rules = Rules {
    dwell_most: Duration::from_secs(100),
    grace: Duration::from_secs(5),
    patience: Duration::from_secs(60),
    hook_every: false,
};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fleet(id: &str) -> Who {
    Who::Fleet {
        group: "default".into(),
        id: id.into(),
    }
}

fn effects(desk: &mut Desk) -> Vec<Effect> {
    std::iter::from_fn(|| desk.poll_effect()).collect()
}

fn done(token: u32, fence: u64) -> Effect {
    Effect::Done {
        token,
        fence,
        payload: None,
    }
}

#[test]
fn a_permit_that_nobody_wants_goes_on_at_once() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.granted(s(1), 0, 7);
    assert_eq!(effects(&mut desk), [done(0, 7)]);
}

#[test]
fn first_come_first_served_and_the_rest_wait() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.wish(s(0), Who::Program { ticket: 5 });
    desk.wish(s(1), fleet("a"));
    desk.granted(s(2), 0, 7);
    assert!(matches!(&effects(&mut desk)[..], [Effect::Reserved { id, .. }] if id == "a"));
    desk.granted(s(3), 1, 9);
    assert!(matches!(
        effects(&mut desk)[..],
        [Effect::Given { ticket: 5, .. }]
    ));
    assert!(desk.release(&fleet("a"), None) && !desk.release(&fleet("a"), None));
    assert_eq!(effects(&mut desk), [done(0, 7)]);
}

#[test]
fn a_lease_that_is_not_extended_ends_and_one_that_is_does_not() {
    let mut desk = Desk::new(RULES, Ledger::default());
    let who = Who::Program { ticket: 5 };
    desk.wish(s(0), who.clone());
    desk.granted(s(0), 0, 7);
    effects(&mut desk);
    assert_eq!(desk.extend(&who, s(20)), Some(s(20)));
    desk.handle_timeout(s(19));
    assert!(effects(&mut desk).is_empty());
    assert_eq!(
        desk.extend(&who, s(500)),
        Some(s(100)),
        "no longer than dwell_most"
    );
    desk.handle_timeout(s(100));
    assert_eq!(effects(&mut desk), [done(0, 7)]);
    assert_eq!(desk.extend(&who, s(600)), None);
}

#[test]
fn what_is_asked_back_and_kept_is_an_overrun() {
    let mut desk = Desk::new(
        Rules {
            hook_every: true,
            ..RULES
        },
        Ledger::default(),
    );
    desk.granted(s(0), 0, 7);
    assert!(matches!(effects(&mut desk)[..], [Effect::StartHook { .. }]));
    desk.withdrawn(s(10), 0, 7);
    assert_eq!(
        effects(&mut desk),
        [Effect::StopHook { token: 0, fence: 7 }]
    );
    desk.handle_timeout(s(14));
    assert!(effects(&mut desk).is_empty());
    desk.handle_timeout(s(15));
    assert!(matches!(
        effects(&mut desk)[..],
        [Effect::Overrun { .. }, Effect::Done { .. }]
    ));
    // It still runs: no second one is started beside it.
    desk.granted(s(16), 0, 9);
    assert_eq!(effects(&mut desk), [done(0, 9)]);
    desk.hook_ended(s(17), 0, 7, None);
    desk.granted(s(18), 0, 11);
    assert!(matches!(
        effects(&mut desk)[..],
        [Effect::StartHook { fence: 11, .. }]
    ));
}

#[test]
fn a_restart_keeps_permits_and_fleetlock_wishes() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.wish(s(0), fleet("b"));
    desk.granted(s(0), 2, 7);
    let text = serde_json::to_string(&desk.ledger()).unwrap();
    let mut desk = Desk::new(RULES, serde_json::from_str(&text).unwrap());
    assert!(desk.waits(&fleet("b")) && desk.permit(&fleet("a")).is_none());
    // Still remembered before the node has granted it again.
    assert_eq!(desk.ledger().using.len(), 1);
    desk.granted(s(0), 2, 7);
    assert!(desk.permit(&fleet("a")).is_some());
    assert!(matches!(effects(&mut desk)[..], [Effect::Reserved { .. }]));
}

#[test]
fn a_permit_that_is_not_collected_lapses_and_one_that_is_stays() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.wish(s(0), fleet("b"));
    desk.granted(s(0), 0, 7);
    desk.granted(s(0), 1, 8);
    effects(&mut desk);
    assert!(desk.collect(&fleet("b")) && !desk.collect(&fleet("c")));
    desk.handle_timeout(s(60));
    assert_eq!(effects(&mut desk), [done(0, 7)]);
    let mut desk = Desk::new(RULES, desk.ledger());
    desk.granted(s(0), 1, 8);
    desk.handle_timeout(s(99));
    assert!(desk.permit(&fleet("b")).is_some());
}

#[test]
fn wishes_that_are_not_repeated_are_forgotten() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.handle_timeout(s(59));
    assert!(desk.waits(&fleet("a")));
    desk.handle_timeout(s(60));
    desk.granted(s(61), 0, 7);
    assert_eq!(effects(&mut desk), [done(0, 7)]);
}

#[test]
fn a_node_that_stops_recalls_and_gives_nothing_more() {
    let mut desk = Desk::new(
        Rules {
            hook_every: true,
            ..RULES
        },
        Ledger::default(),
    );
    desk.granted(s(0), 0, 7);
    desk.wish(s(0), fleet("a"));
    desk.granted(s(0), 1, 8);
    effects(&mut desk);
    desk.close();
    desk.recall(s(1));
    assert_eq!(
        effects(&mut desk),
        [Effect::StopHook { token: 0, fence: 7 }]
    );
    desk.hook_ended(s(2), 0, 7, None);
    assert!(!desk.in_use(false) && desk.in_use(true));
    effects(&mut desk);
    desk.granted(s(3), 0, 9);
    assert_eq!(effects(&mut desk), [done(0, 9)]);
}

/// Right after a restart, before the ring has been heard, a client that has a slot asks
/// again. That must not become a second slot.
#[test]
fn a_client_that_asks_again_after_a_restart_has_one_permit() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.granted(s(0), 0, 7);
    assert!(desk.collect(&fleet("a")));
    let mut desk = Desk::new(RULES, desk.ledger());
    assert!(!desk.collect(&fleet("a")), "not known yet");
    desk.wish(s(1), fleet("a"));
    desk.granted(s(2), 0, 7);
    assert!(desk.collect(&fleet("a")) && !desk.waits(&fleet("a")));
    effects(&mut desk);
    desk.granted(s(3), 1, 9);
    assert_eq!(effects(&mut desk), [done(1, 9)], "nobody else waits");
}

#[test]
fn steady_state_gives_back_everything_that_a_client_has() {
    let mut desk = Desk::new(RULES, Ledger::default());
    desk.wish(s(0), fleet("a"));
    desk.granted(s(0), 0, 7);
    desk.withdrawn(s(100), 0, 7);
    // Its time is over; it asks again, and another token comes in the grace.
    assert!(!desk.collect(&fleet("a")));
    desk.wish(s(101), fleet("a"));
    desk.granted(s(102), 1, 9);
    effects(&mut desk);
    assert!(desk.collect(&fleet("a")));
    assert!(desk.release(&fleet("a"), None));
    assert_eq!(effects(&mut desk), [done(0, 7), done(1, 9)]);
    assert!(!desk.in_use(true));
}
