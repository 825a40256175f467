use proptest::prelude::*;

use super::*;

/// How copies are joined.
type Join = fn(&mut State, Atom) -> bool;

fn atom() -> impl Strategy<Value = Atom> {
    let id = (1..12_u64, 0..2_u64).prop_map(|(number, salt)| Id(number, salt));
    let spec = (id.clone(), 0..2_u32).prop_map(|(id, total)| {
        Atom::Spec(
            id,
            Spec {
                name: "web".into(),
                command: vec!["x".into()],
                canaries: Vec::new(),
                window: None,
                settle_ms: 0,
                healthy: Vec::new(),
                total,
                by: "a".into(),
                at_ms: 0,
            },
        )
    });
    let order = (id.clone(), any::<bool>(), 0..4_u64, any::<bool>(), "[ab]").prop_map(
        |(id, aborted, version, paused, by)| {
            Atom::Order(
                id,
                Order {
                    aborted: aborted && version == 3,
                    version,
                    paused,
                    max_failures: 1,
                    retry: 0,
                    by,
                    at_ms: 0,
                },
            )
        },
    );
    let phase = prop_oneof![
        Just(StepPhase::Pending),
        Just(StepPhase::Running),
        Just(StepPhase::Failed),
        Just(StepPhase::Done)
    ];
    let step = (id, "[abc]", 0..3_u32, phase).prop_map(|(id, name, attempt, phase)| {
        let step = Step {
            attempt,
            phase,
            ..Step::default()
        };
        Atom::Step(id, name, step)
    });
    prop_oneof![spec, order, step]
}

fn atoms() -> impl Strategy<Value = Vec<Atom>> {
    proptest::collection::vec(atom(), 0..40)
}

fn known(atoms: &[Atom], join: Join) -> State {
    let mut state = State::default();
    for atom in atoms {
        join(&mut state, atom.clone());
    }
    state
}

fn joined(one: &State, other: &State, join: Join) -> State {
    let mut all = one.clone();
    for id in other.0.keys() {
        for atom in other.atoms(*id) {
            join(&mut all, atom);
        }
    }
    all
}

/// What copies have to be able to rely on.
fn laws(a: &[Atom], b: &[Atom], c: &[Atom], join: Join) -> Result<(), &'static str> {
    let [a, b, c] = [a, b, c].map(|atoms| known(atoms, join));
    let twice = joined(&a, &a, join);
    let (one, other) = (joined(&a, &b, join), joined(&b, &a, join));
    let left = joined(&one, &c, join);
    let right = joined(&a, &joined(&b, &c, join), join);
    match () {
        () if twice != a => Err("not idempotent"),
        () if one != other => Err("not commutative"),
        () if left != right => Err("not associative"),
        () if joined(&one, &a, join) != one => Err("something is forgotten"),
        () if (one.digests(|_| true) == a.digests(|_| true)) != (one == a) => Err("a digest lies"),
        () => Ok(()),
    }
}

proptest! {
    #[test]
    fn copies_that_are_joined_in_any_order_are_equal(a in atoms(), b in atoms(), c in atoms()) {
        prop_assert_eq!(laws(&a, &b, &c, State::join), Ok(()));
    }

    #[test]
    fn one_by_one_or_as_a_whole_is_the_same(a in atoms(), b in atoms()) {
        let one_by_one = known(&[a.clone(), b.clone()].concat(), State::join);
        let whole = joined(&known(&a, State::join), &known(&b, State::join), State::join);
        prop_assert_eq!(one_by_one, whole);
    }
}

/// Joins that are wrong are found out by the same laws.
#[test]
fn a_join_that_forgets_is_caught() {
    let believes_the_last: Join = |state, atom| {
        let id = atom.id();
        if let Atom::Step(_, name, _) = &atom
            && let Some(rollout) = state.0.get_mut(&id)
        {
            rollout.steps.remove(name);
        }
        state.join(atom)
    };
    let keeps_the_first_ones: Join = |state, atom| {
        let full = state.0.len() >= MAX_KEPT && !state.0.contains_key(&atom.id());
        !full && state.join(atom)
    };
    for wrong in [believes_the_last, keeps_the_first_ones] {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let caught = runner.run(&(atoms(), atoms(), atoms()), |(a, b, c)| {
            prop_assert_eq!(laws(&a, &b, &c, wrong), Ok(()));
            Ok(())
        });
        assert!(caught.is_err());
    }
}

#[test]
fn an_end_is_for_ever_and_a_later_attempt_counts_more() {
    let order = |aborted, version| Order {
        aborted,
        version,
        paused: false,
        max_failures: 1,
        retry: 0,
        by: "a".into(),
        at_ms: 0,
    };
    assert!(order(true, 1) > order(false, 9));
    let step = |attempt, phase| Step {
        attempt,
        phase,
        ..Step::default()
    };
    assert!(step(2, StepPhase::Pending) > step(1, StepPhase::Running));
    assert!(step(1, StepPhase::Done) > step(1, StepPhase::Running));
}

#[test]
fn a_window_may_end_on_the_next_day() {
    let at = |hour: u64, minute: u64| (hour * 60 + minute) * 60_000;
    let night = Window {
        from_minute: 22 * 60,
        until_minute: 5 * 60,
    };
    let open = |window: Window, hours: &[u64]| -> Vec<u64> {
        hours
            .iter()
            .copied()
            .filter(|&hour| window.is_open(at(hour, 0)))
            .collect()
    };
    assert_eq!(open(night, &[21, 22, 23, 24, 28, 29, 12]), [22, 23, 24, 28]);
    assert!(night.is_open(at(28, 59)));
    let day = Window {
        from_minute: 9 * 60,
        until_minute: 17 * 60,
    };
    assert_eq!(open(day, &[8, 9, 16, 17, 0]), [9, 16]);
}
