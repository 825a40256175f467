//! What XML asks for and the tokenizer lets pass.
//!
//! quick-xml is quick partly because it does not look into names, attributes,
//! references and declarations. A file that is not well-formed is refused here,
//! so that nothing is read out of it that was not said, and nothing kept from it
//! breaks the file that is written.

use crate::pnml::write::is_xml_name;

/// The byte of the first character that XML does not allow.
pub(super) fn forbidden_character(text: &str) -> Option<usize> {
    let control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    // Branch-free over blocks, so that the usual case costs next to nothing.
    for (block, chunk) in bytes.chunks(4096).enumerate() {
        let suspicious = chunk
            .iter()
            .fold(false, |found, &byte| found | control(byte) | (byte == 0xEF));
        if suspicious {
            let from = block * 4096;
            let here = |&(at, _): &(usize, &u8)| {
                control(bytes[at])
                    || bytes[at..].starts_with(b"\xEF\xBF\xBE")
                    || bytes[at..].starts_with(b"\xEF\xBF\xBF")
            };
            let window = chunk
                .iter()
                .enumerate()
                .map(|(index, byte)| (from + index, byte));
            if let Some((at, _)) = window.into_iter().find(here) {
                return Some(at);
            }
        }
    }
    None
}

/// A name, perhaps with a prefix.
pub(super) fn is_qualified_name(name: &str) -> bool {
    // Nearly all names are a few plain letters.
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    match name.split_once(':') {
        Some((prefix, local)) => is_xml_name(prefix) && is_xml_name(local),
        None => is_xml_name(name),
    }
}

/// Text between tags: `]]>` must not stand there.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    if text.contains("]]>") {
        return Err("not well-formed XML: ]]> outside of a CDATA section".to_owned());
    }
    Ok(())
}

/// References in an attribute: to predefined entities or to characters.
pub(super) fn check_references(value: &str) -> Result<(), String> {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('&') {
        let Some((reference, further)) = after.split_once(';') else {
            return Err("not well-formed XML: an & that begins no reference".to_owned());
        };
        check_reference(reference)?;
        rest = further;
    }
    Ok(())
}

/// What stands between `&` and `;`.
pub(super) fn check_reference(reference: &str) -> Result<(), String> {
    let known = match reference.strip_prefix('#') {
        None => matches!(reference, "lt" | "gt" | "amp" | "apos" | "quot"),
        Some(number) => {
            let (digits, radix) = number
                .strip_prefix('x')
                .map_or((number, 10), |hex| (hex, 16));
            let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let code = u32::from_str_radix(digits, radix).ok().filter(|_| plain);
            code.and_then(char::from_u32).is_some_and(|character| {
                matches!(character, '\t' | '\n' | '\r') || character >= ' '
            }) && !matches!(code, Some(0xFFFE | 0xFFFF))
        }
    };
    if known {
        Ok(())
    } else {
        Err(format!("not well-formed XML: &{reference}; is not defined"))
    }
}

/// The next attribute of a start tag: its name, its value, and what follows.
/// `None` at the end.
pub(super) fn next_attribute(raw: &str) -> Result<Option<(&str, &str, &str)>, String> {
    let bytes = raw.as_bytes();
    let broken = |at: usize| {
        let shown: String = raw.get(at..).unwrap_or(raw).chars().take(20).collect();
        Err(format!(
            "not well-formed XML: expected name=\"value\" at {shown:?}"
        ))
    };
    let skip_space = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let from = skip_space(0);
    if from == bytes.len() {
        return Ok(None);
    }
    let mut at = from;
    while bytes
        .get(at)
        .is_some_and(|&byte| !matches!(byte, b'=' | b' ' | b'\t' | b'\r' | b'\n'))
    {
        at += 1;
    }
    let name = &raw[from..at];
    at = skip_space(at);
    if from == 0 || bytes.get(at) != Some(&b'=') || !is_qualified_name(name) {
        return broken(from);
    }
    at = skip_space(at + 1);
    let Some(&quote @ (b'"' | b'\'')) = bytes.get(at) else {
        return broken(from);
    };
    let value_from = at + 1;
    let mut refers = false;
    loop {
        at += 1;
        match bytes.get(at) {
            Some(&byte) if byte == quote => break,
            Some(b'&') => refers = true,
            Some(b'<') | None => return broken(from),
            Some(_) => {}
        }
    }
    let value = &raw[value_from..at];
    if refers {
        check_references(value)?;
    }
    Ok(Some((name, value, &raw[at + 1..])))
}

/// `version`, then perhaps `encoding`, then perhaps `standalone`.
pub(super) fn check_declaration(raw: &str) -> Result<(), String> {
    let wrong = || {
        "not well-formed XML: expected <?xml version=\"1.0\" encoding=\"UTF-8\"?> or the like"
            .to_owned()
    };
    let mut rest = raw.strip_prefix("xml").ok_or_else(wrong)?;
    let mut allowed: &[&str] = &["version", "encoding", "standalone"];
    let mut first = true;
    while let Some((name, _, further)) = next_attribute(rest)? {
        let index = allowed
            .iter()
            .position(|known| *known == name)
            .ok_or_else(wrong)?;
        if first && name != "version" {
            return Err(wrong());
        }
        first = false;
        allowed = &allowed[index + 1..];
        rest = further;
    }
    if first { Err(wrong()) } else { Ok(()) }
}

/// The target of a processing instruction.
pub(super) fn check_instruction(target: &str) -> Result<(), String> {
    if is_xml_name(target) && !target.eq_ignore_ascii_case("xml") {
        Ok(())
    } else {
        Err(format!(
            "not well-formed XML: a processing instruction for {target:?}"
        ))
    }
}
