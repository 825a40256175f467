//! Randomized timing, the paper's other suggestion for rings of unknown size: every
//! process times laps as section 6 does (corrected) and adopts each with probability 1/2.
//!
//! The expected rounds to legitimacy are those of a Markov chain. They are computed here
//! in fractions for the smallest rings and as intervals with a certificate beyond, and
//! compared with Storm. docs/research/unknown-size.md has the table and why it is slow.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use headway_core::program::Counts;
use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use headway_testkit::tools;
use num_bigint::BigUint;

/// Rows by state: what it leads to, each with probability 1/`len`. Row 0 is the start;
/// a legitimate state has no successors.
struct Chain {
    rows: Vec<Vec<usize>>,
}

/// All processes measure up to 2n rounds and begin with the largest separation they can
/// believe in; all tokens are piled at process 0.
fn chain(n: usize, m: u32) -> Chain {
    let ring = Ring::new(
        Separation::new(n as u32 / m).unwrap(),
        vec![Program::Measure; n],
    )
    .unwrap();
    let mut start = Configuration::piled(&ring, m, 0);
    for variables in start.measuring.values_mut() {
        variables.base = variables.largest_base();
    }
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut rows = Vec::new();
    while rows.len() < states.len() {
        let state = states[rows.len()].clone();
        let mut row = Vec::new();
        if ring.legitimate(&state, u64::from(m)).is_err() {
            for next in successors(&state) {
                let number = *numbers.entry(next.clone()).or_insert(states.len());
                if number == states.len() {
                    states.push(next);
                }
                row.push(number);
            }
        }
        rows.push(row);
    }
    Chain { rows }
}

/// A round for every way in which the coins of the processes whose laps end can fall.
fn successors(state: &Configuration) -> Vec<Configuration> {
    let n = state.processes.len();
    let mut all = vec![state.clone()];
    for index in 0..n {
        let arriving = state.processes[(index + n - 1) % n].queued;
        let (before, variables) = (state.processes[index], state.measuring[&index]);
        let mut ways = vec![round(before, variables, arriving)];
        if variables.timing && arriving > 0 && variables.ignore < 1 {
            // A lap that says what is believed anyway is as good as one not adopted.
            let elapsed = (variables.base as u32 + 1) * variables.tokens - 1;
            ways.push(round(
                before,
                Measuring {
                    elapsed,
                    ..variables
                },
                arriving,
            ));
        }
        let mut next = Vec::new();
        for way in ways {
            for state in &all {
                let mut state = state.clone();
                state.processes[index] = way.0;
                state.measuring.insert(index, way.1);
                next.push(state);
            }
        }
        all = next;
    }
    all
}

fn round(before: Process, variables: Measuring, arriving: u32) -> (Process, Measuring) {
    let counts = Counts::default();
    let (after, mut measured) =
        Program::Measure.measuring_round(before, variables, arriving, counts);
    if !measured.timing {
        (measured.elapsed, measured.ignore) = (0, 0);
    }
    (after, measured)
}

impl Chain {
    /// The expected rounds from the start, as a fraction, by elimination: states are
    /// taken out one after the other, the last first.
    fn exactly(&self) -> (BigUint, BigUint) {
        // What a state leads to, and the rounds that it takes; all over one denominator.
        struct Row {
            to: HashMap<usize, BigUint>,
            rounds: BigUint,
            of: BigUint,
        }
        let mut rows: Vec<Row> = Vec::new();
        for successors in &self.rows {
            let mut to: HashMap<usize, BigUint> = HashMap::new();
            for &next in successors {
                *to.entry(next).or_default() += 1_u32;
            }
            let of = BigUint::from(successors.len().max(1));
            let rounds = if successors.is_empty() {
                BigUint::ZERO
            } else {
                of.clone()
            };
            rows.push(Row { to, rounds, of });
        }
        for out in (0..rows.len()).rev() {
            // A state that leads back to itself leaves it in proportion.
            let back = rows[out].to.remove(&out).unwrap_or_default();
            rows[out].of -= back;
            let gone = Row {
                to: rows[out].to.clone(),
                rounds: rows[out].rounds.clone(),
                of: rows[out].of.clone(),
            };
            for row in &mut rows[..out] {
                let Some(weight) = row.to.remove(&out) else {
                    continue;
                };
                for ways in row.to.values_mut() {
                    *ways *= &gone.of;
                }
                row.rounds *= &gone.of;
                row.of *= &gone.of;
                for (&next, ways) in &gone.to {
                    *row.to.entry(next).or_default() += &weight * ways;
                }
                row.rounds += &weight * &gone.rounds;
                let divisor = row
                    .to
                    .values()
                    .fold(gcd(&row.rounds, &row.of), |one, other| gcd(&one, other));
                row.to.values_mut().for_each(|ways| *ways /= &divisor);
                row.rounds /= &divisor;
                row.of /= &divisor;
            }
        }
        let divisor = gcd(&rows[0].rounds, &rows[0].of);
        (&rows[0].rounds / &divisor, &rows[0].of / &divisor)
    }

