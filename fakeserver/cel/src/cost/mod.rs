//! The costs of expressions: those of calls that were made, and the maximum of an expression, estimated before it runs.
//!
//! Both follow cel-go and the libraries of a real server.

mod size;
mod calls;
mod estimate;
mod runtime;

pub use self::estimate::Sizes;
pub(super) use self::{estimate::cost_max, runtime::call_cost};

/// The cost of a character that is read.
const TEXT: f64 = 0.1;
/// The cost of a character of a pattern.
const PATTERN: f64 = 0.25;
/// The maximum length of the pattern of a format.
const FORMAT_PATTERN_MAX: u64 = 128;
/// The cost of a question to the authorizer.
const CHECK: u64 = 350_000;
/// The costs of a list, a map and an object that are made.
const LIST: u64 = 10;
const MAP: u64 = 30;
const STRUCT: u64 = 40;
