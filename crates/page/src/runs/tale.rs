//! The past and future of a run: in lock-step, or by the moving block.

use headway_core::Round;

use super::change::Change;
use super::frame::{Frame, Playing};
use super::moving_block::BlockStory;
use super::segment::Segment;
use super::settings::RunSettings;
use super::story::Story;
use super::window::Window;
use crate::error::ApiError;
use crate::limits::Limits;

/// The past and future of a run.
pub(crate) enum Tale {
    LockStep(Story),
    Block(BlockStory),
}

impl Tale {
    /// With the settings written out.
    pub(crate) fn new(
        settings: &RunSettings,
        limits: &Limits,
    ) -> Result<(RunSettings, Tale), ApiError> {
        if let Some(run) = settings.moving_block()? {
            let written = settings.of_moving_block(&run);
            return Ok((written, Tale::Block(BlockStory::new(run)?)));
        }
        let (ring, start) = settings.build(limits)?;
        let written = settings.written_out(&ring, &start);
        let story = Story::new(ring, start, settings.ring.seed(), limits)?;
        Ok((written, Tale::LockStep(story)))
    }

    /// n, m and d.
    pub(crate) fn sizes(&self, segment: usize) -> (u64, u64, u32) {
        match self {
            Tale::LockStep(story) => {
                let Segment { ring, start, .. } = &story.segments()[segment];
                (ring.len() as u64, start.tokens(), ring.separation().hops())
            }
            Tale::Block(story) => story.sizes(),
        }
    }

    /// What has struck, in that order.
    pub(crate) fn changes(&self) -> Box<dyn Iterator<Item = &Change> + '_> {
        match self {
            Tale::LockStep(story) => Box::new(story.changes()),
            Tale::Block(story) => Box::new(story.changes().iter()),
        }
    }

    /// The last round that can be looked at.
    pub(crate) fn seekable(&self) -> Round {
        match self {
            Tale::LockStep(story) => story.seekable(),
            Tale::Block(story) => story.seekable(),
        }
    }

    /// Strikes; what came after that round is dropped. Nothing changes on error.
    pub(crate) fn strike(&mut self, change: Change, limits: &Limits) -> Result<(), ApiError> {
        match self {
            Tale::LockStep(story) => story.strike(change, limits),
            Tale::Block(story) => story.strike(change, limits),
        }
    }

    pub(crate) fn frame(
        &self,
        round: Round,
        playing: Playing,
        limits: &Limits,
    ) -> Result<Frame, ApiError> {
        match self {
            Tale::LockStep(story) => Frame::new(story, round, playing, limits),
            Tale::Block(story) => story.frame(round, playing),
        }
    }

    pub(crate) fn window(
        &self,
        version: u64,
        from: Round,
        asked: u64,
        limits: &Limits,
    ) -> Result<Window, ApiError> {
        match self {
            Tale::LockStep(story) => Window::new(story, version, from, asked, limits),
            Tale::Block(story) => story.window(version, from, asked, limits),
        }
    }

    /// What is told in lock-step, for what only that has.
    pub(crate) fn in_lock_step(&self, what: &str) -> Result<&Story, ApiError> {
        match self {
            Tale::LockStep(story) => Ok(story),
            Tale::Block(_) => {
                let message =
                    format!("a moving block has no {what}: it has no rounds in lock-step");
                Err(ApiError::invalid("id", message))
            }
        }
    }
}
