//! What the tests of several crates share.
//!
//! * [`damage`]: valid files with something wrong in them;
//! * [`table`]: tables in tests, a row a line;
//! * `schemas` (a feature): what `headway` prints, against the schemas of its outputs;
//! * [`tier`]: how much a test does;
//! * [`tools`]: programs that others wrote, and what to say where one is missing.
//!
//! Only a dev-dependency, and by path alone, so that packaged crates do not name it.

pub mod damage;
#[cfg(feature = "schemas")]
pub mod schemas;
pub mod table;
pub mod tier;
pub mod tools;
