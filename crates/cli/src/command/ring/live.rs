//! The ring as it runs, on a terminal, with a line to type in.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::order::HELP;
use super::session::{Place, SAMPLE, Session, letter};
use crate::failure::Failure;
use crate::interrupt::{is_stopped, stop};
use crate::report::style::TOKENS;

/// The screen is drawn this often.
const DRAW: Duration = Duration::from_millis(66);

/// What is remembered of the past.
const MAX_REMARKS: usize = 200;

/// Shows the ring until it ends or somebody quits.
pub(super) fn play(session: &mut Session) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init().map_err(|error| {
        Failure::new(format!("cannot use the terminal: {error}"))
            .help("send the output through a pipe, `headway ring … | cat`, for plain lines")
    })?;
    end_with_the_terminal();
    let played = watch(&mut terminal, session);
    ratatui::restore();
    played
}

/// When the terminal is closed, reading its keys never returns (crossterm reads its
/// end again and again), but the signal still arrives.
fn end_with_the_terminal() {
    std::thread::spawn(|| {
        while !is_stopped() {
            std::thread::sleep(Duration::from_millis(100));
        }
        // Long enough to sum up if somebody can still read it.
        std::thread::sleep(Duration::from_secs(2));
        std::process::exit(130);
    });
}

fn watch(terminal: &mut ratatui::DefaultTerminal, session: &mut Session) -> Result<(), Failure> {
    let mut screen = Screen::default();
    let mut drawn: Option<Instant> = None;
    loop {
        if !session.step() || is_stopped() {
            return Ok(());
        }
        screen.remember(session.news());
        if drawn.is_none_or(|drawn| drawn.elapsed() >= DRAW) {
            drawn = Some(Instant::now());
            terminal.draw(|frame| screen.draw(frame, session))?;
        }
        if event::poll(SAMPLE)?
            && let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && !screen.press(key, session)
        {
            return Ok(());
        }
    }
}

#[derive(Default)]
struct Screen {
    typed: String,
    remarks: Vec<String>,
}

impl Screen {
    fn remember(&mut self, news: Vec<String>) {
        self.remarks.extend(news);
        let surplus = self.remarks.len().saturating_sub(MAX_REMARKS);
        self.remarks.drain(..surplus);
    }

    /// Whether to go on.
    fn press(&mut self, key: KeyEvent, session: &mut Session) -> bool {
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                stop();
                return false;
            }
            KeyCode::Esc => return false,
            KeyCode::Char(letter) if self.typed.len() < 200 => self.typed.push(letter),
            KeyCode::Backspace => drop(self.typed.pop()),
            KeyCode::Enter => session.type_in(&std::mem::take(&mut self.typed)),
            _ => {}
        }
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, session: &Session) {
        let width = usize::from(frame.area().width).max(1);
        let group = session.places(1).len().div_ceil(width);
        let rows = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(2),
            Constraint::Min(1),
            Constraint::Length(1),
            Constraint::Length(3),
        ])
        .split(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().add_modifier(Modifier::DIM);
        let wrapped =
            |text: String| Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true });
        frame.render_widget(wrapped(session.title()).style(bold), rows[0]);
        let ring: Vec<Span<'_>> = session.places(group).into_iter().map(cell).collect();
        frame.render_widget(Line::from(ring), rows[2]);
        let colour = if session.is_settled() {
            Color::Green
        } else {
            Color::Yellow
        };
        let state = Line::from(vec![
            Span::styled(session.state(), bold.fg(colour)),
            Span::raw(format!("   {}   {}", session.speed(), session.closest())),
        ]);
        frame.render_widget(state, rows[3]);
        frame.render_widget(
            Line::from(format!("network: {}", session.weather())),
            rows[4],
        );
        frame.render_widget(wrapped(holders(session)), rows[5]);
        let room = usize::from(rows[6].height);
        let first = self.remarks.len().saturating_sub(room);
        let remarks: Vec<Line<'_>> = self.remarks[first..]
            .iter()
            .map(|remark| Line::from(remark.as_str()))
            .collect();
        frame.render_widget(Paragraph::new(remarks), rows[6]);
        frame.render_widget(
            Line::from(format!("> {}▏", self.typed)).style(bold),
            rows[7],
        );
        frame.render_widget(wrapped(HELP.to_owned()).style(dim), rows[8]);
    }
}

