//! Real processes on loopback: what only these can show. Whatever is about rosters, permits and
//! datagrams alone is tried in `virtual_time`.

mod admission;
mod api;
mod attack;
mod command;
mod files;
mod large;
mod life;
mod notify;
mod programs;
