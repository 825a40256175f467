use std::num::NonZeroU32;

use super::*;
use crate::request::{Given, Refusal, RequestId, Ticket};

mod kept;

const RULES: Rules = Rules {
    max_hold: Duration::from_secs(100),
    stop_timeout: Duration::from_secs(5),
    lease: Duration::from_secs(10),
    patience: Duration::from_secs(60),
    every_permit: false,
    slots: Slots::NONE,
};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fleet(id: &str) -> Holder {
    Holder::FleetLock {
        group: "default".into(),
        id: id.into(),
    }
}

fn every_permit() -> Rules {
    Rules {
        every_permit: true,
        ..RULES
    }
}

fn start(rules: Rules, ledger: Ledger) -> Permits {
    let runs = Runs {
        session: 1,
        random: || 99,
    };
    Permits::new(rules, runs, ledger)
}

/// All but what is only told of the past, unless it is an overrun.
fn effects(permits: &mut Permits) -> Vec<Effect> {
    let all = std::iter::from_fn(|| permits.poll_effect());
    all.filter(|effect| !matches!(effect, Effect::Ended(_)) || is_overrun(effect))
        .collect()
}

fn is_overrun(effect: &Effect) -> bool {
    matches!(effect, Effect::Ended(used) if used.outcome == Outcome::Overrun)
}

fn waits(permits: &Permits, holder: &Holder) -> bool {
    let mut waiting = permits.waiting.iter();
    waiting.any(|waiting| waiting.holder == *holder)
}

const fn grant(token: u32, fence: u64) -> Grant {
    Grant { token, fence }
}

fn done(token: u32, fence: u64) -> Effect {
    Effect::Done(grant(token, fence))
}

#[test]
fn a_permit_that_nobody_wants_goes_on_at_once() {
    let mut permits = start(RULES, Ledger::default());
    permits.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
}

#[test]
fn who_asks_late_gets_what_nobody_has_used() {
    let wanted = |token, fence| Effect::Wanted(grant(token, fence));
    let mut permits = start(RULES, Ledger::default());
    permits.handle_granted(s(1), grant(0, 7), s(1));
    permits.handle_granted(s(1), grant(1, 9), s(1));
    assert_eq!(effects(&mut permits), [done(0, 7), done(1, 9)]);
    // The token of the second permit has been here once more, and somebody has used it.
    permits.ask(s(2), fleet("a"));
    permits.handle_granted(s(2), grant(1, 19), s(2));
    assert!(permits.release(s(3), &fleet("a")));
    assert_eq!(effects(&mut permits), [done(1, 19)]);
    // One is left, and asked for once.
    permits.ask(s(4), fleet("b"));
    assert_eq!(effects(&mut permits), [wanted(0, 7)]);
    permits.handle_granted(s(5), grant(0, 7), s(5));
    permits.ask(s(5), fleet("c"));
    assert!(effects(&mut permits).is_empty());
    assert!(permits.release(s(6), &fleet("b")));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
    // On another ring nothing of it is left.
    let mut permits = start(RULES, Ledger::default());
    permits.handle_granted(s(1), grant(0, 7), s(1));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
    permits.handle_left(s(2));
    permits.ask(s(3), fleet("a"));
    assert!(effects(&mut permits).is_empty());
}

#[test]
fn first_come_first_served_and_the_rest_wait() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.ask_for_program(s(0), 1, Ticket(5), s(10));
    permits.ask(s(1), fleet("a"));
    permits.handle_granted(s(2), grant(0, 7), s(2));
    assert!(effects(&mut permits).is_empty());
    assert_eq!(
        permits.of(&fleet("a")).map(|permit| permit.grant),
        Some(grant(0, 7))
    );
    permits.handle_granted(s(3), grant(1, 9), s(3));
    assert!(matches!(
        effects(&mut permits)[..],
        [Effect::Given(
            1,
            Given {
                ticket: Ticket(5),
                ..
            }
        )]
    ));
    assert!(permits.release(s(200), &fleet("a")) && !permits.release(s(200), &fleet("a")));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
}

#[test]
fn a_lease_that_is_not_extended_ends_and_one_that_is_does_not() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_program(s(0), 1, Ticket(5), s(10));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    effects(&mut permits);
    assert_eq!(permits.extend(s(0), Ticket(5), s(20)), Some(s(20)));
    permits.handle_timeout(s(19));
    assert!(effects(&mut permits).is_empty());
    assert_eq!(
        permits.extend(s(19), Ticket(5), s(500)),
        Some(s(81)),
        "no longer than max_hold"
    );
    permits.handle_timeout(s(100));
    assert_eq!(permits.extend(s(100), Ticket(5), s(600)), None);
    permits.handle_timeout(s(105));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
}

