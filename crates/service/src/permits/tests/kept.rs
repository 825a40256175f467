//! What becomes of programs' and clients' permits when their node stops or starts again.

use super::*;

const PROGRAM: Holder = Holder::Program { ticket: Ticket(5) };

/// A program has a permit since the beginning, and its node is started again.
fn restarted(lease: Duration, before: impl FnOnce(&mut Permits)) -> Permits {
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_program(s(0), 1, Ticket(5), lease);
    permits.handle_granted(s(0), grant(0, 7), s(0));
    before(&mut permits);
    again(&permits)
}

fn again(permits: &Permits) -> Permits {
    let text = serde_json::to_string(&permits.ledger()).expect("JSON");
    start(RULES, serde_json::from_str(&text).expect("a ledger"))
}

fn in_use(permits: &mut Permits, at: Duration) -> usize {
    permits.handle_timeout(at);
    permits.permits().count()
}

#[test]
fn a_lease_is_as_long_after_a_restart_as_it_was_said_to_be() {
    let mut back = restarted(s(50), |_| {});
    back.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!((in_use(&mut back, s(50)), in_use(&mut back, s(51))), (1, 0));
    // As it was extended last, and that is noted before the program hears of it.
    let mut back = restarted(s(10), |permits| {
        let noted = permits.changes();
        assert_eq!(permits.extend(s(1), Ticket(5), s(40)), Some(s(40)));
        assert!(permits.changes() > noted);
        let noted = permits.changes();
        assert_eq!(permits.extend(s(2), Ticket(5), s(40)), Some(s(40)));
        assert_eq!(permits.changes(), noted, "nothing new");
    });
    back.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!((in_use(&mut back, s(40)), in_use(&mut back, s(41))), (1, 0));
    // Not even a second restart shortens it.
    let mut back = again(&restarted(s(50), |_| {}));
    back.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!(in_use(&mut again(&back), s(0)), 0, "remembered");
    let mut back = again(&back);
    back.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!((in_use(&mut back, s(50)), in_use(&mut back, s(51))), (1, 0));
}

/// Notes of version 0.2.0 do not say how long a lease is.
#[test]
fn a_lease_of_unknown_length_is_as_long_as_one_can_be() {
    let notes = r#"{"waiting":[],"using":[{"token":0,"fence":7,
        "who":{"program":{"ticket":"00000000000000000000000000000005"}},"collected":false}]}"#;
    let mut back = start(RULES, serde_json::from_str(notes).expect("a ledger"));
    back.handle_granted(s(0), grant(0, 7), s(0));
    assert_eq!(in_use(&mut back, s(99)), 1);
}

/// A program hears that its permit is asked back only when it asks, which may be later than the
/// stop timeout is over.
#[test]
fn a_node_that_stops_and_hands_on_leaves_programs_theirs() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_program(s(0), 1, Ticket(5), s(50));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    effects(&mut permits);
    permits.handle_stop(s(1), true);
    assert!(!permits.stopping(), "there is nothing to wait for");
    assert_eq!(in_use(&mut permits, s(40)), 1);
    assert_eq!(effects(&mut permits), []);
    assert_eq!(permits.extend(s(40), Ticket(5), s(50)), Some(s(50)));
    assert_eq!(permits.ledger().using.len(), 1);
}

/// The ring may have gone on without it: then only what was said before the restart counts.
#[test]
fn a_node_that_is_left_out_when_it_is_back_renews_no_permit() {
    let mut back = restarted(s(10), |permits| {
        permits.ask(s(0), fleet("a"));
        permits.ask(s(0), fleet("b"));
        permits.handle_granted(s(0), grant(1, 8), s(0));
        permits.handle_granted(s(0), grant(2, 9), s(0));
        assert!(permits.collect(&fleet("a")).is_some());
    });
    back.handle_left(s(20));
    assert_eq!(back.extend(s(21), Ticket(5), s(10)), None);
    assert!(back.collect(&fleet("a")).is_none() && back.collect(&fleet("b")).is_none());
    let view = back.view(s(21), Ticket(5)).expect("it is still there");
    assert!(view.asked_back);
    // Until then nobody relies on this node using nothing. The second client was never told.
    let holders = |back: &mut Permits, at| {
        back.handle_timeout(at);
        let holders = back.permits().map(|permit| permit.holder.clone());
        holders.collect::<Vec<Holder>>()
    };
    assert_eq!(holders(&mut back, s(34)), [PROGRAM, fleet("a")]);
    assert_eq!(holders(&mut back, s(35)), [fleet("a")]);
    assert_eq!(holders(&mut back, s(124)), [fleet("a")]);
    assert_eq!(holders(&mut back, s(125)), []);
}

#[test]
fn a_permit_of_before_a_restart_is_over_when_its_token_has_come_by_again() {
    let mut back = restarted(s(50), |_| {});
    back.handle_granted(s(1), grant(0, 9), s(1));
    assert_eq!(effects(&mut back), [done(0, 9)]);
    assert_eq!(back.ledger().using, []);
    back.handle_left(s(2));
    assert_eq!(back.permits().count(), 0);
}

#[test]
fn what_is_given_back_before_it_is_known_again_is_given_back() {
    let mut back = restarted(s(50), |_| {});
    assert!(back.release(s(1), &PROGRAM));
    assert!(!back.release(s(1), &PROGRAM));
    back.handle_granted(s(2), grant(0, 7), s(2));
    assert_eq!(effects(&mut back), [done(0, 7)]);
}

/// As a command has: a program that is asked to stop when its time is over may take the stop timeout.
#[test]
fn a_program_has_the_grace_when_its_time_is_over() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_program(s(0), 1, Ticket(5), s(500));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    effects(&mut permits);
    assert_eq!(permits.extend(s(80), Ticket(5), s(500)), Some(s(20)));
    assert_eq!(in_use(&mut permits, s(100)), 1);
    let view = permits.view(s(100), Ticket(5)).expect("it is still there");
    assert!(view.asked_back);
    assert_eq!(permits.extend(s(101), Ticket(5), s(500)), None);
    assert_eq!(in_use(&mut permits, s(104)), 1);
    assert_eq!(in_use(&mut permits, s(105)), 0);
    assert_eq!(effects(&mut permits), [done(0, 7)]);
}
