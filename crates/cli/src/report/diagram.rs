//! The space-time diagram in text: processes across, rounds down.

use std::fmt;
use std::io::{self, Write};

use headway_core::tokens::Place;
use headway_core::{Ring, Round};

use super::style;

/// Collects rows while a run goes on; keeps only what fits a screen.
pub(crate) struct Diagram {
    columns: Columns,
    delays: Vec<bool>,
    /// What a marked process does or is.
    meaning: &'static str,
    max_rows: usize,
    /// Rows that are still to be shown after something has happened.
    follow_up: usize,
    legitimate: bool,
    rows: Vec<Row>,
}

/// A token in a diagram.
#[derive(Clone, Copy)]
pub(crate) struct Dot {
    /// Where.
    pub(crate) process: usize,
    /// Which, for its letter and colour.
    pub(crate) token: usize,
    /// It rests.
    pub(crate) resting: bool,
}

/// Which processes of a ring delay.
pub(crate) fn delays(ring: &Ring) -> Vec<bool> {
    ring.programs()
        .iter()
        .map(|program| program.delays())
        .collect()
}

/// A state as a diagram or a film sees it.
pub(crate) struct Shown {
    pub(crate) round: Round,
    pub(crate) tokens: Vec<Dot>,
    /// Processes at work, where there are stations.
    pub(crate) at_work: Vec<usize>,
    pub(crate) closest: Option<u64>,
    pub(crate) legitimate: bool,
    /// A fault that has just struck.
    pub(crate) fault: Option<String>,
}

impl From<&headway_sim::run::Frame<'_>> for Shown {
    fn from(frame: &headway_sim::run::Frame<'_>) -> Shown {
        let places = frame.tokens.places().iter().enumerate();
        let dot = |(token, place): (usize, &Place)| Dot {
            process: place.process(),
            token,
            resting: place.resting,
        };
        Shown {
            round: frame.round,
            tokens: places.map(dot).collect(),
            at_work: Vec::new(),
            closest: frame.tokens.min_distance(),
            legitimate: frame.legitimate,
            fault: frame.fault.map(ToString::to_string),
        }
    }
}

impl From<&headway_sim::moving_block::Frame<'_>> for Shown {
    fn from(frame: &headway_sim::moving_block::Frame<'_>) -> Shown {
        let (places, n) = (frame.ring.positions(), frame.ring.processes());
        let dot = |(token, (from, &resting)): (usize, (&usize, &bool))| Dot {
            process: from % n,
            token,
            resting,
        };
        Shown {
            round: frame.round,
            tokens: places
                .iter()
                .zip(frame.rested)
                .enumerate()
                .map(dot)
                .collect(),
            at_work: (0..n)
                .filter(|&process| frame.ring.is_working(process))
                .collect(),
            closest: (places.len() > 1).then(|| frame.ring.closest().max(0) as u64),
            legitimate: frame.legitimate,
            fault: frame.fault.map(ToString::to_string),
        }
    }
}

/// How processes are mapped to columns of characters.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) processes: usize,
    /// Processes that share a column.
    pub(crate) group: usize,
    /// Characters between the starts of two columns.
    pub(crate) pitch: usize,
}

struct Row {
    round: Round,
    cells: Vec<Cell>,
    closest: Option<u64>,
    remark: Option<(String, bool)>,
}

/// What a column shows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    pub(crate) tokens: u32,
    pub(crate) first: usize,
    pub(crate) resting: bool,
    pub(crate) at_work: bool,
}

/// Rows shown after legitimacy and after a fault.
const FOLLOW_UP: usize = 2;
const LABEL_CHARS: usize = 7;
const REMARK_CHARS: usize = 25;
/// What `closest N` takes, for rows where there is nothing to compare.
const LONE: usize = 9;

impl Diagram {
    /// A diagram of processes that do or do not delay, for a screen of this many
    /// columns and about this many rows.
    pub(crate) fn new(delays: Vec<bool>, screen_columns: usize, max_rows: usize) -> Diagram {
        Diagram {
            columns: Columns::new(delays.len(), screen_columns),
            delays,
            meaning: "delay",
            max_rows: max_rows.max(6),
            follow_up: 0,
            legitimate: false,
            rows: Vec::new(),
        }
    }

    /// The same with another word for the processes that are marked.
    pub(crate) fn marking(self, meaning: &'static str) -> Diagram {
        Diagram { meaning, ..self }
    }

    /// Shows the diagram a state.
    pub(crate) fn observe(&mut self, state: &Shown) {
        let becomes_legitimate = state.legitimate && !self.legitimate;
        self.legitimate = state.legitimate;
        let remark = match (&state.fault, becomes_legitimate) {
            (Some(fault), _) => Some((format!("fault {fault}"), false)),
            (None, true) => Some(("legitimate".to_owned(), true)),
            (None, false) => None,
        };
        if remark.is_some() {
            self.follow_up = FOLLOW_UP;
        } else if self.follow_up > 0 {
            self.follow_up -= 1;
        } else if self.legitimate || self.rows.len() >= self.max_rows {
            return;
        }
        self.push(state, remark);
    }

