//! A ring in a state.

use headway_core::bound::WorstCase;
use headway_core::{Configuration, Ring};

/// A ring with its initial state, and how it was described.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) ring: Ring,
    pub(crate) start: Configuration,
    /// Counted once, because that takes a while on a large ring.
    tokens: u64,
    pub(crate) seed: u64,
    /// In words: "random start" or the file's name.
    pub(crate) start_name: String,
    /// The flags that described it, in order: name and value.
    pub(crate) given: Vec<(String, String)>,
}

impl Instance {
    pub(crate) fn new(ring: Ring, start: Configuration, seed: u64, start_name: String) -> Instance {
        Instance {
            tokens: start.tokens(),
            ring,
            start,
            seed,
            start_name,
            given: Vec::new(),
        }
    }

    /// A command about this ring, with these flags instead of or after the given ones.
    pub(crate) fn command(&self, name: &str, changed: &[(&str, &str)]) -> String {
        let mut flags: Vec<(&str, &str)> = Vec::new();
        let given = self.given.iter().map(|(name, value)| (&**name, &**value));
        for (flag, value) in given.chain(changed.iter().copied()) {
            match flags.iter_mut().find(|(earlier, _)| *earlier == flag) {
                Some(earlier) => earlier.1 = value,
                None => flags.push((flag, value)),
            }
        }
        let mut command = format!("headway {name}");
        for (flag, value) in flags {
            command += &format!(" --{flag}");
            if value.contains(|c: char| c.is_whitespace() || "'\"\\$&|;<>()*?[]#~!`".contains(c)) {
                command += &format!(" '{}'", value.replace('\'', r"'\''"));
            } else if !value.is_empty() {
                command += &format!(" {value}");
            }
        }
        command
    }

    /// Whether a state file, not flags, describes the ring.
    pub(crate) fn is_of_file(&self) -> bool {
        self.start_name.starts_with("start from")
    }

    pub(crate) fn processes(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// d, in hops.
    pub(crate) fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n.
    pub(crate) fn feasible(&self) -> bool {
        self.ring.fits(self.tokens())
    }

    /// The proved worst case from any state, where there is one.
    pub(crate) fn worst_case(&self) -> Option<WorstCase> {
        self.ring.worst_case(self.tokens())
    }
}
