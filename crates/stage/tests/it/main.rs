//! Rings of nodes on virtual and real time, and what watches and disturbs them.

mod flaws;
mod fuzz;
mod live;
mod observer;
#[cfg(unix)]
mod processes;
mod promises;
mod saboteur;
mod scenario;
mod thrift;
mod transports;
mod virtual_time;
