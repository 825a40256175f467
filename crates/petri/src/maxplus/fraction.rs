//! Exact ratios of time to tokens.

use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms, with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// Rounds.
    pub numerator: u64,
    /// Firings.
    pub denominator: u64,
}

impl Fraction {
    /// `numerator / denominator` in lowest terms.
    ///
    /// # Panics
    ///
    /// When the denominator is 0.
    ///
    /// ```
    /// use headway_petri::maxplus::Fraction;
    /// assert_eq!(Fraction::new(12, 9).to_string(), "4/3");
    /// assert!(Fraction::new(4, 3) > Fraction::new(5, 4));
    /// ```
    pub fn new(numerator: u64, denominator: u64) -> Fraction {
        assert!(denominator > 0, "a fraction of nothing");
        let divisor = num_integer::gcd(numerator, denominator);
        Fraction {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        }
    }

    /// `time·q - tokens·p` for λ = p/q: the weight of a place in units of 1/q.
    pub(crate) fn weigh(self, time: u64, tokens: u64) -> i128 {
        i128::from(self.denominator) * i128::from(time)
            - i128::from(self.numerator) * i128::from(tokens)
    }
}

/// A ratio of any sign in lowest terms, as text.
///
/// ```
/// use headway_petri::maxplus::reduced;
/// assert_eq!([-6, 0, 3].map(|value| reduced(value, 2)), ["-3/1", "0/1", "3/2"]);
/// ```
pub fn reduced(numerator: i128, denominator: u64) -> String {
    let denominator = i128::from(denominator);
    let divisor = num_integer::gcd(numerator, denominator).max(1);
    format!("{}/{}", numerator / divisor, denominator / divisor)
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        let left = u128::from(self.numerator) * u128::from(other.denominator);
        let right = u128::from(other.numerator) * u128::from(self.denominator);
        left.cmp(&right)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}
