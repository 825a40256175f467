//! The listings of figures 3 and 6, line by line, as section 4 executes them, and
//! the programs of docs/research/unknown-size.md as variations of figure 6.
//!
//! A *global step* lets every process execute one line, all in unison: line 1
//! everywhere, then line 2 everywhere. Here a process does assign to its
//! predecessor's `q`. Nothing is shared with `headway_core`'s programs, so that
//! agreement of the two means something.
//!
//! Programs of different length are padded. Section 4 leaves open where;
//! [`Padding`] shows that it matters.

use std::ops::RangeInclusive;

use headway_core::{Configuration, Measuring, Process, Program, Ring};

/// Where the shorter listings of figure 3 idle while figure 6 runs its 18 lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Lines 1 and 2 of figure 3 are executed together with lines 7 and 8 of
    /// figure 6, so that all processes move tokens at the same time.
    Aligned,
    /// All start with their first line and idle after the last one.
    AtTheEnd,
}

/// Global steps in a round: the longest listing's lines.
pub const STEPS: usize = 18;

/// The variables of one process as the listings name them, and which of the
/// nested `if`s it has entered in this round.
#[derive(Clone, Debug)]
struct Variables {
    program: Program,
    q: u32,
    r: u32,
    c: i32,
    /// What the tokens of q and of r carry, the first to leave first; empty where
    /// tokens carry nothing.
    carried_q: Vec<u32>,
    carried_r: Vec<u32>,
    measuring: Measuring,
    /// Line 2 of figure 6.
    timed_arrival: bool,
    /// Line 4 of figure 6.
    last_ignored: bool,
    /// Line 9 of figure 6, line 3 of `delay`.
    counted: bool,
    /// Line 11 of figure 6, line 4 of `delay`, line 3 of `relay`.
    releasing: bool,
    /// Line 15 of figure 6.
    starting: bool,
}

/// A ring that executes the listings.
pub struct Listing {
    top: i32,
    padding: Padding,
    ring: Vec<Variables>,
}

impl Listing {
    /// The listings of `ring`'s programs, in the given state. `Measure` is
    /// figure 6 with the two corrections and `MeasureAsPrinted` without.
    pub fn new(ring: &Ring, state: &Configuration, padding: Padding) -> Listing {
        let mut measuring = state.measuring.values();
        let mut counts = state.counts.clone();
        let variables = |(process, &program): (&Process, &Program)| Variables {
            program,
            q: process.queued,
            r: process.resting,
            c: process.counter,
            // The last process's come first.
            carried_r: counts.split_off(counts.len().saturating_sub(process.resting as usize)),
            carried_q: counts.split_off(counts.len().saturating_sub(process.queued as usize)),
            measuring: if program.measures() {
                *measuring.next().expect("one set per measuring process")
            } else {
                Measuring::new(1, 1)
            },
            timed_arrival: false,
            last_ignored: false,
            counted: false,
            releasing: false,
            starting: false,
        };
        Listing {
            top: ring.separation().top(),
            padding,
            ring: state
                .processes
                .iter()
                .zip(ring.programs())
                .map(variables)
                .collect(),
        }
    }

    /// A round: all global steps. Calls `after_step` with the number of each, from
    /// 1 to [`STEPS`], and the state after it.
    pub fn round(&mut self, mut after_step: impl FnMut(usize, &Listing)) {
        for step in 1..=STEPS {
            // In one global step every process reads the state before the step.
            let before = self.ring.clone();
            for i in 0..self.ring.len() {
                self.local_step(step, i, &before);
            }
            after_step(step, self);
        }
    }

    /// The state, for comparison.
    pub fn state(&self) -> Configuration {
        let process = |v: &Variables| Process {
            queued: v.q,
            resting: v.r,
            counter: v.c,
        };
        let measurers = self.ring.iter().enumerate();
        let measurers = measurers.filter(|(_, v)| v.program.measures());
        Configuration {
            processes: self.ring.iter().map(process).collect(),
            measuring: measurers.map(|(i, v)| (i, v.measuring)).collect(),
            counts: (self.ring.iter().rev())
                .flat_map(|v| [&v.carried_q, &v.carried_r])
                .flatten()
                .copied()
                .collect(),
        }
    }

    fn local_step(&mut self, step: usize, i: usize, before: &[Variables]) {
        let n = self.ring.len();
        let predecessor = (i + n - 1) % n;
        let q_before = before[predecessor].q;
        let carried = before[predecessor].carried_q.iter();
        let carried = carried.map(|count| count.wrapping_add(1));
        match self.line(step, i) {
            Line::Take => {
                self.ring[i].r = before[i].r + q_before;
                self.ring[i].carried_r.extend(carried);
            }
            Line::Clear => {
                self.ring[predecessor].q = 0;
                self.ring[predecessor].carried_q.clear();
            }
            Line::Own(lines) => {
                let first = carried.clone().next().unwrap_or(0);
                for line in lines {
                    self.ring[i].own_line(line, q_before, first, self.top);
                }
            }
            Line::Idle => {}
        }
    }

