//! How far within its goal each row is, as bars on a logarithmic scale.

use headway_draw::{Svg, Theme};

use crate::table::{Goal, Measured, Row, number};

const LEFT: f64 = 24.0;
const WIDTH: f64 = 620.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 78.0;
const ROW: f64 = 36.0;
/// Where the scale begins and ends; bars beyond its end stop there.
const SCALE: (f64, f64) = (0.5, 10_000.0);

const RULES: &str = "\
.title { font-size: 17px; font-weight: 600 }
.note { fill: $muted; font-size: 12px }
.work { font-size: 12px }
.axis { stroke: $line }
.goal { stroke: $ink; stroke-width: 1.5 }
.met { fill: $good }
.missed { fill: $bad }
";

pub(crate) fn draw(title: &str, rows: &[&Measured]) -> String {
    let rows = rows.iter().map(|measured| &measured.row);
    let rows: Vec<(&Row, f64)> = rows.filter_map(|row| Some((row, margin(row)?))).collect();
    let bottom = TOP + ROW * rows.len() as f64;
    let size = (LEFT + WIDTH + RIGHT, bottom + 42.0);
    let mut out = Svg::new((0.0, 0.0), size, title, Theme::Auto, RULES);
    out.text("title", (LEFT, 28.0), title);
    let note = "How many times better than its goal. Left of the line: missed.";
    out.text("note", (LEFT, 50.0), note);
    for (power, name) in [
        (0, "1"),
        (1, "10"),
        (2, "100"),
        (3, "1,000"),
        (4, "10,000 or more"),
    ] {
        let x = x(10_f64.powi(power));
        let class = if power == 0 { "goal" } else { "axis" };
        out.line(class, (x, TOP - 10.0), (x, bottom));
        out.text("note middle", (x, bottom + 20.0), name);
    }
    for (index, (row, margin)) in rows.iter().enumerate() {
        let top = TOP + ROW * index as f64;
        let (class, end) = if *margin < 1.0 {
            ("missed", x(*margin).min(x(1.0) - 4.0))
        } else {
            ("met", x(*margin).max(x(1.0) + 4.0))
        };
        let (from, to) = (x(1.0).min(end), x(1.0).max(end));
        out.rect(class, (from, top + 17.0), (to - from, 9.0));
        out.text("work", (x(1.0) + 4.0, top + 12.0), &shortened(&row.work));
        let ratio = format!("{}, goal {}", number(row.ratio), row.goal);
        out.text("note", (LEFT + WIDTH + 20.0, top + 25.0), &ratio);
    }
    out.finish()
}

/// How many times better than the goal; none without a goal.
fn margin(row: &Row) -> Option<f64> {
    match row.goal {
        Goal::AtLeast(least) => Some(row.ratio / least),
        Goal::AtMost(most) => Some(most / row.ratio.max(1e-9)),
        Goal::None => None,
    }
}

fn x(margin: f64) -> f64 {
    let log = |value: f64| value.clamp(SCALE.0, SCALE.1).log10();
    LEFT + WIDTH * (log(margin) - log(SCALE.0)) / (log(SCALE.1) - log(SCALE.0))
}

/// As much of a name as fits; the table has it all.
fn shortened(work: &str) -> String {
    const MOST: usize = 108;
    match work.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &work[..end]),
        None => work.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_at_the_goal() {
        let row = |ratio, goal| Measured {
            area: String::new(),
            version: String::new(),
            row: Row {
                work: "a & b".to_owned(),
                ours: String::new(),
                baseline: String::new(),
                ratio,
                goal,
            },
        };
        assert_eq!(margin(&row(50.0, Goal::AtLeast(5.0)).row), Some(10.0));
        assert_eq!(margin(&row(4.0, Goal::AtMost(2.0)).row), Some(0.5));
        assert_eq!(margin(&row(4.0, Goal::None).row), None);
        let (met, missed) = (row(50.0, Goal::AtLeast(5.0)), row(4.0, Goal::AtMost(2.0)));
        let svg = draw("t", &[&met, &missed, &row(1.0, Goal::None)]);
        assert_eq!(svg.matches("class=\"met\"").count(), 1);
        assert_eq!(svg.matches("class=\"missed\"").count(), 1);
        assert!(x(0.1) == x(0.5) && x(0.5) < x(1.0) && x(1e9) == x(1e4));
    }
}
