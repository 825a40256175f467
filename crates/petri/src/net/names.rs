//! Many short strings in one.

/// A list of strings that share one allocation.
///
/// ```
/// use headway_petri::net::Names;
/// let mut names = Names::default();
/// names.push("p0");
/// names.push("");
/// assert_eq!((names.get(0), names.get(1), names.len()), ("p0", "", 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// Adds a string at the end.
    pub fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Replaces the string at the end, if there is one.
    pub fn replace_last(&mut self, name: &str) {
        if self.ends.pop().is_some() {
            self.text.truncate(self.start(self.ends.len()));
            self.push(name);
        }
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A string by its number.
    ///
    /// # Panics
    ///
    /// When there are not so many.
    pub fn get(&self, index: usize) -> &str {
        &self.text[self.start(index)..self.ends[index]]
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }
}