#[test]
fn what_is_asked_back_and_kept_is_an_overrun() {
    let mut permits = start(every_permit(), Ledger::default());
    permits.handle_granted(s(0), grant(0, 7), s(0));
    assert!(matches!(
        effects(&mut permits)[..],
        [Effect::StartCommand(_)]
    ));
    permits.handle_withdrawn(s(10), grant(0, 7));
    assert_eq!(effects(&mut permits), [Effect::StopCommand(grant(0, 7))]);
    permits.handle_timeout(s(14));
    assert!(effects(&mut permits).is_empty());
    permits.handle_timeout(s(15));
    assert!(matches!(
        effects(&mut permits)[..],
        [Effect::Ended(_), Effect::Done(..)]
    ));
    // It still runs: no second one is started beside it.
    permits.handle_granted(s(16), grant(0, 9), s(16));
    assert_eq!(effects(&mut permits), [done(0, 9)]);
    permits.handle_command_ended(s(17), grant(0, 7), Outcome::Succeeded);
    permits.handle_granted(s(18), grant(0, 11), s(18));
    assert!(matches!(
        effects(&mut permits)[..],
        [Effect::StartCommand(CommandPermit {
            grant: Grant { fence: 11, .. },
            ..
        })]
    ));
}

#[test]
fn a_restart_keeps_permits_and_fleetlock_requests() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.ask(s(0), fleet("b"));
    permits.handle_granted(s(0), grant(2, 7), s(0));
    let text = serde_json::to_string(&permits.ledger()).unwrap();
    let mut permits = start(RULES, serde_json::from_str(&text).unwrap());
    assert!(waits(&permits, &fleet("b")) && permits.of(&fleet("a")).is_none());
    // Still remembered before the node has granted it again.
    assert_eq!(permits.ledger().using.len(), 1);
    permits.handle_granted(s(0), grant(2, 7), s(0));
    assert!(permits.of(&fleet("a")).is_some());
    assert!(effects(&mut permits).is_empty());
}

#[test]
fn a_permit_that_is_not_collected_lapses_and_one_that_is_stays() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.ask(s(0), fleet("b"));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    permits.handle_granted(s(0), grant(1, 8), s(0));
    effects(&mut permits);
    assert!(permits.collect(&fleet("b")).is_some() && permits.collect(&fleet("c")).is_none());
    permits.handle_timeout(s(60));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
    let ledger = permits.ledger();
    let mut permits = start(RULES, ledger);
    permits.handle_granted(s(0), grant(1, 8), s(0));
    permits.handle_timeout(s(99));
    assert!(permits.of(&fleet("b")).is_some());
}

#[test]
fn so_many_wait_and_the_next_is_refused_until_there_is_room() {
    let mut permits = start(RULES, Ledger::default());
    for id in 0..64 {
        assert!(permits.ask(s(0), fleet(&id.to_string())), "{id}");
    }
    assert!(!permits.ask(s(1), fleet("late")));
    permits.ask_for_program(s(1), 9, Ticket(5), s(10));
    assert_eq!(effects(&mut permits), [Effect::Refused(9, Refusal::Full)]);
    assert!(permits.ask(s(1), fleet("3")), "it waits already");
    assert_eq!(permits.waiting(), 64);
    permits.forget(&fleet("3"));
    assert!(permits.ask(s(2), fleet("late")) && !permits.ask(s(2), fleet("3")));
}

/// Clients from outside must not keep a node from its own work.
#[test]
fn the_nodes_own_command_finds_room_however_many_wait() {
    let mut permits = start(every_permit(), Ledger::default());
    permits.handle_granted(s(0), grant(0, 7), s(0));
    for id in 0..64 {
        permits.ask(s(1), fleet(&id.to_string()));
    }
    permits.handle_command_ended(s(2), grant(0, 7), Outcome::Succeeded);
    assert!(waits(&permits, &Holder::Command));
    permits.ask_for_step(s(3), Some(0));
    assert!(waits(&permits, &Holder::Step));
    let back = start(every_permit(), permits.ledger());
    assert!(waits(&back, &Holder::Command) && back.waiting() == 64);
    let asked = (0..65).map(|request| permits.ask_for_end(s(4), request));
    let refused: Vec<RequestId> = (0..65)
        .zip(asked)
        .filter_map(|(request, refused)| refused.map(|_| request))
        .collect();
    assert_eq!(refused, [64], "those who wait for its end are so many, too");
}

#[test]
fn requests_that_are_not_repeated_are_forgotten() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.handle_timeout(s(59));
    assert!(waits(&permits, &fleet("a")));
    permits.handle_timeout(s(60));
    permits.handle_granted(s(61), grant(0, 7), s(61));
    assert_eq!(effects(&mut permits), [done(0, 7)]);
}

