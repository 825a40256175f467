//! What tools write beyond the standard: read whole, or refused with the reason.
//!
//! The files are written by hand after those of each tool. Their counts are
//! checked here and, by readers that nobody here wrote, in `tools.rs`.

use headway_petri::pnml::{self, Imported};
use headway_testkit::table::rows;

use crate::pnml::read_one;
use crate::pnml::tree::plain;

const WOPED: &str = include_str!("dialects/woped.pnml");
const PIPE: &str = include_str!("dialects/pipe.pnml");
const TAPAAL: &str = include_str!("dialects/tapaal.pnml");
const EPNK: &str = include_str!("dialects/epnk.pnml");
const SNAKES: &str = include_str!("dialects/snakes.pnml");
const UNIVERSAL: &str = include_str!("dialects/snakes-universal.pnml");
const BROWSER: &str = include_str!("dialects/browser.pnml");
const MIXED: &str = include_str!("dialects/mixed.pnml");

fn text_of(dialect: &str) -> &'static str {
    match dialect {
        "TAPAAL" => TAPAAL,
        "PIPE" => PIPE,
        "MIXED" => MIXED,
        "EPNK" => EPNK,
        "SNAKES" => SNAKES,
        _ => UNIVERSAL,
    }
}

/// Places, transitions, arcs, tokens, weights.
fn counts(read: &Imported) -> (usize, usize, usize, u64, u64) {
    let net = &read.net;
    let weights = net.arcs().iter().map(|arc| arc.weight).sum();
    let tokens = u64::try_from(read.marking.total()).unwrap();
    (
        net.places(),
        net.transitions(),
        net.arcs().len(),
        tokens,
        weights,
    )
}

/// Remarks on what the net does, as the command line shows them.
fn warnings(read: &Imported) -> Vec<&str> {
    let remarks = read.remarks.iter().filter(|remark| !remark.only_looks);
    remarks.map(|remark| remark.what.as_str()).collect()
}

const NO_NAMESPACE: &str = "no namespace; read as if it were that of PNML 2009";

#[test]
fn every_dialect_is_read_whole() {
    for (text, expected) in [
        (WOPED, (3, 2, 4, 1, 4)),
        (PIPE, (2, 2, 4, 2, 6)),
        (TAPAAL, (3, 3, 6, 3, 7)),
        (EPNK, (3, 2, 6, 3, 6)),
        (SNAKES, (2, 1, 2, 4, 3)),
        (UNIVERSAL, (3, 2, 4, 4, 5)),
        (BROWSER, (2, 1, 2, 3, 3)),
        (MIXED, (1, 1, 2, 1, 2)),
    ] {
        let read = read_one(text);
        assert_eq!(counts(&read), expected, "{}", read.net.id);
        // Written again, it is standard PNML of the same net.
        let again = read_one(&pnml::to_string(&read.net, &read.marking));
        assert_eq!(counts(&again), expected);
        assert!(again.remarks.is_empty(), "{:?}", again.remarks);
    }
}

/// A net may leave the namespace, the elements of another kind of net do not pass.
#[test]
fn a_net_that_leaves_the_namespace() {
    assert_eq!(
        warnings(&read_one(BROWSER)),
        ["a net without namespace read as if it had that of PNML 2009"]
    );
    for (plain, other, why) in [
        ("netMode=\"pt\"", "netMode=\"algebraic-int\"", "its mode is"),
        (
            "</place>",
            "<v:valueTokens xmlns:v=\"urn:v\">5</v:valueTokens></place>",
            "<valueTokens>",
        ),
        (
            "</transition>",
            "<guard>x == y</guard></transition>",
            "<guard>",
        ),
        (
            "xmlns=\"\"",
            "xmlns=\"urn:other\"",
            "not allowed inside <pnml>",
        ),
    ] {
        let text = BROWSER.replacen(plain, other, 1);
        let error = pnml::read(text.as_bytes()).unwrap_err();
        assert!(error.what.contains(why), "{error}");
    }
}

#[test]
fn what_a_dialect_loses_is_said() {
    let net_type = |name: &str| format!("net type {name:?} read as a place/transition net");
    let woped = net_type("http://www.informatik.hu-berlin.de/top/pntd/ptNetb");
    let subprocess = "the net inside a <page> (a subprocess) is not kept; the transition of that name stands for it";
    let lost =
        |element: &str| format!("<{element}> in <transition> is not part of PNML and not kept");
    let tapaal = "namespace http://www.informatik.hu-berlin.de/top/pnml/ptNetb read as if it were that of PNML 2009";
    let (p_t, nothing) = (net_type("P/T net"), net_type(""));
    let rate = lost("rate");
    for (text, expected) in [
        (WOPED, vec![NO_NAMESPACE, &woped, subprocess]),
        (PIPE, vec![NO_NAMESPACE, &p_t, &rate]),
        (TAPAAL, vec![tapaal, &p_t]),
        (EPNK, vec![]),
        (SNAKES, vec![NO_NAMESPACE, &nothing]),
        (UNIVERSAL, vec![NO_NAMESPACE, &nothing]),
        (MIXED, vec![]),
    ] {
        assert_eq!(warnings(&read_one(text)), expected);
    }
}

