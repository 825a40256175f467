use super::news::{MAX_SAID, MAX_WRONG, News};
use super::state::{Order, Spec};
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

/// The members a to d, as this one sees them.
struct Fleet(String);

fn signature(by: &str, message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    format!("{by} says {message}")
}

impl Members for Fleet {
    fn has(&self, name: &str) -> bool {
        ["a", "b", "c", "d"].contains(&name)
    }

    fn sign(&self, message: &[u8]) -> String {
        signature(&self.0, message)
    }

    fn has_signed(&self, name: &str, message: &[u8], written: &str) -> bool {
        signature(name, message) == written
    }
}

/// What a node has to say, with its name.
fn said(node: &mut Rollouts) -> Vec<(String, Vec<u8>)> {
    let fleet = Fleet(node.me.clone());
    let datagrams = std::iter::from_fn(|| node.poll_transmit(&fleet, &["other".into()]));
    datagrams
        .map(|(_, bytes)| (fleet.0.clone(), bytes))
        .collect()
}

fn hear(node: &mut Rollouts, from: &str, bytes: &[u8]) {
    let fleet = Fleet(node.me.clone());
    node.handle_news(&fleet, 1, (from, "other"), bytes);
}

/// A second has passed.
fn compare(node: &mut Rollouts) {
    let (fleet, next) = (Fleet(node.me.clone()), node.next);
    node.handle_timeout(next, &fleet, &["other".into()]);
}

