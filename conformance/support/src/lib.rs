//! The parts that the harnesses of this repository share: seeds, owned tasks and processes, and single requests.
//!
//! `conformance` runs informers and `survive` runs controllers; neither of these modules knows of either.

pub mod task;
pub mod seed;
pub mod partition;
pub mod process_group;
pub mod call;
pub mod request_facts;
pub mod cli;
