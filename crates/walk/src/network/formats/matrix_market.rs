//! Matrix Market: a square matrix, whose entries are links from row to column. In a
//! `coordinate` file every entry that is listed is a link, in an `array` every one
//! that is not 0. A matrix that is not `general` is of links that go both ways.

use crate::network::{Builder, Node};
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut lines = (1..).zip(text.lines());
    let header = lines
        .next()
        .map_or("", |(_, line)| line)
        .to_ascii_lowercase();
    let header: Vec<&str> = header.split_whitespace().collect();
    let [
        "%%matrixmarket",
        "matrix",
        layout @ ("coordinate" | "array"),
        field,
        symmetry,
    ] = header[..]
    else {
        let message =
            "expected %%MatrixMarket matrix coordinate (or array), a field and a symmetry";
        return Err(ReadError::at(1, message));
    };
    let directed = match symmetry {
        "general" => true,
        "symmetric" | "skew-symmetric" | "hermitian" => false,
        other => {
            let message = format!("symmetry {other:?} is not one of Matrix Market");
            return Err(ReadError::at(1, message));
        }
    };
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('%'));
    let numbers = |line: &str| -> Option<Vec<u64>> {
        line.split_whitespace()
            .map(|word| word.parse().ok())
            .collect()
    };
    let (at, size) = lines.next().unwrap_or((1, ""));
    let (size, entries) = match (numbers(size).as_deref(), layout) {
        (Some(&[rows, columns, entries]), "coordinate") if rows == columns => (rows, entries),
        (Some(&[rows, columns]), "array") if rows == columns => (rows, 0),
        _ => {
            let message = "expected the size of a square matrix: rows, columns and, for \
                           coordinates, how many entries";
            return Err(ReadError::at(at, message));
        }
    };
    let mut builder = Builder::default();
    super::numbered(&mut builder, 1, size, (text, at))?;
    if layout == "array" {
        return array(lines, builder, size, symmetry, directed, at);
    }
    let (mut found, mut last) = (0, at);
    for (at, line) in lines {
        let mut words = line.split_whitespace();
        let mut end = |what: &str| {
            let word = words.next().unwrap_or("");
            let inside = word
                .parse()
                .ok()
                .filter(|&number: &u64| (1..=size).contains(&number));
            inside.map(|number| (number - 1) as Node).ok_or_else(|| {
                ReadError::at(
                    at,
                    format!("{what} {word:?} is not a number from 1 to {size}"),
                )
            })
        };
        let (row, column) = (end("row")?, end("column")?);
        let values = match field {
            "pattern" => 0,
            "complex" => 2,
            _ => 1,
        };
        if words.clone().count() != values || words.any(|word| word.parse::<f64>().is_err()) {
            let message = format!("expected row, column and {values} numbers for a {field} entry");
            return Err(ReadError::at(at, message));
        }
        builder.join(row, column, directed);
        found += 1;
        last = at;
    }
    if found != entries {
        let message = format!("line {at} promises {entries} entries, there are {found}");
        return Err(ReadError::at(last, message));
    }
    Ok(builder)
}

/// All entries, column by column; without symmetry's other half.
fn array<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    mut builder: Builder,
    size: u64,
    symmetry: &str,
    directed: bool,
    mut last: usize,
) -> Result<Builder, ReadError> {
    let first_row = |column: u64| match symmetry {
        "general" => 0,
        "skew-symmetric" => column + 1,
        _ => column,
    };
    let mut places =
        (0..size).flat_map(|column| (first_row(column)..size).map(move |row| (row, column)));
    for (at, line) in lines {
        let mut values = line.split_whitespace().map(str::parse::<f64>);
        // A complex number is two.
        let linked = values.try_fold(false, |linked, value| {
            Ok::<_, std::num::ParseFloatError>(linked | (value? != 0.0))
        });
        let (Ok(linked), Some((row, column))) = (linked, places.next()) else {
            let message = format!("expected one entry of a matrix of {size} rows and columns");
            return Err(ReadError::at(at, message));
        };
        if linked {
            builder.join(row as Node, column as Node, directed);
        }
        last = at;
    }
    if places.next().is_some() {
        return Err(ReadError::at(last, "the file ends before the last entry"));
    }
    Ok(builder)
}
