//! Pictures of results: lines with confidence bands, heat maps; SVG and PNG,
//! light and dark. The plotting library is used here and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headway_draw::{DARK, LIGHT, Palette};
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{BandPlot, ColorMap, Heatmap, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use kuva::render::theme::Theme;

use crate::Cell;
use crate::cell::Value;
use crate::spec::{Figure, FigureKind, Statistic, Sweep};
use crate::sweep::CellResult;

/// A picture, twice.
pub struct Picture {
    /// For light pages.
    pub light: Rendered,
    /// For dark pages.
    pub dark: Rendered,
}

/// A picture in both formats.
pub struct Rendered {
    /// The SVG file.
    pub svg: String,
    /// The PNG file.
    pub png: Vec<u8>,
}

/// Draws a figure.
///
/// # Errors
///
/// A sentence, when there is nothing to draw or the picture cannot be made.
pub fn draw(sweep: &Sweep, figure: &Figure, results: &[CellResult]) -> Result<Picture, String> {
    let points: Vec<(&Cell, &CellResult)> = results
        .iter()
        .map(|result| (&sweep.cells[result.index as usize], result))
        .filter(|(cell, _)| figure.grids.is_empty() || figure.grids.contains(&cell.grid))
        .collect();
    let rendered = |palette: &Palette| -> Result<Rendered, String> {
        let scene = match figure.kind {
            FigureKind::Lines => lines(sweep, figure, &points, palette)?,
            FigureKind::HeatMap => heat_map(sweep, figure, &points, palette)?,
        };
        Ok(Rendered {
            svg: SvgBackend::default().render_scene(&scene),
            png: PngBackend::new().with_scale(1.5).render_scene(&scene)?,
        })
    };
    Ok(Picture {
        light: rendered(&LIGHT)?,
        dark: rendered(&DARK)?,
    })
}

/// x, y, and the confidence interval of y.
type Point = (f64, f64, Option<(f64, f64)>);

/// A line: what the legend calls it, and its points with their bands.
struct Line {
    label: String,
    points: Vec<Point>,
}

fn lines(
    sweep: &Sweep,
    figure: &Figure,
    cells: &[(&Cell, &CellResult)],
    palette: &Palette,
) -> Result<Scene, String> {
    let mut drawn: Vec<Line> = Vec::new();
    let statistics = &figure.statistics;
    let shown = figure
        .y
        .iter()
        .flat_map(|y| statistics.iter().map(move |&s| (y, s)));
    for (measure, shown) in shown {
        let mut by_key: BTreeMap<Vec<Value>, Vec<Point>> = BTreeMap::new();
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
        drawn.extend(by_key.into_iter().map(|(key, points)| Line {
            label: label(figure, measure, shown, &key),
            points,
        }));
    }
    if drawn.is_empty() {
        return Err(format!("figure {}: there is nothing to draw", figure.name));
    }
    let mut plots: Vec<Plot> = Vec::new();
    for (index, line) in drawn.iter_mut().enumerate() {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let colour = palette.token(index);
        let banded: Vec<(f64, f64, f64)> = line
            .points
            .iter()
            .filter_map(|&(x, _, band)| band.map(|(low, high)| (x, low, high)))
            .filter(|band| !figure.log.1 || band.1 > 0.0)
            .collect();
        if banded.len() > 1 {
            let band = BandPlot::new(
                banded.iter().map(|band| band.0),
                banded.iter().map(|band| band.1),
                banded.iter().map(|band| band.2),
            );
            plots.push(band.with_color(colour).with_opacity(0.25).into());
        }
        let mut plot = LinePlot::new()
            .with_data(line.points.iter().map(|&(x, y, _)| (x, y)))
            .with_color(colour)
            .with_stroke_width(2.0);
        if index >= palette.tokens.len() {
            plot = plot.with_dashed();
        }
        if !line.label.is_empty() {
            plot = plot.with_legend(line.label.clone());
        }
        plots.push(plot.into());
    }
    let mut layout = layout(figure, &plots, palette);
    let lowest = drawn
        .iter()
        .flat_map(|line| &line.points)
        .fold(f64::INFINITY, |low, point| low.min(point.1));
    if figure.log.0 {
        let xs = drawn.iter().flat_map(|line| &line.points);
        let largest = xs.fold(0.0, |high: f64, point| high.max(point.0));
        layout = layout.with_log_x().with_x_axis_max(largest);
    }
    if figure.log.1 {
        layout = layout.with_log_y();
    } else if lowest >= 0.0 {
        layout = layout.with_y_axis_min(0.0);
    }
    Ok(render_multiple(plots, layout))
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

fn heat_map(
    sweep: &Sweep,
    figure: &Figure,
    cells: &[(&Cell, &CellResult)],
    palette: &Palette,
) -> Result<Scene, String> {
    let first = figure
        .statistics
        .first()
        .copied()
        .unwrap_or(Statistic::Mean);
    let distinct = |axis: &str| -> BTreeSet<&Value> {
        cells
            .iter()
            .filter_map(|(cell, _)| cell.get(axis))
            .collect()
    };
    let (xs, ys) = (distinct(&figure.x), distinct(&figure.y[0]));
    if xs.is_empty() || ys.is_empty() {
        return Err(format!("figure {}: there is nothing to draw", figure.name));
    }
    // The first row of the data is drawn at the bottom.
    let value = |x: &Value, y: &Value| {
        let at = |cell: &Cell| (cell.get(&figure.x), cell.get(&figure.y[0])) == (Some(x), Some(y));
        let found = cells.iter().find(|(cell, _)| at(cell));
        let value = found.and_then(|(_, result)| statistic(sweep, &figure.colour, result, first));
        value.unwrap_or(f64::NAN)
    };
    let row = |y: &&Value| xs.iter().map(|x| value(x, y)).collect();
    let data: Vec<Vec<f64>> = ys.iter().map(row).collect();
    let mut map = Heatmap::new()
        .with_data(data)
        .with_color_map(ColorMap::Custom(shades(palette)));
    if xs.len() * ys.len() <= 120 {
        map = map.with_values();
    }
    let plots: Vec<Plot> = vec![Plot::Heatmap(map)];
    let names = |values: &BTreeSet<&Value>| values.iter().map(ToString::to_string).collect();
    let layout = layout(figure, &plots, palette)
        .with_x_categories(names(&xs))
        .with_y_categories(names(&ys));
    Ok(render_multiple(plots, layout))
}

/// From the ground to a colour on which text can still be read.
fn shades(palette: &Palette) -> Arc<dyn Fn(f64) -> String + Send + Sync> {
    let (from, to) = (rgb(palette.ground), rgb(palette.shade));
    Arc::new(move |share| {
        let part =
            |index: usize| (from[index] + (to[index] - from[index]) * share.clamp(0.0, 1.0)) as u8;
        format!("#{:02x}{:02x}{:02x}", part(0), part(1), part(2))
    })
}

/// Red, green and blue of `#rrggbb`.
fn rgb(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let part = u8::from_str_radix(&colour[at..at + 2], 16);
        f64::from(part.unwrap_or_default())
    })
}

fn layout(figure: &Figure, plots: &[Plot], palette: &Palette) -> Layout {
    let theme = Theme {
        background: palette.ground.to_owned(),
        axis_color: palette.muted.to_owned(),
        grid_color: palette.line.to_owned(),
        tick_color: palette.muted.to_owned(),
        text_color: palette.ink.to_owned(),
        legend_bg: palette.raised.to_owned(),
        legend_border: palette.line.to_owned(),
        colorbar_border: palette.line.to_owned(),
        ..Theme::light()
    };
    Layout::auto_from_plots(plots)
        .with_title(figure.title.clone())
        .with_x_label(figure.x_label.clone())
        .with_y_label(figure.y_label.clone())
        .with_theme(theme)
        .with_width(720.0)
        .with_height(440.0)
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
