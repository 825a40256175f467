//! TINA's `.net` format: a time Petri net with every interval `[1,1]`.
//!
//! TINA (LAAS-CNRS) puts time on transitions rather than on places. With every
//! holding time 1, a transition that must fire exactly one unit after it became
//! enabled does the same, so that timing, and with it separation, survives.

use std::fmt::Write as _;

use thiserror::Error;

use crate::net::{Marking, Net};

/// A net that has no such form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "place {place} holds tokens for {rounds} rounds; only nets whose holding times are all 1 \
     have a form with intervals [1,1] on transitions"
)]
pub struct NotUnit {
    /// The id of the first such place.
    pub place: String,
    /// Its holding time.
    pub rounds: u64,
}

/// A net and its marking in TINA's `.net` format.
///
/// # Errors
///
/// [`NotUnit`] when a holding time is not 1.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{ring, tina};
/// let ring = Ring::with_delays(Separation::new(2).unwrap(), 2, [0]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 1)).unwrap();
/// let text = tina::to_string(&net, &marking).unwrap();
/// assert!(text.contains("tr t0 [1,1] p0 m0_0 -> p1 m0_1\n"));
/// assert!(text.contains("pl p1 (1)\n"));
/// ```
pub fn to_string(net: &Net, marking: &Marking) -> Result<String, NotUnit> {
    if let Some(place) = net.first_not_unit() {
        return Err(NotUnit {
            place: net.place_id(place).to_owned(),
            rounds: net.holding(place),
        });
    }
    let adjacency = net.adjacency();
    let mut text = String::new();
    let _ = writeln!(text, "net {}", name(&net.id));
    for transition in 0..net.transitions() {
        let _ = write!(text, "tr {} [1,1]", name(net.transition_id(transition)));
        places(&mut text, net, adjacency.inputs(transition));
        text.push_str(" ->");
        places(&mut text, net, adjacency.outputs(transition));
        text.push('\n');
    }
    for (place, &tokens) in marking.0.iter().enumerate() {
        if tokens > 0 {
            let _ = writeln!(text, "pl {} ({tokens})", name(net.place_id(place)));
        } else {
            let _ = writeln!(text, "pl {}", name(net.place_id(place)));
        }
    }
    Ok(text)
}

fn places(text: &mut String, net: &Net, places: &[(u32, u64)]) {
    for &(place, weight) in places {
        let _ = write!(text, " {}", name(net.place_id(place as usize)));
        if weight > 1 {
            let _ = write!(text, "*{weight}");
        }
    }
}

/// As it is if it is a plain identifier, else in braces.
fn name(id: &str) -> String {
    let plain = id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
    if plain {
        return id.to_owned();
    }
    let mut quoted = String::from("{");
    for character in id.chars() {
        if matches!(character, '{' | '}' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('}');
    quoted
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn awkward_names_are_quoted() {
        assert_eq!(name("p_1'"), "p_1'");
        assert_eq!(name("1 {x}"), "{1 \\{x\\}}");
    }
}
