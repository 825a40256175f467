//! Every way to put a number of tokens into slots.

/// Calls `visit` with every distribution of `left` tokens over `slots[at..]`.
pub(crate) fn each_split(
    slots: &mut Vec<u32>,
    at: usize,
    left: u32,
    visit: &mut dyn FnMut(&[u32]),
) {
    if at + 1 == slots.len() {
        slots[at] = left;
        return visit(slots);
    }
    for here in 0..=left {
        slots[at] = here;
        each_split(slots, at + 1, left - here, visit);
    }
}