#[test]
fn a_node_that_stops_and_hands_on_recalls_and_gives_nothing_more() {
    let mut permits = start(every_permit(), Ledger::default());
    permits.handle_granted(s(0), grant(0, 7), s(0));
    permits.ask(s(0), fleet("a"));
    permits.handle_granted(s(0), grant(1, 8), s(0));
    effects(&mut permits);
    permits.handle_stop(s(1), true);
    assert_eq!(effects(&mut permits), [Effect::StopCommand(grant(0, 7))]);
    permits.handle_command_ended(s(2), grant(0, 7), Outcome::Succeeded);
    let holders: Vec<&Holder> = permits.permits().map(|permit| &permit.holder).collect();
    assert_eq!(holders, [&fleet("a")]);
    effects(&mut permits);
    permits.handle_granted(s(3), grant(0, 9), s(3));
    assert_eq!(effects(&mut permits), [done(0, 9)]);
}

/// Right after a restart, before the ring has been heard, a client that has a slot asks
/// again. That must not become a second slot.
#[test]
fn a_client_that_asks_again_after_a_restart_has_one_permit() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    assert!(permits.collect(&fleet("a")).is_some());
    let ledger = permits.ledger();
    let mut permits = start(RULES, ledger);
    assert!(permits.collect(&fleet("a")).is_none(), "not known yet");
    permits.ask(s(1), fleet("a"));
    permits.handle_granted(s(2), grant(0, 7), s(2));
    assert!(permits.collect(&fleet("a")).is_some() && !waits(&permits, &fleet("a")));
    effects(&mut permits);
    permits.handle_granted(s(3), grant(1, 9), s(3));
    assert_eq!(effects(&mut permits), [done(1, 9)], "nobody else waits");
}

#[test]
fn steady_state_gives_back_everything_that_a_client_has() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), fleet("a"));
    permits.handle_granted(s(0), grant(0, 7), s(0));
    permits.handle_withdrawn(s(100), grant(0, 7));
    // Its time is over; it asks again, and another token comes in the stop timeout.
    assert!(permits.collect(&fleet("a")).is_none());
    permits.ask(s(101), fleet("a"));
    permits.handle_granted(s(102), grant(1, 9), s(102));
    effects(&mut permits);
    assert!(permits.collect(&fleet("a")).is_some());
    assert!(permits.release(s(200), &fleet("a")));
    assert_eq!(effects(&mut permits), [done(0, 7), done(1, 9)]);
    assert_eq!(permits.permits().count(), 0);
}

/// A command may reboot the machine: its permit stays, and is over when the node is back.
#[test]
fn a_node_that_stops_keeps_its_permits_until_it_is_back() {
    let mut permits = start(every_permit(), Ledger::default());
    permits.handle_granted(s(0), grant(0, 7), s(0));
    permits.ask_for_program(s(0), 1, Ticket(5), s(10));
    permits.handle_granted(s(0), grant(1, 8), s(0));
    effects(&mut permits);
    permits.handle_stop(s(1), false);
    assert_eq!(effects(&mut permits), [Effect::StopCommand(grant(0, 7))]);
    assert!(permits.stopping());
    permits.handle_command_ended(s(2), grant(0, 7), Outcome::Failed);
    assert!(!permits.stopping());
    assert_eq!(effects(&mut permits), [], "neither is given back");
    let mut back = start(RULES, permits.ledger());
    assert!(!back.wants(grant(0, 7)) && back.wants(grant(1, 8)));
    back.handle_granted(s(0), grant(0, 7), s(0));
    back.handle_granted(s(0), grant(1, 8), s(0));
    assert_eq!(
        effects(&mut back),
        [done(0, 7)],
        "its command is not run again"
    );
    assert!(back.view(s(1), Ticket(5)).is_some());
}

/// Somebody else was added: nobody is stopped for that, and nobody stays longer for it.
#[test]
fn permits_of_a_ring_that_was_left_last_as_long_as_they_would_have() {
    let mut permits = start(every_permit(), Ledger::default());
    permits.handle_granted(s(3), grant(0, 7), s(2));
    effects(&mut permits);
    permits.handle_left(s(4));
    permits.handle_timeout(s(101));
    assert_eq!(effects(&mut permits), []);
    assert_eq!(
        permits.poll_timeout(),
        Some(s(102)),
        "counted from when it was asked for"
    );
    permits.handle_timeout(s(102));
    assert_eq!(effects(&mut permits), [Effect::StopCommand(grant(0, 7))]);
    permits.handle_timeout(s(107));
    assert_eq!(permits.permits().count(), 0);
}

