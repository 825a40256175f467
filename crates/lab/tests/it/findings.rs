//! What the experiments find, at a size that a test can afford; and that the
//! findings can say no.

use headway_lab::Tally;
use headway_lab::sweep::{self, CellResult};
use headway_lab::{Sweep, report, shipped};
use headway_testkit::tier::pick;

fn run(text: &str) -> (Sweep, Vec<CellResult>) {
    let sweep = Sweep::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let results = sweep::run_all(&sweep, 2).unwrap();
    (sweep, results)
}

#[test]
fn the_papers_statements_hold_and_doctored_data_are_noticed() {
    let text = shipped::named("paper").unwrap().replace(
        "samples = 300",
        &format!("samples = {}", pick(800, 1500, 15_000)),
    );
    let (sweep, mut results) = run(&text);
    let hold: Vec<Option<bool>> = report::findings(&sweep, &results)
        .iter()
        .map(|v| v.holds)
        .collect();
    assert_eq!(hold, [Some(true); 5]);

    let doctored = |value: i64| {
        let mut tally = Tally::new(false);
        for value in [value - 1, value, value + 1] {
            tally.add(Some(value));
        }
        tally.summary(&[])
    };
    for result in &mut results {
        let cell = &sweep.cells[result.index as usize];
        result.summaries[0] = match cell.grid.as_str() {
            "graph-4" => doctored(cell.number("processes").pow(2)),
            _ => doctored(100 + cell.number("delays") * 10),
        };
    }
    let hold: Vec<Option<bool>> = report::findings(&sweep, &results)
        .iter()
        .map(|v| v.holds)
        .collect();
    assert_eq!(hold, [Some(false); 5]);
}

/// Sheets have a delay at the last process; elsewhere delays are anywhere. That a
/// ring has no beginning is shown by the averages.
#[test]
fn rings_drawn_together_are_like_rings_drawn_one_by_one() {
    use headway_core::{Program, Ring, Separation};
    use headway_sim::forecast::Forecast;
    use headway_sim::{placement::Delays, start};

    let samples = pick(30_000, 30_000, 300_000);
    for (n, m, d, delays) in [(50, 5, 10, 7), (50, 2, 12, 30), (21, 3, 4, 2)] {
        let (_, results) = run(&format!(
            "name = \"x\"\nsamples = {samples}\nmeasure = [\"legitimate_at\"]\n[[grid]]\n\
             processes = {n}\ntokens = {m}\nseparation = {d}\ndelays = {delays}\n"
        ));
        let mut tally = Tally::new(false);
        for seed in 0..samples {
            let places = Delays::Count(delays).choose(n, seed).unwrap();
            let mut programs = vec![Program::Relay; n];
            for place in places {
                programs[place] = Program::Delay;
            }
            let ring = Ring::new(Separation::new(d).unwrap(), programs).unwrap();
            let start = start::random(&ring, m, seed);
            let forecast = Forecast::of(&ring, &start).unwrap();
            tally.add(forecast.legitimate_at().map(|round| round as i64));
        }
        let (together, singly) = (&results[0].summaries[0], tally.summary(&[]));
        let error = (together.deviation().unwrap().powi(2) / samples as f64
            + singly.deviation().unwrap().powi(2) / samples as f64)
            .sqrt();
        let apart = (together.mean().unwrap() - singly.mean().unwrap()).abs();
        assert!(apart < 4.0 * error, "n = {n}: {apart} apart, error {error}");
        let spread = together.deviation().unwrap() / singly.deviation().unwrap();
        assert!((0.97..1.03).contains(&spread), "n = {n}: {spread}");
    }
}

#[test]
fn without_lock_step_the_promised_distance_is_kept_and_no_more() {
    let (sweep, results) = run("name = \"x\"\nmodel = \"asynchrony\"\nsamples = 60\n\
         measure = [\"true_distance\", \"promised\", \"logical_distance\"]\n[[grid]]\n\
         gap = [2, 3, 4, 5, 6]\npace = [1, 2, 4]\nschedule = [\"bursts\", \"random\"]\n");
    for result in &results {
        let cell = &sweep.cells[result.index as usize];
        let [seen, promised, logical] = &result.summaries[..] else {
            panic!("three measures")
        };
        assert!(seen.min >= promised.min, "{cell:?}");
        if cell.text("schedule") == "bursts" {
            assert_eq!(seen.min, promised.min, "the bound is met: {cell:?}");
        }
        assert_eq!(logical.min, Some(cell.number("gap")), "{cell:?}");
    }
}

