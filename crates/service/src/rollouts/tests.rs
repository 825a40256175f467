use super::*;

const DAY: Duration = Duration::from_secs(86_400);

fn random() -> u64 {
    7
}

fn node(me: &str) -> Rollouts {
    Rollouts::new(Duration::ZERO, me, &["x".into()], random, &[])
}

fn wanted(name: &str) -> Wanted {
    serde_json::from_value(serde_json::json!({ "name": name, "command": ["x"] })).expect("wanted")
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Everybody tells everybody until nothing is new.
fn talk(nodes: &mut [Rollouts]) {
    loop {
        let mut told = Vec::new();
        for node in &mut *nodes {
            told.extend(std::iter::from_fn(|| node.poll_transmit(&["other".into()])));
        }
        if told.is_empty() {
            return;
        }
        for node in &mut *nodes {
            for (_, bytes) in &told {
                node.handle_news("other", bytes);
            }
        }
    }
}

fn state(node: &Rollouts, members: &[String]) -> String {
    let view = node.views(1, members, 1);
    serde_json::to_value(&view[0]).expect("JSON")["rollout_state"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[test]
fn canaries_go_first_and_a_failure_stops_all_with_an_alarm_until_it_is_tried_again() {
    let members = names(&["a", "b", "c"]);
    let mut nodes = [node("a"), node("b"), node("c")];
    let with = Wanted {
        canaries: names(&["b"]),
        ..wanted("web")
    };
    nodes[0].start(1, with, &members, DAY).expect("started");
    talk(&mut nodes);
    let wants = |nodes: &mut [Rollouts; 3]| {
        nodes.each_mut().map(|node| {
            node.stale = true;
            node.refresh(1).expect("looked")
        })
    };
    assert_eq!(wants(&mut nodes), [false, true, false]);
    let task = nodes[1].begin(2).expect("its turn");
    assert_eq!((task.attempt, &*task.rollout), (0, "web"));
    assert_eq!(wants(&mut nodes), [false; 3]);
    nodes[1].handle_ended(3, Err("exit code 1".into()));
    talk(&mut nodes);
    assert_eq!(wants(&mut nodes), [false; 3]);
    for node in &nodes {
        assert_eq!(state(node, &members), "failed");
        let alarm = node.alarms().texts().next().expect("an alarm");
        assert!(
            alarm.contains("roll-out web has stopped: b: exit code 1"),
            "{alarm}"
        );
    }
    let resume = |retry| Ask::Resume {
        retry,
        max_failures: Some(9),
    };
    assert!(
        nodes[2].order(4, "web", resume(false)).is_err(),
        "a canary has failed"
    );
    nodes[2].order(4, "web", resume(true)).expect("resumed");
    talk(&mut nodes);
    assert_eq!(wants(&mut nodes), [false, true, false]);
    let again = nodes[1].begin(5).expect("again");
    assert_eq!((again.attempt, again.step), (1, task.step), "the same step");
    nodes[1].handle_ended(6, Ok(()));
    talk(&mut nodes);
    assert_eq!(wants(&mut nodes), [true, false, true]);
    nodes[0].order(7, "web", Ask::Pause).expect("paused");
    talk(&mut nodes);
    assert_eq!(wants(&mut nodes), [false; 3]);
    assert_eq!(
        nodes[2].begin(7),
        None,
        "a permit that comes now is not used"
    );
    nodes[1].order(8, "web", resume(false)).expect("resumed");
    talk(&mut nodes);
    for at in [0, 2] {
        assert!(nodes[at].begin(9).is_some());
        nodes[at].handle_ended(9, Ok(()));
    }
    talk(&mut nodes);
    for node in &nodes {
        assert_eq!(state(node, &members), "complete");
        assert_eq!(node.state, nodes[0].state);
    }
}

#[test]
fn a_node_that_comes_back_begins_its_step_again_and_one_that_lost_all_learns_it() {
    let members = names(&["a", "b"]);
    let mut nodes = [node("a"), node("b")];
    nodes[0]
        .start(1, wanted("web"), &members, DAY)
        .expect("started");
    talk(&mut nodes);
    let task = nodes[1].begin(2).expect("its turn");
    let kept = nodes[1].poll_kept().expect("at once, because it begins");
    talk(&mut nodes);
    for kept in [&*kept, &[], b"not JSON"] {
        nodes[1] = Rollouts::new(Duration::ZERO, "b", &names(&["x"]), random, kept);
        nodes[0].handle_timeout(Duration::from_secs(100), &names(&["b"]));
        // What b tells of itself brings it what it lacks.
        nodes[0].handle_news("b", br#"{"Digests":[]}"#);
        let (one, other) = nodes.split_at_mut(1);
        while let Some((_, bytes)) = one[0].poll_transmit(&[]) {
            other[0].handle_news("a", &bytes);
        }
        let again = other[0].begin(3).expect("again");
        assert_eq!((again.attempt, again.step), (1, task.step));
    }
    // Done stays done.
    nodes[1].handle_ended(4, Ok(()));
    let kept = nodes[1].poll_kept().expect("at once");
    nodes[1] = Rollouts::new(Duration::ZERO, "b", &names(&["x"]), random, &kept);
    assert_eq!(nodes[1].begin(5), None);
}

#[test]
fn what_is_not_allowed_is_refused_here_and_fails_elsewhere() {
    let members = names(&["a", "b"]);
    let mut nodes = [node("a"), node("b")];
    nodes[1].set_allowed(&names(&["y"]));
    let refused = |node: &mut Rollouts, wanted: Wanted| {
        let refused = node.start(1, wanted, &members, DAY);
        refused.expect_err("refused").to_string()
    };
    for (change, text) in [
        (
            Wanted {
                command: names(&["y"]),
                ..wanted("web")
            },
            "rollout.allow",
        ),
        (
            Wanted {
                healthy: names(&["y"]),
                ..wanted("web")
            },
            "rollout.allow",
        ),
        (
            Wanted {
                canaries: names(&["q"]),
                ..wanted("web")
            },
            "--canary q",
        ),
        (
            Wanted {
                settle_ms: 86_400_000,
                ..wanted("web")
            },
            "--settle",
        ),
        (
            Wanted {
                max_failures: 0,
                ..wanted("web")
            },
            "--max-failures",
        ),
        (
            Wanted {
                command: names(&["x", &"y".repeat(999)]),
                ..wanted("web")
            },
            "into a script",
        ),
        (wanted("a b"), "is no name"),
    ] {
        let why = refused(&mut nodes[0], change);
        assert!(why.contains(text), "{why}");
    }
    let dry = Wanted {
        dry_run: true,
        ..wanted("web")
    };
    nodes[0].start(1, dry, &members, DAY).expect("possible");
    assert!(nodes[0].views(1, &members, 1).is_empty());
    nodes[0]
        .start(1, wanted("web"), &members, DAY)
        .expect("started");
    assert!(refused(&mut nodes[0], wanted("db")).contains("has not ended"));
    talk(&mut nodes);
    assert_eq!(nodes[1].refresh(2), Some(false));
    talk(&mut nodes);
    nodes[0].refresh(3);
    let alarm = nodes[0].alarms().texts().next().expect("an alarm");
    assert!(
        alarm.contains("b: x may not be run here (rollout.allow)"),
        "{alarm}"
    );
    nodes[0].order(4, "web", Ask::Abort).expect("aborted");
    assert!(nodes[0].order(5, "web", Ask::Pause).is_err(), "for good");
    nodes[0]
        .start(6, wanted("db"), &members, DAY)
        .expect("the next one");
}

/// The limit ignored: what the tests above rely on would not hold.
#[test]
fn a_limit_that_is_ignored_is_noticed() {
    let members = names(&["a", "b"]);
    let mut nodes = [node("a"), node("b")];
    nodes[0]
        .start(1, wanted("web"), &members, DAY)
        .expect("started");
    talk(&mut nodes);
    nodes[0].begin(2).expect("its turn");
    nodes[0].handle_ended(3, Err("exit code 1".into()));
    talk(&mut nodes);
    assert_eq!(nodes[1].refresh(4), Some(false));
    for rollout in nodes[1].state.0.values_mut() {
        rollout.order.as_mut().expect("known").max_failures = u32::MAX;
    }
    nodes[1].stale = true;
    assert_eq!(
        nodes[1].refresh(4),
        Some(true),
        "the limit alone has stopped it"
    );
}
