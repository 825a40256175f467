//! What all members have agreed on beside who they are. The configuration gives the first
//! roster's; later ones come by the log.

use std::time::Duration;

use headway_node::{Config, Plan, PlanError, Role, Timing, wire};
use serde::{Deserialize, Serialize};

use super::{Roster, RosterError};
use crate::request::Refusal;

/// A command has to have time to stop.
pub(crate) const MIN_STOP_TIMEOUT: Duration = Duration::from_millis(100);

/// Makes the terms, and a change of some of them, from one list of `key: type = default;`.
macro_rules! terms {
    ($( $(#[doc = $help:literal])+ $key:ident: $type:ty = $default:expr; )+) => {
        /// Tokens, separation, times, and how members write to each other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        pub struct Terms {
            $( $(#[doc = $help])+ pub $key: $type, )+
            /// The version of the wire format that all members write.
            pub wire: u8,
        }

        impl Default for Terms {
            /// One token, and the times of a configuration that says nothing.
            fn default() -> Terms {
                Terms {
                    $( $key: $default, )+
                    wire: wire::oldest(wire::VERSION),
                }
            }
        }

        /// What somebody wants changed of the [`Terms`].
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct TermsChange {
            $(
                $(#[doc = $help])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )+
        }

        impl Terms {
            /// These, changed.
            pub(crate) fn with(self, change: &TermsChange) -> Terms {
                Terms {
                    $( $key: change.$key.unwrap_or(self.$key), )+
                    wire: self.wire,
                }
            }
        }
    };
}

terms! {
    /// m, a number of tokens.
    tokens: u32 = 1;
    /// d, the hops that tokens are to keep apart: what was asked for, what a ring that measures
    /// found, or what conflicts need.
    separation: u32 = 1;
    /// A state is sent again after this many milliseconds without a change.
    refresh_ms: u64 = 200;
    /// A neighbour not heard for this many milliseconds is silent.
    heartbeat_timeout_ms: u64 = 2_000;
    /// Least time that a token stays at a node, in milliseconds.
    tick_ms: u64 = 100;
    /// A permit's token stays at least this many milliseconds.
    min_hold_ms: u64 = 0;
    /// A permit is withdrawn after this many milliseconds.
    max_hold_ms: u64 = 1_800_000;
    /// From asking a permit back to its end, in milliseconds.
    stop_timeout_ms: u64 = 10_000;
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
        let ring = Config::identity(&self.identity(), &plan, 0);
        Config {
            role: Role::usual(index, plan.nodes()),
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
