//! The maximum over a window both of whose ends move left: O(1) a step on
//! average, because an element is passed over for good once a larger one has
//! come in behind it.

use std::collections::VecDeque;

/// The window `(left, right]` over the values that `key` gives.
pub(super) struct Window<F> {
    key: F,
    left: i128,
    /// Indices whose keys ascend from back to front: the front is the maximum.
    kept: VecDeque<(i128, i128)>,
}

impl<F: Fn(i128) -> i128> Window<F> {
    /// An empty window that ends at `right`.
    pub(super) fn new(right: i128, key: F) -> Window<F> {
        Window {
            key,
            left: right,
            kept: VecDeque::new(),
        }
    }

    /// Takes in everything down to `left` + 1.
    pub(super) fn extend_left(&mut self, left: i128) {
        while self.left > left {
            let key = (self.key)(self.left);
            while self.kept.back().is_some_and(|&(_, kept)| kept <= key) {
                self.kept.pop_back();
            }
            self.kept.push_back((self.left, key));
            self.left -= 1;
        }
    }

    /// Leaves out everything beyond `right`.
    pub(super) fn shrink_right(&mut self, right: i128) {
        while self.kept.front().is_some_and(|&(index, _)| index > right) {
            self.kept.pop_front();
        }
        self.left = self.left.min(right);
    }

    /// The maximum; `None` when the window is empty.
    pub(super) fn max(&self) -> Option<i128> {
        self.kept.front().map(|&(_, key)| key)
    }
}