#[test]
fn labels_are_found_wherever_a_tool_puts_them() {
    let pipe = read_one(PIPE);
    assert_eq!(pipe.net.place_name(1), "Buffer");
    assert_eq!(
        pipe.net.place_position(0).map(|at| (at.x, at.y)),
        Some((90.0, 105.0))
    );
    let (_, _, arcs) = plain(&pipe.net, &pipe.marking);
    assert!(
        arcs.contains(&("T0".to_owned(), "P1".to_owned(), 3)),
        "{arcs:?}"
    );
    let tapaal = read_one(TAPAAL);
    assert_eq!(
        tapaal.net.transition_position(0).map(|at| (at.x, at.y)),
        Some((390.0, 225.0))
    );
    // WoPeD's own elements stay where they are, the subprocess mark with them.
    let woped = read_one(WOPED);
    let kept = woped
        .net
        .kept
        .iter()
        .filter(|kept| kept.content.contains("subprocess"));
    assert_eq!(kept.count(), 1);
    assert_eq!(read_one(EPNK).net.name, "A mutex");
}

/// Dialect, what is changed, to what, what is said of it then.
const OTHER_KINDS: &str = r#"
TAPAAL | invariant="&lt; inf" name="Sink" | invariant="&lt;= 4" name="Sink" | <place id="Sink">: tokens must be of age <= 4; timed nets are not understood
TAPAAL | inscription="[0,inf)" nameOffsetX="0" nameOffsetY="0" source="Source" | inscription="[2,5]" source="Source" | <arc id="A0">: takes tokens of age [2,5] only; timed nets are not understood
TAPAAL | priority="0" urgent="false" | urgent="true" | <transition id="Send">: it is urgent; timed nets are not understood
TAPAAL | type="timed" | type="tapnInhibitor" | <arc id="A0">: an arc of type "tapnInhibitor"; only ordinary arcs are understood
TAPAAL | <text>dot</text> | <text>colours</text> | <place id="Middle">: its tokens are of type "colours"; only nets of plain tokens are understood
TAPAAL | <k-bound | <shared-place name="S" initialMarking="0"/><k-bound | <shared-place>: components that share nodes are not joined here; write the composed net
TAPAAL | weight="2" | weight="N" | <arc id="A1">: weight is "N", expected a number from 0 on
PIPE | Default,3 | Default,1,Red,2 | <inscription>: tokens of classes "Default" and "Red"; coloured nets are not understood
PIPE | <type value="normal"/> | <type value="inhibitor"/> | <arc id="P0 to T0">: an arc of type "inhibitor"; only ordinary arcs are understood
MIXED | type="normal" | type="inhibitor" | <arc id="in">: an arc of type "inhibitor"; only ordinary arcs are understood
EPNK | <transition id="enter"/> | <transition/> | <transition>: attribute id is required
SNAKES | <text>\n     4\n    </text> | <list/> | <list>: in <initialMarking> is unknown, and may change what the net does
UNIVERSAL | <token/> | <object type="int">3</object> | <initialMarking>: tokens that are Python objects; only nets of plain tokens are understood
UNIVERSAL | <multiplicity>2</multiplicity> |  | <initialMarking>: <multiplicity> is "", expected a number from 0 on
UNIVERSAL | <text>2</text> | <value><object type="int">2</object></value> | <value>: <object> instead of a number; only nets of plain tokens are understood
PIPE | <timed><value>false | <timed><value>true | <transition id="T0">: it takes a random time to fire; timed nets are not understood
PIPE | <priority><value>1</value></priority>\n</transition>\n<arc | <priority><value>2</value></priority>\n</transition>\n<arc | <transition id="T1">: its priority is 2, that of others 1; nets with priorities are not understood
TAPAAL | priority="0" urgent="false" | priority="3" urgent="false" | <transition id="Left">: its priority is 0, that of others 3; nets with priorities are not understood
TAPAAL | player="0" | player="1" | <transition id="Send">: it belongs to player 1; games are not understood
PIPE | <capacity><value>0 | <capacity><value>2 | <place id="P0">: its capacity is 2, and more tokens could come to it; capacities are not understood, draw a complementary place instead
"#;

