//! The experiments that come with Headway.

macro_rules! experiments {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),*]
    };
}

/// Name and sweep file of every experiment, in the order of the documentation.
#[rustfmt::skip]
pub const EXPERIMENTS: &[(&str, &str)] = experiments![
    "paper" "tightness" "placement" "jam" "measure" "unknown-size" "faults" "asynchrony" "moving-block" "definitional" "loss" "duty-cycle"
];

/// The sweep file of an experiment.
pub fn named(name: &str) -> Option<&'static str> {
    let mut experiments = EXPERIMENTS.iter();
    let (_, text) = experiments.find(|(known, _)| *known == name)?;
    Some(text)
}
