//! The words of DOT.

use crate::read::ReadError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// An id, and whether it stood in quotes (then it is no keyword).
    Id(String, bool),
    /// One of `{ } [ ] ; , = :`.
    Mark(char),
    /// `->` (true) or `--` (false).
    Edge(bool),
}

/// All words, with their lines.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, usize)>, ReadError> {
    let mut tokens: Vec<(Token, usize)> = Vec::new();
    let mut line = 1;
    let mut rest = text;
    let mut line_start = true;
    while let Some(first) = rest.chars().next() {
        let begun = line;
        let at = |message: &str| ReadError::at(begun, message);
        let length = match first {
            '\n' => {
                line += 1;
                line_start = true;
                rest = &rest[1..];
                continue;
            }
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            // Lines that begin with # are output of a C preprocessor.
            '#' if line_start => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").ok_or_else(|| at("a comment has no */"))?;
                end + 2
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' => {
                tokens.push((Token::Mark(first), line));
                1
            }
            '-' if rest.starts_with("->") || rest.starts_with("--") => {
                tokens.push((Token::Edge(rest.starts_with("->")), line));
                2
            }
            '"' => {
                let (id, length) =
                    quoted(rest).ok_or_else(|| at("a name in double quotes has no end"))?;
                tokens.push((Token::Id(id, true), line));
                length
            }
            '+' => {
                // "one" + "two" is one id.
                let (piece, length) = rest[1..]
                    .trim_start()
                    .strip_prefix('"')
                    .and_then(|_| quoted(rest[1..].trim_start()))
                    .ok_or_else(|| at("expected a name in double quotes after +"))?;
                match tokens.last_mut() {
                    Some((Token::Id(id, true), _)) => id.push_str(&piece),
                    _ => return Err(at("expected a name in double quotes before +")),
                }
                rest.len() - rest[1..].trim_start().len() + length
            }
            '<' => {
                let length = html(rest).ok_or_else(|| at("a name in < > has no end"))?;
                tokens.push((Token::Id(rest[..length].to_owned(), true), line));
                length
            }
            _ => {
                let plain = |character: char| {
                    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
                };
                let number = first == '-' || first == '.' || first.is_ascii_digit();
                let inside = |c: char| {
                    if number {
                        c.is_ascii_digit() || c == '.'
                    } else {
                        plain(c)
                    }
                };
                let length = first.len_utf8()
                    + rest[first.len_utf8()..]
                        .find(|character| !inside(character) || character == '\u{a0}')
                        .unwrap_or(rest.len() - first.len_utf8());
                let id = &rest[..length];
                if !(plain(first) || (number && id.contains(|c: char| c.is_ascii_digit()))) {
                    return Err(at(&format!(
                        "unexpected {first:?}: names with such characters need double quotes"
                    )));
                }
                tokens.push((Token::Id(id.to_owned(), false), line));
                length
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
        line_start = false;
    }
    Ok(tokens)
}

/// The name in quotes at the start of `text`, and how long it is with them.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut id = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((id, index + 1)),
            '\\' => match characters.peek() {
                // Only \" is an escape in a name; \ at a line's end joins lines.
                Some(&(_, '"')) => {
                    id.push('"');
                    characters.next();
                }
                Some(&(_, '\n')) => {
                    characters.next();
                }
                // Two backslashes stay two, but the second escapes nothing.
                Some(&(_, '\\')) => {
                    id.push_str("\\\\");
                    characters.next();
                }
                _ => id.push('\\'),
            },
            _ => id.push(character),
        }
    }
    None
}

/// The length of the HTML-like id at the start of `text`.
fn html(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}
