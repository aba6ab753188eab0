//! Expressions in CEL that are compiled against the types of schemas: checked, estimated and evaluated.
//!
//! The crates `cel` and `kube-cel` evaluate expressions without types. What a real server says of an expression before
//! it runs, and what a run costs, is written here: a parser that keeps places, a checker with the declarations of the
//! language and of a real server's libraries, the estimation of costs, and an evaluation that counts them. Functions,
//! operators, and the messages about wrong syntax are those of the crates.
//!
//! Known differences: lists of the type `set` or `map` are equal only in the same order, `sortBy` is not there, and the
//! interpreter folds no constants.

mod ast;
mod call_cost;
mod check;
mod cost;
mod evaluate;
mod functions;
mod lexer;
mod literals;
mod macros;
mod parser;
mod program;
mod runtime_cost;
mod schema_type;
mod own_functions;
mod signatures;
mod size;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub(crate) use self::program::{Evaluated, Evaluator, ObjectType, Program, Variable, compile};
