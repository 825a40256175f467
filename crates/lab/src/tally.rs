//! What is kept of many samples.
//!
//! Samples are whole numbers (shares are counted in millionths), and all sums are
//! exact, so that a tally does not depend on the order in which samples come, nor
//! on how many threads they come from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts samples of one measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tally {
    count: u64,
    missing: u64,
    /// Exact: 2^64 samples of 64 bits fit.
    #[serde(with = "as_text")]
    sum: i128,
    /// `u128::MAX` if it is too large, which [`Summary::deviation`] refuses.
    #[serde(with = "as_text")]
    squares: u128,
    min: i64,
    max: i64,
    /// How often each value came, as [`rounded`]; only when percentiles are asked for.
    histogram: Option<BTreeMap<u64, u64>>,
}

impl Tally {
    /// An empty tally.
    pub fn new(percentiles: bool) -> Tally {
        Tally {
            count: 0,
            missing: 0,
            sum: 0,
            squares: 0,
            min: i64::MAX,
            max: i64::MIN,
            histogram: percentiles.then(BTreeMap::new),
        }
    }

    /// One more sample; `None` when there is nothing to measure (a ring that
    /// never becomes legitimate has no `legitimate_at`).
    pub fn add(&mut self, sample: Option<i64>) {
        let Some(sample) = sample else {
            self.missing += 1;
            return;
        };
        self.count += 1;
        self.sum += i128::from(sample);
        let square = u128::from(sample.unsigned_abs()).pow(2);
        self.squares = self.squares.saturating_add(square);
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
        if let Some(histogram) = &mut self.histogram {
            let value = rounded(sample.max(0).unsigned_abs());
            *histogram.entry(value).or_default() += 1;
        }
    }

    /// Joins two tallies of the same measure.
    pub fn join(&mut self, other: &Tally) {
        self.count += other.count;
        self.missing += other.missing;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if let (Some(histogram), Some(more)) = (&mut self.histogram, &other.histogram) {
            for (&value, &count) in more {
                *histogram.entry(value).or_default() += count;
            }
        }
    }

    /// What is kept: no samples, no histogram.
    pub fn summary(&self, percentiles: &[f64]) -> Summary {
        let percentiles = match &self.histogram {
            Some(histogram) if self.count > 0 => percentiles
                .iter()
                .map(|&percentile| {
                    let rank = (percentile / 100.0 * self.count as f64).ceil().max(1.0) as u64;
                    let mut passed = 0;
                    let reached = histogram.iter().find(|&(_, &count)| {
                        passed += count;
                        passed >= rank
                    });
                    // Values are rounded up, but never beyond what there was.
                    let largest = self.max.max(0).unsigned_abs();
                    reached.map_or(largest, |(&value, _)| value.min(largest))
                })
                .collect(),
            _ => Vec::new(),
        };
        Summary {
            count: self.count,
            missing: self.missing,
            sum: self.sum,
            squares: self.squares,
            min: (self.count > 0).then_some(self.min),
            max: (self.count > 0).then_some(self.max),
            percentiles,
        }
    }
}

/// A finished tally, in the measure's own units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples that had a value.
    pub count: u64,
    /// Samples that had none.
    pub missing: u64,
    #[serde(with = "as_text")]
    sum: i128,
    #[serde(with = "as_text")]
    squares: u128,
    /// The smallest sample.
    pub min: Option<i64>,
    /// The largest sample.
    pub max: Option<i64>,
    /// As asked for, in that order.
    pub percentiles: Vec<u64>,
}

impl Summary {
    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard deviation of a sample (divided by count - 1); `None` of fewer than two
    /// samples, and of values too large for exact sums of squares.
    pub fn deviation(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = i128::from(self.count);
        // count·Σx² - (Σx)², exact, so that nothing cancels.
        let spread = count
            .checked_mul(i128::try_from(self.squares).ok()?)?
            .checked_sub(self.sum.checked_mul(self.sum)?)?;
        let spread = spread as f64 / (self.count as f64 * (self.count - 1) as f64);
        Some(spread.max(0.0).sqrt())
    }

    /// The 95% confidence interval of the mean, by Student's t.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        let (mean, deviation) = (self.mean()?, self.deviation()?);
        let half = student(self.count - 1) * deviation / (self.count as f64).sqrt();
        Some((mean - half, mean + half))
    }
}

/// To three significant digits, upwards; exact below 2048.
fn rounded(value: u64) -> u64 {
    let digits = u64::BITS - value.leading_zeros();
    value | ((1 << digits.saturating_sub(11)) - 1)
}

