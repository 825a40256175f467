//! Pictures of results: lines with confidence bands, heat maps.

use std::collections::{BTreeMap, BTreeSet};

use headway_draw::Svg;

use crate::Cell;
use crate::cell::Value;
use crate::chart::{self, Axis, Line, Sample};
use crate::spec::{Figure, FigureKind, Statistic, Sweep};
use crate::sweep::CellResult;

/// Draws a figure.
///
/// # Errors
///
/// A sentence, when there is nothing to draw.
pub fn draw(sweep: &Sweep, figure: &Figure, results: &[CellResult]) -> Result<Svg, String> {
    let cells: Vec<(&Cell, &CellResult)> = results
        .iter()
        .map(|result| (&sweep.cells[result.index as usize], result))
        .filter(|(cell, _)| figure.grids.is_empty() || figure.grids.contains(&cell.grid))
        .collect();
    let drawn = match figure.kind {
        FigureKind::Lines => lines(sweep, figure, &cells),
        FigureKind::HeatMap => heat_map(sweep, figure, &cells),
    };
    drawn.ok_or_else(|| format!("figure {}: there is nothing to draw", figure.name))
}

/// A picture as PNG, on a light ground.
///
/// # Errors
///
/// When the picture is too large.
#[cfg(feature = "png")]
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    use resvg::{tiny_skia, usvg};
    const PIXELS: f32 = 2.0;
    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|size| (size * PIXELS).ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or("the picture is too large")?;
    let scale = tiny_skia::Transform::from_scale(PIXELS, PIXELS);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

fn lines(sweep: &Sweep, figure: &Figure, cells: &[(&Cell, &CellResult)]) -> Option<Svg> {
    let mut drawn: Vec<Line> = Vec::new();
    let statistics = &figure.statistics;
    let shown = figure
        .y
        .iter()
        .flat_map(|y| statistics.iter().map(move |&s| (y, s)));
    for (measure, shown) in shown {
        let mut by_key: BTreeMap<Vec<Value>, Vec<Sample>> = BTreeMap::new();
        for &(cell, result) in cells {
            let (Some(x), Some(y)) = (
                x_of(sweep, figure, cell, result),
                statistic(sweep, measure, result, shown),
            ) else {
                continue;
            };
            if (figure.log.0 && x <= 0.0) || (figure.log.1 && y <= 0.0) {
                continue;
            }
            let band = match shown {
                Statistic::Mean => confidence(sweep, measure, result),
                _ => None,
            };
            let grid = || Value::Word(cell.grid.replace('-', " "));
            let series = figure.series.iter();
            let key = series.map(|axis| cell.get(axis).cloned().unwrap_or_else(grid));
            by_key.entry(key.collect()).or_default().push((x, y, band));
        }
        drawn.extend(by_key.into_iter().map(|(key, mut points)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let label = label(figure, measure, shown, &key);
            Line { label, points }
        }));
    }
    let axis = |label, log| Axis { label, log };
    let (x, y) = (
        axis(&figure.x_label, figure.log.0),
        axis(&figure.y_label, figure.log.1),
    );
    (!drawn.is_empty()).then(|| chart::lines(&figure.title, &x, &y, &drawn))
}

fn label(figure: &Figure, measure: &str, shown: Statistic, key: &[Value]) -> String {
    let named = |(axis, value): (&String, &Value)| match value {
        Value::Number(number) => format!("{} {number}", axis.replace('_', " ")),
        Value::Word(word) => word.clone(),
    };
    let mut parts: Vec<String> = figure.series.iter().zip(key).map(named).collect();
    if figure.y.len() > 1 {
        parts.insert(0, measure.replace('_', " "));
    }
    if figure.statistics.len() > 1 {
        parts.push(shown.to_string());
    }
    parts.join(", ")
}

fn heat_map(sweep: &Sweep, figure: &Figure, cells: &[(&Cell, &CellResult)]) -> Option<Svg> {
    let first = figure.statistics.first();
    let first = first.copied().unwrap_or(Statistic::Mean);
    let distinct = |axis: &str| -> BTreeSet<&Value> {
        cells
            .iter()
            .filter_map(|(cell, _)| cell.get(axis))
            .collect()
    };
    let (xs, ys) = (distinct(&figure.x), distinct(&figure.y[0]));
    let value = |x: &Value, y: &Value| {
        let at = |cell: &Cell| (cell.get(&figure.x), cell.get(&figure.y[0])) == (Some(x), Some(y));
        let found = cells.iter().find(|(cell, _)| at(cell));
        found.and_then(|(_, result)| statistic(sweep, &figure.colour, result, first))
    };
    let row = |y: &&Value| xs.iter().map(|x| value(x, y)).collect();
    let values: Vec<Vec<Option<f64>>> = ys.iter().map(row).collect();
    let names = |values: &BTreeSet<&Value>| -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    };
    let labels = (&*figure.x_label, &*figure.y_label);
    let known = values.iter().flatten().any(Option::is_some);
    known.then(|| chart::map(&figure.title, labels, &names(&xs), &names(&ys), &values))
}

fn x_of(sweep: &Sweep, figure: &Figure, cell: &Cell, result: &CellResult) -> Option<f64> {
    match cell.get(&figure.x) {
        Some(Value::Number(number)) => Some(*number as f64),
        // even:4 and the like are drawn at their first number; words without one
        // have no place on the axis.
        Some(Value::Word(word)) => {
            let from_digit = word.trim_start_matches(|c: char| !c.is_ascii_digit());
            from_digit
                .split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        }
        None => statistic(sweep, &figure.x, result, Statistic::Mean),
    }
}

/// The place of a measure among those of the sweep, and its scale.
fn measured(sweep: &Sweep, name: &str) -> Option<(usize, f64)> {
    let place = sweep.measure_names().position(|measure| measure == name)?;
    let scale = sweep.model.measures[sweep.measures[place]].scale;
    Some((place, scale as f64))
}

/// A number of a cell, in the measure's own units.
pub(crate) fn statistic(
    sweep: &Sweep,
    measure: &str,
    result: &CellResult,
    statistic: Statistic,
) -> Option<f64> {
    let (place, scale) = measured(sweep, measure)?;
    let summary = result.summaries.get(place)?;
    let value = match statistic {
        Statistic::Mean => summary.mean()?,
        Statistic::Min => summary.min? as f64,
        Statistic::Max => summary.max? as f64,
        Statistic::Percentile(wanted) => {
            let at = sweep.percentiles.iter().position(|&p| p == wanted)?;
            *summary.percentiles.get(at)? as f64
        }
    };
    Some(value / scale)
}

/// The confidence interval of a cell's mean, in the measure's own units.
pub(crate) fn confidence(sweep: &Sweep, measure: &str, result: &CellResult) -> Option<(f64, f64)> {
    let (place, scale) = measured(sweep, measure)?;
    let (low, high) = result.summaries.get(place)?.confidence()?;
    Some((low / scale, high / scale))
}