    /// An interval around the expected rounds from the start. If x - Px is between 1 - r
    /// and 1 + r everywhere, the solution is between x/(1 + r) and x/(1 - r).
    fn between(&self) -> (f64, f64) {
        let mean = |x: &[f64], row: &[usize]| {
            row.iter().map(|&next| x[next]).sum::<f64>() / row.len() as f64
        };
        let mut x = vec![0.0_f64; self.rows.len()];
        for _ in 0..1_000_000 {
            let mut largest = 0.0_f64;
            for (state, row) in self.rows.iter().enumerate().rev() {
                if !row.is_empty() {
                    let new = 1.0 + mean(&x, row);
                    largest = largest.max((new - x[state]) / new);
                    x[state] = new;
                }
            }
            if largest < 1e-13 {
                break;
            }
        }
        let residuals = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| !row.is_empty());
        let residual = residuals
            .map(|(state, row)| (x[state] - mean(&x, row) - 1.0).abs())
            .fold(0.0, f64::max)
            // Far more than rounding can hide in these sums.
            + 1e-9;
        (x[0] / (1.0 + residual), x[0] / (1.0 - residual))
    }

    fn prism(&self) -> String {
        let mut text = format!(
            "dtmc\nmodule ring\n  s : [0..{}] init 0;\n",
            self.rows.len() - 1
        );
        for (state, row) in self.rows.iter().enumerate() {
            let ways: Vec<String> = row
                .iter()
                .map(|next| format!("1/{}:(s'={next})", row.len()))
                .collect();
            let ways = if ways.is_empty() {
                "true".to_owned()
            } else {
                ways.join(" + ")
            };
            let _ = writeln!(text, "  [] s={state} -> {ways};");
        }
        text.push_str("endmodule\nlabel \"legitimate\" = ");
        let legitimate = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.is_empty());
        let legitimate: Vec<String> = legitimate.map(|(state, _)| format!("s={state}")).collect();
        text.push_str(&legitimate.join(" | "));
        text.push_str(";\nrewards \"rounds\"\n  true : 1;\nendrewards\n");
        text
    }
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

fn as_float((over, under): &(BigUint, BigUint)) -> f64 {
    u128::try_from((over << 40_u32) / under).unwrap() as f64 / (1_u64 << 40) as f64
}

/// Deterministic `shortest-lap` from the same start.
fn shortest_lap(n: usize, m: u32) -> u64 {
    let ring = Ring::new(
        Separation::new(n as u32 / m).unwrap(),
        vec![Program::ShortestLap; n],
    )
    .unwrap();
    let mut state = Configuration::piled(&ring, m, 0);
    for variables in state.measuring.values_mut() {
        variables.base = variables.largest_base();
    }
    let mut rounds = 0;
    while ring.legitimate(&state, u64::from(m)).is_err() {
        ring.round(&mut state);
        rounds += 1;
    }
    rounds
}

/// Two ways to the same number, for rings small enough for both.
#[test]
#[ignore = "make test-all"]
fn fractions_lie_in_the_intervals() {
    for (n, m) in [(2, 1), (2, 2), (3, 1)] {
        let chain = chain(n, m);
        let exact = chain.exactly();
        let (least, most) = chain.between();
        let value = as_float(&exact);
        println!(
            "n {n} m {m}: {} states, {}/{} = {value}",
            chain.rows.len(),
            exact.0,
            exact.1
        );
        assert!(
            least <= value && value <= most,
            "{value} not in {least}..{most}"
        );
    }
}

/// The expected time grows much faster than that of the rule without coins.
#[test]
#[ignore = "make test-all"]
fn randomized_timing_is_slow() {
    let mut ratio = 0.0;
    for (n, m) in [(2, 1), (3, 1), (4, 1)] {
        let chain = chain(n, m);
        let (least, most) = chain.between();
        let steady = shortest_lap(n, m);
        println!(
            "n {n} m {m}: {} states, {least} to {most} rounds, shortest-lap {steady}",
            chain.rows.len()
        );
        assert!(least / steady as f64 > 1.2 * ratio, "{n}, {m}");
        ratio = least / steady as f64;
    }
}

#[test]
#[ignore = "make test-all"]
fn storm_expects_the_same() {
    let python = match tools::python(&["stormpy"], "stormpy==2.0.0") {
        Ok(python) => python,
        Err(why) => return tools::skip("storm_expects_the_same", &why),
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/storm_expected.py");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (n, m) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
        let chain = chain(n, m);
        let path = folder.join("randomized-timing.prism");
        std::fs::write(&path, chain.prism()).unwrap();
        let output = Command::new(&python)
            .arg(&script)
            .arg(&path)
            .output()
            .expect("python runs");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let says = || String::from_utf8_lossy(&output.stderr).into_owned();
        let last = answer.lines().last().unwrap_or_default();
        let (states, value) = last.split_once(' ').unwrap_or_else(|| panic!("{}", says()));
        assert_eq!(states, chain.rows.len().to_string());
        let value: f64 = value.parse().unwrap();
        let (least, most) = chain.between();
        let near = least * (1.0 - 1e-5)..=most * (1.0 + 1e-5);
        assert!(
            near.contains(&value),
            "{n}, {m}: {value} not in {least}..{most}"
        );
        println!("n {n} m {m}: Storm says {value}");
    }
}
