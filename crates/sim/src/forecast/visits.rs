//! How often processes are visited, without counting.

/// Fewest and most visits of a process in `rounds` rounds when tokens with these
/// gaps between them all move in every round. The gaps add up to `processes`.
///
/// In a whole turn every token visits every process once. In the `rest` rounds
/// of an unfinished turn a process is visited by the tokens among the `rest`
/// processes before it, so the question is how many tokens an arc of that length
/// can hold: most if it starts at a token, fewest if it starts just after one.
pub(super) fn extremes(gaps: &[u64], processes: u64, rounds: u64) -> (u64, u64) {
    let tokens = gaps.len() as u64;
    let (turns, rest) = (rounds / processes, rounds % processes);
    let (mut fewest, mut most) = (tokens, 0);
    // `inside` tokens follow token `first` within `reach` ≤ rest hops.
    let (mut inside, mut reach) = (0, 0);
    for first in 0..gaps.len() {
        // The gaps add up to more than `rest`, so this ends before it is round.
        loop {
            let next = gaps[(first + inside as usize) % gaps.len()];
            if reach + next > rest {
                break;
            }
            reach += next;
            inside += 1;
        }
        // From the token itself, `rest` processes end one short of `rest` hops.
        let at_the_end = u64::from(reach == rest);
        most = most.max((inside + 1 - at_the_end).min(tokens));
        fewest = fewest.min(inside);
        if inside > 0 {
            reach -= gaps[first];
            inside -= 1;
        }
    }
    (turns * tokens + fewest, turns * tokens + most)
}
