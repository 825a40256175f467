//! A list per row, all in one allocation.

/// Items grouped by row, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Groups items by the row given with each.
    pub(crate) fn new(rows: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Rows<T> {
        let mut starts = vec![0_usize; rows + 1];
        for (row, _) in items.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut grouped = vec![T::default(); starts[rows]];
        for (row, item) in items {
            grouped[next[row as usize]] = item;
            next[row as usize] += 1;
        }
        Rows {
            starts,
            items: grouped,
        }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The items of a row.
    pub(crate) fn of(&self, row: usize) -> &[T] {
        &self.items[self.starts[row]..self.starts[row + 1]]
    }
}

impl Rows<(u32, u64)> {
    /// Sorts every row by column and adds up the weights of equal columns.
    pub(crate) fn merged(mut self) -> Rows<(u32, u64)> {
        let (mut write, mut from) = (0, 0);
        for row in 1..self.starts.len() {
            let to = self.starts[row];
            self.items[from..to].sort_unstable_by_key(|&(column, _)| column);
            let begin = write;
            for read in from..to {
                let (column, weight) = self.items[read];
                match self.items[begin..write].last_mut() {
                    Some(last) if last.0 == column => last.1 += weight,
                    _ => {
                        self.items[write] = (column, weight);
                        write += 1;
                    }
                }
            }
            from = to;
            self.starts[row] = write;
        }
        self.items.truncate(write);
        self
    }
}
