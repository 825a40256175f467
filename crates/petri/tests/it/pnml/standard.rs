//! What the standard allows, and what tools make of it.

use headway_petri::net::{Direction, Marking, Net, Owner, Position, ToolSpecific};
use headway_petri::pnml;

use crate::pnml::tree::plain;
use crate::pnml::{read_one, wrap};

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
            "capacities not kept, which the marking of the file never reaches",
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
