//! How much work an instance is, before it is begun.

use super::Instance;
use crate::control::{CheckError, Limits};
use crate::ranking::Multisets;

/// Refuses an instance with too many cases, and says which like it would fit.
pub(super) fn admit(instance: &Instance, limits: Limits) -> Result<(), CheckError> {
    let fits = |candidate: &Instance| expected_cases(candidate) <= u128::from(limits.work);
    if fits(instance) {
        return Ok(());
    }
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        instance.separation(),
    );
    let like = |tokens, separation| {
        let delays = instance.ring().delays();
        Instance::with_delays(n, tokens, separation, delays)
            .ok()
            .filter(fits)
    };
    let fewer = (1..m).rev().find(|&tokens| like(tokens, d).is_some());
    let closer = (1..d)
        .rev()
        .find(|&separation| like(m, separation).is_some());
    let mut smaller = Vec::new();
    smaller.extend(fewer.map(|tokens| format!("{tokens} tokens")));
    smaller.extend(closer.map(|separation| format!("separation {separation}")));
    if smaller.is_empty() {
        smaller.push("a smaller ring".to_owned());
    }
    Err(CheckError::TooLarge {
        what: match instance.states() {
            // The count saturates.
            u128::MAX => "more than 3·10^38 states".to_owned(),
            states => format!("{states} states"),
        },
        need: format!(
            "following about {} cases, and the limit is {}",
            expected_cases(instance),
            limits.work
        ),
        fits: format!("{} on this ring", smaller.join(" or ")),
    })
}

/// An upper estimate of the cases: a token meets new counters during the first C
/// rounds only, and the ways to spend them resting and moving are 2^C.
fn expected_cases(instance: &Instance) -> u128 {
    let placements = Multisets::new(instance.processes(), instance.tokens()).count();
    let rotations = instance.rotations().len() as u128;
    let top = instance.separation() - 1;
    let delays = instance.ring().delays().count() as u32;
    let by_paths = 1_u128.checked_shl(top.saturating_mul(instance.tokens() as u32));
    let by_counters = u128::from(instance.separation()).checked_pow(delays);
    let cases = match (by_paths, by_counters) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b).unwrap_or(u128::MAX),
    };
    (placements / rotations + 1).saturating_mul(cases)
}
