//! The sweep file.

use headway_sim::seed::DEFAULT_SEED;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, Figure, FigureKind, Grid, SpecError, Statistic, Sweep, list};
use crate::model;

/// Reads a sweep file.
pub(super) fn read(text: &str) -> Result<Sweep, SpecError> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SpecError::new("syntax", at, error.message())
    })?;
    let top = Section::new("", table.get_ref(), 0);
    top.only("name title about model seed samples measure percentiles rows grid figure")?;
    let model_name = top.text("model")?.unwrap_or_else(|| "ring".to_owned());
    let model = model::named(&model_name).ok_or_else(|| {
        let known = list(model::MODELS.iter().map(|model| model.name));
        top.wrong(
            "model",
            format!("there is no '{model_name}'; expected {known}"),
        )
    })?;
    let name = top
        .text("name")?
        .ok_or_else(|| top.wrong("name", "is missing; results are named after it"))?;
    if !is_file_name(&name) {
        return Err(top.wrong(
            "name",
            "expected letters, digits and hyphens, because files are named after it",
        ));
    }
    let mut sweep = Sweep {
        title: top.text("title")?.unwrap_or_else(|| name.clone()),
        about: top.text("about")?.unwrap_or_default(),
        name,
        model,
        seed: top.number("seed", 0, u64::MAX)?.unwrap_or(DEFAULT_SEED),
        samples: top.number("samples", 1, 1 << 40)?.unwrap_or(300),
        measures: Vec::new(),
        percentiles: top.decimals("percentiles")?,
        sample_rows: match top.text("rows")?.as_deref() {
            None | Some("cells") => false,
            Some("samples") => true,
            Some(_) => return Err(top.wrong("rows", "expected \"cells\" or \"samples\"")),
        },
        cells: Vec::new(),
        figures: Vec::new(),
        text: Some(text.to_owned()),
    };
    let measures = top.entries("measure")?;
    if measures.is_empty() {
        return Err(top.wrong(
            "measure",
            format!(
                "is missing; expected a list of {}",
                list(model.measures.iter().map(|measure| measure.name))
            ),
        ));
    }
    sweep.set_measures(&measures)?;
    let grids = top.sections("grid")?;
    if grids.is_empty() {
        return Err(top.wrong("grid", "is missing; give at least one [[grid]]"));
    }
    for grid in &grids {
        sweep.add_grid(&read_grid(grid)?)?;
    }
    for figure in &top.sections("figure")? {
        let figure = read_figure(figure, &sweep)?;
        sweep.figures.push(figure);
    }
    Ok(sweep)
}

fn is_file_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.len() <= 60 && name.chars().all(allowed)
}

fn read_grid(section: &Section<'_>) -> Result<Grid, SpecError> {
    let mut grid = Grid {
        name: section.text("name")?.unwrap_or_else(|| "grid".to_owned()),
        axes: Vec::new(),
        at: section.at,
    };
    // In the order of the file, so that the first error is the first in it.
    let mut keys: Vec<_> = section.table.iter().map(|(key, _)| key).collect();
    keys.sort_by_key(|key| key.span().start);
    for key in keys {
        let name = key.get_ref().as_ref();
        if name != "name" {
            grid.axes.push((name.to_owned(), section.entries(name)?));
        }
    }
    Ok(grid)
}

fn read_figure(section: &Section<'_>, sweep: &Sweep) -> Result<Figure, SpecError> {
    section.only("name title kind grid x y series colour statistic x_label y_label log_x log_y")?;
    let axes = || sweep.model.axes.iter().map(|axis| axis.name);
    let is_axis = |name: &str| axes().any(|axis| axis == name);
    let is_measure = |name: &str| sweep.measure_names().any(|measure| measure == name);
    let required = |key: &str| {
        section
            .text(key)?
            .ok_or_else(|| section.wrong(key, "is missing"))
    };
    let name = required("name")?;
    if !is_file_name(&name) {
        return Err(section.wrong("name", "expected letters, digits and hyphens"));
    }
    let kind = match section.text("kind")?.as_deref() {
        None | Some("lines") => FigureKind::Lines,
        Some("heatmap") => FigureKind::HeatMap,
        Some(_) => return Err(section.wrong("kind", "expected \"lines\" or \"heatmap\"")),
    };
    let x = required("x")?;
    if !is_axis(&x) && (kind == FigureKind::HeatMap || !is_measure(&x)) {
        let expected = format!("expected an axis ({}) or a measure", list(axes()));
        return Err(section.wrong("x", expected));
    }
    let y: Vec<String> = section.texts("y")?;
    let y_fits = |y: &String| match kind {
        FigureKind::Lines => is_measure(y),
        FigureKind::HeatMap => is_axis(y),
    };
    if y.is_empty() || !y.iter().all(y_fits) || (kind == FigureKind::HeatMap && y.len() != 1) {
        return Err(section.wrong(
            "y",
            match kind {
                FigureKind::Lines => {
                    let measured = list(sweep.measure_names());
                    format!("expected what the sweep measures: {measured}")
                }
                FigureKind::HeatMap => format!("expected one axis: {}", list(axes())),
            },
        ));
    }
    let colour = section.text("colour")?.unwrap_or_default();
    if kind == FigureKind::HeatMap && !is_measure(&colour) {
        let measured = list(sweep.measure_names());
        return Err(section.wrong("colour", format!("expected a measure: {measured}")));
    }
    let series = section.texts("series")?;
    if !series.iter().all(|name| is_axis(name) || name == "grid") {
        return Err(section.wrong(
            "series",
            format!("expected axes, or grid: {}", list(axes())),
        ));
    }
    let grids = section.texts("grid")?;
    let known = |name: &String| sweep.cells.iter().any(|cell| cell.grid == *name);
    if let Some(unknown) = grids.iter().find(|name| !known(name)) {
        return Err(section.wrong("grid", format!("there is no grid named '{unknown}'")));
    }
    let mut statistics = Vec::new();
    for text in section.texts("statistic")? {
        statistics.push(statistic(&text, sweep).ok_or_else(|| {
            section.wrong(
                "statistic",
                "expected mean, min, max, or p50 and the like from the sweep's percentiles",
            )
        })?);
    }
    if statistics.is_empty() {
        statistics.push(Statistic::Mean);
    }
    Ok(Figure {
        title: section
            .text("title")?
            .unwrap_or_else(|| sweep.title.clone()),
        x_label: section
            .text("x_label")?
            .unwrap_or_else(|| x.replace('_', " ")),
        y_label: match section.text("y_label")? {
            Some(label) => label,
            None => y.join(", ").replace('_', " "),
        },
        log: (
            section.boolean("log_x")?.unwrap_or(false),
            section.boolean("log_y")?.unwrap_or(false),
        ),
        name,
        kind,
        grids,
        x,
        y,
        series,
        colour,
        statistics,
    })
}

