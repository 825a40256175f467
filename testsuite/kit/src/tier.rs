//! How much a test does: one setting, `HEADWAY_TESTS`, read here and nowhere else.
//!
//! | value | what runs | command |
//! |---|---|---|
//! | `small`, the default | every test at small numbers | `make test`, `cargo test` |
//! | `large` | the same tests at large numbers | `make test-all` |
//! | `soak` | the same tests for hours, on cases that no run has seen | `make soak` |
//!
//! A test names its numbers with [`pick`], a property with [`properties`]; no test sets a
//! count in another way.

use std::sync::OnceLock;

use proptest::test_runner::{Config, RngSeed};

const SETTING: &str = "HEADWAY_TESTS";

/// How much the tests of this run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// What everybody runs.
    Small,
    /// What runs every night.
    Large,
    /// What runs for hours.
    Soak,
}

impl Tier {
    fn parse(text: &str) -> Result<Tier, String> {
        match text {
            "" | "small" => Ok(Tier::Small),
            "large" => Ok(Tier::Large),
            "soak" => Ok(Tier::Soak),
            _ => Err(format!(
                "{SETTING} is `{text}`; it takes small, large or soak"
            )),
        }
    }
}

/// The tier of this run.
///
/// # Panics
///
/// If the setting has another value than the three.
pub fn tier() -> Tier {
    static TIER: OnceLock<Tier> = OnceLock::new();
    *TIER.get_or_init(|| {
        let text = std::env::var(SETTING).unwrap_or_default();
        Tier::parse(&text).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// The number for this run's tier.
pub fn pick<T>(small: T, large: T, soak: T) -> T {
    match tier() {
        Tier::Small => small,
        Tier::Large => large,
        Tier::Soak => soak,
    }
}

/// How a property is tried: on at most 64 cases, on `cases`, or on twenty times as many.
///
/// The first two draw the same cases each time, so that a change is judged by what it changes;
/// the soak draws new ones and prints the seed of a failure. `PROPTEST_RNG_SEED` sets the seed.
pub fn properties(cases: u32) -> Config {
    let mut config = Config {
        cases: pick(cases.min(64), cases, cases.saturating_mul(20)),
        failure_persistence: None,
        ..Config::default()
    };
    if tier() != Tier::Soak && config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(2026);
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tier_is_refused_with_the_known_ones() {
        assert_eq!(Tier::parse(""), Ok(Tier::Small));
        assert_eq!(Tier::parse("large"), Ok(Tier::Large));
        let error = Tier::parse("big").unwrap_err();
        assert!(error.contains("big") && error.contains("soak"), "{error}");
    }

    #[test]
    fn a_property_never_exceeds_its_own_count_below_the_soak() {
        if tier() != Tier::Soak {
            assert!(properties(10).cases <= 10);
            assert!(properties(1_000).cases <= 1_000);
        }
    }
}
