//! The text as XML.

use roxmltree::{Document, ParsingOptions};

use crate::pnml::PnmlError;

/// The tree, which exists only if the text is well-formed XML. A document type
/// without declarations is harmless, and some tools write one.
pub(super) fn parse(text: &str) -> Result<Document<'_>, PnmlError> {
    let with_dtd = |allow_dtd| {
        let options = ParsingOptions {
            allow_dtd,
            ..ParsingOptions::default()
        };
        Document::parse_with_options(text, options)
    };
    let harmless = || {
        let doctype = text.find("<!DOCTYPE").map_or("", |at| &text[at..]);
        !doctype.split('>').next().unwrap_or("").contains('[')
    };
    let parsed = match with_dtd(false) {
        Err(roxmltree::Error::DtdDetected) if harmless() => with_dtd(true),
        parsed => parsed,
    };
    parsed.map_err(|error| {
        let at = error.pos();
        let what = match error {
            roxmltree::Error::NoRootNode => {
                "there is no element at all; expected <pnml>".to_owned()
            }
            roxmltree::Error::DtdDetected => {
                "a document type with declarations of its own is not accepted; PNML has none, \
                 remove the <!DOCTYPE ...>"
                    .to_owned()
            }
            error => {
                let why = error.to_string().replace(&format!(" at {at}"), "");
                format!("not well-formed XML: {why}")
            }
        };
        PnmlError {
            line: at.row as usize,
            column: at.col as usize,
            what,
        }
    })
}