/// Who begins by a ring that was left would be near somebody who began by it and has left it, too.
#[test]
fn a_client_that_was_not_told_of_its_permit_waits_for_one_of_the_next_ring() {
    let mut permits = start(RULES, Ledger::default());
    for (token, id) in [(0, "told"), (1, "untold")] {
        assert!(permits.ask(s(0), fleet(id)));
        permits.handle_granted(s(1), grant(token, 7), s(1));
    }
    assert_eq!(permits.collect(&fleet("told")), Some(true));
    permits.handle_left(s(2));
    assert!(permits.of(&fleet("told")).is_some());
    assert_eq!(permits.collect(&fleet("untold")), None);
    assert!(waits(&permits, &fleet("untold")));
}

#[test]
fn a_command_that_was_asked_for_is_wanted_under_new_rules_too() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask(s(0), Holder::Command);
    permits.set_rules(s(1), RULES);
    assert!(permits.wants(grant(0, 7)));
    permits.set_rules(s(2), every_permit());
    permits.set_rules(s(3), RULES);
    assert!(!permits.wants(grant(0, 7)), "only because every permit was");
}

/// Tokens that follow each other closely share a rollout's steps; none of them waits for long.
#[test]
fn a_step_takes_its_own_token_or_one_that_comes_by_again() {
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_step(s(0), Some(2));
    permits.handle_granted(s(1), grant(1, 7), s(1));
    assert_eq!(effects(&mut permits), [done(1, 7)]);
    assert!(
        permits.wants(grant(2, 8)) && permits.wants(grant(1, 9)) && !permits.wants(grant(0, 9))
    );
    permits.handle_granted(s(2), grant(1, 9), s(2));
    assert!(matches!(&effects(&mut permits)[..], [Effect::StartStep(_)]));
    let mut permits = start(RULES, Ledger::default());
    permits.ask_for_step(s(0), None);
    assert!(permits.wants(grant(0, 7)), "any, in lock-step");
}

#[test]
fn a_group_has_as_many_tokens_as_slots_and_its_own_while_there_are_any() {
    let member = |group: &str| Holder::FleetLock {
        group: group.into(),
        id: "x".into(),
    };
    let number = |number| NonZeroU32::new(number).expect("from 1 on");
    for tokens in 1..6 {
        for (a, b) in (1..=tokens).flat_map(|a| (1..=tokens).map(move |b| (a, b))) {
            let slots = BTreeMap::from([("a".into(), number(a)), ("b".into(), number(b))]);
            let slots = Slots::new(tokens, &slots);
            let of = |group| -> BTreeSet<u32> {
                let holder = member(group);
                (0..tokens)
                    .filter(|token| slots.allow(&holder, *token))
                    .collect()
            };
            assert_eq!(of("a").len() as u32, a);
            assert_eq!(of("b").len() as u32, b);
            assert_eq!(of("c").len() as u32, tokens, "no limit");
            let apart = of("a").is_disjoint(&of("b"));
            assert_eq!(apart, a + b <= tokens, "{a} and {b} of {tokens}");
            assert!((0..tokens).all(|token| slots.allow(&Holder::Command, token)));
        }
    }
}

#[test]
fn a_client_lets_tokens_pass_that_are_not_of_its_group() {
    let rules = || Rules {
        slots: Slots::new(
            2,
            &BTreeMap::from([("default".into(), NonZeroU32::new(1).expect("one"))]),
        ),
        ..RULES
    };
    let mut permits = start(rules(), Ledger::default());
    permits.ask(s(0), fleet("x"));
    assert!(!permits.wants(grant(1, 7)) && permits.wants(grant(0, 7)));
    permits.handle_granted(s(1), grant(1, 7), s(1));
    assert_eq!(effects(&mut permits), [done(1, 7)]);
    permits.handle_granted(s(2), grant(0, 7), s(2));
    assert!(effects(&mut permits).is_empty() && permits.of(&fleet("x")).is_some());
}

/// A client with the token of the API asks under sixty names.
#[test]
fn however_many_ask_from_outside_the_own_command_has_its_turn() {
    let mut permits = start(RULES, Ledger::default());
    for id in 0..60 {
        assert!(permits.ask(s(0), fleet(&id.to_string())));
    }
    permits.ask(s(0), Holder::Command);
    let mut turns = Vec::new();
    for turn in 1..=4 {
        let grant = grant(0, turn);
        permits.handle_granted(s(turn), grant, s(turn));
        let holder = permits.permits().next().map(|permit| permit.holder.clone());
        turns.extend(holder.map(|holder| holder.is_command()));
        permits.handle_command_ended(s(turn), grant, Outcome::Succeeded);
        permits.release(s(turn), &fleet(&(turn - 1).to_string()));
        permits.release(s(turn), &fleet(&turn.saturating_sub(2).to_string()));
        permits.ask(s(turn), Holder::Command);
    }
    assert_eq!(turns, [false, true, false, true]);
}
