//! Networks, walks, orders and rings, each against a slow and simple way to the same number.

mod conflict_files;
mod damaged_files;
mod distance_kept;
mod equal_visits;
mod exact_answers;
mod guide_table;
mod network_files;
mod networkx;
mod orders;
mod protocol;
mod read_formats;
mod several_rings;
mod stations;
mod stopping;
mod support;
