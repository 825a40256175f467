//! Boards in QEMU together with this program: a ring of both, and the guide for embedded
//! engineers.

mod guide;
mod mixed;
// The other guides use more of it.
#[allow(dead_code)]
#[path = "../guides/text.rs"]
mod text;
