//! Errors with line and element.

use crate::pnml::PnmlError;

/// An error at the element that begins at a byte; its name is read off the text
/// if not given, its id always.
pub(super) fn error_at(text: &str, at: usize, element: Option<&str>, what: String) -> PnmlError {
    let tag = text
        .get(at..)
        .unwrap_or("")
        .split(['>'])
        .next()
        .unwrap_or("");
    let own = tag
        .trim_start_matches('<')
        .split(|c: char| c.is_whitespace() || c == '/')
        .next();
    let local = own.unwrap_or("").rsplit(':').next().unwrap_or("");
    let element = element.unwrap_or(local);
    let id = tag
        .split_once(" id=")
        .and_then(|(_, after)| {
            let quote = after.chars().next()?;
            after.get(1..)?.split(quote).next()
        })
        .map_or_else(String::new, |id| format!(" id=\"{id}\""));
    PnmlError {
        line: line_of(text, at),
        element: format!("{element}{id}"),
        what,
    }
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}
