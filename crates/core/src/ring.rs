//! All processes together: one synchronous round.
//!
//! [`round`] works on slices and needs no heap; [`Ring`] owns what it is made of.

use crate::program::delay;
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
/// When `programs` and `processes` differ in length, or `measuring` yields fewer
/// than there are measuring programs.
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
    assert_eq!(programs.len(), processes.len(), "one program per process");
    let Some(last) = processes.last() else { return };
    let top = separation.top();
    let mut arriving = last.queued;
    let mut measuring = measuring.into_iter();
    for (process, &program) in processes.iter_mut().zip(programs) {
        let leaving = process.queued;
        *process = match program.measuring_round() {
            // A relay is a delay whose counter starts again from 0; written so,
            // the loop has no branch that random placements could mispredict.
            None => {
                let top = if matches!(program, Program::Delay) {
                    top
                } else {
                    0
                };
                delay::round(*process, arriving, top)
            }
            Some(measuring_round) => {
                let variables = measuring.next().expect("variables for every measurer");
                let (after, measured) = measuring_round(*process, *variables, arriving);
                *variables = measured;
                after
            }
        };
        arriving = leaving;
    }
}
