//! The states of a run, one after the other; tested on ratatui's test backend.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use headway_core::Round;
use headway_sim::beliefs::Beliefs;
use headway_sim::{Outcome, Run, run as simulate};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph};

use crate::failure::Failure;
use crate::flags::Instance;
use crate::report::diagram::{Cell, Columns, Shown, delays};
use crate::report::style::TOKENS;

/// States kept; a film of more would be nobody's.
const MAX_SCENES: usize = 20_000;

/// Tokens kept in all states together: half a gigabyte.
const MAX_DOTS: usize = 20_000_000;

/// All states of a run, and which one is shown.
pub(in crate::command::run) struct Film {
    pub(in crate::command::run) title: String,
    processes: usize,
    delays: Vec<bool>,
    scenes: Vec<Scene>,
    /// Tokens in all of them together.
    dots: usize,
    at: usize,
    playing: bool,
    /// Scenes per second.
    speed: u32,
    worst: Option<Round>,
}

pub(in crate::command::run) struct Scene {
    pub(in crate::command::run) shown: Shown,
    pub(in crate::command::run) remark: String,
}

impl Film {
    /// A film without scenes, of processes that do or do not delay.
    pub(in crate::command::run) fn new(
        title: String,
        delays: Vec<bool>,
        worst: Option<Round>,
    ) -> Film {
        Film {
            title,
            processes: delays.len(),
            delays,
            scenes: Vec::new(),
            dots: 0,
            at: 0,
            playing: true,
            speed: 6,
            worst,
        }
    }

    /// Adds a scene. Whether the film is full.
    pub(in crate::command::run) fn push(&mut self, scene: Scene) -> ControlFlow<()> {
        self.dots += scene.shown.tokens.len();
        self.scenes.push(scene);
        match self.full() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn full(&self) -> bool {
        self.scenes.len() >= MAX_SCENES || self.dots >= MAX_DOTS
    }

    /// Says so if the run is longer than the film.
    pub(in crate::command::run) fn write_length(
        &self,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        if !self.full() {
            return Ok(());
        }
        let states = self.scenes.len();
        writeln!(
            out,
            "The film ends after {states} states; drop --watch for all."
        )
    }

    pub(super) fn record(instance: &Instance, run: &Run) -> Result<(Film, Outcome), Failure> {
        let worst = instance.worst_case().map(|worst| worst.last_rest);
        let mut film = Film::new(instance.title(), delays(&instance.ring), worst);
        let mut beliefs = run.ring.measures().then(|| Beliefs::new(&run.ring));
        let outcome = simulate(run, |frame| {
            let mut remark = match (frame.fault, frame.illegitimate()) {
                (Some(fault), _) => format!("fault {fault}"),
                (None, Some(illegitimate)) => {
                    format!("{}: {illegitimate}", illegitimate.clause().name())
                }
                (None, None) => "legitimate".to_owned(),
            };
            if let Some(beliefs) = &mut beliefs {
                beliefs.observe(frame.round, &frame.configuration());
                if let Some((least, most)) = beliefs.range() {
                    remark.push_str(&format!("; believed: {least} to {most}"));
                }
            }
            let shown = frame.into();
            film.push(Scene { shown, remark })
        })
        .map_err(Failure::new)?;
        Ok((film, outcome))
    }

    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(1000 / u64::from(self.speed))
    }

    pub(super) fn tick(&mut self) {
        if self.playing {
            self.step(1);
        }
    }

    fn step(&mut self, by: isize) {
        let last = self.scenes.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        if self.at == last {
            self.playing = false;
        }
    }

    pub(super) fn press(&mut self, key: KeyCode) -> ControlFlow<()> {
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return ControlFlow::Break(()),
            KeyCode::Char(' ') if self.at + 1 == self.scenes.len() => {
                self.at = 0;
                self.playing = true;
            }
            KeyCode::Char(' ') => self.playing = !self.playing,
            KeyCode::Right | KeyCode::Char('l') => self.jump(1),
            KeyCode::Left | KeyCode::Char('h') => self.jump(-1),
            KeyCode::PageDown => self.jump(10),
            KeyCode::PageUp => self.jump(-10),
            KeyCode::Home => self.jump(isize::MIN),
            KeyCode::End => self.jump(isize::MAX),
            KeyCode::Char('+' | '=') => self.speed = (self.speed * 2).min(60),
            KeyCode::Char('-') => self.speed = (self.speed / 2).max(1),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn jump(&mut self, by: isize) {
        self.playing = false;
        self.step(by);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let rows = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .split(frame.area());
        let Some(scene) = self.scenes.get(self.at) else {
            return;
        };
        frame.render_widget(Line::from(self.title.as_str()).bold(), rows[0]);
        frame.render_widget(self.marks(rows[1]), rows[1]);
        frame.render_widget(Paragraph::new(self.lines(rows[2])), rows[2]);
        frame.render_widget(status(scene), rows[3]);
        frame.render_widget(self.gauge(scene), rows[4]);
        let keys = "space play/pause   ←/→ step   PgUp/PgDn ten   Home/End   +/- speed   q quit";
        frame.render_widget(Line::from(keys).dim(), rows[5]);
    }

    /// Processes per column, for this width.
    fn group(&self, area: Rect) -> usize {
        self.processes
            .div_ceil(usize::from(area.width).saturating_sub(LABEL).max(1))
    }

    fn marks(&self, area: Rect) -> Line<'static> {
        let marks: String = self
            .delays
            .chunks(self.group(area))
            .map(|group| if group.contains(&true) { '▾' } else { ' ' })
            .collect();
        Line::from(format!("{:LABEL$}{marks}", "")).dim()
    }

