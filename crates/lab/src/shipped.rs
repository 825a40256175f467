//! The experiments that come with Headway.

/// Name and sweep file of every experiment, in the order of the documentation.
pub const EXPERIMENTS: &[(&str, &str)] = &[
    ("paper", include_str!("../../../experiments/paper.toml")),
    (
        "tightness",
        include_str!("../../../experiments/tightness.toml"),
    ),
    (
        "placement",
        include_str!("../../../experiments/placement.toml"),
    ),
    ("jam", include_str!("../../../experiments/jam.toml")),
    ("measure", include_str!("../../../experiments/measure.toml")),
    ("faults", include_str!("../../../experiments/faults.toml")),
    (
        "asynchrony",
        include_str!("../../../experiments/asynchrony.toml"),
    ),
    (
        "definitional",
        include_str!("../../../experiments/definitional.toml"),
    ),
    ("loss", include_str!("../../../experiments/loss.toml")),
    (
        "duty-cycle",
        include_str!("../../../experiments/duty-cycle.toml"),
    ),
];

/// The sweep file of an experiment.
pub fn named(name: &str) -> Option<&'static str> {
    EXPERIMENTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