#[test]
fn a_moving_block_keeps_the_same_distance_as_quickly_and_its_tokens_bunch() {
    let samples = pick(4, 10, 100);
    let (sweep, results) = run(&format!(
        "name = \"x\"\nmodel = \"moving-block\"\nsamples = {samples}\n\
         measure = [\"hops\", \"wait\", \"true_distance\", \"recovery\"]\n\
         [[grid]]\nname = \"full\"\nlengths = [\"equal\", \"unequal\"]\n\
         processes = 30\nseparation = [1, 2, 5]\ntokens = \"n/(2*d)\"\n\
         rule = [\"lock-step\", \"moving-block\"]\n\
         [[grid]]\nname = \"sparse\"\nprocesses = 60\nseparation = 5\ntokens = 3\n\
         work = 300\nidle = 20000\nrule = [\"lock-step\", \"moving-block\"]\n"
    ));
    let means = |grid: &str, rule: &str, measure: usize| -> Vec<f64> {
        let cells = results.iter().filter(|result| {
            let cell = &sweep.cells[result.index as usize];
            cell.grid == grid && cell.text("rule") == rule
        });
        let cells = cells.map(|result| result.summaries[measure].mean().expect("a mean"));
        cells.collect()
    };
    for result in &results {
        let cell = &sweep.cells[result.index as usize];
        let [_, _, distance, recovery] = &result.summaries[..] else {
            panic!("four measures")
        };
        assert!(distance.min >= Some(cell.number("separation")), "{cell:?}");
        assert_eq!(recovery.missing, 0, "{cell:?}");
    }
    // With as many tokens as lock-step takes at full speed, both have the same room.
    let hops = |rule| means("full", rule, 0);
    for (lock_step, block) in hops("lock-step").iter().zip(hops("moving-block")) {
        let ratio = block / lock_step;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
    let [lock_step, block] = ["lock-step", "moving-block"].map(|rule| means("sparse", rule, 1)[0]);
    // Those who have come up behind a long work stay close together when it is over.
    assert!(block > 1.2 * lock_step, "{block}, {lock_step}");
}

#[test]
fn definitional_tokens_always_settle_and_cost_more() {
    let (sweep, results) = run(
        "name = \"x\"\nmodel = \"definitional\"\nsamples = 40\nmeasure = [\"rounds\"]\n[[grid]]\n\
         processes = [6, 12, 20]\ntokens = [1, 2, 3]\nseparation = [\"n/m\", 2]\n\
         approach = [\"abstract\", \"definitional\"]\n",
    );
    for pair in results.chunks(2) {
        assert!(pair.iter().all(|result| result.summaries[0].missing == 0));
        let (plain, safe) = (&pair[0].summaries[0], &pair[1].summaries[0]);
        let cell = &sweep.cells[pair[0].index as usize];
        assert!(plain.mean() < safe.mean(), "{cell:?}");
    }
}

#[test]
fn a_sensor_network_without_loss_is_flawless_once_it_has_recovered() {
    let (_, results) = run("name = \"x\"\nmodel = \"sensor-network\"\nsamples = 10\n\
         measure = [\"any_fails\", \"recovery\", \"d1_fails\"]\n[[grid]]\n\
         loss_percent = [0, 30]\nretransmissions = [0, 3]\n");
    let mean = |cell: usize, measure: usize| results[cell].summaries[measure].mean();
    for lossless in &results[..2] {
        assert_eq!(lossless.summaries[0].mean(), Some(0.0));
        assert_eq!(lossless.summaries[1].missing, 0, "always recovers");
    }
    assert!(mean(2, 0) > mean(3, 0), "retransmissions help");
    assert!(mean(3, 0) > mean(1, 0), "losses harm");
    assert_eq!(mean(2, 2), Some(0.0), "no token is ever lost or forged");
}

#[test]
fn tokens_share_the_duty_where_a_fixed_schedule_does_not() {
    let (_, results) = run("name = \"x\"\nmodel = \"duty-cycle\"\nsamples = 5\n\
         measure = [\"energy\", \"energy_most\", \"longest_gap\", \"lifetime\"]\n[[grid]]\n\
         schedule = [\"tokens\", \"random\", \"fixed\"]\nfield = [\"line\"]\n");
    let mean = |cell: usize, measure: usize| results[cell].summaries[measure].mean().unwrap();
    let share = 4.0 / 64.0 * 1e6;
    for cell in 0..3 {
        assert!(
            (mean(cell, 0) - share).abs() < 1.0,
            "the same energy on average"
        );
    }
    assert!(
        (mean(0, 1) - share).abs() < 1.0,
        "tokens: every sensor alike (D4)"
    );
    assert!(mean(1, 1) > 1.2 * share && mean(2, 1) == 1e6);
    assert!(mean(0, 2) < mean(1, 2) && mean(1, 2) < mean(2, 2));
    assert!(mean(0, 3) > mean(1, 3) && mean(1, 3) > mean(2, 3));
}
