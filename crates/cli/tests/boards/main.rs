//! Boards in QEMU together with this program: a ring of both, and the guide for embedded
//! engineers.

mod guide;
mod mixed;
#[path = "../guides/text.rs"]
mod text;