/// Each change makes another kind of net of it.
#[test]
fn other_kinds_of_nets_are_refused_with_the_reason() {
    for [dialect, from, to, expected] in rows(OTHER_KINDS) {
        let text = text_of(&dialect);
        let changed = text.replacen(&from, &to, 1);
        assert_ne!(changed, text, "{from}");
        let error = pnml::read(changed.as_bytes()).unwrap_err();
        assert_eq!(error.what, expected);
    }
}

/// A capacity is harmless where it is never reached: by P-invariants, or because nothing
/// comes to the place. One token more, and it is refused.
#[test]
fn capacities_that_are_never_reached() {
    let file = |tokens: u64, room: [u64; 3]| {
        let place = |id: &str, tokens: u64, room: u64| {
            format!(
                "<place id=\"{id}\"><initialMarking><value>Default,{tokens}</value></initialMarking>\
                 <capacity><value>{room}</value></capacity></place>"
            )
        };
        let arc = |from: &str, to: &str| format!("<arc source=\"{from}\" target=\"{to}\"/>");
        format!(
            "<pnml><net id=\"n\" type=\"P/T net\">{}{}{}<transition id=\"t\"/><transition id=\"u\"/>\
             <transition id=\"sink\"/>{}{}{}{}{}</net></pnml>",
            place("a", tokens, room[0]),
            place("b", 0, room[1]),
            place("stock", 5, room[2]),
            arc("a", "t"),
            arc("t", "b"),
            arc("b", "u"),
            arc("u", "a"),
            arc("stock", "sink"),
        )
    };
    let harmless = read_one(&file(2, [2, 2, 5]));
    let lost = "capacities not kept, which the marking of the file never reaches";
    assert!(
        warnings(&harmless).contains(&lost),
        "{:?}",
        harmless.remarks
    );
    assert!(!warnings(&read_one(&file(9, [0; 3]))).contains(&lost));
    for (tokens, room, place) in [
        (3, [2, 3, 5], "a"),
        (2, [2, 1, 5], "b"),
        (2, [2, 2, 4], "stock"),
    ] {
        let error = pnml::read(file(tokens, room).as_bytes()).unwrap_err();
        let begins = format!("<place id=\"{place}\">: its capacity is");
        assert!(error.what.starts_with(&begins), "{error}");
    }
}

/// What TAPAAL's engines (verifypn, verifydtapn) read: arcs as elements of their own, weights
/// in attributes, in elements, or given by name.
const ENGINE: &str = r#"<pnml>
<constant name="N" value="7"/>
<net id="n" type="P/T net">
<place id="P" name="P" invariant="&lt; inf" initialMarking="2"/>
<place id="Q" name="Q" invariant="&lt; inf" initialMarking="0"/>
<transition player="0" id="T" name="T" urgent="false"/>
<inputArc inscription="[0,inf)" source="P" target="T"/>
<outputArc inscription="1" source="T" target="Q"/>
</net>
</pnml>"#;

/// The weights of the arc from P and of the arc to Q, however TAPAAL writes them.
#[test]
fn tapaals_weights_are_read_wherever_they_stand() {
    for (from, to, expected) in [
        ("target=\"T\"", "target=\"T\"", [1, 1]),
        ("target=\"T\"", "target=\"T\" weight=\"2\"", [2, 1]),
        ("target=\"T\"", "target=\"T\" weight=\"N\"", [7, 1]),
        ("target=\"Q\"", "target=\"Q\" weight=\"3\"", [1, 3]),
        ("inscription=\"1\"", "inscription=\"3\"", [1, 3]),
        (
            "inscription=\"1\"",
            "inscription=\"3\" weight=\"3\"",
            [1, 3],
        ),
        ("inscription=\"1\"", "inscription=\"\"", [1, 1]),
        ("[0,inf)", "[0, inf)", [1, 1]),
        (
            "target=\"Q\"/>",
            "target=\"Q\"><inscription><value>4</value></inscription></outputArc>",
            [1, 4],
        ),
    ] {
        let read = read_one(&ENGINE.replacen(from, to, 1));
        let weights: Vec<_> = read.net.arcs().iter().map(|arc| arc.weight).collect();
        assert_eq!(weights, expected, "{to}");
        assert_eq!(read.marking.0, [2, 0]);
        let said = warnings(&read);
        assert!(
            !said.iter().any(|what| what.contains("not kept")),
            "{said:?}"
        );
    }
}

