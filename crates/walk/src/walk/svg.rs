//! The picture: the network, the walk as an arrowed curve, the tokens, and where
//! they come nearest.

use std::collections::HashMap;

pub use headway_draw::Theme;
use headway_draw::{Point, Svg, TOKEN_COLOURS, token_rules};

use crate::network::layout;
use crate::network::{Network, Node};
use crate::walk::Walk;
use crate::walk::kept::Nearest;

mod curve;

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

const RULES: &str = "\
.title { font-size: 20px; font-weight: 600 }
.note { fill: $muted }
.link { fill: none; stroke: $line }
.node { fill: $raised; stroke: $relay }
.walk { fill: none; stroke-linejoin: round }
.nearest { fill: none; stroke: $bad }
.token { stroke: $ground; stroke-width: 1.2 }
.number { fill: $ground; font-weight: 700 }
.label { paint-order: stroke; stroke: $ground; stroke-width: 3px }
";

/// Draws it as SVG.
///
/// ```
/// use headway_walk::{network::generators::Generator, walk::svg::{self, Picture, Theme}, Walk};
/// let ring = Generator::Ring(6).network(0).unwrap();
/// let walk = Walk::new(&ring, (0..6).collect()).unwrap();
/// let picture = Picture { network: &ring, walk: &walk, tokens: 2, nearest: None, bound: None, theme: Theme::Light };
/// assert!(svg::draw(&picture).starts_with("<svg"));
/// ```
pub fn draw(picture: &Picture<'_>) -> String {
    let scene = Scene::new(picture);
    let rules = [
        RULES,
        &token_rules("s", "stroke"),
        &token_rules("f", "fill"),
    ]
    .concat();
    let mut out = Svg::new(
        (0.0, 0.0),
        scene.size,
        &scene.headline(),
        picture.theme,
        &rules,
    );
    scene.links(&mut out);
    scene.walk(&mut out);
    scene.nearest(&mut out);
    scene.nodes(&mut out);
    scene.tokens(&mut out);
    scene.caption(&mut out);
    out.finish()
}

struct Scene<'a> {
    picture: &'a Picture<'a>,
    points: Vec<Point>,
    size: Point,
    /// Of a node, in pixels; everything else is measured by it.
    radius: f64,
    /// How often each directed link has been walked before each step, at most
    /// [`MAX_LANES`]: where a token goes to and fro to wait, lanes would pile up.
    lanes: Vec<u32>,
    /// How far one lane is from the next.
    lane: f64,
}

const MARGIN: f64 = 46.0;
const MAX_LANES: u32 = 3;
const CAPTION: f64 = 80.0;
/// The size of labels, which are below their nodes.
const LABEL: f64 = 10.0;
/// So that the caption fits.
const MIN_WIDTH: f64 = 500.0;

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
        let width = (far(|point| point.0) + 2.0 * MARGIN).max(MIN_WIDTH);
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
                (*times - 1).min(MAX_LANES)
            })
            .collect();
        Scene {
            picture,
            size: (width, height),
            points,
            radius,
            lanes,
            lane: radius * 0.5,
        }
    }

    fn point(&self, node: Node) -> Point {
        self.points[node as usize]
    }

    fn links(&self, out: &mut Svg) {
        let width = (self.radius * 0.28).max(0.5);
        for (one, other) in self.picture.network.links() {
            let link = out.line("link", self.point(one), self.point(other));
            link.number("stroke-width", width);
        }
    }

    /// Dashed circles about the two nodes where tokens come nearest.
    fn nearest(&self, out: &mut Svg) {
        let Some(nearest) = self.picture.nearest else {
            return;
        };
        let width = (self.radius * 0.2).max(1.0);
        let dashes = format!("{:.1} {:.1}", width * 2.0, width * 1.5);
        for position in <[u32; 2]>::from(nearest.positions) {
            let node = self.picture.walk.at(position as usize);
            let circle = out.circle("nearest", self.point(node), self.radius * 1.6 + 2.0);
            let circle = circle.number("stroke-width", width);
            circle.set("stroke-dasharray", &dashes);
        }
    }

    fn nodes(&self, out: &mut Svg) {
        let network = self.picture.network;
        let lengths = network.names().iter().map(|name| name.chars().count());
        let letters = lengths.max().unwrap_or(1).max(1) as f64;
        let size = (self.radius * 0.95).min(self.radius * 3.2 / letters);
        let size = size.max(6.0);
        for node in network.nodes() {
            let (at, label) = (self.point(node), network.label(node));
            let circle = out.circle("node", at, self.radius).title(&label);
            circle.number("stroke-width", (self.radius * 0.12).max(0.4));
            if self.shows_names() {
                self.word(out, "name", at, size, network.name(node));
                if network.own_label(node).is_some() {
                    let below = (at.0, at.1 + self.radius + LABEL);
                    self.word(out, "label", below, LABEL, &label);
                }
            }
        }
    }

    fn shows_names(&self) -> bool {
        self.radius >= 9.0
    }

    /// A text of a size with its middle at a point.
    fn word(&self, out: &mut Svg, class: &str, at: Point, size: f64, word: &str) {
        let baseline = (at.0, at.1 + size * 0.35);
        let text = out.text(&format!("{class} middle"), baseline, word);
        text.set("style", &format!("font-size: {size:.1}px"));
    }

    fn tokens(&self, out: &mut Svg) {
        let walk = self.picture.walk;
        let radius = (self.radius * 0.72).max(4.0);
        for (token, &position) in walk.even_tokens(self.picture.tokens).iter().enumerate() {
            let (mut x, mut y) = self.point(walk.at(position));
            if self.shows_names() {
                // Beside the name, not on it.
                (x, y) = (x + self.radius * 0.95, y - self.radius * 0.95);
            }
            let class = format!("token f{}", token % TOKEN_COLOURS);
            out.circle(&class, (x, y), radius);
            let number = (token + 1).to_string();
            self.word(out, "number", (x, y), radius * 1.2, &number);
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

    fn caption(&self, out: &mut Svg) {
        let walk = self.picture.walk;
        out.text("title", (24.0, 36.0), &self.headline());
        let note = format!(
            "walk of {} steps over {} nodes, tokens {} apart on it",
            walk.len(),
            self.picture.network.len(),
            walk.len() / self.picture.tokens.max(1)
        );
        out.text("note", (24.0, 58.0), &note);
        if let Some(bound) = self.picture.bound {
            let note =
                format!("no walk keeps more than {bound}; dashed: where tokens come nearest");
            out.text("note", (24.0, 76.0), &note);
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