/// Who holds what, and how far apart.
fn holders(session: &Session) -> String {
    let permits = session.permits();
    if permits.is_empty() {
        return "nobody has a permit".to_owned();
    }
    let holders: Vec<String> = permits
        .iter()
        .map(|permit| format!("{} at {}", letter(Place::Permit(permit.token)), permit.node))
        .collect();
    let apart: Vec<String> = session.distances().0.iter().map(u32::to_string).collect();
    let apart = match apart.len() {
        0 => String::new(),
        _ => format!("   apart: {}", apart.join(" ")),
    };
    format!("permits: {}{apart}", holders.join(", "))
}

fn cell(place: Place) -> Span<'static> {
    let style = match place {
        Place::Quiet => Style::new().add_modifier(Modifier::DIM),
        Place::Unsettled => Style::new().fg(Color::Yellow),
        Place::Dead => Style::new().fg(Color::Red),
        Place::Permit(token) => {
            let colour = TOKENS[token as usize % TOKENS.len()];
            let style = Style::new().fg(Color::Indexed(colour as u8));
            style.add_modifier(Modifier::BOLD)
        }
    };
    Span::styled(letter(place).to_string(), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_node::{Key, Plan, Timing};
    use headway_stage::faulty::SharedFaults;
    use headway_stage::live_ring::{Carrier, LiveRing, LiveSettings, Range};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn session() -> Session {
        let settings = LiveSettings {
            plan: Plan::new(12, 3, 1).expect("a plan"),
            carrier: Carrier::Memory,
            dwell: Range {
                min: Duration::from_millis(1),
                max: Duration::from_millis(2),
            },
            timing: Timing::default(),
            payload: 8,
            key: Key::none(),
            seed: 1,
            faults: SharedFaults::default(),
            threads: 1,
        };
        let ring = LiveRing::start(settings).expect("a ring");
        Session::new(ring, Vec::new(), None)
    }

    fn shown(screen: &Screen, session: &Session, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal
            .draw(|frame| screen.draw(frame, session))
            .expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn typed_orders_are_obeyed_and_shown() {
        let mut session = session();
        let mut screen = Screen::default();
        let mut steps = 0;
        while !session.is_settled() {
            assert!(session.step());
            screen.remember(session.news());
            std::thread::sleep(SAMPLE);
            steps += 1;
            assert!(steps < 2000, "it never settles");
        }
        let settled = shown(&screen, &session, 100, 20);
        assert!(settled.contains("settled, after"), "{settled}");
        for letter in "loss 0.25".chars() {
            assert!(screen.press(KeyCode::Char(letter).into(), &mut session));
        }
        assert!(shown(&screen, &session, 100, 20).contains("> loss 0.25"));
        assert!(screen.press(KeyCode::Enter.into(), &mut session));
        screen.remember(session.news());
        let worse = shown(&screen, &session, 100, 20);
        assert!(worse.contains("network: loss 0.25"), "{worse}");
        for letter in "quit".chars() {
            assert!(screen.press(KeyCode::Char(letter).into(), &mut session));
        }
        assert!(screen.press(KeyCode::Enter.into(), &mut session));
        assert!(!session.step());
        assert!(!screen.press(KeyCode::Esc.into(), &mut session));
    }

    #[test]
    fn eighty_columns_show_all_orders() {
        let shown = shown(&Screen::default(), &session(), 80, 24);
        for order in ["scramble", "restart-empty", "partition", "delay", "quit"] {
            assert!(shown.contains(order), "{shown}");
        }
    }

    #[test]
    fn a_tiny_screen_does_not_panic() {
        let mut session = session();
        session.step();
        for (width, height) in [(1, 1), (9, 3), (20, 8), (200, 60)] {
            shown(&Screen::default(), &session, width, height);
        }
    }
}
