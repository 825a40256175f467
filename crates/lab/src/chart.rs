//! Charts on the house's drawing kit: lines with bands, and maps of colours.

use headway_draw::{Path, Point, Svg, TOKEN_COLOURS, Theme, token_rules};

const LEFT: f64 = 64.0;
const TOP: f64 = 68.0;
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 320.0;
const BOTTOM: f64 = TOP + HEIGHT;
/// Between two labels, one below the other.
const LABEL: f64 = 16.0;
/// About as wide as a character of a label.
const CHARACTER: f64 = 6.6;
/// A line with more points has a mark at some of them only.
const MARKS: usize = 12;
/// A map with more fields has no numbers in them.
const NUMBERS: usize = 120;
/// An axis with more names shows some of them only.
const NAMES: usize = 24;

const RULES: &str = "\
.title { font-size: 17px; font-weight: 600 }
.note { fill: $muted; font-size: 12px }
.label { font-size: 12px }
.axis { stroke: $muted }
.grid { stroke: $line }
.shade { fill: $shade }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
.again { stroke-dasharray: 6 4 }
.band { opacity: 0.2 }
.mark { stroke: $ground; stroke-width: 1 }
";

/// What stands below or beside an axis, and how it is divided.
pub(crate) struct Axis<'a> {
    pub(crate) label: &'a str,
    pub(crate) log: bool,
}

/// x, y, and the confidence interval of y.
pub(crate) type Sample = (f64, f64, Option<(f64, f64)>);

/// A line: what stands at its end, and its points.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<Sample>,
}

/// Draws lines that go from left to right.
pub(crate) fn lines(title: &str, x: &Axis<'_>, y: &Axis<'_>, lines: &[Line]) -> Svg {
    let points = || lines.iter().flat_map(|line| &line.points);
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let across = bounds(&mut points().map(|point| point.0));
    // What is never negative does not look as if it could be.
    let least = bounds(&mut points().map(|point| point.1)).0.min(0.0);
    let ends = |&(_, y, band): &Sample| {
        let (low, high) = band.unwrap_or((y, y));
        [y, low.max(least), high]
    };
    let mut heights = points()
        .flat_map(ends)
        .filter(|&value| !y.log || value > 0.0);
    let up = bounds(&mut heights);
    let across = Scale::new(across, x.log, (LEFT, LEFT + WIDTH), 10.0, false);
    let up = Scale::new(up, y.log, (BOTTOM, TOP), 7.0, true);
    let mut out = paper(
        title,
        x.label,
        y.label,
        lines.iter().map(|line| line.label.as_str()),
    );
    for (value, text) in across.ticks() {
        let at = across.place(value);
        out.line("grid", (at, TOP), (at, BOTTOM));
        out.text("note middle", (at, BOTTOM + 18.0), &text);
    }
    for (value, text) in up.ticks() {
        let at = up.place(value);
        out.line("grid", (LEFT, at), (LEFT + WIDTH, at));
        out.text("note end", (LEFT - 8.0, at + 4.0), &text);
    }
    out.line("axis", (LEFT, BOTTOM), (LEFT + WIDTH, BOTTOM));
    for (index, line) in lines.iter().enumerate() {
        let banded = || {
            let banded = line
                .points
                .iter()
                .filter_map(|point| Some((point.0, point.2?)));
            banded.filter(|&(_, (low, _))| !y.log || low > 0.0)
        };
        let lower = banded().map(|(x, (low, _))| (across.place(x), up.place(low)));
        let upper = banded().map(|(x, (_, high))| (across.place(x), up.place(high)));
        let around: Vec<Point> = lower.chain(upper.rev()).collect();
        if around.len() > 2 {
            let class = format!("band f{}", index % TOKEN_COLOURS);
            out.path(&class, through(&around).to('Z', &[]));
        }
    }
    let mut labels = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let colour = index % TOKEN_COLOURS;
        let place = |point: &Sample| (across.place(point.0), up.place(point.1));
        let points: Vec<Point> = line.points.iter().map(place).collect();
        let again = if index < TOKEN_COLOURS { "" } else { " again" };
        out.path(&format!("line s{colour}{again}"), &through(&points));
        // Not all at the same places, for lines that coincide.
        let every = points.len().div_ceil(MARKS);
        let first = every * index / lines.len();
        for at in points.iter().skip(first).step_by(every) {
            mark(&mut out, index, *at);
        }
        labels.extend(points.last().map(|end| (end.1, index)));
    }
    if lines.iter().any(|line| !line.label.is_empty()) {
        for (at, index) in spread(labels) {
            mark(&mut out, index, (LEFT + WIDTH + 16.0, at));
            out.text(
                "label",
                (LEFT + WIDTH + 26.0, at + 4.0),
                &lines[index].label,
            );
        }
    }
    out
}

