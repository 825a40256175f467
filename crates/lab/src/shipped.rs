//! The experiments that come with Headway.

/// Name and sweep file of every experiment, in the order of the documentation.
pub const EXPERIMENTS: &[(&str, &str)] = &[
    ("paper", include_str!("../../../experiments/paper.toml")),
];

/// The sweep file of an experiment.
pub fn named(name: &str) -> Option<&'static str> {
    EXPERIMENTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
