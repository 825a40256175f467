//! PNML: there and back, everything the standard allows, every refusal placed.

mod common;

use std::collections::BTreeMap;

use common::ring_and_state;
use headway_petri::net::{Direction, Marking, Net, Owner, Position, ToolSpecific};
use headway_petri::{pnml, ring};
use proptest::prelude::*;

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

/// (places with tokens, transitions, arcs as (source, target, weight)), by id.
type Plain = (
    BTreeMap<String, u64>,
    Vec<String>,
    Vec<(String, String, u64)>,
);

fn plain(net: &Net, marking: &Marking) -> Plain {
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
fn plain_by_tree(text: &str) -> Plain {
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

/// Any net, with awkward names.
fn any_net() -> impl Strategy<Value = (Net, Marking)> {
    let place = (
        0_u64..4,
        any::<u64>(),
        prop::option::of((-999_i32..999, -999_i32..999)),
    );
    let name = "[ a-z<>&\"'é]{0,4}";
    let arc = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<bool>(),
        1_u64..4,
    );
    (
        prop::collection::vec((place, name), 1..6),
        prop::collection::vec(name, 1..6),
        prop::collection::vec(arc, 0..12),
    )
        .prop_map(|(places, transitions, arcs)| {
            let mut net = Net::new("any");
            let mut tokens = Vec::new();
            for (index, ((holding, count, at), name)) in places.into_iter().enumerate() {
                let place = net.add_place(&format!("p{index}"), holding);
                net.name_last_place(name.trim());
                let position = at.map(|(x, y)| Position {
                    x: f64::from(x) / 10.0,
                    y: f64::from(y) / 10.0,
                });
                net.set_place_position(place, position);
                tokens.push(if count % 3 == 0 { 0 } else { count });
            }
            for (index, name) in transitions.into_iter().enumerate() {
                net.add_transition(&format!("t{index}"));
                net.name_last_transition(name.trim());
            }
            for (place, transition, into, weight) in arcs {
                let place = place.index(net.places());
                let transition = transition.index(net.transitions());
                let direction = if into {
                    Direction::PlaceToTransition
                } else {
                    Direction::TransitionToPlace
                };
                net.add_arc(place, transition, direction, weight);
            }
            (net, Marking(tokens))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_ring_survives_the_file((ring, state) in ring_and_state(8)) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let text = pnml::to_string(&net, &marking);
        let read = read_one(&text);
        prop_assert_eq!(&read.net, &net);
        prop_assert_eq!(&read.marking, &marking);
        prop_assert!(read.remarks.is_empty(), "{:?}", read.remarks);
        prop_assert_eq!(ring::from_net(&read.net, &read.marking).unwrap(), (ring, state));
        prop_assert_eq!(plain_by_tree(&text), plain(&net, &marking));
    }

    #[test]
    fn any_net_survives_the_file((net, marking) in any_net()) {
        let text = pnml::to_string(&net, &marking);
        let read = read_one(&text);
        prop_assert_eq!(&read.net, &net, "{}", text);
        prop_assert_eq!(&read.marking, &marking);
        prop_assert_eq!(plain_by_tree(&text), plain(&net, &marking));
    }

    /// Whatever the bytes are: an answer, no panic.
    #[test]
    fn broken_files_are_refused_or_read(
        (ring, state) in ring_and_state(3),
        cut in any::<prop::sample::Index>(),
        put in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["<", ">", "/", "\"", "&", "id", "<place/>", "</page>", "\0", "é", "<!--", "]]>"]),
    ) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let text = pnml::to_string(&net, &marking);
        let mut bytes = text.clone().into_bytes();
        let at = put.index(bytes.len());
        bytes.splice(at..at, with.bytes());
        // What is not well-formed XML, by a second reader, is not read.
        if pnml::read(&bytes).is_ok() {
            let text = std::str::from_utf8(&bytes).unwrap();
            let tree = roxmltree::Document::parse(text);
            prop_assert!(tree.is_ok(), "{}: {}", tree.unwrap_err(), text);
        }
        let cut = &text.as_bytes()[..cut.index(text.len() - 10)];
        prop_assert!(pnml::read(cut).is_err());
    }
}

