//! The values of an axis: numbers, ranges, formulas, words.

use super::{Entry, MAX_CELLS, SpecError, list};
use crate::cell::Value;
use crate::formula;
use crate::model::{Axis, AxisKind};

/// The values that an entry stands for.
pub(super) fn values_of(
    axis: &Axis,
    entry: &Entry,
    fixed: &[(&'static str, Value)],
    axes: &[Axis],
) -> Result<Vec<Value>, SpecError> {
    let wrong = |message: String| SpecError::new(format!("grid.{}", axis.name), entry.at, message);
    let lookup = |name: &str| {
        let axis = axes
            .iter()
            .find(|axis| axis.symbol == name || axis.name == name)?;
        match fixed.iter().find(|(fixed, _)| *fixed == axis.name)? {
            (_, Value::Number(number)) => Some(*number),
            _ => None,
        }
    };
    let text = entry.text.trim();
    if let AxisKind::Word(words) = axis.kind {
        if words.contains(&text) {
            return Ok(vec![Value::Word(text.to_owned())]);
        }
        let expected = list(words.iter().copied());
        return Err(wrong(format!("there is no '{text}'; expected {expected}")));
    }
    let (low, high) = match axis.kind {
        AxisKind::Number(low, high) => (low, high),
        _ => (0, i64::MAX),
    };
    let numbers = match text.split_once("..") {
        Some((first, rest)) => {
            let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
            let part = |text: &str| {
                formula::value(text, lookup)
                    .map_err(|error| wrong(format!("'{}': {error}", entry.text)))
            };
            let (first, last, step) = (part(first)?, part(last)?, part(step)?);
            if step < 1 || first > last {
                let form = "expected FIRST..LAST or FIRST..LAST:STEP, ascending";
                return Err(wrong(format!("'{}': {form}", entry.text)));
            }
            if (last - first) / step >= MAX_CELLS as i64 {
                return Err(wrong(format!("'{}' has too many values", entry.text)));
            }
            (first..=last).step_by(step as usize).collect()
        }
        None => match formula::value(text, lookup) {
            Ok(number) => vec![number],
            Err(_) if axis.kind == AxisKind::Mixed => {
                return Ok(vec![Value::Word(text.to_owned())]);
            }
            Err(error) => {
                return Err(wrong(format!(
                    "'{}': {error}; expected a number, a range such as 1..50 or 10..190:10, or a \
                     formula such as n/m",
                    entry.text
                )));
            }
        },
    };
    if let Some(number) = numbers.iter().find(|&&n| n < low || n > high) {
        return Err(wrong(format!(
            "{number} is out of range: expected {low} to {high}"
        )));
    }
    Ok(numbers.into_iter().map(Value::Number).collect())
}
