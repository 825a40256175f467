//! Invariants of any net: weighted sums of tokens that no firing changes
//! (P-invariants), and numbers of firings that change no marking (T-invariants).
//!
//! All those without negative weights are sums of the minimal ones, whose places
//! (or transitions) contain those of no other. Farkas' algorithm finds them: rows
//! are combined until nothing that a transition changes is left, and a row whose
//! support contains another's is dropped (J. Martínez and M. Silva, *A simple and
//! fast algorithm to obtain all invariants of a generalised Petri net*, 1982). There
//! can be exponentially many, so that the search has a limit.

use fixedbitset::FixedBitSet;
use num_integer::gcd;
use thiserror::Error;

use crate::net::{Direction, Marking, Net};

/// A minimal invariant without negative weights.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Semiflow {
    /// Places, or transitions, with their weights; ascending, without common factor.
    pub weights: Vec<(usize, u64)>,
}

impl Semiflow {
    /// The weighted sum of tokens, of a P-invariant; `None` above 2^64-1.
    pub fn value(&self, marking: &Marking) -> Option<u64> {
        self.weights
            .iter()
            .try_fold(0_u64, |sum, &(place, weight)| {
                sum.checked_add(weight.checked_mul(marking.0[place])?)
            })
    }
}

/// Why not all minimal invariants were found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooManySemiflows {
    /// The search was given up.
    #[error("more than {MAX_ROWS} rows or {MAX_STEPS} comparisons of rows in the search for them")]
    Rows,
    /// A weight is too large.
    #[error("a weight is above 2^64-1")]
    Weight,
}

/// At most so many combinations are kept at a time, and compared: some tenths of a second.
const MAX_ROWS: usize = 5_000;
const MAX_STEPS: usize = 30_000_000;

/// All minimal P-invariants without negative weights.
///
/// # Errors
///
/// When there are too many, or their weights are too large.
///
/// ```
/// use headway_petri::net::{Direction::*, Net};
/// use headway_petri::semiflow;
/// // One piece of `a` is two of `b`: a + b/2 stays, which is 2a + b.
/// let mut net = Net::new("split");
/// let (a, b, t) = (net.add_place("a", 1), net.add_place("b", 1), net.add_transition("t"));
/// net.add_arc(a, t, PlaceToTransition, 1);
/// net.add_arc(b, t, TransitionToPlace, 2);
/// let found = semiflow::of_places(&net).unwrap();
/// assert_eq!(found[0].weights, [(a, 2), (b, 1)]);
/// assert_eq!(semiflow::of_transitions(&net).unwrap(), []);
/// ```
pub fn of_places(net: &Net) -> Result<Vec<Semiflow>, TooManySemiflows> {
    let entries = net.arcs().iter().map(|arc| {
        let sign = signed(arc.direction, arc.weight);
        (arc.place as usize, arc.transition, sign)
    });
    minimal(net.places(), entries, MAX_STEPS)
}

/// All minimal T-invariants: numbers of firings, without common factor, after which
/// the marking is as before.
///
/// # Errors
///
/// When there are too many, or their weights are too large.
pub fn of_transitions(net: &Net) -> Result<Vec<Semiflow>, TooManySemiflows> {
    let entries = net.arcs().iter().map(|arc| {
        let sign = signed(arc.direction, arc.weight);
        (arc.transition as usize, arc.place, sign)
    });
    minimal(net.transitions(), entries, MAX_STEPS)
}

/// The most tokens that each place can have by P-invariants: their values by its weight in
/// them. `None` where no invariant says anything.
pub fn place_bounds(flows: &[Semiflow], marking: &Marking) -> Vec<Option<u64>> {
    let mut most: Vec<Option<u64>> = vec![None; marking.0.len()];
    for flow in flows {
        let value = flow.value(marking);
        for &(place, weight) in &flow.weights {
            let bound = value.map(|value| value / weight);
            most[place] = most[place].into_iter().chain(bound).min();
        }
    }
    most
}

fn signed(direction: Direction, weight: u64) -> i128 {
    match direction {
        Direction::TransitionToPlace => i128::from(weight),
        Direction::PlaceToTransition => -i128::from(weight),
    }
}

/// Entries by ascending column, none of them 0.
type Sparse = Vec<(u32, i128)>;

#[derive(Clone)]
struct Row {
    /// What the combination so far changes.
    rest: Sparse,
    /// Of what it is the combination.
    weights: Sparse,
    /// Which those are.
    support: FixedBitSet,
}

