//! The web page of Headway and its server.
//!
//! Everything that is shown comes from `headway-core`, `headway-sim` and
//! `headway-walk`; here it is made visible:
//!
//! * [`runs`]: a run is a list of segments, each the forecast of what follows from the
//!   start or from a fault, so that any round can be shown at once;
//! * [`fleet`]: real nodes, asked again and again, as one picture;
//! * the page itself, plain ES modules below `page/`, which are inside the binary;
//! * the [`Server`]: its HTTP interface is described in `API.md`, and by itself at
//!   `/api/docs`.
//!
//! A frame is made once and sent to all who watch; whoever is slow misses frames, and
//! slows nobody. Sizes, numbers and rates have [`Limits`]. Pages of other sites are
//! kept out, and whoever has no [`Token`] where one is needed.
//!
//! ```
//! use std::io::{Read, Write};
//! use headway_dashboard::{Options, Server};
//!
//! let runtime = tokio::runtime::Runtime::new().unwrap();
//! let _inside = runtime.enter();
//! let any_port = "127.0.0.1:0".parse().unwrap();
//! let server = Server::bind(Options { listen: any_port, ..Options::default() }).unwrap();
//! let address = server.address().unwrap();
//! runtime.spawn(server.serve(std::future::pending()));
//!
//! let mut stream = std::net::TcpStream::connect(address).unwrap();
//! write!(stream, "GET /api/about HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer).unwrap();
//! assert!(answer.starts_with("HTTP/1.1 200 OK"));
//! assert!(answer.contains("\"processes\":100000"));
//! ```
#![forbid(unsafe_code)]

mod api;
mod assets;
#[cfg(test)]
mod damage;
mod error;
pub mod fleet;
mod guard;
mod limits;
pub mod runs;
mod server;

pub use assets::{PageWeight, page_weight};
pub use error::{ErrorBody, Problem};
pub use guard::Token;
pub use limits::Limits;
pub use server::{Options, Server};
