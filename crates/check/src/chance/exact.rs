//! Expected times as fractions.
//!
//! The system A·x = b of whole numbers is solved by Dixon's method: digit by digit to the
//! base of a prime, with one inverse modulo that prime; fractions are found from the digits
//! by the extended Euclidean algorithm. That they solve the system is then checked, so no
//! bound on their size is needed.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;

use super::{Game, LEGITIMATE};

/// A fraction in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Its numerator.
    pub numerator: BigInt,
    /// Its denominator, above 0.
    pub denominator: BigInt,
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> std::cmp::Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.numerator)?;
        if self.denominator != BigInt::from(1) {
            write!(f, "/{}", self.denominator)?;
        }
        Ok(())
    }
}

/// A prime below 2^31: products of two residues fit 64 bits.
const PRIME: u64 = 2_147_483_629;
/// Digits after which it gives up.
const MAX_DIGITS: usize = 4_000;
/// Changes of the scheduler after which it gives up.
const MAX_POLICIES: usize = 20;

/// A row of whole numbers: which unknown, and its factor.
type Row = Vec<(usize, i64)>;

/// The exact expected times under the worst scheduler. `None` if the numbers grow too large.
pub(super) fn worst(game: &Game, values: &[f64]) -> Option<Vec<Fraction>> {
    let count = game.ranks.len();
    let mut policy: Vec<usize> = (0..count).map(|state| game.step(state, values).1).collect();
    for _ in 0..MAX_POLICIES {
        let (mut rows, mut right) = (Vec::new(), Vec::new());
        for (state, choice) in policy.iter().enumerate() {
            let (row, scale) = equation(game, state, *choice)?;
            rows.push(row);
            right.push(scale);
        }
        let solution = solve(&rows, &right)?;
        // V = 1 + max: no choice may do better than the one that was solved for.
        let mut better = false;
        for (state, chosen) in policy.iter_mut().enumerate() {
            for choice in 0..game.choices(state).count() {
                let (row, scale) = equation(game, state, choice)?;
                if excess(&row, &solution, scale) > BigInt::ZERO {
                    (*chosen, better) = (choice, true);
                    break;
                }
            }
        }
        if !better {
            return Some(solution);
        }
    }
    None
}

/// scale·(V(s) - Σ p·V) = scale, in whole numbers.
fn equation(game: &Game, state: usize, choice: usize) -> Option<(Row, i64)> {
    let outcomes = game.choices(state).nth(choice)?;
    let scale = game.fractions[outcomes.clone()]
        .iter()
        .try_fold(1_u64, |scale, &(_, q)| scale.checked_mul(q / scale.gcd(&q)))?;
    let scale = i64::try_from(scale).ok().filter(|scale| *scale < 1 << 40)?;
    let mut row: Row = vec![(state, scale)];
    for index in outcomes {
        let ((after, _), (p, q)) = (game.outcomes[index], game.fractions[index]);
        if after != LEGITIMATE {
            let factor = -((p * (scale as u64 / q)) as i64);
            match row.iter_mut().find(|(known, _)| *known == after as usize) {
                Some((_, sum)) => *sum += factor,
                None => row.push((after as usize, factor)),
            }
        }
    }
    Some((row, scale))
}

/// By how much the choice of a row is better than the solution, times something above 0:
/// scale - row·V.
fn excess(row: &Row, solution: &[Fraction], scale: i64) -> BigInt {
    let common = row.iter().fold(BigInt::from(1), |common, (place, _)| {
        common.lcm(&solution[*place].denominator)
    });
    let sum: BigInt = row
        .iter()
        .map(|(place, factor)| {
            let Fraction {
                numerator,
                denominator,
            } = &solution[*place];
            numerator * (&common / denominator) * factor
        })
        .sum();
    common * scale - sum
}

