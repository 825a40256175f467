//! Formats that are only read: a network of each by hand, mistakes with their lines.

use std::collections::BTreeSet;
use std::path::Path;

use headway_testkit::table::rows;
use headway_walk::Network;
use headway_walk::network::formats::{Format, WriteError};

/// The same network in every format: a square A B C D with a chord from A to C; where
/// the format has labels, those, otherwise numbers in their place.
pub(crate) const SQUARE: [(&str, &str); 15] = [
    (
        "square.gml",
        "Creator \"by [hand] \"\nVersion 1\n# a comment\ngraph\n[\n  directed 0\n  hierarchic 1\n  node [ id 1 label \"A\" graphics [ x 0.5 y 1 ] ]\n  node\n  [\n    id 2\n    label \"B\"\n graphics [ x 1 y -2.5 type \"circle\" ]\n  ]\n  node [ id -3 label \"C\" ]\n  node [ id 4 label \"D\" ]\n  edge [ source 1 target 2 value 1.5e-3 ]\n  edge [ source 2 target -3 ] edge [ source -3 target 4 ]\n  edge [ source 4 target 1 ] edge [ source 1 target -3 ]\n]\n",
    ),
    (
        "square.gexf",
        "<?xml version=\"1.0\"?>\n<gexf xmlns=\"http://gexf.net/1.3\" xmlns:viz=\"http://gexf.net/1.3/viz\" version=\"1.3\"><meta/>\n<graph defaultedgetype=\"directed\"><nodes>\n<node id=\"0\" label=\"A\"><viz:position x=\"1\" y=\"2\"/></node><node id=\"1\" label=\"B\"/><node id=\"2\" label=\"C\"/><node id=\"3\" label=\"D\"/>\n</nodes><edges>\n<edge id=\"0\" source=\"0\" target=\"1\" type=\"undirected\"/><edge source=\"1\" target=\"2\" type=\"mutual\"/>\n<edge source=\"2\" target=\"3\"/><edge source=\"3\" target=\"2\"/><edge source=\"3\" target=\"0\" type=\"undirected\"/><edge source=\"0\" target=\"2\" type=\"undirected\"/>\n</edges></graph></gexf>\n",
    ),
    (
        "square.net",
        "% by hand\n*Vertices 4\n1 \"A\" 0.1 0.2 ellipse ic Red\n2 B\n3 \"C\"\n4 \"D\"\n*Edges\n1 2 1 c Blue\n2 3\n*arcs :1 \"one way\"\n3 4\n4 3\n*Edgeslist\n1 4 3\n",
    ),
    (
        "matrix.net",
        "*Network \"a square\"\n*vertices 4\n1 A\n2 B\n3 C\n4 D\n*matrix\n0 1 1 1\n1 0 1 0\n1 1 0 1\n1 0 1 0\n",
    ),
    ("square.g6", ">>graph6<<C|\n"),
    ("square.d6", "&C]lg\n"),
    ("square.s6", ":CcKV\n"),
    ("square.adjlist", "# names\nA B C D\nB C\nC D B\nD\n"),
    ("both.adj", "A B C D\nB A C\nC A B D\nD A C\n"),
    (
        "square.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n% by hand\n4 4 5\n2 1 0.5\n3 2 1\n4 3 -1e3\n4 1 1\n3 1 0\n",
    ),
    (
        "general.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n4 4 10\n1 2\n2 1\n2 3\n3 2\n3 4\n4 3\n4 1\n1 4\n1 3\n3 1\n",
    ),
    (
        "array.mtx",
        "%%MatrixMarket matrix array integer symmetric\n4 4\n0\n1\n1\n1\n0\n1\n0\n0\n1\n0\n",
    ),
    (
        "adjacency.json",
        "{\"directed\": false, \"multigraph\": false, \"graph\": [], \"nodes\": [{\"id\": \"A\"}, {\"id\": \"B\"}, {\"id\": \"C\"}, {\"id\": \"D\"}],\n\"adjacency\": [[{\"id\": \"B\"}, {\"id\": \"C\"}, {\"id\": \"D\"}], [{\"id\": \"A\"}, {\"id\": \"C\"}], [{\"id\": \"A\"}, {\"id\": \"B\"}, {\"id\": \"D\"}], [{\"id\": \"A\"}, {\"id\": \"C\"}]]}",
    ),
    (
        "cytoscape.json",
        "{\"data\": [], \"directed\": false, \"elements\": {\"nodes\": [{\"data\": {\"id\": \"1\", \"value\": 1, \"name\": \"A\"}}, {\"data\": {\"id\": \"2\", \"name\": \"B\"}}, {\"data\": {\"id\": \"3\", \"name\": \"C\"}}, {\"data\": {\"id\": \"4\", \"name\": \"D\"}}],\n\"edges\": [{\"data\": {\"source\": 1, \"target\": 2}}, {\"data\": {\"source\": 2, \"target\": 3}}, {\"data\": {\"source\": 3, \"target\": 4}}, {\"data\": {\"source\": 4, \"target\": 1}}, {\"data\": {\"source\": 1, \"target\": 3}}]}}",
    ),
    (
        "flat.cyjs",
        "{\"elements\": [{\"data\": {\"id\": \"A\"}}, {\"data\": {\"id\": \"B\"}}, {\"data\": {\"id\": \"C\"}}, {\"data\": {\"id\": \"D\"}}, {\"data\": {\"id\": \"e\", \"source\": \"A\", \"target\": \"B\"}}, {\"data\": {\"source\": \"B\", \"target\": \"C\"}}, {\"data\": {\"source\": \"C\", \"target\": \"D\"}}, {\"data\": {\"source\": \"D\", \"target\": \"A\"}}, {\"data\": {\"source\": \"A\", \"target\": \"C\"}}]}",
    ),
];

