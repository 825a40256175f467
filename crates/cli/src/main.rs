//! Headway.
fn main() {}
