//! Headway as a service: one node on every machine of a fleet.
//!
//! A node takes its place on a ring over [`headway_node`], and hands the permits that
//! come by to whoever waits: a command, programs over a Unix socket or HTTP,
//! FleetLock clients. Bottom up:
//!
//! * [`config`], [`secret`]: what a node is told;
//! * [`membership`]: who is on the ring, and how that spreads;
//! * [`desk`]: who gets a permit when one comes;
//! * [`store`]: what survives a restart;
//! * [`agent`]: all of it together, without clock, socket or thread;
//! * [`protocol`]: the thread that runs an agent on a transport ([`reach`]);
//! * [`hook`], [`api`], [`metrics`], [`log`]: the world around it;
//! * [`service`]: starts everything, and stops it in good order;
//! * [`client`]: talks to a node that runs.

#![forbid(unsafe_code)]

pub mod agent;
pub mod api;
pub mod client;
pub mod config;
pub mod desk;
pub mod hook;
pub mod log;
pub mod membership;
pub mod metrics;
pub mod protocol;
pub mod reach;
pub mod request;
pub mod secret;
pub mod service;
pub mod store;
pub mod telemetry;
