use std::ops::ControlFlow;

use super::*;
use crate::{Run, Settings, run};

fn film(settings: &Settings, faults: &[&str]) -> Film {
    let (ring, start) = settings.build().expect("a ring");
    let mut film = Film::new(&ring, "a <film>");
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    let run_of = Run {
        faults: faults.collect(),
        ..Run::new(ring, start)
    };
    run(&run_of, |frame| {
        film.observe(frame);
        ControlFlow::Continue(())
    })
    .expect("a run");
    film
}

#[test]
fn tokens_go_forward_one_hop_a_round_and_never_jump() {
    let film = film(&Settings::default(), &["scramble@30"]);
    let mut struck = 0;
    for pair in film.shots.windows(2) {
        for (one, other) in pair[0].hops.iter().zip(&pair[1].hops) {
            let hops = other - one;
            if pair[1].fault.is_some() {
                struck += 1;
                assert!(hops.abs() <= 12.0, "the shortest way: {hops}");
            } else {
                assert!(hops == 0.0 || hops == 1.0, "{hops}");
            }
        }
    }
    assert_eq!(struck, 4);
}

#[test]
fn tokens_at_one_process_are_side_by_side() {
    let start = Some(crate::settings::Start::Piled);
    let film = film(
        &Settings {
            start,
            ..Settings::default()
        },
        &[],
    );
    for shot in 0..film.shots.len() {
        let place = |token: usize| {
            let hops = film.shots[shot].hops[token].rem_euclid(24.0) as u64;
            (hops, film.levels(token)[shot] as u64)
        };
        let mut places: Vec<_> = (0..4).map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 4, "shot {shot}");
    }
}

#[test]
fn key_frames_and_texts_cover_the_whole_time() {
    let film = film(&Settings::default(), &["pile@25"]);
    let svg = film.svg();
    assert_eq!(svg.matches("class=\"tick ").count(), film.shots.len());
    assert_eq!(svg.matches("\"tick fault\"").count(), 1);
    assert_eq!(svg.matches("\"tick end last\"").count(), 1);
    assert!(svg.contains("prefers-reduced-motion"));
    assert!(svg.contains("<title>a &lt;film&gt;</title>"));
    for line in svg
        .lines()
        .filter(|line| line.starts_with("@keyframes token"))
    {
        let percents = line
            .split_whitespace()
            .filter_map(|word| word.strip_suffix('%'));
        let percents: Vec<f64> = percents
            .map(|word| word.parse().expect("a share"))
            .collect();
        assert_eq!((percents[0], percents[percents.len() - 1]), (0.0, 100.0));
        assert!(percents.is_sorted_by(|one, other| one < other), "{line}");
    }
    // A film of a ring in which nothing rests needs no frames but the first and the last.
    let spaced = Some(crate::settings::Start::Spaced);
    let calm = self::film(
        &Settings {
            start: spaced,
            ..Settings::default()
        },
        &[],
    )
    .svg();
    let frames = calm
        .lines()
        .find(|line| line.starts_with("@keyframes claim0"));
    assert_eq!(frames.map(|line| line.matches('%').count()), Some(3));
}
