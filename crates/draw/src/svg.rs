//! Pictures as SVG.

use std::fmt::Write as _;

use crate::Theme;
use crate::escape;

/// Across and down.
pub type Point = (f64, f64);

/// A picture that is being written. See the crate's example.
#[derive(Clone, Debug)]
pub struct Svg {
    head: String,
    pub(crate) elements: Vec<Element>,
    pub(crate) size: Point,
    /// The style sheet, in which colours still have their names.
    pub(crate) rules: String,
}

/// Pictures are shown within these widths, in pixels.
const SHOWN: (f64, f64) = (240.0, 1400.0);

/// Rules that all pictures share.
const RULES: &str = "\
text { font: 13px system-ui, sans-serif }
text { fill: $ink }
.middle { text-anchor: middle }
.end { text-anchor: end }
.ground { fill: $ground }
";

impl Svg {
    /// A picture of the part of the plane that has this corner (upper left) and size,
    /// with nothing on its ground yet. `rules` is as in [`Theme::style`]; the classes
    /// `middle` and `end` say which part of a text is at its position.
    pub fn new(corner: Point, size: Point, title: &str, theme: Theme, rules: &str) -> Svg {
        let shown = size.0.clamp(SHOWN.0, SHOWN.1);
        let view = [corner.0, corner.1, size.0, size.1].map(number).join(" ");
        let rules = format!("{RULES}{rules}");
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{view}\" width=\"{shown:.0}\" \
             height=\"{:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{}</style>\n",
            size.1 * shown / size.0.max(1.0),
            escape::xml(title),
            theme.style(&rules)
        );
        let mut svg = Svg {
            head,
            elements: Vec::new(),
            size,
            rules,
        };
        svg.rect("ground", corner, size);
        svg
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: Point, to: Point) -> &mut Element {
        let line = self.element("line", class);
        let line = line.number("x1", from.0).number("y1", from.1);
        line.number("x2", to.0).number("y2", to.1)
    }

    /// A rectangle from its upper left corner.
    pub fn rect(&mut self, class: &str, corner: Point, size: Point) -> &mut Element {
        let rect = self.element("rect", class);
        let rect = rect.number("x", corner.0).number("y", corner.1);
        rect.number("width", size.0).number("height", size.1)
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, centre: Point, radius: f64) -> &mut Element {
        let circle = self.element("circle", class);
        circle
            .number("cx", centre.0)
            .number("cy", centre.1)
            .number("r", radius)
    }

    /// Lines and curves.
    pub fn path(&mut self, class: &str, path: &Path) -> &mut Element {
        self.element("path", class).set("d", &path.0)
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, at: Point, text: &str) -> &mut Element {
        let element = self.element("text", class).number("x", at.0);
        element.text = text.to_owned();
        element.number("y", at.1)
    }

    /// Anything else, as it stands in the file.
    pub fn raw(&mut self, text: &str) {
        self.element("", "").text = text.to_owned();
    }

    /// The file.
    pub fn finish(self) -> String {
        let mut text = self.head;
        self.elements
            .iter()
            .for_each(|element| element.write(&mut text));
        text + "</svg>\n"
    }

    fn element(&mut self, name: &'static str, class: &str) -> &mut Element {
        let attributes = match class {
            "" => Vec::new(),
            _ => vec![("class", class.to_owned())],
        };
        self.elements.push(Element {
            name,
            attributes,
            title: String::new(),
            text: String::new(),
        });
        self.elements.last_mut().expect("just added")
    }
}

/// An element, which takes more attributes.
#[derive(Clone, Debug)]
pub struct Element {
    /// None if it is as it stands in the file.
    pub(crate) name: &'static str,
    attributes: Vec<(&'static str, String)>,
    title: String,
    pub(crate) text: String,
}

impl Element {
    /// An attribute.
    pub fn set(&mut self, name: &'static str, value: &str) -> &mut Element {
        self.attributes.push((name, value.to_owned()));
        self
    }

    /// An attribute that is a number.
    pub fn number(&mut self, name: &'static str, value: f64) -> &mut Element {
        self.set(name, &number(value))
    }

    /// A name that appears when somebody points at it.
    pub fn title(&mut self, title: &str) -> &mut Element {
        title.clone_into(&mut self.title);
        self
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| *key == name);
        found.map_or("", |(_, value)| value)
    }

    fn write(&self, out: &mut String) {
        if self.name.is_empty() {
            return out.push_str(&self.text);
        }
        out.extend(["<", self.name]);
        for (name, value) in &self.attributes {
            // Writing to a string cannot fail.
            let _ = write!(out, " {name}=\"{}\"", escape::xml(value));
        }
        let (title, text) = (escape::xml(&self.title), escape::xml(&self.text));
        let _ = match (&*title, &*text) {
            ("", "") => writeln!(out, "/>"),
            ("", text) => writeln!(out, ">{text}</{}>", self.name),
            (title, _) => writeln!(out, "><title>{title}</title></{}>", self.name),
        };
    }
}

/// Lines and curves of a [`Svg::path`].
#[derive(Clone, Debug, Default)]
pub struct Path(String);

impl Path {
    /// One command of SVG, such as `M` (move), `L` (line), `Q` (curve) or `Z` (close),
    /// and its points.
    pub fn to(&mut self, command: char, points: &[Point]) -> &mut Path {
        self.0.push(command);
        for (index, point) in points.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            let _ = write!(self.0, "{space}{} {}", number(point.0), number(point.1));
        }
        self
    }

    /// Whether nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// To a tenth, which is less than anyone sees.
fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    // Not -0.
    (tenths + 0.0).to_string()
}
