//! Parquet tables.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{Chart, Column, MAX_CELLS, Values, finish, wrong};
use crate::error::ApiError;

/// Reads the columns that `headway sweep` writes: texts, whole and other numbers.
pub(super) fn read(bytes: Bytes) -> Result<Chart, ApiError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .map_err(|error| wrong(format!("not a Parquet file: {error}")))?;
    let rows = builder.metadata().file_metadata().num_rows();
    let fields = builder.schema().fields().clone();
    let cells = usize::try_from(rows)
        .unwrap_or(usize::MAX)
        .saturating_mul(fields.len());
    if cells > MAX_CELLS {
        let message = format!("the table has more than {MAX_CELLS} fields");
        return Err(ApiError::too_large("body", message));
    }
    let mut columns = Vec::new();
    for field in &fields {
        let values = match field.data_type() {
            DataType::Utf8 => Values::Text(Vec::new()),
            DataType::Int64 | DataType::Float64 => Values::Number(Vec::new()),
            other => {
                let message = format!("column {}: cannot show {other}", field.name());
                return Err(wrong(message));
            }
        };
        columns.push(Column {
            name: field.name().clone(),
            values,
        });
    }
    let reader = builder.build().map_err(|error| wrong(error.to_string()))?;
    for batch in reader {
        let batch = batch.map_err(|error| wrong(error.to_string()))?;
        append(&mut columns, &batch);
    }
    finish(columns)
}

fn append(columns: &mut [Column], batch: &RecordBatch) {
    for (column, array) in columns.iter_mut().zip(batch.columns()) {
        match &mut column.values {
            Values::Text(values) => {
                let strings = array.as_string::<i32>().iter();
                values.extend(strings.map(|text| text.map(str::to_owned)));
            }
            Values::Number(values) if *array.data_type() == DataType::Int64 => {
                let whole = array.as_primitive::<Int64Type>().iter();
                values.extend(whole.map(|number| number.map(|number| number as f64)));
            }
            Values::Number(values) => {
                values.extend(array.as_primitive::<Float64Type>().iter());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use parquet::arrow::ArrowWriter;

    use super::*;

    #[test]
    fn columns_come_out_as_they_went_in() {
        let columns: [(&str, ArrayRef); 3] = [
            ("delays", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            (
                "rounds_mean",
                Arc::new(Float64Array::from(vec![Some(30.5), None, Some(7.0)])),
            ),
            ("start", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let chart = read(Bytes::from(bytes.clone())).unwrap();
        assert_eq!((chart.rows, chart.x.as_deref()), (3, Some("delays")));
        assert_eq!(chart.y, ["rounds_mean"]);
        let means = Values::Number(vec![Some(30.5), None, Some(7.0)]);
        assert_eq!(chart.columns[1].values, means);
        let broken = Bytes::from(bytes[..bytes.len() / 2].to_vec());
        assert!(read(broken).is_err());
    }
}