/// Below which so many degrees of freedom Student's t lies with 97.5%. Abramowitz and Stegun,
/// Handbook of Mathematical Functions: 26.7.5 for many, 26.7.3 and 26.7.4 solved for few.
fn student(freedom: u64) -> f64 {
    let n = freedom as f64;
    if freedom > 200 {
        let z: f64 = 1.959_963_984_540_054;
        let powers = |factors: [f64; 5]| {
            let odd = [z, z.powi(3), z.powi(5), z.powi(7), z.powi(9)];
            odd.iter()
                .zip(factors)
                .map(|(power, factor)| power * factor)
                .sum::<f64>()
        };
        return z
            + powers([1.0, 1.0, 0.0, 0.0, 0.0]) / (4.0 * n)
            + powers([3.0, 16.0, 5.0, 0.0, 0.0]) / (96.0 * n.powi(2))
            + powers([-15.0, 17.0, 19.0, 3.0, 0.0]) / (384.0 * n.powi(3))
            + powers([-945.0, -1920.0, 1482.0, 776.0, 79.0]) / (92_160.0 * n.powi(4));
    }
    // How likely it is between -t and t, where t is √n times the angle's tangent.
    let within = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        let odd = freedom % 2;
        let (mut term, mut sum) = (if odd == 1 { cosine } else { 1.0 }, 0.0);
        for k in (odd..freedom).step_by(2) {
            sum += term;
            term *= cosine * cosine * (k + 1) as f64 / (k + 2) as f64;
        }
        match odd {
            1 => (angle + sine * sum) / std::f64::consts::FRAC_PI_2,
            _ => sine * sum,
        }
    };
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    n.sqrt() * low.tan()
}

/// 128-bit numbers as text, because JSON readers disagree about large numbers.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| D::Error::custom(format!("'{text}' is not a whole number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(samples: &[i64]) -> Tally {
        let mut tally = Tally::new(true);
        samples.iter().for_each(|&sample| tally.add(Some(sample)));
        tally
    }

    #[test]
    fn order_and_grouping_do_not_matter() {
        let samples: Vec<i64> = (0..1000).map(|k| k * k % 977).collect();
        let whole = tally(&samples).summary(&[50.0, 99.0]);
        let mut joined = tally(&samples[700..]);
        joined.join(&tally(&samples[..300]));
        joined.join(&tally(&samples[300..700]));
        assert_eq!(joined.summary(&[50.0, 99.0]), whole);
    }

    #[test]
    fn textbook_numbers() {
        let summary = tally(&[2, 4, 4, 4, 5, 5, 7, 9]).summary(&[50.0]);
        assert_eq!(summary.mean(), Some(5.0));
        let deviation = summary.deviation().unwrap();
        assert!((deviation - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        // t(0.975, 7) = 2.364624 in the tables.
        let (low, high) = summary.confidence().unwrap();
        let half = 2.364_624 * deviation / 8.0f64.sqrt();
        assert!((high - 5.0 - half).abs() < 1e-4 && (5.0 - low - half).abs() < 1e-4);
    }

    #[test]
    fn student_is_what_another_library_says() {
        use statrs::distribution::{ContinuousCDF, StudentsT};
        for freedom in (1..=300).chain([1_000, 469_000]) {
            let theirs = StudentsT::new(0.0, 1.0, freedom as f64).unwrap();
            let (found, likely) = (student(freedom), theirs.cdf(student(freedom)));
            assert!(
                (likely - 0.975).abs() < 1e-9,
                "{freedom}: {found} is {likely}"
            );
        }
    }

    /// Exact as long as there are three digits, and within a thousandth then.
    #[test]
    fn values_are_kept_to_three_digits() {
        for value in (0..5_000).chain([u64::MAX / 3, u64::MAX]) {
            let kept = rounded(value);
            assert!(
                kept >= value && kept - value <= value / 1024,
                "{value}: {kept}"
            );
            assert!(value >= 2048 || kept == value, "{value}: {kept}");
            assert_eq!(rounded(kept), kept);
        }
    }

    #[test]
    fn percentiles_of_large_values_are_near_the_truth() {
        let samples: Vec<i64> = (0..1000).map(|k| k * 1000).collect();
        let summary = tally(&samples).summary(&[50.0, 90.0]);
        for (&found, truth) in summary.percentiles.iter().zip([499_000.0, 899_000.0]) {
            assert!(
                (found as f64 / truth - 1.0).abs() < 2e-3,
                "{found} for {truth}"
            );
        }
    }

    #[test]
    fn no_percentile_is_beyond_the_largest_sample() {
        let summary = tally(&[3, 1_000_000, 1_000_000]).summary(&[10.0, 50.0, 100.0]);
        assert_eq!(summary.percentiles, [3, 1_000_000, 1_000_000]);
    }

    /// The largest values there are: sums stay exact, and what is not exact is not told.
    #[test]
    fn extremes_do_not_wrap() {
        let summary = tally(&[i64::MAX; 9]).summary(&[]);
        assert_eq!(summary.sum, 9 * i128::from(i64::MAX));
        assert_eq!((summary.min, summary.max), (Some(i64::MAX), Some(i64::MAX)));
        assert_eq!((summary.deviation(), summary.confidence()), (None, None));
        let summary = tally(&[i64::MIN; 3]).summary(&[]);
        assert_eq!(summary.mean(), Some(i64::MIN as f64));
    }

    #[test]
    fn nothing_measured_is_nothing() {
        let mut tally = Tally::new(false);
        tally.add(None);
        let summary = tally.summary(&[50.0]);
        assert_eq!(
            (summary.missing, summary.mean(), summary.min),
            (1, None, None)
        );
        assert_eq!(summary.confidence(), None);
    }
}
