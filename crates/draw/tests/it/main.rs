//! Colours that can be told apart, and pictures for LaTeX.

mod palette;
mod tikz;
