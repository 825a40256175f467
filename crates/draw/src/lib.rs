#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod escape;
mod palette;
mod svg;
mod tikz;

pub use palette::{DARK, LIGHT, Palette, TOKEN_COLOURS, Theme, page_css, token_rules};
pub use svg::{Element, Path, Point, Svg};
