//! Variables with finite domains: states to integers and back.

use num_bigint::BigUint;

use crate::error::{Result, TooLarge};

/// A model's variables, each with a number of values. A state has a value below that
/// number for each variable, and its rank is the mixed-radix number of these values, the
/// first one least significant.
///
/// ```
/// use headway_check::Domains;
/// // A counter of 3 values and two bits.
/// let domains = Domains::new([3, 2, 2]).unwrap();
/// assert_eq!(domains.states(), 12);
/// assert_eq!(domains.rank([2, 0, 1]), 8);
/// assert_eq!(domains.values(8).collect::<Vec<_>>(), [2, 0, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domains {
    sizes: Vec<u64>,
    states: u64,
}

impl Domains {
    /// One variable for each number of values.
    ///
    /// # Errors
    ///
    /// [`CheckError::TooLarge`](crate::CheckError::TooLarge) from 2^63 states on.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Result<Domains> {
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let states: BigUint = sizes.iter().product();
        TooLarge::bound("states", states, (1 << 63) - 1)?;
        Ok(Domains {
            states: sizes.iter().product(),
            sizes,
        })
    }

    /// How many states the variables make.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The values of the variables in the state of a rank.
    pub fn values(&self, rank: u64) -> impl Iterator<Item = u64> {
        let mut rest = rank;
        self.sizes.iter().map(move |size| {
            let value = rest % size;
            rest /= size;
            value
        })
    }

    /// The rank of the state with these values.
    pub fn rank(&self, values: impl IntoIterator<Item = u64>) -> u64 {
        let (mut rank, mut weight) = (0, 1);
        for (value, size) in values.into_iter().zip(&self.sizes) {
            rank += weight * value;
            weight *= size;
        }
        rank
    }
}
