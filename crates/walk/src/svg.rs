//! The picture: the network, the walk as an arrowed curve, the tokens, and where
//! they come nearest.

use std::collections::HashMap;
use std::fmt::Write;

use crate::kept::Nearest;
use crate::layout;
use crate::network::{Network, Node};
use crate::walk::Walk;

mod curve;

/// Light or dark ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the viewer prefers.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The network.
    pub network: &'a Network,
    /// The walk over it.
    pub walk: &'a Walk,
    /// m; they are drawn evenly spread on the walk.
    pub tokens: usize,
    /// Where tokens come nearest, if there are two.
    pub nearest: Option<Nearest>,
    /// What no walk exceeds, for the caption.
    pub bound: Option<u32>,
    /// Light or dark.
    pub theme: Theme,
}

/// One colour per token, readable on light and dark grounds.
const COLOURS: [&str; 8] = [
    "#d6453d", "#2f7fd1", "#2f9e57", "#9a5fc9", "#d18a1f", "#1d9c9c", "#c94f8c", "#7d8a2e",
];

const LIGHT: [(&str, &str); 5] = [
    (".ground", "fill:#ffffff"),
    (".link", "stroke:#c9ced6"),
    (".node", "fill:#f2f4f7;stroke:#6b7480"),
    (".name,.title", "fill:#20262e"),
    (".note", "fill:#59626e"),
];

const DARK: [(&str, &str); 5] = [
    (".ground", "fill:#14181d"),
    (".link", "stroke:#414a55"),
    (".node", "fill:#242b33;stroke:#8d97a3"),
    (".name,.title", "fill:#e8ecf1"),
    (".note", "fill:#a3adb8"),
];

/// Draws it as SVG.
///
/// ```
/// use headway_walk::{generators::Generator, svg::{self, Picture, Theme}, Walk};
/// let ring = Generator::Ring(6).network(0).unwrap();
/// let walk = Walk::new(&ring, (0..6).collect()).unwrap();
/// let picture = Picture { network: &ring, walk: &walk, tokens: 2, nearest: None, bound: None, theme: Theme::Light };
/// assert!(svg::draw(&picture).starts_with("<svg"));
/// ```
pub fn draw(picture: &Picture<'_>) -> String {
    let scene = Scene::new(picture);
    let mut out = String::new();
    scene.frame(&mut out);
    scene.links(&mut out);
    scene.walk(&mut out);
    scene.nearest(&mut out);
    scene.nodes(&mut out);
    scene.tokens(&mut out);
    scene.caption(&mut out);
    out.push_str("</svg>\n");
    out
}

type Point = (f64, f64);

struct Scene<'a> {
    picture: &'a Picture<'a>,
    points: Vec<Point>,
    width: f64,
    height: f64,
    /// Of a node, in pixels; everything else is measured by it.
    radius: f64,
    /// How often each directed link has been walked before each step, at most
    /// [`MOST_LANES`]: where a token goes to and fro to wait, lanes would pile up.
    lanes: Vec<u32>,
    /// How far one lane is from the next.
    lane: f64,
}

const MARGIN: f64 = 46.0;
const MOST_LANES: u32 = 3;
const CAPTION: f64 = 80.0;
/// So that the caption fits.
const LEAST_WIDTH: f64 = 500.0;

