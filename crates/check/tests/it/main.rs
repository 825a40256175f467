//! The engines against plainer ones, the models against published results, and what is refused.

mod atlas;
mod common;
mod delay_relay;
mod engines;
mod fairness;
mod functions;
mod instances;
mod limits;
mod models;
mod no_diagrams;
mod protocols;
mod randomized_timing;
mod reports;
mod small;
mod symbolic;
mod tools;
