//! The paper's claims, and agreement between Headway's parts: one program.

mod agreement;
mod claims;
