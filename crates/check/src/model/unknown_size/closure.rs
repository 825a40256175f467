//! Closure and the number of legitimate states, process by process.

use headway_core::{Configuration, Gaps, Laps, Measuring, Process, Program, Ring};
use num_bigint::BigUint;

use super::UnknownSize;
use super::case::hops_to;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::Trace;

pub(super) struct Closure {
    pub(super) legitimate: BigUint,
    pub(super) violation: Option<Trace>,
}

pub(super) fn check(model: &UnknownSize, control: &Control) -> Result<Closure> {
    let n = model.ring.len();
    let rotations = n as u64 * model.ring.measurers().count() as u64;
    control
        .limits
        .admit_work(BigUint::from(model.different_locals()) * rotations)?;
    let mut closure = Closure {
        legitimate: BigUint::ZERO,
        violation: None,
    };
    let mut processes = vec![Process::default(); n];
    for placement in 0..model.placements.count() {
        processes.fill(Process::default());
        model.placements.place(placement, &mut processes);
        let relays = Ring::new(model.ring.separation(), vec![Program::Relay; n]);
        let relays = relays.map_err(|error| CheckError::settings(error.to_string()))?;
        let tokens = Configuration::from(processes.clone());
        if relays.legitimate(&tokens, model.tokens as u64).is_err() {
            continue;
        }
        let mut product = BigUint::from(1_u32);
        for measurer in model.ring.measurers() {
            control.advance(1);
            control.go_on(|| "closure was not decided")?;
            product *= model.legitimate_locals(&tokens, measurer, &mut closure.violation);
        }
        closure.legitimate += product;
    }
    Ok(closure)
}

impl UnknownSize {
    /// How many local states of a process are legitimate with these tokens; the first
    /// one after which it is not so any more is reported.
    fn legitimate_locals(
        &self,
        tokens: &Configuration,
        measurer: usize,
        violation: &mut Option<Trace>,
    ) -> u64 {
        let m = self.tokens as u64;
        let mut programs = vec![Program::Relay; self.ring.len()];
        programs[measurer] = self.program;
        let Ok(ring) = Ring::new(self.ring.separation(), programs) else {
            return 0;
        };
        let mut state = tokens.clone();
        if ring.reads_counts() {
            state.counts = vec![0; self.tokens];
        }
        let mut legitimate = 0;
        self.each_local(tokens, measurer, |counter, variables, weight| {
            state.processes[measurer].counter = counter;
            state.measuring.insert(measurer, variables);
            if ring.legitimate(&state, m).is_err() {
                return;
            }
            legitimate += weight;
            let next = self.after_round(&ring, &state, measurer);
            if violation.is_none() && ring.legitimate(&next, m).is_err() {
                let show = |state: &Configuration| {
                    let base = state.measuring[&measurer].base;
                    let processes = crate::model::delay_relay::show(&state.processes, &ring);
                    format!("{processes}  base {base} at {measurer}")
                };
                *violation = Some(Trace {
                    start: Some((ring.clone(), state.clone())),
                    ..Trace::new([show(&state), show(&next)])
                });
            }
        });
        legitimate
    }

    /// A round by the rule that is checked, which may not be the program's own.
    fn after_round(&self, ring: &Ring, state: &Configuration, measurer: usize) -> Configuration {
        let n = ring.len();
        let mut next = ring.after_round(state);
        if self.program != Program::HopCount {
            let arriving = state.processes[(measurer + n - 1) % n].queued;
            let (before, variables) = (state.processes[measurer], state.measuring[&measurer]);
            let counts = headway_core::Counts::default();
            let (process, variables) =
                (self.round)(self.program, before, variables, arriving, counts);
            next.processes[measurer] = process;
            next.measuring.insert(measurer, variables);
        }
        next
    }

    /// Local states that are looked at, one for several that differ in what does not
    /// matter.
    fn different_locals(&self) -> u64 {
        let mut all = 0;
        let tokens = Configuration::from(vec![Process::default(); self.ring.len()]);
        self.each_local(&tokens, 0, |_, _, _| all += 1);
        all
    }

    /// Every counter with measuring variables, and how many states it stands for.
    fn each_local(
        &self,
        tokens: &Configuration,
        measurer: usize,
        mut visit: impl FnMut(i32, Measuring, u64),
    ) {
        let (limit, m) = (self.parameters.limit, self.tokens as u32);
        let bases = self.parameters.largest_base();
        let clocks = u64::from(limit) + 1;
        for timing in 0..=m * (limit + 1) {
            let (mut variables, weight) = (
                self.parameters,
                if timing == 0 {
                    u64::from(m) * clocks
                } else {
                    1
                },
            );
            if let Some(timing) = timing.checked_sub(1) {
                let (ignore, clock) = (timing / (limit + 1), timing % (limit + 1));
                (variables.timing, variables.ignore) = (true, ignore as i32);
                match self.program {
                    Program::HopCount => {
                        let due = hops_to(&tokens.processes, measurer, ignore.into());
                        variables.mark = due.wrapping_sub(clock);
                    }
                    _ => variables.elapsed = clock,
                }
            }
            for base in 0..=bases {
                for counter in 0..=bases {
                    variables.base = base;
                    self.each_memory(variables, |variables, memories| {
                        visit(counter, variables, weight * memories);
                    });
                }
            }
        }
    }

    fn each_memory(&self, mut variables: Measuring, mut visit: impl FnMut(Measuring, u64)) {
        let limit = variables.limit;
        match self.program {
            Program::ShortestLap => {
                // Read when a lap ends, and then either of two things happens.
                let lap = (variables.elapsed + 1).min(limit);
                let all = (u64::from(limit) + 1).pow(3);
                for (previous, weight) in [(lap, 1), (0, all - 1)] {
                    variables.gaps = Gaps {
                        previous,
                        arrived: 0,
                        shortest: 0,
                    };
                    visit(variables, weight);
                }
            }
            Program::ShortestLapEpochs => {
                for best in 1..=limit {
                    for last in 1..=limit {
                        for seen in 0..=u64::from(self.largest_seen()) {
                            variables.laps = Laps {
                                best,
                                last,
                                seen,
                                ..variables.laps
                            };
                            visit(variables, 1);
                        }
                    }
                }
            }
            _ => visit(variables, 1),
        }
    }
}