/// What is changed in [`ENGINE`], to what, what is said of it then.
const BEYOND: &str = r#"
<outputArc | <inhibitorArc inscription="[0,inf)" source="Q" target="T"/>\n<outputArc | line 8, <inhibitorArc>: only ordinary arcs are understood
<outputArc | <transportArc inscription="[0,1]" source="P" transition="T" target="Q"/>\n<outputArc | line 8, <transportArc>: only ordinary arcs are understood
<outputArc | <tarc/><outputArc | line 8, <tarc>: in <net> is unknown, and may change what the net does
[0,inf) | [5,6] | line 7, <inputArc>: takes tokens of age [5,6] only; timed nets are not understood
[0,inf) | [0,N] | line 7, <inputArc>: takes tokens of age [0,N] only; timed nets are not understood
inscription="[0 | type="transport" inscription="[0 | line 7, <inputArc>: an arc of type "transport"; only ordinary arcs are understood
inscription="1" | inscription="3" weight="2" | line 8, <outputArc>: weight is 2, and inscription 3
inscription="1" | weight="M" | line 8, <outputArc>: weight is "M", expected a number from 0 on
inscription="1" | weight="0" | line 8, <outputArc>: an arc moves at least one token, found 0
inscription="1" | weight="4294967296" | line 8, <outputArc>: an arc moves at most 4294967295 tokens, found 4294967296
inscription="1" | guard="x" | line 8, <outputArc>: attribute guard is unknown, and may change what the net does
&lt; inf | &lt;= N | line 4, <place id="P">: tokens must be of age <= N; timed nets are not understood
initialMarking="2"/> | initialMarking="2"><initialMarkingAge><token age="2"/></initialMarkingAge></place> | line 4, <place id="P">: its tokens have an age; timed nets are not understood
initialMarking="2"/> | initialMarking="2"><hlinitialMarking/></place> | line 4, <place id="P">: it is of coloured nets, which are not understood
target="T"/> | target="T"><hlinscription/></inputArc> | line 7, <inputArc>: it is of coloured nets, which are not understood
urgent="false"/> | urgent="false"><condition/></transition> | line 6, <transition id="T">: it is of coloured nets, which are not understood
<place id="P" | <declaration/><place id="P" | line 4, <declaration>: it is of coloured nets, which are not understood
urgent="false" | urgent="true" | line 6, <transition id="T">: it is urgent; timed nets are not understood
player="0" | player="1" | line 6, <transition id="T">: it belongs to player 1; games are not understood
urgent="false" | distribution="constant" | line 6, <transition id="T">: attribute distribution is unknown, and may change what the net does
urgent="false" | infiniteServer="true" | line 6, <transition id="T">: attribute infiniteServer is unknown, and may change what the net does
<net id | <shared-transition name="T"/><net id | line 3, <shared-transition>: components that share nodes are not joined here; write the composed net
"#;

/// Every element and attribute of TAPAAL's formats that makes another net, and some that
/// nobody knows: each is refused, with its line.
#[test]
fn what_tapaal_has_beyond_ordinary_arcs_is_refused_with_its_line() {
    for [from, to, expected] in rows(BEYOND) {
        let changed = ENGINE.replacen(&from, &to, 1);
        assert_ne!(changed, ENGINE, "{from}");
        let error = pnml::read(changed.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    // Of the standard's own files, too: an attribute that it does not have is refused.
    let standard = MIXED.replacen("type=\"normal\"", "weight=\"2\"", 1);
    let error = pnml::read(standard.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("attribute weight is unknown"), "{error}");
}

/// What is changed in [`ENGINE`], and to what.
const DRAWN: &str = r#"
id="P" | id="P" markingOffsetX="0" markingOffsetY="1" displayName="true"
id="T" | id="T" angle="90" infiniteServer="false" positionX="1" positionY="2"
target="T"/> | target="T"><arcpath id="0" xCoord="1" yCoord="2"/></inputArc>
</net> | <labels positionX="1">words</labels></net>
</net> | </net><query active="true"/><k-bound bound="3"/><feature isTimed="false"/>
<net id | <net active="true" id
<pnml> | <pnml xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">
"#;

/// What says nothing, or only how the net looks, is kept silent or listed as ever.
#[test]
fn what_tapaal_draws_is_not_refused() {
    for [from, to] in rows(DRAWN) {
        let changed = ENGINE.replacen(&from, &to, 1);
        assert_ne!(changed, ENGINE, "{from}");
        let read = read_one(&changed);
        assert_eq!(counts(&read), (2, 1, 2, 2, 2), "{to}");
        let said = warnings(&read);
        assert!(
            !said.iter().any(|what| what.contains("not kept")),
            "{said:?}"
        );
    }
}
