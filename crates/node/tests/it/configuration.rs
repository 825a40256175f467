//! Plans and configurations at the ends of what is allowed, and what follows from
//! them: clocks, roles, sizes, identities, bounds.

use std::time::Duration;

use headway_node::wire::{HEADER_BYTES, Layout, Rejected};
use headway_node::{
    Config, ConfigError, Key, MAX_NODES, MAX_TOKENS, Plan, PlanError, RingId, Role, Rule, Timing,
    recovery_bound, recovery_rounds,
};

const MICRO: Duration = Duration::from_micros(1);

#[test]
fn plans_at_the_ends() {
    for make in [
        |nodes, tokens| Plan::new(nodes, tokens, 1),
        |nodes, tokens| Plan::logical(nodes, tokens, 1, 1),
    ] {
        assert_eq!(make(1, 1), Err(PlanError::Nodes(1)));
        assert!(make(2, 1).is_ok());
        assert!(make(MAX_NODES, MAX_TOKENS).is_ok());
        let (nodes, tokens) = (MAX_NODES + 1, MAX_TOKENS + 1);
        assert_eq!(make(nodes, 1), Err(PlanError::Nodes(nodes)));
        assert_eq!(make(MAX_NODES, tokens), Err(PlanError::Tokens(tokens)));
        assert_eq!(make(8, 0), Err(PlanError::Tokens(0)));
    }
    assert_eq!((MAX_NODES, MAX_TOKENS), (1 << 28, 1 << 15));
    assert_eq!(Plan::new(8, 2, 0), Err(PlanError::Separation));
    assert_eq!(Plan::logical(8, 2, 0, 1), Err(PlanError::Separation));
    assert_eq!(Plan::logical(8, 2, 1, 0), Err(PlanError::Separation));
}

/// What a refusal says would fit does, and one more does not.
#[test]
fn refusals_say_what_fits() {
    for nodes in 2..30 {
        for tokens in 2..10 {
            for separation in 1..12 {
                let Err(error) = Plan::new(nodes, tokens, separation) else {
                    let room = u64::from(tokens) * u64::from(separation + 1);
                    assert!(room <= u64::from(nodes));
                    continue;
                };
                let PlanError::Infeasible {
                    capacity, furthest, ..
                } = error
                else {
                    panic!("{error}");
                };
                assert!(Plan::new(nodes, capacity, separation).is_ok(), "{error}");
                assert!(
                    Plan::new(nodes, capacity + 1, separation).is_err(),
                    "{error}"
                );
                assert_eq!(
                    Plan::new(nodes, tokens, furthest).is_ok(),
                    furthest > 0,
                    "{error}"
                );
                assert!(Plan::new(nodes, tokens, furthest + 1).is_err(), "{error}");
            }
        }
    }
}

#[test]
fn logical_plans_are_taken_as_they_are() {
    let plan = Plan::logical(12, 3, 4, 2).unwrap();
    assert_eq!((plan.nodes(), plan.tokens()), (12, 3));
    assert_eq!((plan.separation(), plan.pace(), plan.capacity()), (4, 2, 4));
    assert_eq!((plan.wanted(), plan.true_separation()), (2, 2));
    let refused = Plan::logical(12, 4, 4, 2).unwrap_err();
    let (nodes, tokens, wanted) = (12, 4, 2);
    let (capacity, furthest) = (3, 2);
    assert_eq!(
        refused,
        PlanError::Infeasible {
            nodes,
            tokens,
            wanted,
            capacity,
            furthest
        }
    );
    let refused = Plan::logical(3, 2, 4, 1).unwrap_err();
    assert!(matches!(
        refused,
        PlanError::Infeasible {
            capacity: 1,
            furthest: 0,
            ..
        }
    ));
    assert!(
        Plan::new(10, 4, 2)
            .unwrap_err()
            .to_string()
            .contains("need 12 nodes")
    );
}

fn config(nodes: u32, tokens: u32) -> Config {
    Config::new(RingId([7; 16]), 0, Plan::new(nodes, tokens, 1).unwrap())
}

#[test]
fn neighbours_and_indices() {
    for index in 0..5 {
        let config = Config {
            index,
            ..config(5, 2)
        };
        assert_eq!(config.check(), Ok(()));
        assert_eq!((config.predecessor() + 1) % 5, index);
        assert_eq!((index + 1) % 5, config.successor());
        assert_eq!(config.domain().values, 6);
    }
    let wrong = Config {
        index: 5,
        ..config(5, 2)
    };
    let error = wrong.check().unwrap_err();
    assert_eq!(error, ConfigError::Index { index: 5, nodes: 5 });
    assert!(error.to_string().contains("0 to 4"), "{error}");
}

