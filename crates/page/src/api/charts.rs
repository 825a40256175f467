//! Results of sweeps as columns to draw: CSV, and Parquet where it is built in.

use std::collections::BTreeSet;

use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::exchange::TableFile;

#[cfg(feature = "parquet")]
mod parquet_file;

/// Cells of a table that are taken.
const MAX_CELLS: usize = 2_000_000;

/// A table, by columns.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Chart {
    /// How many.
    rows: usize,
    /// In their order.
    columns: Vec<Column>,
    /// What to draw along: of a sweep, what was varied most.
    x: Option<String>,
    /// What to draw.
    y: Vec<String>,
    /// What has a line for each of its values.
    by: Option<String>,
}

/// A column.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Column {
    /// As in the first line.
    name: String,
    #[serde(flatten)]
    values: Values,
}

/// What is in a column; nothing where a field is empty.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "values", rename_all = "lowercase")]
pub(crate) enum Values {
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Anything else.
    Text(Vec<Option<String>>),
}

/// Open a table of results as columns to draw
pub(crate) fn chart(file: &TableFile) -> Result<Chart, ApiError> {
    match file.kind.as_str() {
        "text/csv" => read_csv(&file.bytes),
        #[cfg(feature = "parquet")]
        "application/vnd.apache.parquet" => parquet_file::read(file.bytes.clone()),
        #[cfg(not(feature = "parquet"))]
        "application/vnd.apache.parquet" => Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "chart_file",
            "this program was built without Parquet; build it with --features parquet, or send CSV",
        )),
        other => Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "chart_file",
            format!("Content-Type {other:?}: expected text/csv or application/vnd.apache.parquet"),
        )),
    }
}

fn wrong(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "chart_file", message)
}

fn read_csv(bytes: &[u8]) -> Result<Chart, ApiError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let mut records = records(text);
    let (_, names) = records.next().unwrap_or_default();
    if names.iter().all(String::is_empty) {
        return Err(wrong("the file has no column names in its first line"));
    }
    let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); names.len()];
    for (line, record) in records {
        if record.len() != columns.len() {
            let (found, expected) = (record.len(), columns.len());
            let message = format!("line {line}: {found} fields, and there are {expected} columns");
            return Err(wrong(message));
        }
        if (columns[0].len() + 1) * columns.len() > MAX_CELLS {
            return Err(ApiError::too_large(
                "body",
                format!("the table has more than {MAX_CELLS} fields"),
            ));
        }
        for (column, field) in columns.iter_mut().zip(record) {
            column.push((!field.is_empty()).then_some(field));
        }
    }
    let columns = names.into_iter().zip(columns).map(|(name, fields)| Column {
        name,
        values: typed(fields),
    });
    finish(columns.collect())
}

/// The fields of each record (RFC 4180), trimmed, with the line on which it begins. Empty
/// lines and those that begin with `#` are left out.
fn records(text: &str) -> impl Iterator<Item = (usize, Vec<String>)> {
    let mut rest = text.chars().peekable();
    let mut line = 1;
    std::iter::from_fn(move || {
        let (mut record, mut field) = (Vec::new(), String::new());
        let (mut begun, mut quoted) = (line, false);
        while let Some(character) = rest.next() {
            let is_first = record.is_empty() && field.is_empty();
            line += usize::from(character == '\n');
            match character {
                '"' if quoted && rest.next_if_eq(&'"').is_some() => field.push('"'),
                '"' if quoted || field.is_empty() => quoted = !quoted,
                ',' if !quoted => record.push(std::mem::take(&mut field).trim().to_owned()),
                '#' if is_first && !quoted => while rest.next_if(|&c| c != '\n').is_some() {},
                '\n' if !quoted && field.trim().is_empty() && record.is_empty() => {
                    field.clear();
                    begun = line;
                }
                '\n' if !quoted => break,
                other => field.push(other),
            }
        }
        if record.is_empty() && field.trim().is_empty() {
            return None;
        }
        record.push(field.trim().to_owned());
        Some((begun, record))
    })
}

/// Numbers if every field is one or empty.
fn typed(fields: Vec<Option<String>>) -> Values {
    let number = |field: &Option<String>| match field {
        None => Some(None),
        Some(text) => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Some),
    };
    let numbers: Option<Vec<Option<f64>>> = fields.iter().map(number).collect();
    match numbers {
        Some(numbers) if numbers.iter().any(Option::is_some) => Values::Number(numbers),
        _ => Values::Text(fields),
    }
}

fn finish(columns: Vec<Column>) -> Result<Chart, ApiError> {
    let rows = columns.first().map_or(0, rows_of);
    if rows == 0 {
        return Err(wrong("the file has no rows"));
    }
    let (x, y, by) = suggested(&columns);
    Ok(Chart {
        rows,
        columns,
        x,
        y,
        by,
    })
}

