//! Tables, figures and the report.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use anstyle::Style;
use headway_answer::count;
use headway_lab::sweep::CellResult;
use headway_lab::{Sweep, figure, report, table};

use crate::failure::{Answer, Failure, write_file};
use crate::report::style::{DIM, HEADING, verdict};

/// Writes tables, figures and the report, and says what there is.
pub(super) fn publish(
    sweep: &Sweep,
    results: &[CellResult],
    folder: &Path,
    command: &str,
) -> Result<Answer, Failure> {
    let csv = folder.join("cells.csv");
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(fs::File::create(&csv)?);
        table::write_header(&mut file, &table::cell_columns(sweep))?;
        for result in results {
            table::write_row(&mut file, &table::cell_row(sweep, result))?;
        }
        file.flush()
    };
    write().map_err(|error| Failure::writing(&csv, &error))?;
    #[cfg(feature = "parquet")]
    {
        use headway_lab::{journal, parquet};
        parquet::write_cells(sweep, results, &folder.join("cells.parquet"))
            .map_err(Failure::new)?;
        if sweep.sample_rows {
            let csv = folder.join(journal::SAMPLES);
            parquet::write_samples(sweep, &csv, &folder.join("samples.parquet"))
                .map_err(Failure::new)?;
        }
    }
    let mut pictures = Vec::new();
    for figure in &sweep.figures {
        let picture = figure::draw(sweep, figure, results).map_err(Failure::new)?;
        let svg = picture.finish();
        write_file(&folder.join(format!("{}.svg", figure.name)), svg.as_bytes())?;
        #[cfg(feature = "png")]
        {
            let png = figure::png(&svg).map_err(Failure::new)?;
            write_file(&folder.join(format!("{}.png", figure.name)), png)?;
        }
        pictures.push((figure, svg));
    }
    let findings = report::findings(sweep, results);
    let page = folder.join("report.html");
    write_file(&page, report::html(sweep, &pictures, &findings, command))?;
    say(sweep, results, folder, &findings, pictures.len())?;
    Ok(findings
        .iter()
        .all(|finding| finding.holds != Some(false))
        .into())
}

/// Rows on screen; the file has all.
const MAX_ROWS: usize = 20;

/// The means with their 95% intervals, for the axes that vary.
fn on_screen(out: &mut impl Write, sweep: &Sweep, results: &[CellResult]) -> std::io::Result<()> {
    let varies = |axis: &&str| {
        let first = sweep.cells.first().map(|cell| cell.text(axis));
        sweep
            .cells
            .iter()
            .any(|cell| Some(cell.text(axis)) != first)
    };
    let axes = sweep.model.axes.iter().map(|axis| axis.name);
    let axes: Vec<&str> = axes.filter(varies).collect();
    let mut rows: Vec<Vec<String>> = vec![axes.iter().map(|&axis| axis.to_owned()).collect()];
    rows[0].extend(sweep.measure_names().map(str::to_owned));
    for result in results.iter().take(MAX_ROWS) {
        let cell = &sweep.cells[result.index as usize];
        let mut row: Vec<String> = axes.iter().map(|axis| cell.text(axis)).collect();
        for (&measure, summary) in sweep.measures.iter().zip(&result.summaries) {
            let scale = sweep.model.measures[measure].scale as f64;
            row.push(match (summary.mean(), summary.confidence()) {
                (None, _) => "-".to_owned(),
                (Some(mean), Some((low, high))) if low < high => {
                    format!("{} ± {}", short(mean / scale), short((high - mean) / scale))
                }
                (Some(mean), _) => short(mean / scale),
            });
        }
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|at| {
            rows.iter()
                .map(|row| row[at].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(text, width)| format!("{text:>width$}"))
            .collect();
        let style = if index == 0 { HEADING } else { Style::new() };
        writeln!(out, "{style}{}{style:#}", cells.join("   "))?;
    }
    if results.len() > MAX_ROWS {
        writeln!(
            out,
            "{DIM}and {} more in cells.csv{DIM:#}",
            results.len() - MAX_ROWS
        )?;
    }
    Ok(())
}

/// Four significant digits, or all of a whole number.
fn short(number: f64) -> String {
    let digits = number.abs().max(1e-4).log10().floor() as i32;
    let decimals = usize::try_from(3 - digits).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
#[test]
fn numbers_are_short_and_right() {
    for (number, text) in [
        (1.0, "1"),
        (0.0, "0"),
        (12345.0, "12345"),
        (2.0 / 3.0, "0.6667"),
        (1234.56, "1235"),
        (12.345_6, "12.35"),
        (0.000_012, "0.000012"),
    ] {
        assert_eq!(short(number), text);
    }
}

fn say(
    sweep: &Sweep,
    results: &[CellResult],
    folder: &Path,
    findings: &[report::Finding],
    figures: usize,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", sweep.title)?;
    if findings.is_empty() {
        on_screen(&mut out, sweep, results)?;
    }
    for finding in findings {
        let mark = verdict(finding.holds);
        writeln!(out, "{mark} {}", finding.statement)?;
        writeln!(out, "  {DIM}{}{DIM:#}", finding.evidence)?;
        if finding.holds.is_none() {
            writeln!(
                out,
                "  too few samples to tell; try --samples {}",
                10 * sweep.samples
            )?;
        }
    }
    let folder = folder.display();
    let tables = match (sweep.sample_rows, cfg!(feature = "parquet")) {
        (false, false) => "cells.csv",
        (true, false) => "cells.csv, samples.csv",
        (false, true) => "cells.csv and .parquet",
        (true, true) => "cells and samples as .csv and .parquet",
    };
    writeln!(
        out,
        "{} of {}, seed {}, in {folder}: {tables}, report.html{}",
        count(sweep.cells.len() as u64, "cell"),
        count(sweep.samples, "sample"),
        sweep.seed,
        match figures {
            0 => String::new(),
            1 => format!(", {}.svg", sweep.figures[0].name),
            more => format!(", {more} figures as .svg"),
        }
    )?;
    Ok(())
}