/// Nested pages, references to references, prefixes, any order, missing
/// inscriptions, white space, character data, comments, big numbers.
#[test]
fn everything_that_the_standard_allows() {
    let text = format!(
        r##"<?xml version="1.0"?>
<!-- a comment -->
<x:pnml xmlns:x="{}" xmlns:z="urn:zoo">
 <x:net type="{}" id="n"><x:toolspecific tool="zoo" version="2"><z:ape k='"'>&lt;<b/></z:ape></x:toolspecific>
  <x:page id="outer">
   <x:arc target="t" source="rr" id="a1"><x:graphics><x:position x="1" y="2"/></x:graphics></x:arc>
   <x:referencePlace id="rr" ref="r"/>
   <x:page id="inner"><x:name><x:text>sub</x:text></x:name>
     <x:referencePlace ref=" p " id="r"><x:graphics><x:position x="3" y="4"/></x:graphics></x:referencePlace>
     <x:arc id="a2" source="t" target="p"><x:inscription><x:text> +3 </x:text></x:inscription></x:arc>
     <x:referenceTransition id="rt" ref="t"/>
   </x:page>
   <x:transition id="t"><x:graphics><x:fill color="red"/><x:position x="-1.5" y="+2."/></x:graphics></x:transition>
   <x:place id="p">
     <x:initialMarking><x:toolspecific tool="t" version="1"/><x:text>
        <![CDATA[9]]>&#57;<!-- 99 and --><![CDATA[ ]]>
     </x:text></x:initialMarking>
     <x:name><x:text>&amp; co</x:text></x:name>
   </x:place>
   <x:place id="big"><x:initialMarking><x:text>18446744073709551615</x:text></x:initialMarking></x:place>
   <x:arc id="a3" source="rt" target="rr"/>
  </x:page>
 </x:net>
</x:pnml>"##,
        pnml::NAMESPACE,
        pnml::NET_TYPE
    );
    let read = read_one(&text);
    let (places, transitions, arcs) = plain(&read.net, &read.marking);
    assert_eq!(
        places,
        [("big".to_owned(), u64::MAX), ("p".to_owned(), 99)].into()
    );
    assert_eq!(transitions, ["t"]);
    let arc = |source: &str, target: &str, weight| (source.to_owned(), target.to_owned(), weight);
    assert_eq!(arcs, [arc("p", "t", 1), arc("t", "p", 3), arc("t", "p", 1)]);
    assert_eq!(read.net.place_name(0), "& co");
    assert_eq!(
        read.net.transition_position(0),
        Some(Position { x: -1.5, y: 2.0 })
    );
    let told: Vec<String> = read.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 2: comments not kept (2 times)",
            "line 6: graphics of arcs, labels, pages and references not kept (2 times)",
            "line 7: reference nodes replaced by what they refer to (3 times)",
            "line 8: several pages, put together on one",
            "line 8: names of pages, references and arcs not kept",
            "line 13: <fill> of nodes not kept",
            "line 15: <toolspecific> of labels and references not kept",
        ]
    );
    // The stranger's element keeps its content and its namespaces.
    let kept = &read.net.kept[0];
    assert_eq!((kept.owner, kept.tool.as_str()), (Owner::Net, "zoo"));
    let again = pnml::to_string(&read.net, &read.marking);
    let tree = roxmltree::Document::parse(&again).unwrap();
    let ape = tree
        .descendants()
        .find(|node| node.has_tag_name(("urn:zoo", "ape")))
        .unwrap();
    assert_eq!((ape.attribute("k"), ape.text()), (Some("\""), Some("<")));
    let b = ape.children().find(|node| node.is_element()).unwrap();
    assert_eq!(
        b.tag_name().namespace().unwrap_or(""),
        "",
        "b had no namespace and has none"
    );
    assert_eq!(read_one(&again).net.kept[0].content, kept.content);
}

