//! What all members have agreed on beside who they are. The configuration gives the first
//! roster's; later ones come by the log.

use std::time::Duration;

use headway_node::{Config, Plan, PlanError, Role, Timing, wire};
use serde::{Deserialize, Serialize};

use super::{Roster, RosterError};
use crate::request::Refusal;

/// A command has to have time to stop.
pub(crate) const MIN_STOP_TIMEOUT: Duration = Duration::from_millis(100);

/// Tokens, separation, times, and how members write to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Terms {
    /// m, a number of tokens.
    pub tokens: u32,
    /// d, the hops that tokens are to keep apart: what was asked for, what a ring that measures
    /// found, or what conflicts need.
    pub separation: u32,
    /// How many bytes a token carries at most.
    pub payload_bytes: u8,
    /// The version of the wire format that all members write.
    pub wire: u8,
    /// A state is sent again after this many milliseconds without a change.
    pub refresh_ms: u64,
    /// A neighbour not heard for this many milliseconds is silent.
    pub heartbeat_timeout_ms: u64,
    /// Least time that a token stays at a node, in milliseconds.
    pub tick_ms: u64,
    /// A permit's token stays at least this many milliseconds.
    pub min_hold_ms: u64,
    /// A permit is withdrawn after this many milliseconds.
    pub max_hold_ms: u64,
    /// From asking a permit back to its end, in milliseconds.
    pub stop_timeout_ms: u64,
}

impl Default for Terms {
    /// One token, and the times of a configuration that says nothing.
    fn default() -> Terms {
        Terms {
            tokens: 1,
            separation: 1,
            payload_bytes: 0,
            wire: wire::oldest(wire::VERSION),
            refresh_ms: 200,
            heartbeat_timeout_ms: 2_000,
            tick_ms: 100,
            min_hold_ms: 0,
            max_hold_ms: 1_800_000,
            stop_timeout_ms: 10_000,
        }
    }
}

impl Terms {
    /// The times that the protocol goes by.
    pub fn timing(&self) -> Timing {
        let ms = Duration::from_millis;
        Timing {
            refresh: ms(self.refresh_ms),
            heartbeat_timeout: ms(self.heartbeat_timeout_ms),
            tick: ms(self.tick_ms),
            min_hold: ms(self.min_hold_ms),
            max_hold: ms(self.max_hold_ms),
            stop_timeout: ms(self.stop_timeout_ms),
        }
    }

    /// Those with other values for some keys.
    ///
    /// # Errors
    ///
    /// When there is no such key, or it cannot have that value.
    pub(crate) fn with(
        self,
        other: serde_json::Map<String, serde_json::Value>,
    ) -> Result<Terms, Refusal> {
        let mut all = serde_json::to_value(self).unwrap_or_default();
        if let Some(all) = all.as_object_mut() {
            all.extend(other);
        }
        serde_json::from_value(all).map_err(|error| Refusal::Terms(error.to_string()))
    }

    /// Keys of the configuration whose values here are not those of `other`.
    pub(crate) fn differences(&self, other: &Terms) -> Vec<String> {
        let unlike = self.keys().into_iter().zip(other.keys());
        let unlike = unlike.filter(|((_, here), (_, there))| here != there);
        unlike
            .map(|((key, here), (_, there))| {
                let unit = if key.starts_with("timing") { "ms" } else { "" };
                format!("{key} = {here}{unit}, not {there}{unit}")
            })
            .collect()
    }

    fn keys(&self) -> [(&'static str, u64); 8] {
        [
            ("ring.tokens", self.tokens.into()),
            ("ring.separation", self.separation.into()),
            ("timing.refresh", self.refresh_ms),
            ("timing.heartbeat_timeout", self.heartbeat_timeout_ms),
            ("timing.tick", self.tick_ms),
            ("timing.min_hold", self.min_hold_ms),
            ("timing.max_hold", self.max_hold_ms),
            ("timing.stop_timeout", self.stop_timeout_ms),
        ]
    }
}

impl Roster {
    /// How many tokens travel: as many of those that are wanted as fit.
    pub fn tokens(&self) -> u32 {
        let one = Plan::of_fleet(self.size(), 1, self.terms.separation);
        one.map_or(1, |plan| plan.capacity().min(self.terms.tokens))
    }

    /// The plan of its ring.
    ///
    /// # Errors
    ///
    /// When not even one token fits: there are too few members.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Plan::of_fleet(self.size(), self.tokens(), self.terms.separation)
    }

    fn size(&self) -> u32 {
        u32::try_from(self.active().count()).unwrap_or(u32::MAX)
    }

    /// The configuration of the node at place `index`, by this plan.
    pub fn place(&self, index: u32, plan: Plan) -> Config {
        let payload = self.terms.payload_bytes;
        let ring = Config::identity(&self.identity(), &plan, payload);
        Config {
            role: Role::usual(index, plan.nodes()),
            payload,
            timing: self.terms.timing(),
            fence_floor: self.ring_version() << 40,
            wire: self.terms.wire,
            ..Config::new(ring, index, plan)
        }
    }

    /// The next version, with other terms.
    ///
    /// # Errors
    ///
    /// When they are the same, or no ring of these members could keep them.
    pub(crate) fn under(&self, terms: Terms) -> Result<Roster, Refusal> {
        if terms == self.terms {
            return Err(Refusal::NothingNew);
        }
        let next = Roster {
            terms,
            ..self.next()
        };
        next.check()?;
        let apart = |terms: Terms| (terms.tokens, terms.separation);
        let plan = if apart(terms) == apart(self.terms) {
            next.plan()
        } else {
            // What somebody asks for has to fit now; what does not fit later is made to.
            Plan::of_fleet(next.size(), terms.tokens, terms.separation)
        };
        let config = next.place(0, plan?);
        let wrong = |error: headway_node::ConfigError| Refusal::Terms(error.to_string());
        config.check().map_err(wrong)?;
        if config.timing.stop_timeout < MIN_STOP_TIMEOUT {
            let text = format!(
                "`stop_timeout` is {:?}: expected at least {MIN_STOP_TIMEOUT:?}",
                config.timing.stop_timeout
            );
            return Err(Refusal::Terms(text));
        }
        if terms.wire != self.terms.wire && terms.wire != self.terms.wire.saturating_add(1) {
            return Err(Refusal::Terms(format!(
                "wire format {} does not follow {}",
                terms.wire, self.terms.wire
            )));
        }
        Ok(next)
    }

    pub(super) fn check_terms(&self) -> Result<(), RosterError> {
        let terms = &self.terms;
        if terms.tokens == 0 || terms.separation == 0 || terms.wire == 0 {
            return Err(RosterError::Terms);
        }
        Ok(())
    }
}
