//! Tables, figures and the report.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

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
        for (suffix, rendered) in [("", &picture.light), ("-dark", &picture.dark)] {
            let stem = format!("{}{suffix}", figure.name);
            let put = |path: PathBuf, bytes: &[u8]| write_file(&path, bytes);
            put(folder.join(format!("{stem}.svg")), rendered.svg.as_bytes())?;
            put(folder.join(format!("{stem}.png")), &rendered.png)?;
        }
        pictures.push((figure, picture));
    }
    let findings = report::findings(sweep, results);
    let page = folder.join("report.html");
    write_file(&page, report::html(sweep, &pictures, &findings, command))?;
    say(sweep, folder, &findings, pictures.len())?;
    Ok(findings
        .iter()
        .all(|finding| finding.holds != Some(false))
        .into())
}

fn say(
    sweep: &Sweep,
    folder: &Path,
    findings: &[report::Finding],
    figures: usize,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", sweep.title)?;
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
        "{} cells of {} samples, seed {}, in {folder}: {tables}, report.html{}",
        sweep.cells.len(),
        sweep.samples,
        sweep.seed,
        match figures {
            0 => String::new(),
            1 => format!(", {}.svg and .png", sweep.figures[0].name),
            more => format!(", {more} figures as .svg and .png"),
        }
    )?;
    Ok(())
}
