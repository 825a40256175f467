//! Bytes to text: UTF-8, UTF-16 with a byte order mark, or Latin-1 if the XML
//! declaration says so.

use std::borrow::Cow;

use super::PnmlError;

pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, PnmlError> {
    let fail = |line: usize, what: String| PnmlError {
        line,
        column: 1,
        what,
    };
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => return decode(rest),
        [0xFF, 0xFE, rest @ ..] => return utf16(rest, u16::from_le_bytes).map_err(|w| fail(1, w)),
        [0xFE, 0xFF, rest @ ..] => return utf16(rest, u16::from_be_bytes).map_err(|w| fail(1, w)),
        _ => {}
    }
    match declared(bytes).to_ascii_lowercase().as_str() {
        "iso-8859-1" | "latin1" => {
            return Ok(bytes.iter().map(|&byte| char::from(byte)).collect());
        }
        "" | "utf-8" | "utf8" | "us-ascii" | "ascii" => {}
        other => {
            return Err(fail(
                1,
                format!("encoding {other:?} is not supported; save the file as UTF-8"),
            ));
        }
    }
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            fail(
                line,
                "the text is not UTF-8; save the file as UTF-8".to_owned(),
            )
        })
}

fn utf16<'a>(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'a, str>, String> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if bytes.len().is_multiple_of(2) => Ok(Cow::Owned(text)),
        _ => Err("the text is not UTF-16, although it begins as if it were".to_owned()),
    }
}

/// The encoding that an XML declaration in ASCII names; nothing if none.
fn declared(bytes: &[u8]) -> &str {
    let head = &bytes[..bytes.len().min(200)];
    let end = head.windows(2).position(|pair| pair == b"?>").unwrap_or(0);
    let Ok(head) = std::str::from_utf8(&head[..end]) else {
        return "";
    };
    let Some((_, after)) = head.split_once("encoding") else {
        return "";
    };
    let value = after.trim_start().trim_start_matches('=').trim_start();
    value
        .get(1..)
        .and_then(|rest| rest.split(['"', '\'']).next())
        .unwrap_or("")
}
