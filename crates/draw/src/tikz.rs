//! Pictures as TikZ, for papers: the same elements, in the fonts of the document.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::escape;
use crate::svg::{Element, Svg};

/// How wide a picture is on paper at most: 12 cm, in big points.
const MAX_WIDTH: f64 = 340.0;
/// A pixel, likewise.
const PIXEL: f64 = 0.75;
/// The smallest text that can be read.
const MIN_TEXT: f64 = 6.0;

/// Classes that are left to the caption of the figure.
const CAPTIONS: [&str; 2] = ["title", "legend"];

impl Svg {
    /// The picture as a `tikzpicture`, in the colours for a light ground. Titles and legends
    /// are comments in it, for the caption of the figure.
    pub fn tikz(self) -> String {
        let unit = (MAX_WIDTH / self.size.0).min(PIXEL);
        let mut scene = Scene {
            rules: &self.rules,
            unit,
            colours: BTreeMap::new(),
            out: String::new(),
        };
        for element in &self.elements {
            scene.draw(element);
        }
        let mut text = String::from("% Drawn by Headway. \\usepackage{tikz}\n");
        for (name, colour) in &scene.colours {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\\definecolor{{{name}}}{{HTML}}{{{colour}}}");
        }
        let _ = writeln!(
            text,
            "\\begin{{tikzpicture}}[x={unit:.3}bp, y=-{unit:.3}bp]"
        );
        text + &scene.out + "\\end{tikzpicture}\n"
    }
}

impl Element {
    fn value(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap_or(0.0)
    }

    fn point(&self, across: &str, down: &str) -> String {
        at(self.value(across), self.value(down))
    }

    fn has_class(&self, class: &str) -> bool {
        self.get("class").split(' ').any(|own| own == class)
    }

    /// Whether a selector such as `text`, `.place` or `.place.added` is about it.
    fn fits(&self, selector: &str) -> bool {
        let mut parts = selector.trim().split('.');
        let name = parts.next().unwrap_or_default();
        (name.is_empty() || name == self.name) && parts.all(|class| self.has_class(class))
    }
}

struct Scene<'a> {
    rules: &'a str,
    /// Big points for a pixel.
    unit: f64,
    colours: BTreeMap<String, String>,
    out: String,
}

