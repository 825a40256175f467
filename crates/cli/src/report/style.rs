//! Colours and the size of the screen. Whether colours reach the reader is
//! decided by `anstream`: only on a terminal, never with `NO_COLOR`.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use terminal_size::{Height, Width, terminal_size_of};

/// Something good.
pub(crate) const GOOD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// Something bad.
pub(crate) const BAD: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// What is there but not in the foreground.
pub(crate) const DIM: Style = Style::new().dimmed();

/// One colour per token, distinct for neighbours and on light and dark grounds.
pub(crate) const TOKENS: [AnsiColor; 6] = [
    AnsiColor::Red,
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Yellow,
    AnsiColor::Cyan,
];

/// The colour of token k.
pub(crate) fn token(index: usize) -> Style {
    let colour = TOKENS[index % TOKENS.len()];
    Style::new().bold().fg_color(Some(colour.into()))
}

/// `✓` or `✗`, in its colour.
pub(crate) fn tick(holds: bool) -> String {
    if holds {
        format!("{GOOD}✓{GOOD:#}")
    } else {
        format!("{BAD}✗{BAD:#}")
    }
}

/// As [`tick`], or `?` for what is not judged.
pub(crate) fn verdict(holds: Option<bool>) -> String {
    holds.map_or_else(|| format!("{DIM}?{DIM:#}"), tick)
}

/// A terminal that shows text line by line, and knows no escape sequences.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Standard output and input are both a person's.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// Columns and rows of the terminal, or what suits a file.
pub(crate) fn screen() -> (usize, usize) {
    let size = terminal_size_of(std::io::stdout());
    size.map_or((100, 48), |(Width(columns), Height(rows))| {
        (usize::from(columns.max(1)), usize::from(rows.max(1)))
    })
}