/// Draws a field for each pair of names, in a colour that grows with its value; the first row
/// is at the bottom.
pub(crate) fn map(
    title: &str,
    labels: (&str, &str),
    xs: &[String],
    ys: &[String],
    values: &[Vec<Option<f64>>],
) -> Svg {
    let known = || values.iter().flatten().flatten().copied();
    let (low, high) = (
        known().fold(f64::INFINITY, f64::min),
        known().fold(f64::NEG_INFINITY, f64::max),
    );
    let scale = [short(low), short(high)];
    let mut out = paper(title, labels.0, labels.1, scale.iter().map(String::as_str));
    let size = (WIDTH / xs.len() as f64, HEIGHT / ys.len() as f64);
    let fields = xs.len() * ys.len();
    for (column, x) in xs.iter().enumerate() {
        let middle = LEFT + (column as f64 + 0.5) * size.0;
        if column % xs.len().div_ceil(NAMES) == 0 {
            out.text("note middle", (middle, BOTTOM + 18.0), x);
        }
        for (row, values) in values.iter().enumerate() {
            let top = BOTTOM - (row + 1) as f64 * size.1;
            if let Some(value) = values[column] {
                let share = (value - low) / (high - low).max(f64::MIN_POSITIVE);
                let field = out.rect("shade", (middle - size.0 / 2.0, top), size);
                field.set("fill-opacity", &format!("{share:.3}"));
                if fields <= NUMBERS {
                    out.text(
                        "label middle",
                        (middle, top + size.1 / 2.0 + 4.0),
                        &short(value),
                    );
                }
            }
        }
    }
    for (row, y) in ys.iter().enumerate() {
        let middle = BOTTOM - (row as f64 + 0.5) * size.1;
        if row % ys.len().div_ceil(NAMES) == 0 {
            out.text("note end", (LEFT - 8.0, middle + 4.0), y);
        }
    }
    let right = LEFT + WIDTH + 16.0;
    for step in 0..20 {
        let at = (right, BOTTOM - HEIGHT / 20.0 * f64::from(step + 1));
        let field = out.rect("shade", at, (12.0, HEIGHT / 20.0));
        field.set("fill-opacity", &format!("{:.3}", f64::from(step) / 19.0));
    }
    for (text, at) in scale.iter().zip([BOTTOM, TOP + 9.0]) {
        out.text("note", (right + 18.0, at), text);
    }
    out
}

/// The title and the names of both axes, on paper with room for labels on the right.
fn paper<'a>(title: &str, x: &str, y: &str, labels: impl Iterator<Item = &'a str>) -> Svg {
    let longest = labels.map(|label| label.chars().count()).max().unwrap_or(0);
    let room = longest as f64 * CHARACTER + 40.0;
    let titled = title.chars().count() as f64 * 10.0 + 24.0;
    let size = ((LEFT + WIDTH + room).max(titled), BOTTOM + 52.0);
    let rules = [
        RULES,
        &token_rules("s", "stroke"),
        &token_rules("f", "fill"),
    ]
    .concat();
    let mut out = Svg::new((0.0, 0.0), size, title, Theme::Auto, &rules);
    out.text("title", (12.0, 28.0), title);
    out.text("note", (12.0, 52.0), y);
    out.text("note end", (LEFT + WIDTH, BOTTOM + 40.0), x);
    out
}

