//! Logs: text for people or JSON for machines, on standard error.

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Registry, reload};

use crate::config::{LogFormat, LogSettings};

/// Changes how much is logged while the node runs.
pub(crate) struct Level(reload::Handle<LevelFilter, Registry>);

impl Level {
    /// From now on.
    pub(crate) fn set(&self, level: tracing::Level) {
        // It fails only when there is no logging any more.
        let _ = self
            .0
            .modify(|filter| *filter = LevelFilter::from_level(level));
    }
}

/// Begins to log. The second time in a program changes nothing.
pub(crate) fn start(settings: &LogSettings) -> Level {
    let (filter, handle) = reload::Layer::new(LevelFilter::from_level(settings.level));
    let registry = tracing_subscriber::registry().with(filter);
    let format = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false);
    let _ = if settings.format == LogFormat::Json {
        registry.with(format.json().flatten_event(true)).try_init()
    } else {
        registry.with(format.with_ansi(false)).try_init()
    };
    Level(handle)
}
