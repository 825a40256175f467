//! Headway's parts agree with each other: the same question, answered in ways
//! that share no code, has one answer.

mod petri;