/// The modulus is the least that exceeds 2n, is as large as asked for, and is a
/// multiple of the pace.
#[test]
fn clocks_have_room_and_whole_rounds() {
    for nodes in 2..40_u32 {
        for pace in 1..12_u32 {
            let plan = Plan::logical(nodes, 1, 1, pace).unwrap();
            for turn_phases in [1, 30, 64] {
                let config = Config {
                    turn_phases,
                    ..Config::new(RingId([0; 16]), 0, plan)
                };
                let clock = config.domain().clock;
                let least = (2 * nodes + 1).max(u32::from(turn_phases));
                let expected = (least..).find(|modulus| modulus % pace == 0);
                assert_eq!(Some(clock.modulus as u32), expected, "{nodes} {pace}");
                assert_eq!(clock.tail, nodes as i32);
            }
        }
    }
}

#[test]
fn four_nodes_delay_as_evenly_spread_as_can_be() {
    for nodes in 1..60 {
        let delays: Vec<u32> = (0..nodes)
            .filter(|&index| Role::usual(index, nodes) == Role::Delay)
            .collect();
        assert_eq!(delays.len() as u32, nodes.min(4), "{nodes}");
        assert_eq!(delays[0], 0, "{nodes}");
        let gaps: Vec<u32> = (0..delays.len())
            .map(|at| (delays[(at + 1) % delays.len()] + nodes - 1 - delays[at]) % nodes)
            .collect();
        assert!(
            gaps.iter().max().unwrap() - gaps.iter().min().unwrap() <= 1,
            "{delays:?}"
        );
    }
}

/// Header, 12 bytes and a payload with its length for every token, and the code.
#[test]
fn datagrams_are_as_large_as_the_document_says() {
    let layout = |tokens, payload, rule| Layout {
        tokens,
        payload,
        rule,
        version: headway_node::wire::VERSION,
    };
    for (rule, once, heard) in [(Rule::LockStep, 0, 0), (Rule::MovingBlock, 52, 4)] {
        for (tokens, payload) in [(1, 0), (3, 0), (3, 10), (7, 255)] {
            let layout = layout(tokens, payload, rule);
            let each = 12 + 1 + usize::from(payload) + heard;
            let bytes = 76 + tokens as usize * each + once + 32;
            assert_eq!((HEADER_BYTES, layout.bytes()), (76, bytes));
            assert_eq!(layout.tokens_in(bytes), tokens as usize);
            assert_eq!(layout.tokens_in(bytes - 1), tokens as usize - 1);
            assert_eq!(layout.payload_in(bytes), Some(payload));
            assert_eq!(layout.payload_in(bytes - 1), payload.checked_sub(1));
        }
        assert_eq!(layout(1, 0, rule).tokens_in(50), 0);
        assert_eq!(layout(1, 0, rule).payload_in(50), None);
        assert_eq!(layout(1, 0, rule).payload_in(100_000), Some(255));
    }
    let fits = Config {
        payload: 20,
        ..config(30, 8)
    };
    let bytes = fits.datagram_bytes();
    let exactly = Config {
        largest_datagram: bytes,
        ..fits
    };
    assert_eq!(exactly.check(), Ok(()));
    let limit = bytes - 1;
    let error = Config {
        largest_datagram: limit,
        ..fits
    }
    .check()
    .unwrap_err();
    assert_eq!(
        error,
        ConfigError::TooLarge {
            tokens: 8,
            payload: 20,
            needed: bytes,
            limit,
            tokens_fit: 7,
            payload_fits: Some(19),
        }
    );
    assert!(
        error
            .to_string()
            .ends_with("or at most 19 bytes of payload"),
        "{error}"
    );
    let error = Config {
        largest_datagram: 110,
        ..fits
    }
    .check()
    .unwrap_err();
    assert!(error.to_string().ends_with("at most 0 tokens"), "{error}");
}