fn through(points: &[Point]) -> Path {
    let mut path = Path::default();
    for (index, point) in points.iter().enumerate() {
        path.to(if index == 0 { 'M' } else { 'L' }, &[*point]);
    }
    path
}

/// A mark in the colour of a line, of a shape that tells it from its neighbours without.
fn mark(out: &mut Svg, index: usize, (x, y): Point) {
    let class = format!("mark f{}", index % TOKEN_COLOURS);
    let corners: &[Point] = match index % 6 {
        0 => {
            out.circle(&class, (x, y), 4.0);
            return;
        }
        1 => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
        2 => &[(0.0, -5.0), (4.5, 3.5), (-4.5, 3.5)],
        3 => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
        4 => &[(0.0, 5.0), (4.5, -3.5), (-4.5, -3.5)],
        _ => &[(-5.0, -2.5), (5.0, -2.5), (5.0, 2.5), (-5.0, 2.5)],
    };
    let corners: Vec<Point> = corners
        .iter()
        .map(|corner| (x + corner.0, y + corner.1))
        .collect();
    out.path(&class, through(&corners).to('Z', &[]));
}

/// Heights and what belongs there, moved so far apart that labels do not touch.
fn spread(mut labels: Vec<(f64, usize)>) -> Vec<(f64, usize)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let apart = LABEL.min(HEIGHT / labels.len().max(1) as f64);
    let mut least = TOP;
    for label in &mut labels {
        label.0 = label.0.max(least);
        least = label.0 + apart;
    }
    let mut most = BOTTOM;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - apart;
    }
    labels
}

/// From values to places.
struct Scale {
    low: f64,
    high: f64,
    /// Where the lowest and the highest value are.
    places: Point,
    log: bool,
    /// At most so many steps between ticks.
    ticks: f64,
}

impl Scale {
    /// A scale for values between these. A linear one begins at 0 if that is not far, and one
    /// that is `rounded` ends at ticks.
    fn new((low, high): Point, log: bool, places: Point, ticks: f64, rounded: bool) -> Scale {
        let mut scale = Scale {
            low,
            high,
            places,
            log,
            ticks,
        };
        if !log && low >= 0.0 && (rounded || low < high / 4.0) {
            scale.low = 0.0;
        }
        if scale.low == scale.high {
            (scale.low, scale.high) = if log {
                (low / 2.0, low * 2.0)
            } else {
                (low - 0.5, low + 0.5)
            };
        }
        if rounded && log {
            let down = scale.round().filter(|&value| value <= scale.low).last();
            let up = scale.round().find(|&value| value >= scale.high);
            (scale.low, scale.high) = (down.unwrap_or(scale.low), up.unwrap_or(scale.high));
        } else if rounded {
            let step = scale.step();
            scale.low = (scale.low / step).floor() * step;
            scale.high = (scale.high / step).ceil() * step;
        }
        scale
    }

    fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.places.0 + share.clamp(0.0, 1.0) * (self.places.1 - self.places.0)
    }

    /// 1, 2 or 5 with zeros, so that there are not too many ticks.
    fn step(&self) -> f64 {
        let least = (self.high - self.low) / self.ticks;
        let power = 10_f64.powf(least.log10().floor());
        let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
        steps
            .into_iter()
            .find(|&step| step >= least)
            .unwrap_or(10.0 * power)
    }

    /// 1, 2 and 5 with zeros, or only 1 where there are many, from below the lowest value to
    /// above the highest.
    fn round(&self) -> impl Iterator<Item = f64> {
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades * 3.0 <= self.ticks + 2.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        powers.flat_map(move |power| digits.iter().map(move |digit| digit * 10_f64.powi(power)))
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let near = (self.high - self.low) * 1e-9;
        let values: Vec<f64> = if self.log {
            self.round().collect()
        } else {
            let step = self.step();
            let first = (self.low / step).ceil() as i64;
            (first..)
                .map(|at| at as f64 * step)
                .take_while(|&value| value <= self.high + near)
                .collect()
        };
        let within = values
            .into_iter()
            .filter(|&value| value >= self.low - near && value <= self.high + near);
        within.map(|value| (value, short(value))).collect()
    }
}

