//! Numbers at the edges of what fits: an answer or a clear refusal, never a crash.

use crate::common::headway;

const EXTREMES: [&str; 8] = [
    "0",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
];

/// Commands that cannot do much work, whatever the number is; where it is about memory, only
/// numbers that no machine has room for.
const COMMANDS: &[&str] = &[
    "run --processes HUGE",
    "run --processes 5 --tokens HUGE",
    "run --processes 5 --tokens 2 --separation X --rounds 3",
    "run --seed X --rounds 3",
    "run --program shortest-lap --horizon X --rounds 3",
    "run --program measure --limit X --rounds 3",
    "forecast --processes HUGE",
    "forecast --processes 5 --tokens HUGE",
    "forecast --processes 5 --tokens 2 --separation X",
    "forecast --at X",
    "worst --processes 5 --tokens HUGE",
    "worst --processes 5 --tokens 2 --separation X",
    "chain --processes HUGE",
    "check delay-relay --processes X",
    "check delay-relay --processes 6 --tokens X",
    "check delay-relay --processes 6 --tokens 2 --separation X",
    "check measure --processes X",
    "check shortest-lap --processes X",
    "check hop-count --processes 4 --tokens X",
    "check k-state --processes X",
    "check k-state --processes 3 --values X",
    "check phase-clock --processes X",
    "check moving-block --processes X",
    "check patrol --processes X",
    "check monitor --processes X",
    "walk --generate ring:X",
    "walk --generate grid:XxX",
    "walk --generate grid:3x3 --tokens X",
    "petri export --processes HUGE",
    "petri export --processes 5 --tokens HUGE",
    "ring --nodes X --for 1ms",
];

#[test]
fn extreme_numbers_are_answered_or_refused() {
    for command in COMMANDS {
        let all = if command.contains("HUGE") {
            &EXTREMES[5..]
        } else {
            &EXTREMES[..]
        };
        for extreme in all {
            let arguments = command.replace("HUGE", extreme).replace('X', extreme);
            let ran = headway(&arguments);
            let told = format!("{arguments}: {}\n{}", ran.code, ran.err);
            assert!(matches!(ran.code, 0..=2), "{told}");
            // What is refused says why.
            assert!(ran.code != 2 || ran.err.starts_with("error: "), "{told}");
        }
    }
}