/// Everybody tells everybody until nothing is new.
fn talk(nodes: &mut [Rollouts]) {
    loop {
        let told: Vec<_> = nodes.iter_mut().flat_map(said).collect();
        if told.is_empty() {
            return;
        }
        for node in &mut *nodes {
            for (from, bytes) in &told {
                hear(node, from, bytes);
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
            alarm.contains("rollout web has stopped: b: exit code 1"),
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
        // What b tells of itself brings it what it lacks, and be it nothing.
        compare(&mut nodes[1]);
        talk(&mut nodes);
        let again = nodes[1].begin(3).expect("again");
        assert_eq!((again.attempt, again.step), (1, task.step));
    }
    // Done stays done.
    nodes[1].handle_ended(4, Ok(()));
    let kept = nodes[1].poll_kept().expect("at once");
    nodes[1] = Rollouts::new(Duration::ZERO, "b", &names(&["x"]), random, &kept);
    assert_eq!(nodes[1].begin(5), None);
}

/// A command that reboots its machine and forgets that it has done so.
#[test]
fn a_step_that_its_machine_never_survives_fails_in_the_end() {
    let members = names(&["a"]);
    let mut a = node("a");
    a.start(1, wanted("web"), &members, DAY).expect("started");
    for attempt in 0..=MAX_AGAIN {
        assert_eq!(a.begin(2).map(|task| task.attempt), Some(attempt));
        let kept = a.poll_kept().expect("at once, because it begins");
        a = Rollouts::new(Duration::ZERO, "a", &names(&["x"]), random, &kept);
    }
    assert_eq!(a.begin(3), None);
    let alarm = a.alarms().texts().next().expect("it has failed");
    assert!(alarm.contains("begun 5 times"), "{alarm}");
    // Somebody has looked at it.
    let (retry, max_failures) = (true, None);
    a.order(
        4,
        "web",
        Ask::Resume {
            retry,
            max_failures,
        },
    )
    .expect("once more");
    assert_eq!(a.begin(5).map(|task| task.attempt), Some(5));
    a.handle_ended(6, Ok(()));
    assert_eq!(state(&a, &members), "complete");
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

/// All that a node may be told, as datagrams.
fn known(atoms: Vec<Atom>) -> Vec<u8> {
    serde_json::to_vec(&News::Known(atoms)).expect("JSON")
}

/// Its canary is off when it begins, and has no earlier one on its disk. When it is back, it hears
/// of it, and so does another that comes when all is done.
#[test]
fn whoever_was_away_hears_of_a_rollout_from_anybody() {
    let members = names(&["a", "b", "c", "d"]);
    let mut nodes = vec![node("a"), node("d")];
    let canary = Wanted {
        canaries: names(&["c"]),
        ..wanted("web")
    };
    nodes[0].start(1, canary, &members, DAY).expect("started");
    talk(&mut nodes);
    nodes.push(node("c"));
    for step in [2, 0, 1] {
        compare(&mut nodes[step]);
        talk(&mut nodes);
        assert!(nodes[step].begin(2).is_some(), "{}", nodes[step].me);
        nodes[step].handle_ended(3, Ok(()));
        talk(&mut nodes);
    }
    // What a and c have done, d knows and passes on.
    let mut left = vec![nodes.remove(1), node("b")];
    compare(&mut left[1]);
    talk(&mut left);
    assert!(left[1].begin(4).is_some(), "the canary is known to be done");
    left[1].handle_ended(5, Ok(()));
    talk(&mut left);
    assert_eq!(state(&left[1], &members), "complete");
    assert_eq!(state(&left[0], &members), "complete");
}

/// A compromised member has its own secret, and nobody else's.
#[test]
fn a_member_says_how_far_it_is_itself_and_not_how_far_others_are() {
    let members = names(&["a", "b", "c", "d"]);
    let mut nodes = [node("a"), node("b")];
    nodes[0]
        .start(1, wanted("web"), &members, DAY)
        .expect("started");
    talk(&mut nodes);
    let (id, _) = nodes[1].state.0.first_key_value().expect("one");
    let (id, before) = (*id, nodes[1].state.clone());
    let done = |name: &str, attempt, by: &str| {
        let mut step = Step {
            attempt,
            phase: StepPhase::Done,
            ..Step::default()
        };
        step.signature = signature(by, &step.message(id, name));
        Atom::Step(id, name.to_owned(), step)
    };
    for (name, attempt, by) in [
        ("b", u32::MAX, "d"),
        ("a", 1, "d"),
        ("c", 0, "d"),
        ("x", 0, "x"),
    ] {
        hear(&mut nodes[1], "d", &known(vec![done(name, attempt, by)]));
        assert_eq!(nodes[1].state, before, "{name}");
    }
    // One that was signed for another step.
    let Atom::Step(_, _, step) = done("c", 0, "c") else {
        panic!("it is one");
    };
    let later = Step { attempt: 1, ..step };
    let later = Atom::Step(id, "c".into(), later);
    hear(&mut nodes[1], "d", &known(vec![later]));
    assert_eq!(nodes[1].state, before);
    // With the secret of whom it speaks for it is believed, and its own is.
    hear(
        &mut nodes[1],
        "d",
        &known(vec![done("c", 0, "c"), done("d", 0, "d")]),
    );
    assert_eq!(nodes[1].state.0[&id].count(StepPhase::Done), 2);
}

/// Numbers without end, names, sizes and reasons that nobody has, a rollout without anything.
#[test]
fn what_cannot_be_is_not_listened_to_and_a_start_says_whether_it_has_started() {
    let members = names(&["a", "b"]);
    let mut node = node("a");
    let day = DAY.as_millis() as u64;
    let spec = |number, change: fn(&mut Spec)| {
        let mut other = Rollouts::new(Duration::ZERO, "d", &names(&["x"]), random, &[]);
        let members = names(&["a", "b"]);
        other.start(1, wanted("web"), &members, DAY).expect("one");
        let mut spec = other.state.0[&Id(1, 7)].spec.clone().expect("it is");
        change(&mut spec);
        Atom::Spec(Id(number, 7), spec)
    };
    for atom in [
        spec(u64::MAX, |_| {}),
        spec(day + 2, |_| {}),
        spec(1, |spec| spec.name = "no name".into()),
        spec(1, |spec| spec.canaries = names(&["a", ""])),
        spec(1, |spec| spec.total = u32::MAX),
        spec(1, |spec| spec.settle_ms = u64::MAX),
        spec(1, |spec| spec.command.clear()),
    ] {
        hear(&mut node, "d", &known(vec![atom]));
        assert_eq!(node.state, State::default());
    }
    hear(&mut node, "x", &known(vec![spec(1, |_| {})]));
    assert_eq!(node.state, State::default(), "x is no member");
    // Nothing begins with a step, and the last number can be reached: that is said.
    let step = Atom::Step(Id(1, 7), "b".into(), Step::default());
    hear(&mut node, "d", &known(vec![step]));
    assert_eq!(node.state, State::default());
    hear(&mut node, "d", &known(vec![spec(day, |_| {})]));
    assert_eq!(node.state.0.len(), 1);
    for number in u64::MAX - 8..=u64::MAX {
        node.state.join(spec(number, |_| {}));
    }
    for rollout in node.state.0.values_mut() {
        rollout.order = Some(Order {
            aborted: true,
            version: u64::MAX,
            paused: false,
            max_failures: 1,
            retry: 0,
            by: "d".into(),
            at_ms: 1,
        });
    }
    let refused = node.start(1, wanted("db"), &members, DAY);
    let why = refused.expect_err("it cannot").to_string();
    assert!(why.contains("a larger number"), "{why}");
}

/// Sixty thousand times a step that cannot be, and another one's and its own without end.
#[test]
fn a_member_that_makes_up_steps_changes_nothing_and_wears_out_nobody() {
    let members = names(&["a", "b", "c", "d"]);
    let mut nodes = [node("a"), node("b")];
    nodes[0]
        .start(1, wanted("web"), &members, DAY)
        .expect("started");
    talk(&mut nodes);
    compare(&mut nodes[1]);
    nodes[1].poll_kept().expect("something new");
    said(&mut nodes[1]);
    let (id, before) = (Id(1, 7), nodes[1].state.clone());
    let checked = std::cell::Cell::new(0);
    struct Counts<'c>(Fleet, &'c std::cell::Cell<u32>);
    impl Members for Counts<'_> {
        fn has(&self, name: &str) -> bool {
            self.0.has(name)
        }
        fn sign(&self, message: &[u8]) -> String {
            self.0.sign(message)
        }
        fn has_signed(&self, name: &str, message: &[u8], written: &str) -> bool {
            self.1.set(self.1.get() + 1);
            self.0.has_signed(name, message, written)
        }
    }
    let fleet = Counts(Fleet("b".into()), &checked);
    let step = |attempt| Step {
        attempt,
        phase: StepPhase::Running,
        ..Step::default()
    };
    for number in 0..20_000 {
        let atoms = ["b", "c", &format!("made-up-{number}")]
            .map(|name| known(vec![Atom::Step(id, name.to_owned(), step(number + 1))]));
        for bytes in atoms {
            nodes[1].handle_news(&fleet, 1, ("d", "d"), &bytes);
        }
    }
    assert_eq!(nodes[1].state, before);
    assert!(
        checked.get() <= MAX_WRONG,
        "{} were looked at",
        checked.get()
    );
    assert_eq!((nodes[1].poll_kept(), said(&mut nodes[1]).len()), (None, 0));
    // Others are heard meanwhile.
    nodes[0].begin(2).expect("its turn");
    talk(&mut nodes);
    assert_eq!(nodes[1].state.0[&id].count(StepPhase::Running), 1);
    // How far it is itself it may say, but not without end; nothing is written before the
    // second is over, and then once.
    compare(&mut nodes[1]);
    while nodes[1].poll_kept().is_some() {}
    said(&mut nodes[1]);
    for number in 0..1_000 {
        let mut own = step(number + 1);
        own.signature = signature("d", &own.message(id, "d"));
        nodes[1].handle_news(
            &fleet,
            1,
            ("d", "d"),
            &known(vec![Atom::Step(id, "d".into(), own)]),
        );
    }
    assert_eq!(nodes[1].state.0[&id].steps["d"].attempt, MAX_SAID);
    assert_eq!(nodes[1].poll_kept(), None);
    assert!(said(&mut nodes[1]).len() <= MAX_SAID as usize);
    compare(&mut nodes[1]);
    assert!(nodes[1].poll_kept().is_some());
    assert_eq!(nodes[1].poll_kept(), None);
}