impl Scene<'_> {
    fn draw(&mut self, element: &Element) {
        if element.has_class("ground") {
            return;
        }
        let caption = CAPTIONS.into_iter().find(|class| element.has_class(class));
        if let Some(class) = caption {
            let _ = writeln!(self.out, "% {class}: {}", element.text);
            return;
        }
        let style = self.style(element);
        if element.name == "text" {
            self.text(element, &style);
            return;
        }
        let path = match element.name {
            "line" => {
                let (from, to) = (element.point("x1", "y1"), element.point("x2", "y2"));
                format!("{from} -- {to}")
            }
            "rect" => {
                let (x, y) = (element.value("x"), element.value("y"));
                let (width, height) = (element.value("width"), element.value("height"));
                format!("{} rectangle {}", at(x, y), at(x + width, y + height))
            }
            "circle" => {
                let radius = element.value("r") * self.unit;
                format!("{} circle[radius={radius:.2}bp]", element.point("cx", "cy"))
            }
            "path" => curve(element.get("d")),
            _ => return,
        };
        let options = self.options(element, &style);
        let _ = writeln!(self.out, "\\path[{}] {path};", options.join(", "));
    }

    /// What the style sheet and the element itself say, the latter last.
    fn style(&self, element: &Element) -> BTreeMap<String, String> {
        let mut style = BTreeMap::new();
        let mut declare = |declarations: &str| {
            for declaration in declarations.split(';') {
                if let Some((name, value)) = declaration.split_once(':') {
                    style.insert(name.trim().to_owned(), value.trim().to_owned());
                }
            }
        };
        for rule in self.rules.lines() {
            let Some((selectors, declarations)) = rule.split_once('{') else {
                continue;
            };
            if selectors.split(',').any(|selector| element.fits(selector)) {
                declare(declarations.trim_end().trim_end_matches('}'));
            }
        }
        declare(element.get("style"));
        for name in ["stroke-width", "stroke-dasharray", "stroke-opacity"] {
            if !element.get(name).is_empty() {
                style.insert(name.to_owned(), element.get(name).to_owned());
            }
        }
        style
    }

    /// A colour of the style sheet by its name in TeX.
    fn colour(&mut self, value: &str) -> Option<String> {
        let name = format!("headway-{}", value.strip_prefix('$')?);
        let hex = crate::LIGHT
            .fill_in(value)
            .strip_prefix('#')?
            .to_uppercase();
        self.colours.insert(name.clone(), hex);
        Some(name)
    }

    fn options(&mut self, element: &Element, style: &BTreeMap<String, String>) -> Vec<String> {
        let get = |name: &str| style.get(name).map_or("", String::as_str);
        let mut options = Vec::new();
        // What is not said is filled in black, as in SVG.
        match get("fill") {
            "none" => {}
            "" if element.name == "line" => {}
            "" => options.push("fill=black".to_owned()),
            fill => options.extend(self.colour(fill).map(|name| format!("fill={name}"))),
        }
        if let Some(name) = self.colour(get("stroke")) {
            let width = get("stroke-width").trim_end_matches("px");
            let width = width.parse::<f64>().unwrap_or(1.0) * self.unit;
            options.push(format!("draw={name}, line width={width:.2}bp"));
            let dashes = get("stroke-dasharray").split(' ').map(str::parse::<f64>);
            if let [Ok(on), Ok(off)] = dashes.collect::<Vec<_>>()[..] {
                let (on, off) = (on * self.unit, off * self.unit);
                options.push(format!("dash pattern=on {on:.2}bp off {off:.2}bp"));
            }
            for (name, option) in [
                ("stroke-linecap", "line cap"),
                ("stroke-linejoin", "line join"),
            ] {
                if get(name) == "round" {
                    options.push(format!("{option}=round"));
                }
            }
            if !get("marker-end").is_empty() {
                options.push("->".to_owned());
            }
        }
        for (name, option) in [("opacity", "opacity"), ("stroke-opacity", "draw opacity")] {
            if !get(name).is_empty() {
                options.push(format!("{option}={}", get(name)));
            }
        }
        if let [degrees, x, y] = rotation(element.get("transform"))[..] {
            options.push(format!("rotate around={{{}:{}}}", -degrees, at(x, y)));
        }
        options
    }

    fn text(&mut self, element: &Element, style: &BTreeMap<String, String>) {
        let get = |name: &str| style.get(name).map_or("", String::as_str);
        let anchor = match get("text-anchor") {
            "middle" => "base",
            "end" => "base east",
            _ => "base west",
        };
        let pixels = get("font-size").trim_end_matches("px").parse::<f64>();
        let size = (pixels.unwrap_or(13.0) * self.unit).max(MIN_TEXT);
        let weight = get("font-weight").parse::<u32>().unwrap_or(400);
        let bold = if weight >= 600 { "\\bfseries" } else { "" };
        let mut options = format!("anchor={anchor}, inner sep=0pt");
        let _ = write!(
            options,
            ", font=\\fontsize{{{size:.1}}}{{{size:.1}}}\\selectfont{bold}"
        );
        if let Some(name) = self.colour(get("fill")) {
            let _ = write!(options, ", text={name}");
        }
        let mut place = element.point("x", "y");
        let transform = element.get("transform");
        if let Some((moved, turned)) = transform.split_once(") rotate(") {
            let moved = numbers(moved.trim_start_matches("translate("));
            if let ([x, y], [degrees]) = (&moved[..], &numbers(turned)[..]) {
                place = at(*x, *y);
                let _ = write!(options, ", rotate={}", -degrees);
            }
        }
        let text = escape::tex(&element.text);
        let _ = writeln!(self.out, "\\node[{options}] at {place} {{{text}}};");
    }
}

/// A point; numbers are to a tenth, as in SVG.
fn at(x: f64, y: f64) -> String {
    let tenth = |value: f64| (value * 10.0).round() / 10.0 + 0.0;
    format!("({},{})", tenth(x), tenth(y))
}

fn numbers(text: &str) -> Vec<f64> {
    let words = text.trim_end_matches(')').split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Degrees and centre of a rotation.
fn rotation(transform: &str) -> Vec<f64> {
    transform
        .strip_prefix("rotate(")
        .map(numbers)
        .unwrap_or_default()
}

/// A path's lines and curves.
fn curve(d: &str) -> String {
    let mut text = String::new();
    let mut here = (0.0, 0.0);
    let starts: Vec<usize> = d
        .match_indices(char::is_alphabetic)
        .map(|(at, _)| at)
        .collect();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(d.len());
        let values = numbers(&d[start + 1..end]);
        let points: Vec<_> = values
            .chunks_exact(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        match (&d[start..=start], &points[..]) {
            ("Z", _) => text += " -- cycle",
            ("Q", &[by, to]) => {
                // A curve with one control point as one with two.
                let third =
                    |from: (f64, f64)| at((from.0 + 2.0 * by.0) / 3.0, (from.1 + 2.0 * by.1) / 3.0);
                let _ = write!(
                    text,
                    " .. controls {} and {} .. {}",
                    third(here),
                    third(to),
                    at(to.0, to.1)
                );
            }
            (command, points) => {
                for point in points {
                    let join = if command == "M" { " " } else { " -- " };
                    let _ = write!(text, "{join}{}", at(point.0, point.1));
                }
            }
        }
        here = points.last().copied().unwrap_or(here);
    }
    text.trim_start().to_owned()
}
