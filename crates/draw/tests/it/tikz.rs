//! Pictures as TikZ.

use headway_draw::{Path, Svg, Theme};

const RULES: &str = "\
.axis { stroke: $line }
.mark { stroke: $bad; stroke-width: 4; stroke-dasharray: 8 4 }
.dot, .spot { fill: $token-0 }
.way { fill: none; stroke-linecap: round }
";

fn picture() -> Svg {
    let mut picture = Svg::new((0.0, 0.0), (680.0, 100.0), "50% & more", Theme::Auto, RULES);
    picture.text("title", (0.0, 0.0), "50% & more");
    picture.line("axis", (0.0, 50.0), (680.0, 50.0));
    picture.line("mark", (10.0, 0.0), (10.0, 100.0));
    picture.circle("dot", (20.0, 30.0), 8.0).title("a name");
    let turned = picture.rect("spot", (1.0, 2.0), (3.0, 4.0));
    turned.set("transform", "rotate(30 2.5 4)");
    let mut path = Path::default();
    path.to('M', &[(0.0, 0.0)])
        .to('L', &[(3.0, 0.0), (6.0, 0.0)]);
    path.to('Q', &[(9.0, 3.0), (12.0, 0.0)]).to('Z', &[]);
    picture.path("way axis", &path).number("stroke-width", 2.0);
    picture.text("middle", (50.0, 90.0), "a_1 <b>");
    let upright = picture.text("end", (0.0, 0.0), "round");
    upright.set("transform", "translate(16 40) rotate(-90)");
    picture
}

/// Half of a pixel is a big point, because 680 pixels are to fit in 12 cm.
#[test]
fn every_element_has_its_command() {
    let tikz = picture().tikz();
    let mut lines = tikz.lines();
    for expected in [
        "% Drawn by Headway. \\usepackage{tikz}",
        "\\definecolor{headway-bad}{HTML}{C8321F}",
        "\\definecolor{headway-ink}{HTML}{1D2127}",
        "\\definecolor{headway-line}{HTML}{DCDFE4}",
        "\\definecolor{headway-token-0}{HTML}{B48A07}",
        "\\begin{tikzpicture}[x=0.500bp, y=-0.500bp]",
        "% title: 50% & more",
        "\\path[draw=headway-line, line width=0.50bp] (0,50) -- (680,50);",
        "\\path[draw=headway-bad, line width=2.00bp, dash pattern=on 4.00bp off 2.00bp] (10,0) -- (10,100);",
        "\\path[fill=headway-token-0] (20,30) circle[radius=4.00bp];",
        "\\path[fill=headway-token-0, rotate around={-30:(2.5,4)}] (1,2) rectangle (4,6);",
        "\\path[draw=headway-line, line width=1.00bp, line cap=round] (0,0) -- (3,0) -- (6,0) .. controls (8,2) and (10,2) .. (12,0) -- cycle;",
        "\\node[anchor=base, inner sep=0pt, font=\\fontsize{6.5}{6.5}\\selectfont, text=headway-ink] at (50,90) {a\\_1 <b>};",
        "\\node[anchor=base east, inner sep=0pt, font=\\fontsize{6.5}{6.5}\\selectfont, text=headway-ink, rotate=90] at (16,40) {round};",
        "\\end{tikzpicture}",
    ] {
        assert_eq!(lines.next(), Some(expected));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn braces_match_whatever_a_text_holds() {
    for text in [
        "}{",
        "\\end{tikzpicture}",
        "$x^2$ ~ #1 & 100%",
        "</text>",
        "\"",
    ] {
        let mut picture = Svg::new((0.0, 0.0), (10.0, 10.0), text, Theme::Auto, "");
        picture.text("", (0.0, 0.0), text);
        let tikz = picture.tikz();
        let node = tikz
            .lines()
            .find(|line| line.starts_with("\\node"))
            .expect("a node");
        let (_, shown) = node.split_once(" at ").expect("a place");
        let unescaped = shown
            .replace("\\{", "x")
            .replace("\\}", "x")
            .replace("{}", "");
        assert_eq!(unescaped.matches('{').count(), 1, "{text}: {node}");
        assert_eq!(unescaped.matches('}').count(), 1, "{text}: {node}");
        assert_eq!(tikz.matches("\\end{tikzpicture}").count(), 1, "{text}");
    }
}
