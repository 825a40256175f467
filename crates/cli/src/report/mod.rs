//! What people and programs are shown.

pub(crate) mod diagram;
pub(crate) mod progress;
pub(crate) mod style;

/// `1 token`, `2 tokens`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix("ss") {
        Some(_) => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!("{number} {}", if number == 1 { noun } else { &plural })
}