    /// Which line process `i` executes in a global step.
    fn line(&self, step: usize, i: usize) -> Line {
        let program = self.ring[i].program;
        if program.measures() {
            return match step {
                7 => Line::Take,
                8 => Line::Clear,
                line => Line::Own(line..=line),
            };
        }
        let line_of_figure_3 = match self.padding {
            Padding::AtTheEnd => step,
            Padding::Aligned if step >= 7 => step - 6,
            Padding::Aligned => return Line::Idle,
        };
        match (line_of_figure_3, program) {
            (1, _) => Line::Take,
            (2, _) => Line::Clear,
            (3, Program::Delay) => Line::Own(9..=10),
            (3, _) | (4, Program::Delay) => Line::Own(11..=14),
            _ => Line::Idle,
        }
    }
}

/// What a process executes in one global step.
enum Line {
    /// `r_i ← r_i + q_{i-1}`.
    Take,
    /// `q_{i-1} ← 0`.
    Clear,
    /// Writes the process's own variables only. Numbered as in figure 6; what
    /// figure 3 counts as one line, several assignments, is executed in one step.
    Own(RangeInclusive<usize>),
    Idle,
}

impl Variables {
    /// `count` is what the first token of `q_before` shows on arrival.
    fn own_line(&mut self, line: usize, q_before: u32, count: u32, top: i32) {
        let corrected = self.program != Program::MeasureAsPrinted;
        let section_7 = corrected && self.program != Program::Measure;
        let measuring = &mut self.measuring;
        let laps = &mut measuring.laps;
        match line {
            // It has no clock.
            1 if self.program == Program::HopCount => {}
            // t is bounded, printed or not, so that the state space is finite.
            1 => measuring.elapsed = (measuring.elapsed + 1).min(measuring.limit),
            2 => {
                self.timed_arrival = q_before > 0 && measuring.timing;
                if self.program == Program::ShortestLapEpochs {
                    laps.seen += u64::from(q_before);
                }
                if self.program == Program::ShortestLap && q_before > 0 {
                    let gaps = &mut measuring.gaps;
                    let gap = measuring.elapsed.saturating_sub(gaps.arrived);
                    gaps.shortest = gaps.shortest.min(gap);
                    gaps.arrived = measuring.elapsed;
                }
            }
            3 if self.timed_arrival && !corrected => measuring.ignore -= 1,
            4 if self.timed_arrival => {
                self.last_ignored = measuring.ignore < 1;
                if corrected && !self.last_ignored {
                    measuring.ignore -= 1;
                }
            }
            5 if self.timed_arrival && self.last_ignored => measuring.timing = false,
            6 if self.timed_arrival && self.last_ignored && section_7 => {
                let (lap, m) = (measuring.elapsed, measuring.tokens);
                let separation = match self.program {
                    Program::HopCount => {
                        count.wrapping_sub(measuring.mark).min(measuring.limit) / m
                    }
                    Program::ShortestLapEpochs => {
                        laps.best = laps.best.min(lap);
                        let shortest = u64::from(laps.best.min(laps.last));
                        let turns = laps.horizon.map_or(4 * shortest + 4, |h| h.get().into());
                        if laps.seen >= u64::from(m) * turns {
                            (laps.last, laps.best, laps.seen) = (laps.best, measuring.limit, 0);
                        }
                        laps.best.min(laps.last) / m
                    }
                    _ => {
                        let (believed, found) = (measuring.base as u32 + 1, (lap / m).max(1));
                        let (again, gap) =
                            (measuring.gaps.previous == lap, measuring.gaps.shortest);
                        measuring.gaps.previous = lap;
                        if found < believed || (found > believed && again && gap < found) {
                            found
                        } else {
                            believed
                        }
                    }
                };
                measuring.base = separation.max(1) as i32 - 1;
                self.c = self.c.min(measuring.base);
            }
            6 if self.timed_arrival && self.last_ignored => {
                let base = (measuring.elapsed / measuring.tokens) as i32 - 1;
                measuring.base = if corrected { base.max(0) } else { base };
            }
            9 => self.counted = self.program.delays() && self.c > 0,
            10 if self.counted => self.c -= 1,
            11 => {
                let enabled = !self.program.delays() || (!self.counted && self.c == 0);
                self.releasing = enabled && self.r > 0;
            }
            12 if self.releasing => {
                self.c = match self.program {
                    Program::Relay => self.c,
                    Program::Delay => top,
                    _ => measuring.base,
                };
            }
            13 if self.releasing => self.r -= 1,
            14 if self.releasing => {
                self.q += 1;
                if !self.carried_r.is_empty() {
                    self.carried_q.push(self.carried_r.remove(0));
                }
            }
            15 => self.starting = self.releasing && !measuring.timing,
            16 if self.starting => measuring.timing = true,
            17 if self.starting => {
                measuring.elapsed = 0;
                if self.program == Program::ShortestLap {
                    (measuring.gaps.arrived, measuring.gaps.shortest) = (0, measuring.limit);
                }
                if self.program == Program::HopCount {
                    measuring.mark = self.carried_q[0];
                }
            }
            18 if self.starting => {
                let others = measuring.tokens as i32 - self.r as i32 - 1;
                measuring.ignore = if corrected { others.max(0) } else { others };
            }
            _ => {}
        }
    }
}
