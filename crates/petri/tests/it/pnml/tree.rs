//! Nets by id, as a second reader sees them.

use std::collections::BTreeMap;

use headway_petri::net::{Direction, Marking, Net};
use headway_petri::pnml;

/// (places with tokens, transitions, arcs as (source, target, weight)), by id.
pub(crate) type Plain = (
    BTreeMap<String, u64>,
    Vec<String>,
    Vec<(String, String, u64)>,
);

pub(crate) fn plain(net: &Net, marking: &Marking) -> Plain {
    let places = (0..net.places())
        .map(|p| (net.place_id(p).to_owned(), marking.0[p]))
        .collect();
    let transitions = (0..net.transitions())
        .map(|t| net.transition_id(t).to_owned())
        .collect();
    let arcs = net
        .arcs()
        .iter()
        .map(|arc| {
            let place = net.place_id(arc.place as usize).to_owned();
            let transition = net.transition_id(arc.transition as usize).to_owned();
            match arc.direction {
                Direction::PlaceToTransition => (place, transition, arc.weight),
                Direction::TransitionToPlace => (transition, place, arc.weight),
            }
        })
        .collect();
    (places, transitions, arcs)
}

/// A second reader, by document tree, for files in the standard's namespace.
pub(crate) fn plain_by_tree(text: &str) -> Plain {
    let document = roxmltree::Document::parse(text).unwrap();
    let is =
        |node: &roxmltree::Node<'_, '_>, name: &str| node.has_tag_name((pnml::NAMESPACE, name));
    let all = |name: &'static str| document.descendants().filter(move |node| is(node, name));
    let id = |node: &roxmltree::Node<'_, '_>| node.attribute("id").unwrap().trim().to_owned();
    let number = |node: &roxmltree::Node<'_, '_>, label: &str, default: u64| {
        let label = node.children().find(|child| is(child, label));
        let text = label.and_then(|l| l.children().find(|child| is(child, "text")));
        text.map_or(default, |text| {
            let pieces: String = text
                .children()
                .filter(|c| c.is_text())
                .filter_map(|c| c.text())
                .collect();
            pieces.trim().parse().unwrap()
        })
    };
    let mut references = BTreeMap::new();
    for node in all("referencePlace").chain(all("referenceTransition")) {
        references.insert(id(&node), node.attribute("ref").unwrap().trim().to_owned());
    }
    let resolve = |mut id: String| {
        while let Some(next) = references.get(&id) {
            id.clone_from(next);
        }
        id
    };
    let end = |node: &roxmltree::Node<'_, '_>, name: &str| {
        resolve(node.attribute(name).unwrap().trim().to_owned())
    };
    (
        all("place")
            .map(|node| (id(&node), number(&node, "initialMarking", 0)))
            .collect(),
        all("transition").map(|node| id(&node)).collect(),
        all("arc")
            .map(|node| {
                (
                    end(&node, "source"),
                    end(&node, "target"),
                    number(&node, "inscription", 1),
                )
            })
            .collect(),
    )
}
