//! Tables for data frames, handed over by the Arrow PyCapsule interface without copying.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table: `pyarrow.table(frame)`, `polars.DataFrame(frame)` and everything else that
/// knows Arrow's PyCapsule interface take it as it is.
#[pyclass(frozen, module = "headway")]
pub(crate) struct Frame {
    pub(crate) batch: RecordBatch,
}

#[pymethods]
impl Frame {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Ours is the only schema there is; whoever wants another one casts.
        let _ = requested_schema;
        let batches = std::iter::once(Ok(self.batch.clone()));
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Where the values of a column are in memory, to see that nobody copied them.
    fn address(&self, column: &str) -> PyResult<usize> {
        let column = self.batch.column_by_name(column);
        let column = column.ok_or_else(|| PyKeyError::new_err("no such column"))?;
        let buffer = column
            .to_data()
            .buffers()
            .first()
            .map(|buffer| buffer.as_ptr() as usize);
        buffer.ok_or_else(|| PyKeyError::new_err("no such buffer"))
    }
}