/// Solves a square system of whole numbers; `None` if it has no single solution, or one of
/// very large numbers.
pub fn solve(rows: &[Row], right: &[i64]) -> Option<Vec<Fraction>> {
    let n = rows.len();
    if n == 0 {
        return Some(Vec::new());
    }
    let inverse = invert(rows)?;
    let mut rest: Vec<i128> = right.iter().map(|&value| value.into()).collect();
    let mut digits: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut wanted = 8;
    while digits[0].len() < MAX_DIGITS {
        while digits[0].len() < wanted {
            let residues: Vec<u64> = rest
                .iter()
                .map(|value| value.rem_euclid(PRIME.into()) as u64)
                .collect();
            let digit: Vec<u64> = inverse
                .chunks(n)
                .map(|row| {
                    let products = row
                        .iter()
                        .zip(&residues)
                        .map(|(&a, b)| u64::from(a) * b % PRIME);
                    products.sum::<u64>() % PRIME
                })
                .collect();
            for ((rest, row), digits) in
                rest.iter_mut().zip(rows).zip(digits.iter_mut().zip(&digit))
            {
                let product: i128 = row
                    .iter()
                    .map(|&(place, factor)| i128::from(factor) * i128::from(digit[place]))
                    .sum();
                *rest = (*rest - product) / i128::from(PRIME);
                digits.0.push(*digits.1 as u32);
            }
        }
        let modulus = BigUint::from(PRIME).pow(wanted as u32);
        let found: Option<Vec<Fraction>> = digits
            .iter()
            .map(|digits| {
                let value = digits
                    .iter()
                    .rev()
                    .fold(BigUint::ZERO, |sum, digit| sum * PRIME + *digit);
                reconstruct(&value, &modulus)
            })
            .collect();
        if let Some(found) = found {
            let solves = |(row, right): (&Row, &i64)| excess(row, &found, *right) == BigInt::ZERO;
            if rows.iter().zip(right).all(solves) {
                return Some(found);
            }
        }
        wanted *= 2;
    }
    None
}

/// The inverse modulo the prime, row by row.
fn invert(rows: &[Row]) -> Option<Vec<u32>> {
    let n = rows.len();
    let mut left = vec![0_u64; n * n];
    let mut right = vec![0_u64; n * n];
    for (index, row) in rows.iter().enumerate() {
        right[index * n + index] = 1;
        for &(place, factor) in row {
            left[index * n + place] = factor.rem_euclid(PRIME as i64) as u64;
        }
    }
    for column in 0..n {
        let pivot = (column..n).find(|&row| left[row * n + column] != 0)?;
        for cell in 0..n {
            left.swap(pivot * n + cell, column * n + cell);
            right.swap(pivot * n + cell, column * n + cell);
        }
        let inverse = BigUint::from(left[column * n + column]).modinv(&PRIME.into())?;
        let scale = u64::try_from(inverse).ok()?;
        for cell in 0..n {
            left[column * n + cell] = left[column * n + cell] * scale % PRIME;
            right[column * n + cell] = right[column * n + cell] * scale % PRIME;
        }
        for row in (0..n).filter(|&row| row != column) {
            let factor = PRIME - left[row * n + column];
            if factor == PRIME {
                continue;
            }
            for matrix in [&mut left, &mut right] {
                for cell in 0..n {
                    let above = matrix[column * n + cell];
                    if above != 0 {
                        matrix[row * n + cell] = (matrix[row * n + cell] + factor * above) % PRIME;
                    }
                }
            }
        }
    }
    Some(right.into_iter().map(|cell| cell as u32).collect())
}

/// The fraction with small terms that is equal to a value modulo the modulus, if any.
fn reconstruct(value: &BigUint, modulus: &BigUint) -> Option<Fraction> {
    let bound = BigInt::from((modulus >> 1_u32).sqrt());
    let (mut r0, mut r1) = (BigInt::from(modulus.clone()), BigInt::from(value.clone()));
    let (mut t0, mut t1) = (BigInt::ZERO, BigInt::from(1));
    while r1 > bound {
        let quotient = &r0 / &r1;
        (r0, r1) = (r1.clone(), r0 - &quotient * r1);
        (t0, t1) = (t1.clone(), t0 - quotient * t1);
    }
    if t1 == BigInt::ZERO || t1.magnitude() > bound.magnitude() {
        return None;
    }
    if t1 < BigInt::ZERO {
        (r1, t1) = (-r1, -t1);
    }
    let common = r1.gcd(&t1);
    Some(Fraction {
        numerator: r1 / &common,
        denominator: t1 / common,
    })
}
