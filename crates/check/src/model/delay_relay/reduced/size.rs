//! How much work an instance is, before it is begun.

use num_bigint::BigUint;

use super::Instance;
use crate::control::Limits;
use crate::error::TooLarge;
use crate::placements;

/// Refuses an instance with too many cases, and says which like it would fit.
pub(super) fn admit(instance: &Instance, limits: Limits) -> Result<(), TooLarge> {
    let limit = BigUint::from(limits.work);
    let cases = expected_cases(instance);
    if cases <= limit {
        return Ok(());
    }
    let (m, d) = (instance.tokens() as u64, instance.separation());
    let fits = |tokens: u64, separation: u64| {
        let delays = instance.ring().delays();
        let (tokens, separation) = (tokens as usize, separation as u32);
        Instance::with_delays(instance.processes(), tokens, separation, delays)
            .is_ok_and(|smaller| expected_cases(&smaller) <= limit)
    };
    let fewer = largest_below(m, |tokens| fits(tokens, d.into()));
    let closer = largest_below(d.into(), |separation| fits(m, separation));
    let mut smaller = Vec::new();
    smaller.extend(fewer.map(|tokens| format!("{tokens} tokens")));
    smaller.extend(closer.map(|separation| format!("separation {separation}")));
    Err(TooLarge::Cases {
        states: instance.states(),
        cases,
        limit: limits.work,
        smaller,
    })
}

/// The largest number from 1 to below `end` that fits, where everything smaller fits too.
fn largest_below(end: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut fitting, mut beyond) = (0, end);
    while fitting + 1 < beyond {
        let middle = u64::midpoint(fitting, beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    (fitting > 0).then_some(fitting)
}

/// An upper estimate of the cases: a token meets new counters during the first C
/// rounds only, and the ways to spend them resting and moving are 2^C.
fn expected_cases(instance: &Instance) -> BigUint {
    let placements = placements::count(instance.processes(), instance.tokens());
    let top = u64::from(instance.separation() - 1);
    let delays = instance.ring().delay_count() as u32;
    let by_counters = BigUint::from(instance.separation()).pow(delays);
    let doublings = top * instance.tokens() as u64;
    let cases = if doublings < by_counters.bits() {
        by_counters.min(BigUint::from(1_u32) << doublings)
    } else {
        by_counters
    };
    (placements / instance.rotations().len() + 1_u32) * cases
}