/// The minimal non-negative combinations of rows of a matrix that are 0, found in so many steps.
fn minimal(
    rows: usize,
    entries: impl Iterator<Item = (usize, u32, i128)>,
    most_steps: usize,
) -> Result<Vec<Semiflow>, TooManySemiflows> {
    let mut matrix: Vec<Sparse> = vec![Vec::new(); rows];
    for (row, column, value) in entries {
        matrix[row].push((column, value));
    }
    let mut open: Vec<Row> = (0..)
        .zip(matrix)
        .map(|(row, mut rest)| {
            rest.sort_unstable_by_key(|&(column, _)| column);
            rest.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            rest.retain(|&(_, value)| value != 0);
            let mut support = FixedBitSet::with_capacity(rows);
            support.insert(row as usize);
            Row {
                rest,
                weights: vec![(row, 1)],
                support,
            }
        })
        .collect();
    let mut steps = 0;
    let mut spend = |more: usize| {
        steps += more;
        (steps <= most_steps)
            .then_some(())
            .ok_or(TooManySemiflows::Rows)
    };
    // The column whose elimination makes the fewest rows comes next.
    while let Some(column) = cheapest_column(&open) {
        spend(open.iter().map(|row| row.rest.len()).sum())?;
        let sign = |row: &Row| entry(&row.rest, column).signum();
        let (mut kept, with): (Vec<Row>, Vec<Row>) = open.drain(..).partition(|row| sign(row) == 0);
        let (plus, minus): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|row| sign(row) > 0);
        let mut made: Vec<Row> = Vec::new();
        for one in &plus {
            for other in &minus {
                let rows = kept.len() + made.len();
                spend(1 + rows + one.weights.len() + other.weights.len())?;
                if rows > MAX_ROWS {
                    return Err(TooManySemiflows::Rows);
                }
                let support = &one.support | &other.support;
                // A combination that contains another one is a sum of smaller ones.
                let contains = |row: &&Row| row.support.is_subset(&support);
                if kept.iter().chain(&made).find(contains).is_some() {
                    continue;
                }
                made.retain(|row| !support.is_subset(&row.support));
                let (a, b) = (entry(&one.rest, column), -entry(&other.rest, column));
                let common = gcd(a, b);
                made.push(combined((b / common, one), (a / common, other), support)?);
            }
        }
        spend(kept.len() * made.len())?;
        kept.retain(|row| {
            let smaller =
                |new: &Row| new.support != row.support && new.support.is_subset(&row.support);
            !made.iter().any(smaller)
        });
        kept.append(&mut made);
        open = kept;
    }
    let mut found = Vec::new();
    for row in open {
        let weight = |(index, weight)| Some((index as usize, u64::try_from(weight).ok()?));
        let weights: Option<Vec<(usize, u64)>> = row.weights.into_iter().map(weight).collect();
        let weights = weights.ok_or(TooManySemiflows::Weight)?;
        found.push(Semiflow { weights });
    }
    found.sort_unstable();
    Ok(found)
}

fn cheapest_column(rows: &[Row]) -> Option<u32> {
    let mut signs: std::collections::BTreeMap<u32, (usize, usize)> = Default::default();
    for &(column, value) in rows.iter().flat_map(|row| &row.rest) {
        let count = signs.entry(column).or_default();
        if value > 0 {
            count.0 += 1;
        } else {
            count.1 += 1;
        }
    }
    signs
        .into_iter()
        .min_by_key(|&(_, (plus, minus))| (plus * minus) as i64 - (plus + minus) as i64)
        .map(|(column, _)| column)
}

fn entry(row: &Sparse, column: u32) -> i128 {
    let found = row.binary_search_by_key(&column, |&(column, _)| column);
    found.map_or(0, |index| row[index].1)
}

/// A sum of multiples of two rows, without common factor.
fn combined(
    one: (i128, &Row),
    other: (i128, &Row),
    support: FixedBitSet,
) -> Result<Row, TooManySemiflows> {
    let mut rest = sum((one.0, &one.1.rest), (other.0, &other.1.rest))?;
    let mut weights = sum((one.0, &one.1.weights), (other.0, &other.1.weights))?;
    let factor = weights
        .iter()
        .fold(0, |factor, &(_, weight)| gcd(factor, weight));
    for (_, value) in rest.iter_mut().chain(&mut weights) {
        *value /= factor;
    }
    Ok(Row {
        rest,
        weights,
        support,
    })
}

fn sum(one: (i128, &Sparse), other: (i128, &Sparse)) -> Result<Sparse, TooManySemiflows> {
    let times = |factor: i128, value: i128| {
        let product = factor.checked_mul(value);
        product
            .filter(|product| product.unsigned_abs() < 1 << 126)
            .ok_or(TooManySemiflows::Weight)
    };
    let (mut left, mut right) = (one.1.iter().peekable(), other.1.iter().peekable());
    let mut row = Vec::with_capacity(one.1.len() + other.1.len());
    loop {
        let next = match (left.peek(), right.peek()) {
            (None, None) => return Ok(row),
            (Some(&&(column, _)), None) => column,
            (None, Some(&&(column, _))) => column,
            (Some(&&(a, _)), Some(&&(b, _))) => a.min(b),
        };
        let mut value = 0;
        if let Some(&(_, entry)) = left.next_if(|&&(column, _)| column == next) {
            value += times(one.0, entry)?;
        }
        if let Some(&(_, entry)) = right.next_if(|&&(column, _)| column == next) {
            value += times(other.0, entry)?;
        }
        if value != 0 {
            row.push((next, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every comparison of rows counts, and every entry of rows that are added.
    #[test]
    fn the_work_of_a_search_is_counted() {
        let entries = [
            (0, 0, 1),
            (1, 0, 2),
            (2, 0, -1),
            (3, 0, -3),
            (2, 1, 1),
            (4, 1, -1),
        ];
        let within = |steps| minimal(5, entries.into_iter(), steps);
        assert_eq!(within(38), Err(TooManySemiflows::Rows));
        assert_eq!(within(39).map(|found| found.len()), Ok(4));
    }
}
