//! The ring as it runs, on a terminal, with a line to type in.

use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};

use super::order::HELP;
use super::session::{Place, SAMPLE, Session, letter};
use crate::failure::Failure;
use crate::interrupt::{is_stopped, stop};
use crate::report::screen::{Key, Screen, wrap};
use crate::report::style::{DIM, HEADING, token};

/// The screen is drawn this often.
const DRAW: Duration = Duration::from_millis(66);

/// What is remembered of the past.
const MAX_REMARKS: usize = 200;

/// Shows the ring until it ends or somebody quits.
pub(super) fn play(session: &mut Session) -> Result<(), Failure> {
    let mut screen = Screen::open().map_err(|error| {
        Failure::new(format!("cannot use the terminal: {error}"))
            .help("send the output through a pipe, `headway ring … | cat`, for plain lines")
    })?;
    let mut view = View::default();
    let mut drawn: Option<Instant> = None;
    while session.step() && !is_stopped() {
        view.remember(session.news());
        if drawn.is_none_or(|drawn| drawn.elapsed() >= DRAW) {
            drawn = Some(Instant::now());
            screen.show(|columns, rows| view.draw(columns, rows, session))?;
        }
        if let Some(key) = screen.key(SAMPLE)?
            && !view.press(key, session)
        {
            break;
        }
    }
    Ok(())
}

#[derive(Default)]
struct View {
    typed: String,
    remarks: Vec<String>,
}

impl View {
    fn remember(&mut self, news: Vec<String>) {
        self.remarks.extend(news);
        let surplus = self.remarks.len().saturating_sub(MAX_REMARKS);
        self.remarks.drain(..surplus);
    }

    /// Whether to go on.
    fn press(&mut self, key: Key, session: &mut Session) -> bool {
        match key {
            Key::Interrupt => {
                stop();
                return false;
            }
            Key::Escape => return false,
            Key::Char(letter) if self.typed.len() < 200 => self.typed.push(letter),
            Key::Backspace => drop(self.typed.pop()),
            Key::Enter => session.type_in(&std::mem::take(&mut self.typed)),
            _ => {}
        }
        true
    }

    /// The ring and its state, the latest remarks, what is typed, and what can be.
    fn draw(&self, columns: usize, rows: usize, session: &Session) -> Vec<String> {
        // As many lines as there always are, so that nothing jumps.
        let lines = |text: &str, count: usize, style: Style| {
            let mut lines = wrap(text, columns);
            lines.resize(count, String::new());
            lines
                .into_iter()
                .map(move |line| format!("{style}{line}{style:#}"))
        };
        let group = session.places(1).len().div_ceil(columns);
        let colour = if session.is_settled() {
            AnsiColor::Green
        } else {
            AnsiColor::Yellow
        };
        let state = HEADING.fg_color(Some(colour.into()));
        let mut end = vec![format!("{HEADING}> {}▏{HEADING:#}", self.typed)];
        end.extend(lines(HELP, 3, DIM));
        let mut shown: Vec<String> = lines(&session.title(), 2, HEADING).collect();
        shown.push(String::new());
        shown.push(session.places(group).into_iter().map(cell).collect());
        shown.push(format!(
            "{state}{}{state:#}   {}   {}",
            session.state(),
            session.speed(),
            session.closest()
        ));
        shown.push(format!("network: {}", session.weather()));
        shown.extend(lines(&holders(session), 2, Style::new()));
        let above = rows.saturating_sub(end.len());
        let room = above.saturating_sub(shown.len());
        let first = self.remarks.len().saturating_sub(room);
        shown.extend_from_slice(&self.remarks[first..]);
        shown.resize(above, String::new());
        shown.extend(end);
        shown
    }
}

/// Who holds what, and how far apart.
fn holders(session: &Session) -> String {
    let permits = session.permits();
    if permits.is_empty() {
        return "no permit in use".to_owned();
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

fn cell(place: Place) -> String {
    let style = match place {
        Place::Quiet => DIM,
        Place::Unsettled => AnsiColor::Yellow.on_default(),
        Place::Dead => AnsiColor::Red.on_default(),
        Place::Permit(permit) => token(permit as usize),
    };
    format!("{style}{}{style:#}", letter(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;
    use headway_node::{Key as NodeKey, Plan, Timing};
    use headway_stage::faulty::SharedFaults;
    use headway_stage::live_ring::{Carrier, LiveRing, LiveSettings, Range};

    fn session() -> Session {
        let settings = LiveSettings {
            plan: Plan::new(12, 3, 1).expect("a plan"),
            carrier: Carrier::Memory,
            hold: Range {
                min: Duration::from_millis(1),
                max: Duration::from_millis(2),
            },
            timing: Timing::default(),
            payload: 8,
            key: NodeKey::none(),
            seed: 1,
            faults: SharedFaults::default(),
            threads: 1,
        };
        let ring = LiveRing::start(settings).expect("a ring");
        Session::new(ring, Vec::new(), None)
    }

    /// What is seen, without its colours.
    fn shown(view: &View, session: &Session, columns: usize, rows: usize) -> String {
        let lines = view.draw(columns, rows, session);
        strip_str(&lines.join("\n")).to_string()
    }

    #[test]
    fn typed_orders_are_obeyed_and_shown() {
        let mut session = session();
        let mut view = View::default();
        let mut steps = 0;
        while !session.is_settled() {
            assert!(session.step());
            view.remember(session.news());
            std::thread::sleep(SAMPLE);
            steps += 1;
            assert!(steps < 2000, "it never settles");
        }
        let settled = shown(&view, &session, 100, 20);
        assert!(settled.contains("settled, after"), "{settled}");
        for letter in "loss 0.25".chars() {
            assert!(view.press(Key::Char(letter), &mut session));
        }
        assert!(shown(&view, &session, 100, 20).contains("> loss 0.25"));
        assert!(view.press(Key::Enter, &mut session));
        view.remember(session.news());
        let worse = shown(&view, &session, 100, 20);
        assert!(worse.contains("network: loss 0.25"), "{worse}");
        for letter in "quit".chars() {
            assert!(view.press(Key::Char(letter), &mut session));
        }
        assert!(view.press(Key::Enter, &mut session));
        assert!(!session.step());
        assert!(!view.press(Key::Escape, &mut session));
    }

    #[test]
    fn eighty_columns_show_all_orders() {
        let shown = shown(&View::default(), &session(), 80, 24);
        for order in ["scramble", "restart-empty", "partition", "delay", "quit"] {
            assert!(shown.contains(order), "{shown}");
        }
        assert_eq!(shown.lines().count(), 24);
        assert!(
            shown.lines().all(|line| line.chars().count() <= 80),
            "{shown}"
        );
    }

    #[test]
    fn a_tiny_screen_does_not_panic() {
        let mut session = session();
        session.step();
        for (width, height) in [(1, 1), (9, 3), (20, 8), (200, 60)] {
            shown(&View::default(), &session, width, height);
        }
    }
}
