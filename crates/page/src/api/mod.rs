//! The answers, one file per topic.

pub(crate) mod about;
pub(crate) mod charts;
pub(crate) mod explore;
pub(crate) mod lessons;
pub(crate) mod lines;
pub(crate) mod runs;
pub(crate) mod walks;