#[test]
fn times_that_make_no_sense() {
    let timing = Timing {
        refresh: 10 * MICRO,
        heartbeat_timeout: 11 * MICRO,
        min_hold: 5 * MICRO,
        max_hold: 5 * MICRO,
        ..Timing::default()
    };
    let check = |timing| {
        Config {
            timing,
            ..config(5, 2)
        }
        .check()
    };
    assert_eq!(check(timing), Ok(()), "the least of everything");
    let wrong = [
        (
            "refresh",
            Timing {
                refresh: 9 * MICRO,
                ..timing
            },
        ),
        (
            "heartbeat_timeout",
            Timing {
                heartbeat_timeout: 10 * MICRO,
                ..timing
            },
        ),
        (
            "max_hold",
            Timing {
                min_hold: Duration::ZERO,
                max_hold: Duration::ZERO,
                ..timing
            },
        ),
        (
            "min_hold",
            Timing {
                min_hold: 6 * MICRO,
                ..timing
            },
        ),
    ];
    for (name, timing) in wrong {
        let Err(ConfigError::Timing { field, .. }) = check(timing) else {
            panic!("{name}");
        };
        assert_eq!(field, name);
    }
    let usual = Timing::default();
    assert_eq!(
        (usual.refresh, usual.heartbeat_timeout),
        (20_000 * MICRO, 500_000 * MICRO)
    );
    assert_eq!(
        (usual.max_hold, usual.stop_timeout),
        (Duration::from_secs(3600), Duration::from_secs(1))
    );
}

#[test]
fn whoever_was_told_differently_is_of_another_ring() {
    let plan =
        |nodes, tokens, separation, pace| Plan::logical(nodes, tokens, separation, pace).unwrap();
    let all = [
        Config::identity(b"ring", &plan(12, 2, 3, 1), 0),
        Config::identity(b"rang", &plan(12, 2, 3, 1), 0),
        Config::identity(b"ring", &plan(13, 2, 3, 1), 0),
        Config::identity(b"ring", &plan(12, 3, 3, 1), 0),
        Config::identity(b"ring", &plan(12, 2, 4, 1), 0),
        Config::identity(b"ring", &plan(12, 2, 3, 2), 0),
        Config::identity(b"ring", &plan(12, 2, 3, 1), 1),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(all[..index].iter().all(|other| other != one));
    }
    assert_eq!(all[0], Config::identity(b"ring", &plan(12, 2, 3, 1), 0));
}

/// By hand: two silences, two works, a stop timeout; then rounds of a datagram a tick and a
/// work each.
#[test]
fn the_bound_of_recovery_by_hand() {
    let plan = Plan::logical(10, 2, 3, 2).unwrap();
    let timing = Timing {
        heartbeat_timeout: 100 * MICRO,
        stop_timeout: 7 * MICRO,
        ..Timing::default()
    };
    let rounds = 10 * (10 + 2 * 2);
    assert_eq!(recovery_rounds(&plan), u64::from(rounds));
    let bound = |timing| recovery_bound(&plan, timing, 5 * MICRO, 9 * MICRO);
    let by_hand = (200 + 18 + 7) * MICRO + rounds * (2 * 5 + 9) * MICRO;
    assert_eq!(bound(&timing), by_hand);
    // Slower ticks, longer stays and shorter permits count where they are the more.
    let slow = Timing {
        tick: 6 * MICRO,
        min_hold: 11 * MICRO,
        max_hold: 12 * MICRO,
        ..timing
    };
    let by_hand = (200 + 12 + 7) * MICRO + rounds * (2 * 6 + 11) * MICRO;
    assert_eq!(bound(&slow), by_hand);
    // Moving blocks: for every token twice round the ring at every node, and four refreshes.
    let plan = Plan::moving_block(10, 3, 2).unwrap();
    let rounds = 10 * 16 + 600;
    assert_eq!(recovery_rounds(&plan), u64::from(rounds));
    let blocks = recovery_bound(&plan, &timing, 5 * MICRO, 9 * MICRO);
    let ticks = plan.pace() * 5;
    let by_hand = (200 + 18 + 7) * MICRO + rounds * (ticks + 9) * MICRO;
    assert_eq!(blocks, by_hand + 40 * timing.refresh);
}

#[test]
fn keys() {
    assert!(Key::new(&[1; 15]).is_none());
    let key = Key::new(&[1; 16]).unwrap();
    assert!(key.authenticates() && !Key::none().authenticates());
    let code = key.sign(b"text");
    assert!(key.verify(b"text", &code) && !key.verify(b"test", &code));
    assert!(!Key::new(&[2; 16]).unwrap().verify(b"text", &code));
    assert!(Key::none().verify(b"text", &[0; 32]) && !Key::none().verify(b"text", &code));
    assert_eq!(Key::none().sign(b"text"), [0; 32]);
    // Nobody learns the key from a log.
    assert_eq!(
        (format!("{key:?}"), format!("{:?}", Key::none())),
        ("Key(..)".into(), "Key(none)".into())
    );
}

#[test]
fn reasons_have_names() {
    let names = Rejected::ALL.map(Rejected::name);
    assert_eq!(
        names,
        [
            "length",
            "version",
            "unauthenticated",
            "ring",
            "sender",
            "receiver",
            "domain",
            "fence",
            "stale"
        ]
    );
}