#[test]
fn extras_of_other_tools_stay_where_they_are() {
    let text = wrap(
        r#"<place id="p"><toolspecific tool="a" version="1"><k/></toolspecific></place>
<transition id="t"><toolspecific tool="b" version="2" more="x"/></transition>
<arc id="z" source="p" target="t"><toolspecific tool="c" version="3">&amp;</toolspecific></arc>"#,
    );
    let read = read_one(&text);
    let owners: Vec<Owner> = read.net.kept.iter().map(|kept| kept.owner).collect();
    assert_eq!(
        owners,
        [Owner::Place(0), Owner::Transition(0), Owner::Arc(0)]
    );
    assert_eq!(read.net.kept[1].attributes, "more=\"x\"");
    let again = read_one(&pnml::to_string(&read.net, &read.marking));
    let what = |kept: &[ToolSpecific]| -> Vec<(Owner, String, String, String)> {
        let row = |k: &ToolSpecific| {
            (
                k.owner,
                k.tool.clone(),
                k.attributes.clone(),
                k.content.clone(),
            )
        };
        kept.iter().map(row).collect()
    };
    assert_eq!(what(&again.net.kept), what(&read.net.kept));
    assert!(again.remarks.is_empty(), "{:?}", again.remarks);
}

#[test]
fn refusals_name_line_and_element() {
    for (page, expected) in [
        ("<place/>", "line 4, <place>: attribute id is required"),
        (
            "<place id=\"p\"/>\n<transition id=\"p\"/>",
            "line 5, <transition id=\"p\">: id \"p\" is already used in line 4; ids are unique in a file",
        ),
        (
            "<place id=\"p\"/><place id=\"q\"/>\n\n<arc id=\"a\" source=\"p\" target=\"q\"/>",
            "line 6, <arc id=\"a\">: joins two places; an arc joins a place and a transition",
        ),
        (
            "<arc id=\"a\" source=\"p\"/>",
            "line 4, <arc id=\"a\">: attribute target is required",
        ),
        (
            "<referencePlace id=\"r\" ref=\"s\"/><referencePlace id=\"s\" ref=\"r\"/>",
            "line 4, <referencePlace id=\"r\">: refers to itself, by way of others or not",
        ),
        (
            "<referencePlace id=\"r\" ref=\"t\"/><transition id=\"t\"/>",
            "line 4, <referencePlace id=\"r\">: ref \"t\" is not a place of this net",
        ),
        (
            "<place id=\"p\"><initialMarking><text>-3</text></initialMarking></place>",
            "line 4, <initialMarking>: found \"-3\", expected a number from 0 on",
        ),
        (
            "<place id=\"p\"><initialMarking><text>18446744073709551616</text></initialMarking></place>",
            "line 4, <initialMarking>: found \"18446744073709551616\", at most 2^64-1 can be represented",
        ),
        (
            "<place id=\"p\"><initialMarking/></place>",
            "line 4, <initialMarking>: <text> with a number is required",
        ),
        (
            "<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><inscription><text>0</text></inscription></arc>",
            "line 4, <inscription>: an arc moves at least one token, found 0",
        ),
        (
            "<transition id=\"t\"><initialMarking><text>1</text></initialMarking></transition>",
            "line 4, <initialMarking>: not allowed inside <transition>; expected <name>, <graphics>, <toolspecific>",
        ),
        (
            "<place id=\"p\"><name><text>a</text></name><name/></place>",
            "line 4, <name>: a second <name> in <place>",
        ),
        (
            "<place id=\"p\">hello</place>",
            "line 4, <place id=\"p\">: text \"hello\" is not allowed here; expected <initialMarking>, <name>, <graphics>, <toolspecific>",
        ),
        (
            "<place id=\"p\"><toolspecific tool=\"x\"/></place>",
            "line 4, <toolspecific>: attributes tool and version are required",
        ),
        (
            "<place id=\"p\"><graphics><position x=\"1e3\" y=\"0\"/></graphics></place>",
            "line 4, <position>: x is \"1e3\", expected a decimal number",
        ),
        (
            "<place id=\"p\"><toolspecific tool=\"headway\" version=\"1\"><holding rounds=\"soon\"/></toolspecific></place>",
            "line 4, <holding>: rounds is \"soon\", expected a number from 0 on",
        ),
        (
            "<y xmlns=\"urn:y\"/>",
            "line 4, <y>: not allowed inside <page>; expected <place>, <transition>, <arc>, <page>, <referencePlace>, <referenceTransition>, <name>, <graphics>, <toolspecific> (elements of other namespaces belong inside <toolspecific>)",
        ),
        ("<q:y/>", "line 4, <y>: the prefix \"q\" is not declared"),
        (
            "<place id=\"&nix;\"/>",
            "line 4, <place id=\"&nix;\">: not well-formed XML: &nix; is not defined",
        ),
    ] {
        let error = pnml::read(wrap(page).as_bytes()).unwrap_err().to_string();
        let fits = if expected.ends_with(": ") {
            error.starts_with(expected)
        } else {
            error == expected
        };
        assert!(fits, "\n   found {error}\nexpected {expected}");
    }
}

