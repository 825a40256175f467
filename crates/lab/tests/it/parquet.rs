//! Parquet files hold what the CSV files hold, and say where it comes from.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use headway_lab::journal::{Journal, SAMPLES, Shard};
use headway_lab::sweep::{self, CellResult, Options, SweepEvent};
use headway_lab::{Sweep, VERSION, parquet as columns, table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// Words with commas, nothing measured (a jam is never legitimate), shares.
const SWEEP: &str = r#"
name = "columns"
samples = 70
seed = 11
rows = "samples"
measure = ["legitimate_at", "of_worst", "waits"]
percentiles = [50]
[[grid]]
processes = 12
tokens = [2, 5]
separation = 4
delays = ["at:0,5,9", 3, "all"]
"#;

fn run_into(sweep: &Sweep, folder: &Path) -> Vec<CellResult> {
    let mut journal = Journal::create(folder, sweep, Shard::WHOLE).unwrap();
    let mut cells = Vec::new();
    let never = AtomicBool::new(false);
    let done = sweep::run(sweep, &Options::default(), &never, |event| {
        match event {
            SweepEvent::Samples(_) => {}
            SweepEvent::Rows(rows) => journal.append_rows(sweep, &rows).unwrap(),
            SweepEvent::Cell(cell) => {
                journal.append(&cell).unwrap();
                cells.push(cell);
            }
        }
        Ok(())
    });
    assert_eq!(done, Ok(true));
    cells
}

/// The names of the columns, and every field as CSV has it.
fn read(path: &Path) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let mut table = Vec::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        if table.is_empty() {
            table.push(
                row.get_column_iter()
                    .map(|(name, _)| name.clone())
                    .collect(),
            );
        }
        let field = |field: &Field| match field {
            Field::Null => String::new(),
            Field::Str(text) => text.clone(),
            Field::Long(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        table.push(
            row.get_column_iter()
                .map(|(_, value)| field(value))
                .collect(),
        );
    }
    table
}

fn read_csv(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text);
    let records = reader.records().map(|record| record.unwrap());
    records
        .map(|record| record.iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn cells_and_samples_are_those_of_the_csv_files() {
    let sweep = Sweep::parse(SWEEP).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cells = run_into(&sweep, folder.path());
    let mut csv = Vec::new();
    table::write_header(&mut csv, &table::cell_columns(&sweep)).unwrap();
    for cell in &cells {
        table::write_row(&mut csv, &table::cell_row(&sweep, cell)).unwrap();
    }
    let path = folder.path().join("cells.parquet");
    columns::write_cells(&sweep, &cells, &path).unwrap();
    let found = read(&path);
    assert_eq!(found.len(), 1 + 6);
    assert_eq!(found, read_csv(&csv));
    assert!(found[1].contains(&"at:0,5,9".to_owned()), "{:?}", found[1]);

    let csv = folder.path().join(SAMPLES);
    let path = folder.path().join("samples.parquet");
    columns::write_samples(&sweep, &csv, &path).unwrap();
    let found = read(&path);
    assert_eq!(found.len(), 1 + 6 * 70);
    assert_eq!(found, read_csv(&std::fs::read(&csv).unwrap()));
    let missing = found.iter().filter(|row| row.contains(&String::new()));
    assert_eq!(missing.count(), 3 * 70, "five tokens jam");
}

#[test]
fn a_file_says_which_sweep_seed_and_version_made_it() {
    let sweep = Sweep::parse(SWEEP).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cells = run_into(&sweep, folder.path());
    let path = folder.path().join("cells.parquet");
    columns::write_cells(&sweep, &cells, &path).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata();
    let value = |key: &str| {
        let entries = metadata.key_value_metadata().unwrap().iter();
        let mut found = entries.filter(|entry| entry.key == key);
        found.next().and_then(|entry| entry.value.clone())
    };
    assert_eq!(value("headway").as_deref(), Some(VERSION));
    assert_eq!(value("seed").as_deref(), Some("11"));
    assert_eq!(value("samples").as_deref(), Some("70"));
    assert_eq!(value("sweep").as_deref(), Some(SWEEP));
    let about = value("measure legitimate_at").unwrap();
    assert!(about.contains("legitimate"), "{about}");
}

#[test]
fn a_damaged_table_is_refused() {
    let sweep = Sweep::parse(SWEEP).unwrap();
    let folder = tempfile::tempdir().unwrap();
    run_into(&sweep, folder.path());
    let csv = folder.path().join(SAMPLES);
    let text = std::fs::read_to_string(&csv).unwrap();
    std::fs::write(&csv, &text[..text.len() - 40]).unwrap();
    let path = folder.path().join("samples.parquet");
    let error = columns::write_samples(&sweep, &csv, &path).unwrap_err();
    assert!(error.to_string().contains("samples.csv"), "{error}");
}
