//! Work on all threads. What is compiled anew for each model is plain loops over stretches of
//! numbers; what hands them out is compiled once for each kind of result.

use std::ops::Range;

/// So many numbers are one piece of work, unless a number alone takes long.
pub(crate) const STRETCH: u64 = 1 << 12;

/// What `work` makes of stretches of at most `most` numbers, merged in their order.
pub(crate) fn reduce<T: Send>(
    numbers: Range<u64>,
    most: u64,
    work: &(dyn Fn(Range<u64>) -> T + Sync),
    merge: &(dyn Fn(T, T) -> T + Sync),
) -> T {
    let count = numbers.end - numbers.start;
    if count <= most {
        return work(numbers);
    }
    // The first half is whole stretches.
    let middle = numbers.start + (count / 2).next_multiple_of(most);
    let (one, other) = rayon::join(
        || reduce(numbers.start..middle, most, work, merge),
        || reduce(middle..numbers.end, most, work, merge),
    );
    merge(one, other)
}

/// The same for work that has no result.
pub(crate) fn each(numbers: Range<u64>, most: u64, work: &(dyn Fn(Range<u64>) + Sync)) {
    reduce(numbers, most, work, &|(), ()| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_in_order() {
        for (count, most) in [
            (0, 1),
            (1, 1),
            (7, 3),
            (8, 4),
            (1000, 1),
            (1000, 64),
            (9, 4096),
        ] {
            let work = |numbers: Range<u64>| {
                assert!(numbers.end - numbers.start <= most);
                numbers.collect::<Vec<_>>()
            };
            let found = reduce(0..count, most, &work, &|one, other| [one, other].concat());
            assert_eq!(found, (0..count).collect::<Vec<_>>(), "{count} by {most}");
        }
    }
}
