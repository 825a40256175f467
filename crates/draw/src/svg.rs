//! Pictures as SVG.

use std::fmt::Write as _;

use crate::Theme;
use crate::escape;

/// Across and down.
pub type Point = (f64, f64);

/// A picture that is being written. See the crate's example.
#[derive(Clone, Debug)]
pub struct Svg {
    pub(crate) text: String,
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
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{view}\" width=\"{shown:.0}\" \
             height=\"{:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{}</style>\n",
            size.1 * shown / size.0.max(1.0),
            escape::xml(title),
            theme.style(&rules)
        );
        let mut svg = Svg { text, size, rules };
        svg.rect("ground", corner, size);
        svg
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: Point, to: Point) -> Element<'_> {
        let line = self.element("line", class);
        let line = line.number("x1", from.0).number("y1", from.1);
        line.number("x2", to.0).number("y2", to.1)
    }

    /// A rectangle from its upper left corner.
    pub fn rect(&mut self, class: &str, corner: Point, size: Point) -> Element<'_> {
        let rect = self.element("rect", class);
        let rect = rect.number("x", corner.0).number("y", corner.1);
        rect.number("width", size.0).number("height", size.1)
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, centre: Point, radius: f64) -> Element<'_> {
        let circle = self.element("circle", class);
        circle
            .number("cx", centre.0)
            .number("cy", centre.1)
            .number("r", radius)
    }

    /// Lines and curves.
    pub fn path(&mut self, class: &str, path: &Path) -> Element<'_> {
        self.element("path", class).set("d", &path.0)
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, at: Point, text: &str) -> Element<'_> {
        let element = self.element("text", class).number("x", at.0);
        element.number("y", at.1).holding(escape::xml(text))
    }

    /// Anything else, as it stands in the file.
    pub fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The file.
    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }

    fn element(&mut self, name: &'static str, class: &str) -> Element<'_> {
        self.text.extend(["<", name]);
        let element = Element {
            out: &mut self.text,
            name,
            content: String::new(),
        };
        if class.is_empty() {
            element
        } else {
            element.set("class", class)
        }
    }
}

/// An element that takes more attributes until it is dropped.
#[derive(Debug)]
pub struct Element<'a> {
    out: &'a mut String,
    name: &'static str,
    content: String,
}

impl Element<'_> {
    /// An attribute.
    pub fn set(self, name: &str, value: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.out, " {name}=\"{}\"", escape::xml(value));
        self
    }

    /// An attribute that is a number.
    pub fn number(self, name: &str, value: f64) -> Self {
        let value = number(value);
        self.set(name, &value)
    }

    /// A name that appears when somebody points at it.
    pub fn title(self, title: &str) -> Self {
        self.holding(format!("<title>{}</title>", escape::xml(title)))
    }

    fn holding(mut self, content: String) -> Self {
        self.content = content;
        self
    }
}

impl Drop for Element<'_> {
    fn drop(&mut self) {
        let _ = match self.content.as_str() {
            "" => writeln!(self.out, "/>"),
            content => writeln!(self.out, ">{content}</{}>", self.name),
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
