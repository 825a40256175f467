//! A cell: one point of a grid.

use std::fmt;
use std::str::FromStr;

use crate::model::CellError;

/// The value of an axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A whole number.
    Number(i64),
    /// Anything else, such as a start or a fault.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Word(word) => word.fmt(f),
        }
    }
}

/// One point of a grid: a value for every axis of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its number among all cells of the sweep, which its seed depends on.
    pub index: u32,
    /// The grid it belongs to.
    pub grid: String,
    /// Axis and value, in the model's order.
    pub values: Vec<(&'static str, Value)>,
}

impl Cell {
    /// The value on an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.values
            .iter()
            .find(|(name, _)| *name == axis)
            .map(|(_, value)| value)
    }

    /// The number on an axis that holds numbers; 0 if there is none.
    pub fn number(&self, axis: &str) -> i64 {
        match self.get(axis) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The value on an axis as what it stands for.
    pub(crate) fn parsed<T: FromStr<Err: fmt::Display>>(
        &self,
        axis: &'static str,
    ) -> Result<T, CellError> {
        let text = self.text(axis);
        text.parse()
            .map_err(|error| CellError::new(axis, format_args!("'{text}': {error}")))
    }

    /// The value on an axis as text; empty if there is no such axis.
    pub fn text(&self, axis: &str) -> String {
        self.get(axis).map(ToString::to_string).unwrap_or_default()
    }
}
