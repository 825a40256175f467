//! What words and numbers mean on the command line, where [`crate::Settings`] are flags.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

pub use crate::number::whole_number;

/// One of the values of an enum, which brings their names and what they mean.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + FromStr<Err = strum::ParseError> + Clone + Send + Sync,
{
    PossibleValuesParser::new(possible_values::<T>()).try_map(|name| name.parse::<T>())
}

/// The values of an enum with what they mean.
pub fn possible_values<T: VariantArray + EnumMessage>() -> impl Iterator<Item = PossibleValue> {
    <T as VariantArray>::VARIANTS.iter().flat_map(|value| {
        let help = value.get_documentation().unwrap_or_default();
        let names = value.get_serializations().iter();
        names.map(|&name| PossibleValue::new(name).help(help.trim_end_matches('.')))
    })
}

/// The seed of every random choice: a number, or `random` for a new one.
pub fn seed(text: &str) -> Result<u64, String> {
    if text == "random" {
        use std::hash::{BuildHasher, RandomState};
        // The standard library's hasher keys come from the operating system.
        return Ok(RandomState::new().hash_one(0) >> 32);
    }
    let expected = "expected a whole number from 0 to 18446744073709551615, or random";
    text.parse().map_err(|_| expected.to_owned())
}