pub(crate) fn format(name: &str) -> Format {
    Format::of_path(Path::new(name)).unwrap()
}

fn links(network: &Network) -> BTreeSet<String> {
    let letter = |node: u32| match network.label(node).parse::<usize>() {
        // Numbers from 0 or from 1, in the order of the letters.
        Ok(_) => ["A", "B", "C", "D"][node as usize].to_owned(),
        Err(_) => network.label(node).into_owned(),
    };
    let letters = |(from, to)| letter(from) + &letter(to);
    network.arcs().map(letters).collect()
}

#[test]
fn a_square_with_a_chord() {
    let wanted: BTreeSet<String> = ["AB", "BC", "CD", "DA", "AC", "BA", "CB", "DC", "AD", "CA"]
        .map(str::to_owned)
        .into();
    for (name, text) in SQUARE {
        let network = format(name)
            .read(text)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(links(&network), wanted, "{name}");
        assert_eq!(network.notes(), &[] as &[String], "{name}");
    }
}

#[test]
fn labels_are_kept_and_told_apart() {
    let network = Format::Gml
        .read("graph [ node [ id 7 label \"Z&#252;rich &amp; \" ] node [ id 8 label \"x\" ] node [ id 9 label \"x\" ] edge [ source 7 target 8 ] edge [ source 8 target 9 ] ]")
        .unwrap();
    let labels: Vec<_> = network.nodes().map(|node| network.label(node)).collect();
    assert_eq!(labels, ["Zürich &", "x (8)", "x (9)"]);
    assert_eq!(network.names(), ["7", "8", "9"]);
    for format in [Format::Graphml, Format::Dot, Format::NodeLink] {
        let again = format.read(&format.write(&network).unwrap()).unwrap();
        assert_eq!(again, network, "{format}");
    }
    assert_eq!(
        Format::Gml.write(&network),
        Err(WriteError::OnlyRead {
            format: Format::Gml
        })
    );
}

#[test]
fn the_largest_component() {
    let two = Format::Edges.builder("a b\nc d\nd e\nb b\n").unwrap();
    let network = two.clone().largest_component().finish().unwrap();
    assert_eq!(network.names(), ["c", "d", "e"]);
    assert_eq!(
        network.notes(),
        ["kept the largest of 2 components: 3 of 5 nodes"]
    );
    assert!(two.finish().is_err());
    let one_way = Format::Edges
        .builder("# directed\na b\nb a\nb c\n")
        .unwrap();
    assert_eq!(
        one_way.largest_component().finish().unwrap().names(),
        ["a", "b"]
    );
    let whole = Format::Edges.builder("a b\n").unwrap();
    assert!(
        whole
            .largest_component()
            .finish()
            .unwrap()
            .notes()
            .is_empty()
    );
}