#[test]
fn what_is_no_pnml_is_refused() {
    let told = |text: &str| pnml::read(text.as_bytes()).unwrap_err().to_string();
    assert!(
        told("").contains("there is no element at all"),
        "{}",
        told("")
    );
    assert!(
        told("<html/>").contains("does not begin with <pnml>"),
        "{}",
        told("<html/>")
    );
    assert!(told("<pnml/>").contains("there is no <net> in it"));
    let open = wrap("<place id=\"p\">");
    assert!(
        told(&open).contains("not well-formed XML"),
        "{}",
        told(&open)
    );
    let other = wrap("").replace("ptnet", "highlevelnet");
    assert!(told(&other).contains("highlevelnet\" is not that of a place/transition net"));
    let laughs = format!("<!DOCTYPE pnml [<!ENTITY a \"b\">]>{}", wrap(""));
    assert!(told(&laughs).contains("document type"), "{}", told(&laughs));
    let unpaged = wrap("")
        .replace("<page id=\"g\">", "")
        .replace("</page>", "");
    assert!(
        told(&unpaged).contains("at least one <page>"),
        "{}",
        told(&unpaged)
    );
    let latin = b"<?xml version=\"1.0\" encoding=\"EBCDIC\"?><pnml/>";
    assert!(
        pnml::read(latin)
            .unwrap_err()
            .to_string()
            .contains("save the file as UTF-8")
    );
    assert!(
        pnml::read(b"<pnml>\n\xff</pnml>")
            .unwrap_err()
            .to_string()
            .starts_with("line 2")
    );
}

#[test]
fn files_without_namespace_are_read_with_remarks() {
    let text = "<pnml><net id=\"1\" type=\"P/T net\"><page id=\"g\">\
        <place id=\"p\"><initialMarking><text>2</text></initialMarking><capacity>7</capacity></place>\
        <transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><arctype><text>normal</text></arctype></arc>\
        </page><finalmarkings/></net></pnml>";
    let read = read_one(text);
    assert_eq!(read.marking.0, [2]);
    let told: Vec<&str> = read
        .remarks
        .iter()
        .map(|remark| remark.what.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "no namespace; read as if it were that of PNML 2009",
            "ids that are not XML names are changed when written again",
            "net type \"P/T net\" read as a place/transition net",
            "<capacity> in <place> is not part of PNML and not kept",
            "<finalmarkings> in <net> is not part of PNML and not kept",
        ]
    );
    // An arc that means something else is never taken for an ordinary one.
    for other in [
        "<arctype><text>inhibitor</text></arctype>",
        "<type value=\"reset\"/>",
    ] {
        let text = text.replace("<arctype><text>normal</text></arctype>", other);
        let error = pnml::read(text.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("only ordinary arcs are understood"),
            "{error}"
        );
    }
}

