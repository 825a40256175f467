//! The space-time diagram in text: processes across, rounds down.

use std::io::{self, Write};

use headway_core::tokens::Tokens;
use headway_core::{Ring, Round};

use super::style;

/// Collects rows while a run goes on; keeps only what fits a screen.
pub(crate) struct Diagram {
    columns: Columns,
    delays: Vec<bool>,
    max_rows: usize,
    /// Rows that are still to be shown after something has happened.
    follow_up: usize,
    settled: bool,
    rows: Vec<Row>,
}

/// How processes are mapped to columns of characters.
#[derive(Clone, Copy)]
struct Columns {
    processes: usize,
    /// Processes that share a column.
    group: usize,
    /// Characters between the starts of two columns.
    pitch: usize,
}

struct Row {
    round: Round,
    cells: Vec<Cell>,
    closest: Option<u64>,
    remark: Option<(String, bool)>,
}

/// What a column shows.
#[derive(Clone, Copy, Default)]
struct Cell {
    tokens: u32,
    first: usize,
    resting: bool,
}

/// Rows shown after legitimacy and after a fault.
const FOLLOW_UP: usize = 2;
const LABEL_CHARS: usize = 7;
const REMARK_CHARS: usize = 24;

impl Diagram {
    /// A diagram for a screen of this many columns and about this many rows.
    pub(crate) fn new(ring: &Ring, screen_columns: usize, max_rows: usize) -> Diagram {
        Diagram {
            columns: Columns::new(ring.len(), screen_columns),
            delays: ring.programs().iter().map(|p| p.delays()).collect(),
            max_rows: max_rows.max(6),
            follow_up: 0,
            settled: false,
            rows: Vec::new(),
        }
    }

    /// Shows the diagram a state. `event` is a fault's name.
    pub(crate) fn observe(
        &mut self,
        round: Round,
        tokens: &Tokens,
        legitimate: bool,
        event: Option<String>,
    ) {
        let becomes_legitimate = legitimate && !self.settled;
        self.settled = legitimate;
        let remark = match (event, becomes_legitimate) {
            (Some(event), _) => Some((format!("fault {event}"), false)),
            (None, true) => Some(("legitimate from here on".to_owned(), true)),
            (None, false) => None,
        };
        if remark.is_some() {
            self.follow_up = FOLLOW_UP;
        } else if self.follow_up > 0 {
            self.follow_up -= 1;
        } else if self.settled || self.rows.len() >= self.max_rows {
            return;
        }
        self.rows.push(Row {
            round,
            cells: self.columns.cells(tokens),
            closest: tokens.min_distance(),
            remark,
        });
    }

    /// Writes the diagram; `last_round` is where the run ended.
    pub(crate) fn write(&self, out: &mut impl Write, last_round: Round) -> io::Result<()> {
        self.write_header(out)?;
        let mut previous: Option<Round> = None;
        for row in &self.rows {
            if previous.is_some_and(|previous| row.round > previous + 1) {
                writeln!(out, "{:>LABEL_CHARS$}", "⋮  ")?;
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
        writeln!(
            out,
            "{:<LABEL_CHARS$}{dim}{}{dim:#}",
            "round",
            ticks.trim_end()
        )?;
        let mut marks = String::new();
        for column in 0..self.columns.count() {
            let end = ((column + 1) * group).min(self.delays.len());
            let marked = self.delays[column * group..end].iter().any(|&d| d);
            marks.push(if marked { '▾' } else { ' ' });
            marks.extend(std::iter::repeat_n(' ', pitch - 1));
        }
        let meaning = if group > 1 {
            format!("▾ delay, {group} processes a column")
        } else {
            "▾ delay".to_owned()
        };
        writeln!(out, "{:LABEL_CHARS$}{marks}  {dim}{meaning}{dim:#}", "")
    }

    fn write_row(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        write!(out, "{:>5}  ", row.round)?;
        for cell in &row.cells {
            cell.write(out)?;
            for _ in 1..self.columns.pitch {
                out.write_all(b" ")?;
            }
        }
        let dim = style::DIM;
        match row.closest {
            Some(hops) => write!(out, "  {dim}closest {hops}{dim:#}")?,
            None => write!(out, "  {dim}no tokens{dim:#}")?,
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

    fn cells(self, tokens: &Tokens) -> Vec<Cell> {
        let mut cells = vec![Cell::default(); self.count()];
        for (token, place) in tokens.places().iter().enumerate() {
            let cell = &mut cells[place.process() / self.group];
            if cell.tokens == 0 {
                cell.first = token;
                cell.resting = place.resting;
            }
            cell.tokens += 1;
        }
        cells
    }
}

impl Cell {
    /// A queued token as a capital letter, a resting one as a small letter, a pile
    /// as its size.
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        if self.tokens == 0 {
            let dim = style::DIM;
            return write!(out, "{dim}·{dim:#}");
        }
        let letter = char::from(b'A' + (self.first % 26) as u8);
        let shown = match self.tokens {
            1 if self.resting => letter.to_ascii_lowercase(),
            1 => letter,
            many @ 2..=9 => char::from(b'0' + many as u8),
            _ => '+',
        };
        let style = style::token(self.first);
        write!(out, "{style}{shown}{style:#}")
    }
}
