//! The guide for embedded engineers, with boards in QEMU.

mod guide;
// The other guides use more of it.
#[allow(dead_code)]
#[path = "../guides/text.rs"]
mod text;