/// What to draw along, what to draw, and what has a line for each of its values.
///
/// A sweep has means, and columns that were set: along the one of most values. Of any other
/// table, along the first column with more than one number.
fn suggested(columns: &[Column]) -> (Option<String>, Vec<String>, Option<String>) {
    let counted: Vec<(&Column, usize)> = columns
        .iter()
        .map(|column| (column, values_of(column)))
        .filter(|(_, values)| *values > 1)
        .collect();
    let of_kind = |number: bool| {
        let all = counted.iter().copied();
        all.filter(move |(column, _)| !number || matches!(column.values, Values::Number(_)))
    };
    let given = |column: &Column| {
        !matches!(column.name.as_str(), "cell" | "seed" | "samples")
            && !column.name.rsplit_once('_').is_some_and(of_a_measure)
    };
    let name = |(column, _): (&Column, usize)| column.name.clone();
    let mut means: Vec<String> = of_kind(true).map(name).collect();
    means.retain(|name| name.ends_with("_mean"));
    let set = || of_kind(true).filter(|(column, _)| means.is_empty() || given(column));
    let most = set().map(|(_, values)| values).max().unwrap_or(0);
    let x = set()
        .find(|(_, values)| means.is_empty() || *values == most)
        .map(name);
    let y: Vec<String> = if means.is_empty() {
        let others = of_kind(true).map(name);
        let others = others.filter(|name| Some(name) != x.as_ref() && name != "seed");
        others.take(4).collect()
    } else {
        means.clone()
    };
    let rows = columns.first().map_or(0, rows_of);
    let by = of_kind(false).find(|(column, values)| {
        let taken = Some(&column.name) == x.as_ref() || y.contains(&column.name);
        !taken && given(column) && *values <= 8 && *values < rows
    });
    let by = by.map(name);
    (x, y, by)
}

/// How the names of a measure's columns end.
fn of_a_measure((_, end): (&str, &str)) -> bool {
    let percentile = end.strip_prefix('p');
    let parts = ["mean", "low95", "high95", "sd", "min", "max", "missing"];
    parts.contains(&end) || percentile.is_some_and(|number| number.parse::<f64>().is_ok())
}

fn rows_of(column: &Column) -> usize {
    match &column.values {
        Values::Number(values) => values.len(),
        Values::Text(values) => values.len(),
    }
}

/// How many different values there are.
fn values_of(column: &Column) -> usize {
    fn different<T: Ord>(values: impl Iterator<Item = T>) -> usize {
        values.collect::<BTreeSet<T>>().len()
    }
    match &column.values {
        Values::Number(values) => different(values.iter().map(|value| value.map(f64::to_bits))),
        Values::Text(values) => different(values.iter()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_testkit::damage;

    #[test]
    fn a_table_is_read_by_columns() {
        let text = "\u{feff}# made by hand\ndelays,start,rounds_mean,low\n1,piled,30.5,\n2,\"a, b\",20,7\n";
        let chart = read_csv(text.as_bytes()).unwrap();
        assert_eq!((chart.rows, chart.x.as_deref()), (2, Some("delays")));
        assert_eq!(chart.y, ["rounds_mean"]);
        assert_eq!(
            chart.columns[3].values,
            Values::Number(vec![None, Some(7.0)])
        );
        let texts = ["piled", "a, b"].map(|text| Some(text.to_owned()));
        assert_eq!(chart.columns[1].values, Values::Text(texts.to_vec()));
    }

    #[test]
    fn fields_may_be_quoted() {
        let text = "a,b\r\n\r\n\"1, \"\"2\"\"\n3\",\n# no\n x ,\"\"";
        let read: Vec<(usize, Vec<String>)> = records(text).collect();
        let record = |line, fields: [&str; 2]| (line, fields.map(str::to_owned).to_vec());
        let expected = [
            record(1, ["a", "b"]),
            record(3, ["1, \"2\"\n3", ""]),
            record(6, ["x", ""]),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_sweep_is_drawn_along_what_was_varied_most() {
        let mut text = "cell,processes,tokens,delays,start,seed,samples,rounds_mean,rounds_low95,rounds_high95,rounds_missing\n".to_owned();
        for (cell, (tokens, delays)) in [2, 4]
            .into_iter()
            .flat_map(|tokens| [1, 2, 4].map(|delays| (tokens, delays)))
            .enumerate()
        {
            text += &format!(
                "{cell},60,{tokens},{delays},random,7,100,{0},{0},{0},{1}\n",
                90 - cell,
                cell % 2
            );
        }
        let chart = read_csv(text.as_bytes()).unwrap();
        assert_eq!(chart.x.as_deref(), Some("delays"));
        assert_eq!(chart.by.as_deref(), Some("tokens"));
        assert_eq!(chart.y, ["rounds_mean"]);
    }

    #[test]
    fn a_broken_table_says_where() {
        let error = read_csv(b"a,b\n1,2\n3\n").unwrap_err();
        assert!(
            format!("{error:?}").contains("line 3: 1 fields"),
            "{error:?}"
        );
        assert!(read_csv(b"").is_err());
        assert!(read_csv(b"a,b\n").is_err());
        assert!(read_csv(b"a\n\xff\xfe\n").is_err());
    }

    #[test]
    fn a_damaged_table_is_refused_or_whole() {
        let sample = "# made by hand\ndelays,start,rounds_mean,seed\n1,piled,30.5,7\n\
                      2,\"a, b\",20,8\n3,,1e3,9\n";
        let (mut read, mut refused) = (0, 0);
        for (seed, bytes) in damage::copies(sample.as_bytes(), 60_000) {
            let Ok(chart) = read_csv(&bytes) else {
                refused += 1;
                continue;
            };
            read += 1;
            for column in &chart.columns {
                let rows = match &column.values {
                    Values::Number(values) => values.len(),
                    Values::Text(values) => values.len(),
                };
                assert_eq!(rows, chart.rows, "seed {seed}");
            }
            let named = |name: &String| chart.columns.iter().any(|column| column.name == *name);
            assert!(chart.x.iter().chain(&chart.y).all(named), "seed {seed}");
            let sent = serde_json::to_vec(&chart).unwrap();
            let again: Chart = serde_json::from_slice(&sent).unwrap();
            assert_eq!(again.rows, chart.rows);
        }
        assert!(read > 600 && refused > 600, "{read} {refused}");
    }
}