impl<'a> Scene<'a> {
    fn new(picture: &'a Picture<'a>) -> Scene<'a> {
        let unit = layout::points(picture.network);
        let nodes = picture.network.len() as f64;
        // As large as makes a usual link about 70 pixels long, within reason.
        let drawn: Vec<f64> = picture
            .network
            .links()
            .map(|(a, b)| distance(unit[a as usize], unit[b as usize]))
            .collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len().max(1) as f64;
        let size = (72.0 / mean.max(1e-6)).clamp(260.0, 1400.0);
        let link = mean * size;
        let radius = (link * 0.2).clamp(1.2, 15.0).min(220.0 / nodes.sqrt());
        let far = |value: fn(&Point) -> f64| unit.iter().map(value).fold(0.0, f64::max) * size;
        let width = (far(|point| point.0) + 2.0 * MARGIN).max(LEAST_WIDTH);
        let left = (width - far(|point| point.0)) / 2.0;
        let height = far(|point| point.1) + 2.0 * MARGIN + CAPTION;
        let points: Vec<Point> = unit
            .iter()
            .map(|point| (left + point.0 * size, CAPTION + MARGIN + point.1 * size))
            .collect();
        let mut walked = HashMap::<(Node, Node), u32>::new();
        let positions = picture.walk.positions();
        let lanes = (0..positions.len())
            .map(|step| {
                let link = (positions[step], picture.walk.at(step + 1));
                let times = walked.entry(link).or_insert(0);
                *times += 1;
                (*times - 1).min(MOST_LANES)
            })
            .collect();
        Scene {
            picture,
            width,
            height,
            points,
            radius,
            lanes,
            lane: radius * 0.5,
        }
    }

    fn frame(&self, out: &mut String) {
        let (width, height) = (self.width, self.height);
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">",
            escaped(&self.headline())
        );
        let rules = |theme: &[(&str, &str)]| -> String {
            theme
                .iter()
                .map(|(class, rule)| format!("{class}{{{rule}}}"))
                .collect()
        };
        let ground = match self.picture.theme {
            Theme::Auto => format!(
                "{}@media (prefers-color-scheme:dark){{{}}}",
                rules(&LIGHT),
                rules(&DARK)
            ),
            Theme::Light => rules(&LIGHT),
            Theme::Dark => rules(&DARK),
        };
        let _ = writeln!(
            out,
            "<style>text{{font-family:system-ui,\"DejaVu Sans\",sans-serif}}\
             .link{{fill:none}}.walk{{fill:none;stroke-linejoin:round}}{ground}</style>"
        );
        let _ = writeln!(
            out,
            "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>"
        );
    }

    fn links(&self, out: &mut String) {
        let width = (self.radius * 0.28).max(0.5);
        let _ = writeln!(out, "<g class=\"link\" stroke-width=\"{width:.2}\">");
        for (one, other) in self.picture.network.links() {
            let (a, b) = (self.points[one as usize], self.points[other as usize]);
            let _ = writeln!(
                out,
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
                a.0, a.1, b.0, b.1
            );
        }
        out.push_str("</g>\n");
    }

    /// A dashed line between the two nodes where tokens come nearest.
    fn nearest(&self, out: &mut String) {
        let Some(nearest) = self.picture.nearest else {
            return;
        };
        let walk = self.picture.walk;
        let (one, other) = nearest.positions;
        let (a, b) = (
            self.points[walk.at(one as usize) as usize],
            self.points[walk.at(other as usize) as usize],
        );
        let width = (self.radius * 0.2).max(1.0);
        for point in [a, b] {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"none\" stroke=\"#e0962b\" \
                 stroke-width=\"{width:.1}\" stroke-dasharray=\"{:.1} {:.1}\"/>",
                point.0,
                point.1,
                self.radius * 1.6 + 2.0,
                width * 2.0,
                width * 1.5
            );
        }
    }

    fn nodes(&self, out: &mut String) {
        let network = self.picture.network;
        let named = self.radius >= 9.0;
        let stroke = (self.radius * 0.12).max(0.4);
        let letters = network
            .names()
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(1);
        let size = (self.radius * 0.95)
            .min(self.radius * 3.2 / letters.max(1) as f64)
            .max(6.0);
        for node in network.nodes() {
            let (x, y) = self.points[node as usize];
            let name = escaped(network.name(node));
            let _ = writeln!(
                out,
                "<circle class=\"node\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" \
                 stroke-width=\"{stroke:.1}\"><title>{name}</title></circle>",
                self.radius
            );
            if named {
                let _ = writeln!(
                    out,
                    "<text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{size:.1}\" \
                     text-anchor=\"middle\">{name}</text>",
                    y + size * 0.35
                );
            }
        }
    }

    fn tokens(&self, out: &mut String) {
        let walk = self.picture.walk;
        let radius = (self.radius * 0.72).max(4.0);
        for (token, &position) in walk.even_tokens(self.picture.tokens).iter().enumerate() {
            let (x, y) = self.points[walk.at(position) as usize];
            // Beside the name, not on it.
            let (x, y) = if self.radius >= 9.0 {
                (x + self.radius * 0.95, y - self.radius * 0.95)
            } else {
                (x, y)
            };
            let colour = COLOURS[token % COLOURS.len()];
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" \
                 stroke=\"#ffffff\" stroke-width=\"1.2\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{:.1}\" font-weight=\"700\" \
                 fill=\"#ffffff\" text-anchor=\"middle\">{}</text>",
                y + radius * 0.42,
                radius * 1.2,
                token + 1
            );
        }
    }

    fn headline(&self) -> String {
        let tokens = self.picture.tokens;
        let noun = if tokens == 1 { "token" } else { "tokens" };
        match self.picture.nearest {
            Some(nearest) => format!("{tokens} {noun} keep distance {}", nearest.distance),
            None => format!("{tokens} {noun}"),
        }
    }

    fn caption(&self, out: &mut String) {
        let walk = self.picture.walk;
        let note = format!(
            "walk of {} steps over {} nodes, tokens {} apart on it",
            walk.len(),
            self.picture.network.len(),
            walk.len() / self.picture.tokens.max(1)
        );
        let mut notes = vec![note];
        if let Some(bound) = self.picture.bound {
            notes.push(format!(
                "no walk keeps more than {bound}; dashed: where tokens come nearest"
            ));
        }
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"24\" y=\"36\" font-size=\"20\" font-weight=\"600\">{}</text>",
            escaped(&self.headline())
        );
        for (line, note) in notes.iter().enumerate() {
            let _ = writeln!(
                out,
                "<text class=\"note\" x=\"24\" y=\"{}\" font-size=\"13\">{}</text>",
                58 + 18 * line,
                escaped(note)
            );
        }
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn unit(vector: Point) -> Point {
    let length = vector.0.hypot(vector.1);
    if length < 1e-9 {
        (1.0, 0.0)
    } else {
        (vector.0 / length, vector.1 / length)
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
