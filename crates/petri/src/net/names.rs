//! Many short strings in one.

/// A list of strings that share one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// Adds a string at the end.
    pub(super) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Replaces the string at the end, if there is one.
    pub(super) fn replace_last(&mut self, name: &str) {
        if self.ends.pop().is_some() {
            self.text.truncate(self.start(self.ends.len()));
            self.push(name);
        }
    }

    /// How many strings there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A string by its number.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub(super) fn get(&self, index: usize) -> &str {
        &self.text[self.start(index)..self.ends[index]]
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn strings_are_kept_apart() {
        let mut names = Names::default();
        names.push("p0");
        names.push("");
        assert_eq!((names.get(0), names.get(1), names.len()), ("p0", "", 2));
        names.replace_last("p1");
        assert_eq!((names.get(0), names.get(1), names.len()), ("p0", "p1", 2));
    }
}
