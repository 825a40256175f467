//! PNML: there and back, everything the standard allows, every refusal placed.

mod dialects;
mod refusals;
pub(crate) mod spoilt;
mod standard;
mod there_and_back;
mod tree;

use headway_petri::pnml;

fn read_one(text: &str) -> pnml::Imported {
    let mut nets = pnml::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(nets.len(), 1);
    nets.remove(0)
}

fn wrap(page: &str) -> String {
    format!(
        "<pnml xmlns=\"{}\">\n<net id=\"n\" type=\"{}\">\n<page id=\"g\">\n{page}\n</page>\n</net>\n</pnml>",
        pnml::NAMESPACE,
        pnml::NET_TYPE
    )
}
