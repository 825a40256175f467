use std::collections::BTreeSet;

use headway_sim::settings::Start;

use super::listing::LISTING;
use super::*;

fn story(n: usize, m: usize, d: u32, start: Start, seed: u64) -> BlockStory {
    let run = MovingBlockRun {
        start,
        seed,
        ..MovingBlockRun::new(n, m, d)
    };
    BlockStory::new(run).unwrap()
}

fn change(text: &str) -> Change {
    Change::parse(text, 0).unwrap()
}

fn playing() -> Playing {
    Playing {
        run: "run".into(),
        version: 1,
        playing: false,
        speed: 1.0,
    }
}

/// The lines that are lit against where the tokens are: who is said to receive has received,
/// and what is handed over is received in this round or in the next one.
#[test]
fn the_lines_that_are_lit_are_those_that_are_executed() {
    let [receives, tells_0, tells_more, gives] = [1, 3, 5, 10];
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        let (n, d) = (9 + seed as usize % 7, 1 + seed as u32 % 3);
        let story = story(n, 3, d, Start::Random, seed);
        let mut under_way = vec![0; n];
        for round in 0..120 {
            let lit = story.lines(round, 1).unwrap().remove(0);
            let lit = |process: usize, line: usize| lit[process] >> line & 1;
            let part = &story.parts()[0].moments[round as usize..];
            let entered = part[0].at.iter().zip(&part[1].at);
            let entered: Vec<usize> = entered
                .flat_map(|(from, to)| (from + 1..=*to).map(|at| at as usize % n))
                .collect();
            for (process, under_way) in under_way.iter_mut().enumerate() {
                seen.extend((0..LISTING.len()).filter(|&line| lit(process, line) == 1));
                let came = entered.iter().filter(|&&at| at == process).count() as u32;
                assert_eq!(
                    lit(process, receives),
                    came,
                    "seed {seed}, round {round}, {process}"
                );
                assert_eq!(lit(process, tells_0) + lit(process, tells_more), 1);
                *under_way += lit(process, gives) as i32;
                *under_way -= lit((process + 1) % n, receives) as i32;
                assert!((0..=1).contains(under_way), "seed {seed}, round {round}");
            }
        }
    }
    assert_eq!(seen.len(), LISTING.len(), "{seen:?} are executed");
}

#[test]
fn a_window_tells_what_the_frames_show() {
    let mut story = story(25, 4, 6, Start::Piled, 7);
    for fault in ["scramble@30", "pile:9@70", "pile:3@70"] {
        story.strike(change(fault), &Limits::default()).unwrap();
    }
    let window = story.window(1, 5, 120, &Limits::default()).unwrap();
    assert_eq!(window.rounds, 120);
    let faults: Vec<&str> = window
        .faults
        .iter()
        .map(|fault| fault.fault.as_str())
        .collect();
    assert_eq!(faults, ["scramble@30", "pile:3@70"]);
    for round in 5..=125 {
        let frame = story.frame(round, playing()).unwrap();
        let mut resting = Vec::new();
        for token in 0..4_u32 {
            // The last way that has begun.
            let mut ways = window.ways.iter().rev();
            let way = ways
                .find(|way| way.token == token && way.points[0].0 <= round)
                .unwrap();
            let end = way
                .points
                .iter()
                .position(|point| point.0 >= round)
                .unwrap();
            let (until, there) = way.points[end];
            let (since, here) = way.points[end.saturating_sub(1)];
            let hop = here + (there - here) * (round - since) / (until - since).max(1);
            assert_eq!(
                hop % 25,
                u64::from(frame.at[token as usize]),
                "round {round}"
            );
            if way
                .rests
                .iter()
                .any(|rest| (rest.0..=rest.1).contains(&round))
            {
                resting.push(token);
            }
        }
        assert_eq!(resting, frame.resting, "round {round}");
        let mut verdicts = window.verdicts.as_ref().unwrap().iter();
        let verdict = verdicts.rfind(|verdict| verdict.round <= round).unwrap();
        assert_eq!(verdict.legitimacy, frame.legitimacy, "round {round}");
        let spans = &mut window.legitimate.iter();
        let wide = spans.any(|span| (span.0..=span.1).contains(&round));
        assert!(wide || !frame.legitimacy.legitimate, "round {round}");
    }
    // The first two were cut off; the last one settles within what is proved.
    let segments = story.segments();
    assert_eq!(
        segments
            .iter()
            .map(|segment| segment.from)
            .collect::<Vec<_>>(),
        [0, 30, 70, 70]
    );
    assert!(segments[3].legitimate_at.unwrap() <= segments[3].worst_legitimate_at.unwrap());
}

#[test]
fn what_a_moving_block_cannot_do_is_refused() {
    let mut story = story(25, 4, 6, Start::Spaced, 7);
    let limits = Limits {
        faults: 2,
        ..Limits::default()
    };
    for fault in [
        "move:0:3@5",
        "counter:1:2@5",
        "program:3:relay@5",
        "scramble:3-5@5",
        "pile:25@5",
        "pile@6000",
    ] {
        assert!(story.strike(change(fault), &limits).is_err(), "{fault}");
    }
    assert!(story.changes().is_empty());
    for fault in ["pile@50", "scramble@60", "pile:1@55"] {
        story.strike(change(fault), &limits).unwrap();
    }
    assert_eq!(story.changes(), [change("pile@50"), change("pile:1@55")]);
    assert!(story.strike(change("pile@99"), &limits).is_err(), "a third");
    assert!(story.frame(5001, playing()).is_err() && story.frame(5000, playing()).is_ok());
    let worst = MovingBlockRun {
        start: Start::Worst,
        ..MovingBlockRun::new(25, 4, 6)
    };
    assert!(BlockStory::new(worst).is_err());
}

#[test]
fn without_slack_it_stands_and_says_why() {
    let story = story(24, 4, 6, Start::Spaced, 7);
    let [first, last] = [0, story.seekable()].map(|round| story.frame(round, playing()).unwrap());
    assert_eq!(first.at, last.at);
    assert_eq!(last.resting, [0, 1, 2, 3]);
    assert!(
        story
            .why_infeasible()
            .unwrap()
            .contains("more than 24 processes")
    );
    assert!(story.segments()[0].worst_legitimate_at.is_none());
    assert_eq!(
        last.holds,
        [Some(true), None, None, None, Some(false)],
        "what is not legitimate is not judged, and it will never be"
    );
    // Spaced it is, and stuck: that is not what is wanted.
    assert_eq!(
        (
            last.legitimacy.legitimate,
            last.legitimacy.clause.as_deref()
        ),
        (false, Some("stuck"))
    );
    assert_eq!(story.segments()[0].legitimate_at, None);
}