/// A number with at most four digits that count, and a comma after thousands.
fn short(value: f64) -> String {
    let digits = (3 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    let text = match text.split_once('.') {
        Some((whole, part)) => format!("{whole}.{part}")
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        None => text,
    };
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    if digits.contains('.') || digits.len() <= 3 {
        return text;
    }
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    format!("{sign}{}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(bounds: Point, log: bool, rounded: bool) -> Vec<String> {
        let scale = Scale::new(bounds, log, (0.0, 1.0), 7.0, rounded);
        scale.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(
            ticks((3.0, 68.0), false, true),
            ["0", "10", "20", "30", "40", "50", "60", "70"]
        );
        assert_eq!(
            ticks((1.0, 50.0), false, false),
            ["0", "10", "20", "30", "40", "50"]
        );
        assert_eq!(
            ticks((60.0, 190.0), false, false),
            ["60", "80", "100", "120", "140", "160", "180"]
        );
        assert_eq!(
            ticks((0.011, 0.019), false, true),
            ["0", "0.005", "0.01", "0.015", "0.02"]
        );
        assert_eq!(
            ticks((-7.0, 4.0), false, true),
            ["-8", "-6", "-4", "-2", "0", "2", "4"]
        );
        assert_eq!(ticks((3.0, 40.0), true, true), ["2", "5", "10", "20", "50"]);
        assert_eq!(
            ticks((3e-3, 4e5), true, true),
            [
                "0.001",
                "0.01",
                "0.1",
                "1",
                "10",
                "100",
                "1,000",
                "10,000",
                "100,000",
                "1,000,000"
            ]
        );
        assert_eq!(
            ticks((7.0, 7.0), false, true),
            ["0", "1", "2", "3", "4", "5", "6", "7"]
        );
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 12_345.6, -1_234.0, 0.05, 0.271_828, 1e6].map(short);
        assert_eq!(
            numbers,
            ["0", "12,346", "-1,234", "0.05", "0.2718", "1,000,000"]
        );
    }

    #[test]
    fn labels_do_not_touch_and_stay_in_the_picture() {
        let crowd: Vec<(f64, usize)> = (0..12).map(|index| (BOTTOM - 3.0, index)).collect();
        let spread = spread(crowd);
        for pair in spread.windows(2) {
            assert!(pair[1].0 - pair[0].0 >= LABEL - 1e-9, "{pair:?}");
        }
        assert!(spread[0].0 >= TOP && spread[11].0 <= BOTTOM);
        assert_eq!(super::spread(vec![(100.0, 0)]), [(100.0, 0)]);
    }

    #[test]
    fn lines_differ_without_their_colours() {
        let line = |height: f64| Line {
            label: format!("line {height}"),
            points: vec![
                (0.0, height, None),
                (9.0, height, Some((height - 0.1, height + 0.1))),
            ],
        };
        let drawn: Vec<Line> = (1..10).map(f64::from).map(line).collect();
        let axis = |label| Axis { label, log: false };
        let svg = lines("t", &axis("across"), &axis("up"), &drawn).finish();
        let shapes: std::collections::BTreeSet<&str> = svg
            .lines()
            .filter(|line| line.contains("class=\"mark"))
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert_eq!(shapes.into_iter().collect::<Vec<_>>(), ["<circle", "<path"]);
        // The ninth has the first one's colour, and is dashed.
        assert_eq!(svg.matches("line s0\"").count(), 1);
        assert_eq!(svg.matches("line s0 again\"").count(), 1);
        for line in &drawn {
            assert!(svg.contains(&line.label));
        }
    }
}
