//! The states of a run, one after the other, each as the lines of a screen.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use crate::failure::Failure;
use crate::flags::Instance;
use crate::report::diagram::{Columns, Shown, delays};
use crate::report::screen::Key;
use crate::report::style::{BAD, DIM, GOOD, HEADING};
use anstyle::{AnsiColor, Color, Style};
use headway_core::Round;
use headway_sim::beliefs::Beliefs;
use headway_sim::{Outcome, Run, run as simulate};

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

    pub(super) fn press(&mut self, key: Key) -> ControlFlow<()> {
        match key {
            Key::Char('q') | Key::Escape => return ControlFlow::Break(()),
            Key::Char(' ') if self.at + 1 == self.scenes.len() => {
                self.at = 0;
                self.playing = true;
            }
            Key::Char(' ') => self.playing = !self.playing,
            Key::Right | Key::Char('l') => self.jump(1),
            Key::Left | Key::Char('h') => self.jump(-1),
            Key::PageDown => self.jump(10),
            Key::PageUp => self.jump(-10),
            Key::Home => self.jump(isize::MIN),
            Key::End => self.jump(isize::MAX),
            Key::Char('+' | '=') => self.speed = (self.speed * 2).min(60),
            Key::Char('-') => self.speed = (self.speed / 2).max(1),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn jump(&mut self, by: isize) {
        self.playing = false;
        self.step(by);
    }

    /// The title, the scenes up to the current one with the latest at the bottom, what is to
    /// be said about it, and the keys.
    pub(super) fn draw(&self, columns: usize, rows: usize) -> Vec<String> {
        let Some(scene) = self.scenes.get(self.at) else {
            return Vec::new();
        };
        let group = self
            .processes
            .div_ceil(columns.saturating_sub(LABEL).max(1));
        let marks: String = self
            .delays
            .chunks(group)
            .map(|group| if group.contains(&true) { '▾' } else { ' ' })
            .collect();
        let mut lines = vec![
            format!("{HEADING}{}{HEADING:#}", self.title),
            format!("{DIM}{:LABEL$}{marks}{DIM:#}", ""),
        ];
        let room = rows.saturating_sub(5).max(1);
        let first = (self.at + 1).saturating_sub(room);
        let scenes = self.scenes[first..=self.at].iter();
        lines.extend(scenes.map(|scene| self.line(scene, group)));
        lines.resize(room + 2, String::new());
        let closest = match scene.shown.closest {
            Some(hops) => format!("closest {hops}   "),
            None => String::new(),
        };
        let style = style(scene);
        lines.push(format!("{closest}{style}{}{style:#}", scene.remark));
        lines.push(self.bar(scene, columns));
        lines.push(format!("{DIM}{KEYS}{DIM:#}"));
        lines
    }

    fn line(&self, scene: &Scene, group: usize) -> String {
        let columns = Columns {
            processes: self.processes,
            group,
            pitch: 1,
        };
        let cells = columns.cells(&scene.shown);
        let cells: String = cells.iter().map(ToString::to_string).collect();
        let (style, width) = (style(scene), LABEL - 2);
        format!("{style}{:>width$}{style:#}  {cells}", scene.shown.round)
    }

    /// Where in the film this is.
    fn bar(&self, scene: &Scene, columns: usize) -> String {
        let last = self.scenes.last().map_or(0, |scene| scene.shown.round);
        let worst = match self.worst {
            Some(worst) => format!("; last rest {worst} after the start or a fault at worst"),
            None => String::new(),
        };
        let label = format!("round {} of {last}{worst}", scene.shown.round);
        let label: Vec<char> = format!("{label:^columns$}").chars().collect();
        let passed = columns as f64 * scene.shown.round as f64 / last.max(1) as f64;
        let (passed, left) = label.split_at((passed as usize).min(columns));
        let (passed, left) = (String::from_iter(passed), String::from_iter(left));
        format!("{PASSED}{passed}{PASSED:#}{left}")
    }
}

const LABEL: usize = 8;
const PASSED: Style = Style::new()
    .fg_color(Some(Color::Ansi(AnsiColor::BrightWhite)))
    .bg_color(Some(Color::Ansi(AnsiColor::Blue)));
const KEYS: &str = "space play/pause   ←/→ step   PgUp/PgDn ten   Home/End   +/- speed   q quit";

fn style(scene: &Scene) -> Style {
    if scene.shown.legitimate { GOOD } else { BAD }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::RingFlags;
    use anstream::adapter::strip_str;
    use headway_sim::Settings;

    fn film(flags: &RingFlags) -> Film {
        let instance = flags.instance().expect("an instance");
        let run = Run::new(instance.ring.clone(), instance.start.clone());
        Film::record(&instance, &run).expect("a film").0
    }

    /// What is seen, without its colours.
    fn screen(film: &Film, columns: usize, rows: usize) -> String {
        strip_str(&film.draw(columns, rows).join("\n")).to_string()
    }

    #[test]
    fn shows_the_start_then_a_legitimate_end() {
        let mut film = film(&RingFlags::default());
        let start = screen(&film, 80, 20);
        assert!(start.contains("leg:0: process"), "{start}");
        assert_eq!(start.lines().count(), 20);
        assert!(film.press(Key::End).is_continue());
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
        assert!(film.press(Key::Right).is_continue());
        assert_eq!((film.at, film.playing), (1, false));
        assert!(film.press(Key::Home).is_continue());
        assert_eq!(film.at, 0);
        assert!(film.press(Key::Char(' ')).is_continue());
        film.tick();
        assert_eq!((film.at, film.playing), (1, true));
        assert!(film.press(Key::Char('q')).is_break());
    }

    #[test]
    fn a_wide_ring_and_a_tiny_screen_do_not_panic() {
        let settings = Settings {
            processes: Some(500),
            tokens: Some(40),
            ..Settings::default()
        };
        let flags = RingFlags {
            settings,
            ..RingFlags::default()
        };
        let film = film(&flags);
        for (width, height) in [(1, 1), (9, 3), (20, 8), (200, 60)] {
            screen(&film, width, height);
        }
        // One process a column or several, a line never needs more than there is.
        let wide = screen(&film, 200, 60);
        assert!(
            wide.lines().all(|line| line.chars().count() <= 200),
            "{wide}"
        );
    }
}
