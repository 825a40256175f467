//! A small file, with a nasty string put in at every place behind the XML
//! declaration, of which only the encoding is looked at.

use headway_petri::pnml;

const NASTY: [&str; 27] = [
    "<",
    ">",
    "/",
    "\"",
    "&",
    "'",
    "=",
    "-",
    "!",
    "?",
    ":",
    ";",
    "<a/>",
    "\0",
    "\u{1}",
    "é",
    "\u{ffff}",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "<?x?>",
    "<?xml?>",
    " ",
    "&x;",
    "&#0;",
    "x",
];

const DECLARATION: &str = "<?xml version=\"1.0\"?>";

pub(crate) fn variants() -> impl Iterator<Item = String> {
    let text = format!(
        "{DECLARATION}\n<pnml xmlns=\"{}\"><net id=\"n\" type=\"{}\"><page id=\"g\"><place id=\"p\">\
         <toolspecific tool=\"q\" version=\"1\"><k a=\"1\">hi &amp; x</k></toolspecific>\
         <initialMarking><text>1</text></initialMarking></place></page></net></pnml>",
        pnml::NAMESPACE,
        pnml::NET_TYPE
    );
    NASTY.iter().flat_map(move |with| {
        let text = text.clone();
        (DECLARATION.len()..text.len()).map(move |at| {
            let mut spoilt = text.clone();
            spoilt.insert_str(at, with);
            spoilt
        })
    })
}