fn statistic(text: &str, sweep: &Sweep) -> Option<Statistic> {
    match text {
        "mean" => Some(Statistic::Mean),
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        _ => {
            let percentile = text.strip_prefix('p')?.parse().ok()?;
            let kept = sweep.percentiles.contains(&percentile);
            kept.then_some(Statistic::Percentile(percentile))
        }
    }
}

/// A table of the file, which knows its name and place for errors.
struct Section<'a> {
    name: &'static str,
    table: &'a DeTable<'a>,
    at: usize,
}

impl<'a> Section<'a> {
    fn new(name: &'static str, table: &'a DeTable<'a>, at: usize) -> Section<'a> {
        Section { name, table, at }
    }

    fn key(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    fn wrong(&self, key: &str, message: impl Into<String>) -> SpecError {
        let at = self.value(key).map_or(self.at, |value| value.span().start);
        SpecError::new(self.key(key), at, message)
    }

    /// Refuses keys that are not among these, which have blanks between them.
    fn only(&self, known: &str) -> Result<(), SpecError> {
        let unknown = |key: &&Spanned<_>| known.split(' ').all(|name| name != key.get_ref());
        let Some(key) = self.table.keys().find(unknown) else {
            return Ok(());
        };
        let message = format!("unknown key; expected {}", list(known.split(' ')));
        Err(SpecError::new(
            self.key(key.get_ref()),
            key.span().start,
            message,
        ))
    }

    fn text(&self, key: &str) -> Result<Option<String>, SpecError> {
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.as_ref().to_owned())),
            Some(_) => Err(self.wrong(key, "expected a text in quotes")),
        }
    }

    fn boolean(&self, key: &str) -> Result<Option<bool>, SpecError> {
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::Boolean(value)) => Ok(Some(*value)),
            Some(_) => Err(self.wrong(key, "expected true or false")),
        }
    }

    fn number(&self, key: &str, low: u64, high: u64) -> Result<Option<u64>, SpecError> {
        let expected = || self.wrong(key, format!("expected a whole number, {low} to {high}"));
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::Integer(number)) => {
                match u64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
                    _ => Err(expected()),
                }
            }
            Some(_) => Err(expected()),
        }
    }

    fn decimals(&self, key: &str) -> Result<Vec<f64>, SpecError> {
        let entries = self.entries(key)?;
        entries
            .iter()
            .map(|entry| match entry.text.parse() {
                Ok(number) if (0.0..=100.0).contains(&number) => Ok(number),
                _ => Err(SpecError::new(
                    self.key(key),
                    entry.at,
                    format!("'{}': expected a number, 0 to 100", entry.text),
                )),
            })
            .collect()
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, SpecError> {
        Ok(self.entries(key)?.into_iter().map(|e| e.text).collect())
    }

    /// A value, or a list of values, as written.
    fn entries(&self, key: &str) -> Result<Vec<Entry>, SpecError> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let one = |value: &Spanned<DeValue<'_>>| {
            let text = match value.get_ref() {
                DeValue::String(text) => text.as_ref().to_owned(),
                DeValue::Integer(number) => number.to_string(),
                DeValue::Float(number) => number.to_string(),
                _ => {
                    return Err(SpecError::new(
                        self.key(key),
                        value.span().start,
                        "expected a number, a text in quotes, or a list of these",
                    ));
                }
            };
            Ok(Entry {
                text,
                at: value.span().start,
            })
        };
        match value.get_ref() {
            DeValue::Array(values) => values.iter().map(one).collect(),
            _ => Ok(vec![one(value)?]),
        }
    }

    fn sections(&self, key: &'static str) -> Result<Vec<Section<'a>>, SpecError> {
        let expected = || self.wrong(key, format!("expected tables: [[{key}]]"));
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(Vec::new()),
            Some(DeValue::Array(tables)) => tables
                .iter()
                .map(|table| match table.get_ref() {
                    DeValue::Table(inner) => Ok(Section::new(key, inner, table.span().start)),
                    _ => Err(expected()),
                })
                .collect(),
            Some(_) => Err(expected()),
        }
    }
}
