//! Results as Parquet, for tools that read columns. The file's metadata hold the
//! sweep itself, its seed, the version that made it, and what the measures mean.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use thiserror::Error;

use crate::VERSION;
use crate::arrow;
use crate::spec::Sweep;
use crate::sweep::CellResult;
use crate::table::{self, ColumnKind, Columns, Datum};

/// The file could not be written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {message}")]
pub struct ParquetError {
    path: String,
    message: String,
}

/// Rows that are compressed together; as many are held in memory.
const GROUP: usize = 1 << 16;

/// Writes a row per cell.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_cells(sweep: &Sweep, results: &[CellResult], path: &Path) -> Result<(), ParquetError> {
    let rows = results.iter().map(|result| table::cell_row(sweep, result));
    write(sweep, &table::cell_columns(sweep), rows.map(Ok), path)
}

/// Writes a row per sample: those of a finished `samples.csv`, which is where they
/// are, because a Parquet file cannot be gone on with. Memory does not grow with it.
///
/// # Errors
///
/// When the table cannot be read or the file cannot be written.
pub fn write_samples(sweep: &Sweep, csv: &Path, path: &Path) -> Result<(), ParquetError> {
    let failed = |error: csv::Error| ParquetError {
        path: path.display().to_string(),
        message: format!("{}: {error}", csv.display()),
    };
    let columns = table::sample_columns(sweep);
    let mut reader = csv::Reader::from_path(csv).map_err(failed)?;
    let rows = reader.records().map(|record| {
        let record = record.map_err(failed)?;
        let data = columns.iter().zip(&record);
        Ok(data.map(|((_, kind), text)| datum(*kind, text)).collect())
    });
    write(sweep, &columns, rows, path)
}

/// What [`table::write_row`] wrote.
fn datum(kind: ColumnKind, text: &str) -> Datum {
    let number = match kind {
        _ if text.is_empty() => Some(Datum::Empty),
        ColumnKind::Text => None,
        ColumnKind::Whole => text.parse().ok().map(Datum::Whole),
        ColumnKind::Decimal => text.parse().ok().map(Datum::Decimal),
    };
    number.unwrap_or_else(|| Datum::Text(text.to_owned()))
}

fn write(
    sweep: &Sweep,
    columns: &Columns,
    mut rows: impl Iterator<Item = Result<Vec<Datum>, ParquetError>>,
    path: &Path,
) -> Result<(), ParquetError> {
    let failed = |error: &dyn Display| ParquetError {
        path: path.display().to_string(),
        message: error.to_string(),
    };
    let schema = arrow::schema(columns);
    let file = File::create(path).map_err(|error| failed(&error))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(metadata(sweep)))
        .build();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
        .map_err(|error| failed(&error))?;
    loop {
        let group: Vec<Vec<Datum>> = rows.by_ref().take(GROUP).collect::<Result<_, _>>()?;
        if group.is_empty() {
            break;
        }
        arrow::batch(&schema, columns, &group)
            .map_err(|error| failed(&error))
            .and_then(|batch| {
                let written = writer.write(&batch).and_then(|()| writer.flush());
                written.map_err(|error| failed(&error))
            })?;
    }
    writer.close().map_err(|error| failed(&error))?;
    Ok(())
}

/// What a reader needs to know of where the rows come from.
fn metadata(sweep: &Sweep) -> Vec<KeyValue> {
    let entries = [
        ("headway", VERSION.to_owned()),
        ("name", sweep.name.clone()),
        ("seed", sweep.seed.to_string()),
        ("samples", sweep.samples.to_string()),
        ("sweep", sweep.text.clone().unwrap_or_default()),
    ];
    let measures = sweep.measures.iter().map(|&measure| {
        let measure = sweep.model.measures[measure];
        KeyValue::new(
            format!("measure {}", measure.name),
            measure.about.to_owned(),
        )
    });
    let entries = entries.map(|(key, value)| KeyValue::new(key.to_owned(), value));
    entries.into_iter().chain(measures).collect()
}