    /// The scenes up to the current one, the latest at the bottom.
    fn lines(&self, area: Rect) -> Vec<Line<'static>> {
        let first = (self.at + 1).saturating_sub(usize::from(area.height));
        self.scenes[first..=self.at]
            .iter()
            .map(|scene| self.line(scene, self.group(area)))
            .collect()
    }

    fn line(&self, scene: &Scene, group: usize) -> Line<'static> {
        let columns = Columns {
            processes: self.processes,
            group,
            pitch: 1,
        };
        let round = format!("{:>width$}  ", scene.shown.round, width = LABEL - 2);
        let cells = columns.cells(&scene.shown.tokens).into_iter().map(span);
        let label = std::iter::once(round.fg(colour(scene)));
        label.chain(cells).collect::<Vec<_>>().into()
    }

    fn gauge(&self, scene: &Scene) -> Gauge<'static> {
        let last = self
            .scenes
            .last()
            .map_or(0, |scene| scene.shown.round)
            .max(1);
        let worst = match self.worst {
            Some(worst) => format!("; last rest {worst} after the start or a fault at worst"),
            None => String::new(),
        };
        let label = format!("round {} of {last}{worst}", scene.shown.round);
        Gauge::default()
            .ratio((scene.shown.round as f64 / last as f64).clamp(0.0, 1.0))
            .label(label)
            .gauge_style(Style::new().fg(Color::Blue))
    }
}

const LABEL: usize = 8;

fn colour(scene: &Scene) -> Color {
    if scene.shown.legitimate {
        Color::Green
    } else {
        Color::Red
    }
}

fn span(cell: Cell) -> Span<'static> {
    let shown = match (cell.tokens, cell.resting) {
        (0, _) => return "·".dim(),
        (1, true) => "o".to_owned(),
        (1, false) => "●".to_owned(),
        (many @ 2..=9, _) => many.to_string(),
        _ => "+".to_owned(),
    };
    let colour = TOKENS[cell.first % TOKENS.len()];
    shown.fg(Color::Indexed(colour as u8)).bold()
}

fn status(scene: &Scene) -> Line<'static> {
    let closest = match scene.shown.closest {
        Some(hops) => format!("closest {hops}   "),
        None => String::new(),
    };
    Line::from(vec![
        Span::raw(closest),
        scene.remark.clone().fg(colour(scene)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::RingFlags;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn film(flags: &RingFlags) -> Film {
        let instance = flags.instance().expect("an instance");
        let run = Run::new(instance.ring.clone(), instance.start.clone());
        Film::record(&instance, &run).expect("a film").0
    }

    fn screen(film: &Film, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| film.draw(frame)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn shows_the_start_then_a_legitimate_end() {
        let mut film = film(&RingFlags::default());
        assert!(screen(&film, 80, 20).contains("leg:0: process"));
        assert!(film.press(KeyCode::End).is_continue());
        let end = screen(&film, 80, 20);
        assert!(end.contains("closest 5   legitimate"), "{end}");
        assert!(
            end.contains("last rest 19 after the start or a fault"),
            "{end}"
        );
    }

    #[test]
    fn keys_move_and_quit() {
        let mut film = film(&RingFlags::default());
        assert!(film.press(KeyCode::Right).is_continue());
        assert_eq!((film.at, film.playing), (1, false));
        assert!(film.press(KeyCode::Home).is_continue());
        assert_eq!(film.at, 0);
        assert!(film.press(KeyCode::Char(' ')).is_continue());
        film.tick();
        assert_eq!((film.at, film.playing), (1, true));
        assert!(film.press(KeyCode::Char('q')).is_break());
    }

    #[test]
    fn a_wide_ring_and_a_tiny_screen_do_not_panic() {
        let flags = RingFlags {
            processes: Some(500),
            tokens: Some(40),
            ..RingFlags::default()
        };
        let film = film(&flags);
        for (width, height) in [(1, 1), (9, 3), (20, 8), (200, 60)] {
            screen(&film, width, height);
        }
    }
}