/// File, what is in it, what is said of it.
const MISTAKES: &str = r#"
x.dot | graph {\n a -- b [weight=2] /* two\n lines */ -- c } | line 3: expected a name (found --)
x.dot | graph {\n a -- \n} | line 3: expected a name (found })
x.dot | graph {\n a [b=c\n | line 2: expected a name (the file ends here)
x.dot | graph {\n "a\n | line 2: a name in double quotes has no end
x.dot | tree {} | line 1: expected graph or digraph (found "tree")
x.dot | graph {\n a\n ? } | line 3: unexpected '?': names with such characters need double quotes
x.dot |  | line 1: expected graph or digraph (the file ends here)
x.dot | graph { a -> b } | line 1: -> in an undirected graph: expected --, or digraph at the top (found ->)
x.dot | digraph { a -- b } | line 1: -- in a digraph: expected ->, or graph at the top (found --)
x.gml | graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n] | line 3: target "2" is not a node of the graph
x.gml | graph [\n node [ label "a" ]\n] | line 2: this node has no id
x.gml | graph [\n node [ id 1 ]\n node [ id 1 ] ] | line 3: the node "1" is there twice
x.gml | graph [\n directed 2 ] | line 2: directed is "2", expected 0 or 1
x.gml | graph [\n a "b\n | line 2: a text in double quotes has no end
x.gml | graph [\n a [  | line 2: a [ has no ]
x.gml | graph\n] | line 1: expected a value after graph
x.gml | a 1 | line 1: expected one graph [ ... ]
x.gexf | <gexf>\n<graph><edges><edge source="1"\n target="2"/></edges></graph></gexf> | line 2: source "1" is not a node of the graph
x.gexf | <graphml/> | line 1: expected <gexf>, found <graphml>
x.net | *Vertices 2\n*Edges\n1 3\n | line 3: "3" is not the number of a vertex, 1 to 2
x.net | 1 2\n | line 1: expected *Vertices with their number first
x.net | *Vertices 2\n*Matrix\n0 1 1\n | line 3: expected 2 rows of 2 numbers
x.net | *Vertices 99999999\n | line 1: 99999999 nodes in 19 bytes: most of them have no link
x.g6 | C}} | line 1: 4 nodes take 1 characters after their number, found 2
x.g6 | C | line 1: 4 nodes take 1 characters after their number, found 0
x.g6 | C \n | line 1: 4 nodes take 1 characters after their number, found 0
x.g6 | C}\nC}\n | line 2: a second graph: one graph per file
x.g6 | ~? | line 1: the number of nodes is cut off
x.g6 | Cé | line 1: 'é' is not one of the characters ? to ~ of graph6
x.mtx | %%MatrixMarket matrix coordinate pattern general\n\n2 2 1\n1 3\n | line 4: column "3" is not a number from 1 to 2
x.mtx | %%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n | line 3: expected row, column and 1 numbers for a real entry
x.mtx | %%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n | line 3: line 2 promises 2 entries, there are 1
x.mtx | %%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n | line 5: the file ends before the last entry
x.mtx | 2 2 1\n | line 1: expected %%MatrixMarket matrix coordinate (or array), a field and a symmetry
x.json | {"nodes": [{"id": 1}], "adjacency": [[{"id": 2}]]} | adjacency[0][0].id: 2 is not the id of a node
x.json | {"nodes": [{"id": 1}], "adjacency": [[], []]} | adjacency[1]: there are more lists than nodes
x.json | {"elements": {"nodes": [{"data": {}}], "edges": []}} | nodes[0].data.id: every node needs an id
x.json | {"elements": [{}]} | elements[0]: expected data in every element
"#;

#[test]
fn errors_tell_the_line_or_the_field() {
    for [name, text, wanted] in rows(MISTAKES) {
        let error = format(&name).read(&text).unwrap_err();
        assert_eq!(error.to_string(), wanted, "{name}: {text:?}");
    }
}

/// Chains, subgraphs, comments, quotes, arrows and their directions, and the links they are.
const DOT: &str = r##"
\n# 1 "preprocessed"\nstrict graph "a name" { // comment\n node [shape=circle]; edge [color="a -- b"]\n rankdir = LR;\n a -- b -- { "c d"; é } /* two\nlines */ -- -1.5\n} | a b, b a, b c d, b é, c d -1.5, c d b, é -1.5, é b, -1.5 c d, -1.5 é
digraph{a->b->c->a} | a b, b c, c a
digraph{a->b[dir=back];a->c;c:port:n->b [dir=both, x=1] [y=2];} | a c, b a, b c, c b
graph { "say \"hi\"" -- <b<i>x</i>> ; "one" + "two" -- "say \"hi\"" } | say "hi" <b<i>x</i>>, say "hi" onetwo, <b<i>x</i>> say "hi", onetwo say "hi"
"##;

#[test]
fn links_of_dot() {
    for [text, wanted] in rows(DOT) {
        let network = Format::Dot.read(&text).unwrap();
        let named = |(from, to)| [network.name(from), network.name(to)].join(" ");
        let links: BTreeSet<String> = network.arcs().map(named).collect();
        let wanted = wanted.split(", ").map(str::to_owned).collect();
        assert_eq!(links, wanted, "{text}");
    }
    let deep = format!("graph {{\n{}", "{".repeat(100_000));
    let error = Format::Dot.read(&deep).unwrap_err().to_string();
    assert!(
        error.starts_with("line 2: subgraphs nested more than 100 deep"),
        "{error}"
    );
}

/// Two kinds of vertices, a row for each of the first: nobody is joined within a kind.
#[test]
fn a_two_mode_matrix_of_pajek() {
    let text = "*Vertices 5 2\n1 a\n2 b\n3 x\n4 y\n5 z\n*Matrix\n1 1 0\n0 1 1\n";
    let network = Format::Pajek.read(text).unwrap();
    let links: BTreeSet<(&str, &str)> = network
        .links()
        .map(|(from, to)| (network.name(from), network.name(to)))
        .collect();
    let expected = [("1", "3"), ("1", "4"), ("2", "4"), ("2", "5")];
    assert_eq!(links, expected.into_iter().collect());
    for (from, to, line, says) in [
        ("0 1 1\n", "0 1\n", 9, "expected 2 rows of 3 numbers"),
        (
            "0 1 1\n",
            "0 1 1\n1 1 1\n",
            10,
            "expected 2 rows of 3 numbers",
        ),
        ("0 1 1\n", "", 8, "expected 2 rows, found 1"),
        ("5 2", "5 6", 1, "more than 5 in the first mode"),
    ] {
        let error = Format::Pajek.read(&text.replace(from, to)).unwrap_err();
        assert_eq!(error.to_string(), format!("line {line}: {says}"));
    }
}
