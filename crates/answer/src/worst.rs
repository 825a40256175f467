//! The slowest start of all.

use std::borrow::Cow;

use headway_core::Round;
use headway_core::bound::WorstCase;
use headway_sim::forecast::Forecast;
use headway_sim::state_file::AsStateFile;
use serde::Serialize;

use crate::json::RingJson;
use crate::{Failure, Instance};

/// The worst case of a ring over all starts, and what the start at hand, which is
/// `worst`, makes of it.
pub struct Worst<'a> {
    /// Of the worst start.
    pub forecast: Forecast<'a>,
    /// The worst case.
    pub case: WorstCase,
    /// The longest way from a delay to the next.
    pub gap: u64,
}

impl<'a> Worst<'a> {
    /// Of a ring in its worst state.
    ///
    /// # Errors
    ///
    /// When there is no forecast or no worst case.
    pub fn of(instance: &'a Instance) -> Result<Worst<'a>, Failure> {
        let forecast = Forecast::of(&instance.ring, &instance.start).map_err(Failure::new)?;
        let (Some(case), Some(gap)) = (instance.worst_case(), instance.ring.widest_gap()) else {
            return Err(Failure::new("this ring has no worst case"));
        };
        let worst = Worst {
            forecast,
            case,
            gap,
        };
        Ok(worst)
    }

    /// Whether the start takes as long to be legitimate as the worst case says.
    pub fn attained(&self) -> bool {
        self.forecast.legitimate_at() == Some(self.case.legitimate_at)
    }

    /// What `headway worst` prints.
    pub fn json<'i>(&self, instance: &'i Instance) -> WorstJson<'i> {
        WorstJson {
            ring: RingJson::of(instance),
            widest_gap: self.gap,
            worst_last_rest: self.case.last_rest,
            worst_legitimate_at: self.case.legitimate_at,
            last_rest: self.forecast.last_rest(),
            legitimate_at: self.forecast.legitimate_at(),
            attained: self.attained(),
            state: AsStateFile {
                ring: &instance.ring,
                state: Cow::Borrowed(&instance.start),
            },
        }
    }
}

/// What `headway worst` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorstJson<'a> {
    #[serde(flatten)]
    ring: RingJson,
    /// L, the largest distance from one delay to the next, in hops.
    widest_gap: u64,
    worst_last_rest: u64,
    worst_legitimate_at: u64,
    last_rest: Option<Round>,
    legitimate_at: Option<Round>,
    /// Whether the state given takes as long to be legitimate as the worst case.
    attained: bool,
    /// A state in the form of the state file.
    #[cfg_attr(feature = "schemas", schemars(with = "crate::json::StateSchema"))]
    state: AsStateFile<'a>,
}
