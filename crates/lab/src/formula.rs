//! Whole-number formulas such as `n/3` or `2*d + 1`, for axes that depend on
//! others. Division rounds down, as in the paper's ⌊n/3⌋.

/// The value of a formula, or a sentence that says why it has none. `lookup` knows the
/// names.
pub(crate) fn value(text: &str, lookup: impl Fn(&str) -> Option<i64>) -> Result<i64, String> {
    let mut parser = Parser {
        rest: text.trim(),
        lookup: &lookup,
        depth: 0,
    };
    let value = parser.sum()?;
    if parser.rest.is_empty() {
        Ok(value)
    } else {
        Err(format!(
            "expected the formula to end before '{}'",
            parser.rest
        ))
    }
}

struct Parser<'a> {
    rest: &'a str,
    lookup: &'a dyn Fn(&str) -> Option<i64>,
    depth: u32,
}

/// Parentheses deeper than this are refused rather than followed.
const MAX_DEPTH: u32 = 32;

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<i64, String> {
        let mut left = self.product()?;
        loop {
            let operation = if self.take('+') {
                i64::checked_add
            } else if self.take('-') {
                i64::checked_sub
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = operation(left, right).ok_or("the value is too large")?;
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut left = self.factor()?;
        loop {
            if self.take('*') {
                let right = self.factor()?;
                left = left.checked_mul(right).ok_or("the value is too large")?;
            } else if self.take('/') {
                let right = self.factor()?;
                left = left.checked_div_euclid(right).ok_or("it divides by 0")?;
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<i64, String> {
        if self.take('(') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err("the parentheses are too deep".to_owned());
            }
            let value = self.sum()?;
            self.depth -= 1;
            return if self.take(')') {
                Ok(value)
            } else {
                Err("a parenthesis is not closed".to_owned())
            };
        }
        let word = self.word();
        if word.is_empty() {
            return Err("expected a number, a name or a parenthesis".to_owned());
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return word
                .parse()
                .map_err(|_| format!("'{word}' is not a whole number"));
        }
        (self.lookup)(word).ok_or_else(|| format!("'{word}' is not a number that is known here"))
    }

    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn take(&mut self, symbol: char) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn formulas() {
        let lookup = |name: &str| (name == "n").then_some(50);
        assert_eq!(value("n/3", lookup), Ok(16));
        assert_eq!(value("2*(n - 1)/7", lookup), Ok(14));
        assert!(value("n/0", lookup).is_err());
        assert!(value("x + 1", lookup).unwrap_err().contains("'x'"));
    }
}
