//! The same instance for other tools: Promela for SPIN, the PRISM language for
//! PRISM and Storm, TLA+ for TLC.
//!
//! The exported text does not repeat Headway's code: the predicate is written out
//! from the paper's definition, so that agreement between the tools says
//! something. What each tool is asked, and how, is in a comment at the top of
//! every export.

mod prism;
mod promela;
mod tla;

pub(crate) use prism::QUESTIONS;

use strum::{Display, EnumString};

use crate::model::delay_relay::Instance;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "lowercase")]
#[strum(parse_err_ty = UnknownLanguage, parse_err_fn = unknown)]
pub enum Language {
    /// For SPIN.
    Promela,
    /// For PRISM and Storm.
    Prism,
    /// For TLC.
    Tla,
}

/// What is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A ring of delays and relays.
    DelayRelay(Instance),
    /// Dijkstra's ring under the central scheduler.
    KState {
        /// N, at least 2.
        processes: usize,
        /// K, at least 2.
        values: u32,
    },
}

/// The instance as a text in the language.
///
/// ```
/// use headway_check::export::{export, Language, Source};
/// use headway_check::model::delay_relay::Instance;
/// let source = Source::DelayRelay(Instance::uniform(5, 2, 3).unwrap());
/// assert!(export(&source, Language::Promela).contains("ltl convergence"));
/// ```
pub fn export(source: &Source, language: Language) -> String {
    match (source, language) {
        (Source::DelayRelay(instance), Language::Promela) => promela::delay_relay(instance),
        (Source::DelayRelay(instance), Language::Prism) => prism::delay_relay(instance),
        (Source::DelayRelay(instance), Language::Tla) => tla::delay_relay(instance),
        (&Source::KState { processes, values }, Language::Promela) => {
            promela::k_state(processes, values)
        }
        (&Source::KState { processes, values }, Language::Prism) => {
            prism::k_state(processes, values)
        }
        (&Source::KState { processes, values }, Language::Tla) => tla::k_state(processes, values),
    }
}

/// The text names no language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected promela, prism or tla")]
pub struct UnknownLanguage;

fn unknown(_: &str) -> UnknownLanguage {
    UnknownLanguage
}

/// `each(0)`, `each(1)`, … with something between.
fn join(range: std::ops::Range<usize>, between: &str, each: impl Fn(usize) -> String) -> String {
    range.map(each).collect::<Vec<_>>().join(between)
}
