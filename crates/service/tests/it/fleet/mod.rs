//! Real processes on loopback: what only these can show. Whatever is about rosters, permits and
//! datagrams alone is tried in `virtual_time`.

mod api;
mod attack;
mod door;
mod files;
mod hook;
mod large;
mod life;
mod notify;
mod programs;