#[test]
fn other_encodings() {
    let text = wrap("<place id=\"p\"><name><text>é</text></name></place>");
    let mut utf16 = vec![0xFF, 0xFE];
    utf16.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(pnml::read(&utf16).unwrap()[0].net.place_name(0), "é");
    let declared = format!("<?xml version=\"1.0\" encoding='ISO-8859-1'?>{text}");
    let latin: Vec<u8> = declared
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    assert_eq!(pnml::read(&latin).unwrap()[0].net.place_name(0), "é");
    let marked = [b"\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat();
    assert_eq!(pnml::read(&marked).unwrap()[0].net.place_name(0), "é");
}

#[test]
fn ids_are_made_unique_xml_names() {
    let mut net = Net::new("1 net");
    net.add_place("1", 1);
    net.add_place("_1", 1);
    net.add_place("a0", 1);
    net.add_transition("page");
    net.add_arc(0, 0, Direction::PlaceToTransition, 1);
    let text = pnml::to_string(&net, &Marking(vec![0, 0, 0]));
    let tree = roxmltree::Document::parse(&text).unwrap();
    let mut ids: Vec<&str> = tree
        .descendants()
        .filter_map(|node| node.attribute("id"))
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((count, ids.len()), (7, 7), "{text}");
    assert!(
        ids.iter()
            .all(|id| id.starts_with(|c: char| c == '_' || c.is_alphabetic()))
    );
    assert_eq!(
        read_one(&text).net.place_name(0),
        "1",
        "the old id is still there to be read"
    );
}

#[test]
fn several_nets_in_a_file() {
    let net = |id: &str, place: &str| {
        format!(
            "<net id=\"{id}\" type=\"{}\"><page id=\"g{id}\"><place id=\"{place}\"/></page></net>",
            pnml::NET_TYPE
        )
    };
    let text = format!(
        "<pnml xmlns=\"{}\">{}{}</pnml>",
        pnml::NAMESPACE,
        net("x", "p"),
        net("y", "q")
    );
    let nets = pnml::read(text.as_bytes()).unwrap();
    assert_eq!(
        nets.iter().map(|n| n.net.id.as_str()).collect::<Vec<_>>(),
        ["x", "y"]
    );
    let across = text.replace(
        "</page></net></pnml>",
        "<transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"p\"/></page></net></pnml>",
    );
    let error = pnml::read(across.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("target \"p\" is not the id of a node"),
        "{error}"
    );
}

/// Every insertion of every nasty string at every place of a small file: what a
/// second reader refuses as XML is refused.
#[test]
fn what_is_not_well_formed_is_never_read() {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"{}\"><net id=\"n\" type=\"{}\"><page id=\"g\"><place id=\"p\">\
         <toolspecific tool=\"q\" version=\"1\"><k a=\"1\">hi &amp; x</k></toolspecific>\
         <initialMarking><text>1</text></initialMarking></place></page></net></pnml>",
        pnml::NAMESPACE,
        pnml::NET_TYPE
    );
    let nasty = [
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
    let (mut refused, mut read) = (0, 0);
    for with in nasty {
        for at in 0..text.len() {
            let mut spoilt = text.clone();
            spoilt.insert_str(at, with);
            match pnml::read(spoilt.as_bytes()) {
                Err(_) => refused += 1,
                Ok(_) => {
                    read += 1;
                    let tree = roxmltree::Document::parse(&spoilt);
                    assert!(tree.is_ok(), "{:?} in\n{spoilt}", tree.err());
                }
            }
        }
    }
    assert!(
        refused > 5_000 && read > 400,
        "{refused} refused, {read} read"
    );
}
