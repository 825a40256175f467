//! Results as Arrow columns, for data frames.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::model::Measure;
use crate::spec::Sweep;
use crate::sweep::{CellResult, SampleRows};
use crate::table::{self, ColumnKind, Columns, Datum};

/// A row per cell, as in `cells.csv`.
///
/// # Errors
///
/// When rows and columns do not fit, which would be our mistake.
pub fn cells(sweep: &Sweep, results: &[CellResult]) -> Result<RecordBatch, ArrowError> {
    let columns = table::cell_columns(sweep);
    let rows: Vec<_> = results
        .iter()
        .map(|result| table::cell_row(sweep, result))
        .collect();
    batch(&schema(&columns), &columns, &rows)
}

/// Collects a row per sample, as in `samples.csv`, except that texts are dictionaries.
pub struct SampleColumns<'a> {
    sweep: &'a Sweep,
    /// Cells with the number of their rows, in order.
    counts: Vec<(u32, usize)>,
    samples: Vec<i64>,
    measures: Vec<Values>,
}

enum Values {
    Whole(Int64Builder),
    Share(i64, Float64Builder),
}

impl<'a> SampleColumns<'a> {
    /// Without rows.
    pub fn new(sweep: &'a Sweep) -> SampleColumns<'a> {
        let values = |&measure: &usize| match sweep.model.measures[measure] {
            Measure { scale: 1, .. } => Values::Whole(Int64Builder::new()),
            Measure { scale, .. } => Values::Share(scale, Float64Builder::new()),
        };
        SampleColumns {
            sweep,
            counts: Vec::new(),
            samples: Vec::new(),
            measures: sweep.measures.iter().map(values).collect(),
        }
    }

    /// More rows, in order.
    pub fn add(&mut self, rows: &SampleRows) {
        match self.counts.last_mut() {
            Some((cell, count)) if *cell == rows.cell => *count += rows.rows.len(),
            _ => self.counts.push((rows.cell, rows.rows.len())),
        }
        self.samples
            .extend((rows.first as i64..).take(rows.rows.len()));
        for row in &rows.rows {
            for (column, &value) in self.measures.iter_mut().zip(row) {
                match column {
                    Values::Whole(column) => column.append_option(value),
                    Values::Share(scale, column) => {
                        column.append_option(value.map(|value| value as f64 / *scale as f64));
                    }
                }
            }
        }
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// When rows and columns do not fit, which would be our mistake.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let columns = table::sample_columns(self.sweep);
        let heads: Vec<Vec<Datum>> = self
            .counts
            .iter()
            .map(|&(cell, _)| table::sample_head(self.sweep, cell))
            .collect();
        let repeated = |index: usize, kind: ColumnKind| -> Result<ArrayRef, ArrowError> {
            let values = || heads.iter().map(|head| &head[index]);
            if kind == ColumnKind::Whole {
                let numbers = values().zip(&self.counts).flat_map(|(datum, &(_, count))| {
                    let number = match datum {
                        Datum::Whole(number) => Some(*number),
                        _ => None,
                    };
                    std::iter::repeat_n(number, count)
                });
                return Ok(Arc::new(Int64Array::from_iter(numbers)));
            }
            let keys = (0_i32..).zip(&self.counts);
            let keys = keys.flat_map(|(key, &(_, count))| std::iter::repeat_n(key, count));
            let keys = Int32Array::from_iter_values(keys);
            let texts = array(ColumnKind::Text, values());
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
                keys, texts,
            )?))
        };
        let head = columns.len() - 1 - self.measures.len();
        let mut arrays = Vec::new();
        for (index, (_, kind)) in columns[..head].iter().enumerate() {
            arrays.push(repeated(index, *kind)?);
        }
        arrays.push(Arc::new(Int64Array::from(self.samples)) as ArrayRef);
        arrays.extend(self.measures.into_iter().map(|column| match column {
            Values::Whole(mut column) => Arc::new(column.finish()) as ArrayRef,
            Values::Share(_, mut column) => Arc::new(column.finish()),
        }));
        let named = columns.iter().zip(&arrays);
        let fields =
            named.map(|((name, _), array)| Field::new(name, array.data_type().clone(), true));
        RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays)
    }
}

pub(crate) fn schema(columns: &Columns) -> Arc<Schema> {
    let fields = columns.iter().map(|(name, kind)| {
        let kind = match kind {
            ColumnKind::Text => DataType::Utf8,
            ColumnKind::Whole => DataType::Int64,
            ColumnKind::Decimal => DataType::Float64,
        };
        Field::new(name, kind, true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

pub(crate) fn batch(
    schema: &Arc<Schema>,
    columns: &Columns,
    rows: &[Vec<Datum>],
) -> Result<RecordBatch, ArrowError> {
    let column = |(index, (_, kind)): (usize, &(String, ColumnKind))| {
        array(*kind, rows.iter().map(move |row| &row[index]))
    };
    let arrays = columns.iter().enumerate().map(column).collect();
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

fn array<'a>(kind: ColumnKind, data: impl Iterator<Item = &'a Datum>) -> ArrayRef {
    match kind {
        ColumnKind::Text => Arc::new(StringArray::from_iter(data.map(|datum| match datum {
            Datum::Text(text) => Some(text.clone()),
            Datum::Whole(number) => Some(number.to_string()),
            Datum::Decimal(number) => Some(number.to_string()),
            Datum::Empty => None,
        }))),
        ColumnKind::Whole => Arc::new(Int64Array::from_iter(data.map(|datum| match datum {
            Datum::Whole(number) => Some(*number),
            _ => None,
        }))),
        ColumnKind::Decimal => Arc::new(Float64Array::from_iter(data.map(|datum| match datum {
            Datum::Decimal(number) => Some(*number),
            Datum::Whole(number) => Some(*number as f64),
            _ => None,
        }))),
    }
}
