//! What is refused, and where the fault is said to be.

use headway_petri::pnml;
use headway_testkit::table::rows;

use crate::pnml::wrap;

/// A page, and what is said of it.
const REFUSED: &str = r#"
<place/> | line 4, <place>: attribute id is required
<place id="p"/>\n<transition id="p"/> | line 5, <transition id="p">: id "p" is already used in line 4; ids are unique in a file
<place id="p"/><place id="q"/>\n\n<arc id="a" source="p" target="q"/> | line 6, <arc id="a">: joins two places; an arc joins a place and a transition
<arc id="a" source="p"/> | line 4, <arc id="a">: attribute target is required
<referencePlace id="r" ref="s"/><referencePlace id="s" ref="r"/> | line 4, <referencePlace id="r">: refers to itself, by way of others or not
<referencePlace id="r" ref="t"/><transition id="t"/> | line 4, <referencePlace id="r">: ref "t" is not a place of this net
<place id="p"><initialMarking><text>-3</text></initialMarking></place> | line 4, <initialMarking>: found "-3", expected a number from 0 on
<place id="p"><initialMarking><text>18446744073709551616</text></initialMarking></place> | line 4, <initialMarking>: found "18446744073709551616", at most 2^64-1 can be represented
<place id="p"><initialMarking/></place> | line 4, <initialMarking>: <text> with a number is required
<place id="p"/><transition id="t"/><arc id="a" source="p" target="t"><inscription><text>0</text></inscription></arc> | line 4, <inscription>: an arc moves at least one token, found 0
<transition id="t"><initialMarking><text>1</text></initialMarking></transition> | line 4, <initialMarking>: not allowed inside <transition>; expected <name>, <graphics>, <toolspecific>
<place id="p"><name><text>a</text></name><name/></place> | line 4, <name>: a second <name> in <place>
<place id="p">hello</place> | line 4, <place id="p">: text "hello" is not allowed here; expected <initialMarking>, <name>, <graphics>, <toolspecific>
<place id="p"><toolspecific tool="x"/></place> | line 4, <toolspecific>: attributes tool and version are required
<place id="p"><graphics><position x="1e3" y="0"/></graphics></place> | line 4, <position>: x is "1e3", expected a decimal number
<place id="p"><toolspecific tool="headway" version="1"><holding rounds="soon"/></toolspecific></place> | line 4, <holding>: rounds is "soon", expected a number from 0 on
<y xmlns="urn:y"/> | line 4, <y>: not allowed inside <page>; expected <place>, <transition>, <arc>, <page>, <referencePlace>, <referenceTransition>, <name>, <graphics>, <toolspecific> (elements of other namespaces belong inside <toolspecific>)
<q:y/> | line 4, not well-formed XML: an unknown namespace prefix 'q'
<place id="&nix;"/> | line 4, not well-formed XML: unknown entity reference 'nix'
"#;

#[test]
fn refusals_name_line_and_element() {
    for [page, expected] in rows(REFUSED) {
        let error = pnml::read(wrap(&page).as_bytes()).unwrap_err().to_string();
        let fits = if expected.ends_with(": ") {
            error.starts_with(&expected)
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

/// `tools.rs` shows that what is read of them is well-formed.
#[test]
fn most_spoilt_files_are_refused() {
    let read = crate::pnml::spoilt::variants().filter(|text| pnml::read(text.as_bytes()).is_ok());
    let (all, read) = (crate::pnml::spoilt::variants().count(), read.count());
    assert!(all - read > 5_000 && read > 400, "{read} of {all} read");
}
