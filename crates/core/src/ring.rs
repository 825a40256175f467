//! All processes together: one synchronous round.
//!
//! [`round`] works on slices and needs no heap; [`Ring`] owns what it is made of.

use crate::program::{Counts, delay};
use crate::{Measuring, Process, Program, Separation};

#[cfg(feature = "alloc")]
mod owned;

#[cfg(feature = "alloc")]
pub use owned::{Ring, RingError};

/// One synchronous round of the whole ring, in place.
///
/// `measuring` holds the further variables of the measuring processes, in ring
/// order. Every process reads only its own old state and its predecessor's old
/// queue, so the result does not depend on the order of evaluation.
///
/// # Panics
///
/// When `programs` and `processes` differ in length, `measuring` yields fewer than
/// there are measuring programs, or a program reads what tokens carry
/// ([`round_with_counts`]).
///
/// ```
/// use headway_core::{ring, Process, Program, Separation};
/// let mut processes = [Process::default(); 4];
/// processes[3].queued = 1;
/// let programs = [Program::Delay, Program::Relay, Program::Relay, Program::Relay];
/// ring::round(Separation::new(2).unwrap(), &programs, &mut processes, &mut []);
/// assert_eq!(processes[0], Process { queued: 1, resting: 0, counter: 1 });
/// ```
pub fn round<'a>(
    separation: Separation,
    programs: &[Program],
    processes: &mut [Process],
    measuring: impl IntoIterator<Item = &'a mut Measuring>,
) {
    one_round::<false>(separation, programs, processes, measuring, &mut []);
}

/// The same on a ring whose tokens carry counts, one for each token from process n-1
/// backwards; at one process the queued ones are ahead of the resting ones.
///
/// # Panics
///
/// As [`round`], and when there are not as many counts as tokens.
pub fn round_with_counts<'a>(
    separation: Separation,
    programs: &[Program],
    processes: &mut [Process],
    measuring: impl IntoIterator<Item = &'a mut Measuring>,
    counts: &mut [u32],
) {
    let wrapping = processes.last().map_or(0, |last| last.queued);
    one_round::<true>(separation, programs, processes, measuring, counts);
    counts.rotate_left(wrapping as usize);
}

/// One round, of the counts as well except for their order.
fn one_round<'a, const COUNTS: bool>(
    separation: Separation,
    programs: &[Program],
    processes: &mut [Process],
    measuring: impl IntoIterator<Item = &'a mut Measuring>,
    counts: &mut [u32],
) {
    assert_eq!(programs.len(), processes.len(), "one program per process");
    let Some(last) = processes.last() else { return };
    let top = separation.top();
    let mut arriving = last.queued;
    let mut measuring = measuring.into_iter();
    // Where the counts of the process before begin, and those of this one.
    let (mut behind, mut here) = (0, counts.len());
    for (process, &program) in processes.iter_mut().zip(programs) {
        let before = *process;
        let mut seen = Counts::default();
        if COUNTS {
            here -= before.tokens() as usize;
            let arrived = &mut counts[behind..behind + arriving as usize];
            for count in arrived.iter_mut() {
                *count = count.wrapping_add(1);
            }
            seen.arrived = arrived.first().copied().unwrap_or(0);
            seen.leaving = match before.resting {
                0 => seen.arrived,
                _ => counts[here + before.queued as usize],
            };
            behind = here;
        }
        *process = match program {
            // A relay is a delay whose counter is 0 and starts again from 0; written so,
            // the loop has no branch that random placements could mispredict.
            Program::Delay | Program::Relay => {
                let counts = i32::from(matches!(program, Program::Delay));
                let counter = before.counter * counts;
                delay::round(Process { counter, ..before }, arriving, top * counts)
            }
            _ => {
                let variables = measuring.next().expect("variables for every measurer");
                if before.resting == 0 && arriving == 0 {
                    // Nothing to release, nothing to time: most rounds of most processes.
                    program.measuring_pause(variables);
                    delay::round(before, 0, 0)
                } else {
                    let carried = COUNTS || !program.reads_counts();
                    assert!(carried, "counts for a program that reads them");
                    let after;
                    (after, *variables) =
                        program.measuring_round(before, *variables, arriving, seen);
                    after
                }
            }
        };
        arriving = before.queued;
    }
}
