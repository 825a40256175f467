//! Texts inside other languages.

use std::borrow::Cow;

/// A text inside XML or HTML, between tags or between double quotes. Characters that XML
/// does not have become U+FFFD.
///
/// ```
/// assert_eq!(headway_draw::escape::xml("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
/// assert_eq!(headway_draw::escape::xml("\r\u{1}\u{7f}"), "&#13;\u{fffd}\u{7f}");
/// ```
pub fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // Where it is written as it is, it is read as the end of a line.
            '\r' => safe.push_str("&#13;"),
            '\n' | '\t' => safe.push(character),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A quoted name in Graphviz DOT.
///
/// ```
/// assert_eq!(headway_draw::escape::dot("say \"hi\""), r#""say \"hi\"""#);
/// ```
pub fn dot(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text inside TeX.
///
/// ```
/// assert_eq!(headway_draw::escape::tex("100% of {a_b}"), r"100\% of \{a\_b\}");
/// ```
pub fn tex(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => safe.extend(['\\', character]),
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '·' => safe.push_str("\\textperiodcentered{}"),
            '…' => safe.push_str("\\dots{}"),
            other => safe.push(other),
        }
    }
    safe
}

/// A field of comma-separated values (RFC 4180).
///
/// ```
/// assert_eq!(headway_draw::escape::csv("plain"), "plain");
/// assert_eq!(headway_draw::escape::csv("a, \"b\""), "\"a, \"\"b\"\"\"");
/// ```
pub fn csv(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}
