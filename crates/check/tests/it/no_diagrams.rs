//! A build without decision diagrams.
#![cfg(not(feature = "symbolic"))]

use headway_check::protocol::{Engine, Protocol, check_with};
use headway_check::{CheckError, Control, Limits, TooLarge};

/// Without decision diagrams in it, a build says so; it does not speak of memory.
#[test]
fn a_build_without_diagrams_says_so() {
    let text = "graph ring(5) variable x: 0..4 process all: a: x != x[left] -> x := x[left]
        legitimate: x[0] = x[1]";
    let ring = Protocol::parse(text, &[]).unwrap();
    let with = |engine, control: &Control| check_with(engine, &ring, None, control);
    let error = with(Engine::Symbolic, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("--features symbolic"), "{error}");
    // What is too much work is not called too much memory.
    let limits = Limits {
        work: 10,
        ..Limits::default()
    };
    let error = with(Engine::Auto, &Control::new(limits)).unwrap_err();
    let work = matches!(error, CheckError::TooLarge(TooLarge::Work { .. }));
    assert!(work, "{error}");
}
