//! Tests against the databases that real servers wrote, and against damaged ones.

mod bolt;
mod golden;
mod keys;
mod served;
mod values;
