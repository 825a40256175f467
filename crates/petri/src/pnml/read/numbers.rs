//! Numbers as XML Schema writes them.

/// A nonNegativeInteger: white space around it, a plus sign and leading zeros
/// are allowed, and so is minus zero.
pub(super) fn natural(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a number from 0 on";
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    let significant = digits.trim_start_matches('0');
    if digits.is_empty()
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
        || (trimmed.starts_with('-') && !significant.is_empty())
    {
        return Err(EXPECTED);
    }
    if significant.is_empty() {
        return Ok(0);
    }
    significant
        .parse()
        .map_err(|_| "at most 2^64-1 can be represented")
}

/// A decimal: no exponent, no infinity.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
    trimmed.bytes().all(plain).then(|| trimmed.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{decimal, natural};

    #[test]
    fn numbers_as_the_schema_has_them() {
        assert_eq!(natural(" +007\n"), Ok(7));
        assert_eq!(natural("-0"), Ok(0));
        assert_eq!(natural("18446744073709551615"), Ok(u64::MAX));
        assert!(natural("18446744073709551616").is_err());
        assert!(natural("-1").is_err() && natural("").is_err() && natural("1 2").is_err());
        assert_eq!(decimal("-1.5"), Some(-1.5));
        assert_eq!(decimal("1e3"), None);
    }
}
