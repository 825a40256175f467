//! Numbers as people write them, for flags and for settings of checked models.

/// A number of things; how many there may be is for others to say.
///
/// # Errors
///
/// What was expected.
pub fn whole_number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a whole number".to_owned());
    }
    let fits = text
        .parse()
        .ok()
        .and_then(|number: u64| number.try_into().ok());
    fits.ok_or_else(|| match 8 * size_of::<T>() {
        64.. => "expected a smaller whole number".to_owned(),
        bits => format!("expected a whole number, at most {}", (1_u64 << bits) - 1),
    })
}