    /// Shows the diagram a state that is to be seen in any case.
    pub(crate) fn show(&mut self, state: &Shown) {
        self.push(state, None);
    }

    fn push(&mut self, state: &Shown, remark: Option<(String, bool)>) {
        self.rows.push(Row {
            round: state.round,
            cells: self.columns.cells(state),
            closest: state.closest,
            remark,
        });
    }

    /// Writes the diagram; `last_round` is where the run ended.
    pub(crate) fn write(&self, out: &mut impl Write, last_round: Round) -> io::Result<()> {
        self.write_header(out)?;
        let mut previous: Option<Round> = None;
        for row in &self.rows {
            if previous.is_some_and(|previous| row.round > previous + 1) {
                writeln!(out, "{:>5}", "⋮")?;
            }
            self.write_row(out, row)?;
            previous = Some(row.round);
        }
        if previous.is_some_and(|previous| previous < last_round) {
            let dim = style::DIM;
            let label = format!("{:>5}", "⋮");
            writeln!(out, "{label}  {dim}to round {last_round}{dim:#}")?;
        }
        Ok(())
    }

    /// Wide enough for the largest round number shown.
    fn label_chars(&self) -> usize {
        let largest = self.rows.last().map_or(0, |row| row.round);
        LABEL_CHARS.max(largest.to_string().len() + 2)
    }

    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        let Columns { group, pitch, .. } = self.columns;
        let width = self.columns.count() * pitch;
        let mut ticks = vec![' '; width + 12];
        let step = if pitch == 2 { 5 } else { 10 };
        for column in (0..self.columns.count()).step_by(step) {
            for (offset, digit) in (column * group).to_string().chars().enumerate() {
                ticks[column * pitch + offset] = digit;
            }
        }
        let ticks: String = ticks.into_iter().collect();
        let dim = style::DIM;
        let label = self.label_chars();
        writeln!(out, "{:<label$}{dim}{}{dim:#}", "round", ticks.trim_end())?;
        if !self.delays.contains(&true) {
            return Ok(());
        }
        let mut marks = String::new();
        for column in 0..self.columns.count() {
            let end = ((column + 1) * group).min(self.delays.len());
            let marked = self.delays[column * group..end].iter().any(|&d| d);
            marks.push(if marked { '▾' } else { ' ' });
            marks.extend(std::iter::repeat_n(' ', pitch - 1));
        }
        let meaning = if group > 1 {
            format!("▾ {}, {group} processes a column", self.meaning)
        } else {
            format!("▾ {}", self.meaning)
        };
        writeln!(out, "{:label$}{marks}  {dim}{meaning}{dim:#}", "")
    }

    fn write_row(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        write!(
            out,
            "{:>width$}  ",
            row.round,
            width = self.label_chars() - 2
        )?;
        for cell in &row.cells {
            write!(out, "{cell}{:pad$}", "", pad = self.columns.pitch - 1)?;
        }
        let dim = style::DIM;
        match row.closest {
            Some(hops) => write!(out, "  {dim}closest {hops}{dim:#}")?,
            None if row.remark.is_some() => write!(out, "  {:LONE$}", "")?,
            None => {}
        }
        if let Some((remark, good)) = &row.remark {
            let style = if *good { style::GOOD } else { style::BAD };
            write!(out, "  {style}{remark}{style:#}")?;
        }
        writeln!(out)
    }
}

impl Columns {
    fn new(processes: usize, screen_columns: usize) -> Columns {
        let room = screen_columns
            .saturating_sub(LABEL_CHARS + REMARK_CHARS)
            .max(10);
        let (group, pitch) = if processes * 2 <= room {
            (1, 2)
        } else {
            (processes.div_ceil(room), 1)
        };
        Columns {
            processes,
            group,
            pitch,
        }
    }

    fn count(self) -> usize {
        self.processes.div_ceil(self.group)
    }

    pub(crate) fn cells(self, state: &Shown) -> Vec<Cell> {
        let mut cells = vec![Cell::default(); self.count()];
        for process in &state.at_work {
            cells[process / self.group].at_work = true;
        }
        for dot in &state.tokens {
            let cell = &mut cells[dot.process / self.group];
            if cell.tokens == 0 {
                cell.first = dot.token;
                cell.resting = dot.resting;
            }
            cell.tokens += 1;
        }
        cells
    }
}

/// A queued token as a capital letter, a resting one as a small letter, a pile as its size,
/// work without a token as a square.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tokens == 0 {
            let dim = style::DIM;
            let shown = if self.at_work { '▪' } else { '·' };
            return write!(f, "{dim}{shown}{dim:#}");
        }
        let letter = char::from(b'A' + (self.first % 26) as u8);
        let shown = match self.tokens {
            1 if self.resting => letter.to_ascii_lowercase(),
            1 => letter,
            many @ 2..=9 => char::from(b'0' + many as u8),
            _ => '+',
        };
        let style = style::token(self.first);
        write!(f, "{style}{shown}{style:#}")
    }
}
