//! A phase clock: self-stabilizing unison on a ring (Boulinier, Petit, Villain,
//! *When graph theory helps self-stabilization*, 2004).
//!
//! Every process has a phase. Phases 0 to K-1 are the clock proper and are passed
//! through forever; the phases below 0, down to the tail's end, are for
//! recovery. Once stabilized, neighbours are never more than one tick apart and
//! every clock ticks again and again.
//!
//! On a ring of n processes the modulus K has to exceed n, or the clocks can be
//! wound once round the ring, each one tick ahead of the last, and stand still
//! forever; and the tail has to be at least n - 2 long, or resets can chase each
//! other round the ring. Both are shown by `headway check phase-clock`.

/// The phase of a clock: -tail to K-1.
pub type Phase = i32;

/// The two parameters of a phase clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhaseClock {
    /// K, at least 3: fewer phases do not tell ahead from behind.
    pub modulus: i32,
    /// How many phases there are below 0.
    pub tail: i32,
}

/// What a clock does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// All is well and no neighbour is behind: one phase on, modulo K.
    Tick,
    /// In the tail, with no neighbour out of it or behind: one phase on.
    Climb,
    /// Out of step with a neighbour: back to the tail's end.
    Reset,
}

impl PhaseClock {
    /// The smallest parameters that stabilize a ring of `processes`: K = n + 1
    /// (at least 3) and a tail of n - 2.
    ///
    /// ```
    /// use headway_core::phase_clock::PhaseClock;
    /// assert_eq!(PhaseClock::for_ring(5), PhaseClock { modulus: 6, tail: 3 });
    /// ```
    pub const fn for_ring(processes: i32) -> PhaseClock {
        PhaseClock {
            modulus: if processes < 2 {
                3
            } else {
                processes.saturating_add(1)
            },
            tail: if processes < 2 { 0 } else { processes - 2 },
        }
    }

    /// Whether two neighbours are in step: both clocks proper, at most one tick
    /// apart.
    pub const fn in_step(self, one: Phase, other: Phase) -> bool {
        one >= 0
            && other >= 0
            && (one == other || self.after(one) == other || self.after(other) == one)
    }

    /// The phase after `phase`.
    pub const fn after(self, phase: Phase) -> Phase {
        if phase + 1 >= self.modulus {
            0
        } else {
            phase + 1
        }
    }

    /// What a clock at `own` does, given its neighbours' phases; `None` when it
    /// has to wait.
    ///
    /// ```
    /// use headway_core::phase_clock::{PhaseClock, Step};
    /// let clock = PhaseClock::for_ring(4);
    /// assert_eq!(clock.step(4, &[4, 0]), Some(Step::Tick), "0 follows 4");
    /// assert_eq!(clock.step(0, &[4, 0]), None, "a neighbour is behind");
    /// assert_eq!(clock.step(3, &[0, 3]), Some(Step::Reset));
    /// assert_eq!(clock.step(-2, &[-1, 0]), Some(Step::Climb));
    /// ```
    pub fn step(self, own: Phase, neighbours: &[Phase]) -> Option<Step> {
        let all_in_step = neighbours.iter().all(|&other| self.in_step(own, other));
        if all_in_step {
            let none_behind = neighbours
                .iter()
                .all(|&other| other == own || other == self.after(own));
            return none_behind.then_some(Step::Tick);
        }
        if own < 0 {
            let may_climb = neighbours.iter().all(|&other| own <= other && other <= 0);
            return may_climb.then_some(Step::Climb);
        }
        // A clock at 0 is at the tail's top already and waits for its neighbours.
        (own > 0).then_some(Step::Reset)
    }

    /// The phase that a step leads to.
    pub const fn stepped(self, own: Phase, step: Step) -> Phase {
        match step {
            Step::Tick => self.after(own),
            Step::Climb => own + 1,
            Step::Reset => -self.tail,
        }
    }
}
