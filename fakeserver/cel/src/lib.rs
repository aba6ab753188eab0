//! CEL: parser, type checker, estimation of costs, and interpreter of expressions.
//!
//! [`Program`] is a compiled expression, of a policy, a match condition, or a rule of a definition. Errors and costs of a
//! real server depend on positions and macros (`parser`, `macros`), errors of syntax (`syntax`), types
//! (`checker`, `functions`), constants (`constants`), costs (`cost`), evaluation (`interpreter`,
//! `attributes`), functions (`library`), and the authorizer (`authorizer`).
//!
//! Policies have variables of any type, some of which are evaluated when they are read first, and construct objects.
//! Definitions have variables of the types of their schemas, which also limit the sizes of values ([`Sizes`]).
#![expect(
    missing_docs,
    reason = "the API of users is that of the crate `fakeserver`, whose items are all documented"
)]

pub mod names;
mod ast;
mod lexer;
mod grammar;
mod configurations;
mod syntax;
mod parser;
mod macros;
mod types;
mod functions;
mod environment;
mod timestamp;
mod durations;
mod value;
mod checker;
mod format;
mod literals;
mod authorizer;
mod operations;
mod lists;
mod texts;
mod named_formats;
mod misreadings;
mod times;
mod addresses;
mod urls;
mod quantities;
mod versions;
mod patterns;
mod library;
mod constants;
mod cost;
mod interpreter;
mod attributes;
mod error;
mod program;
mod shard_selector;
mod expression;
#[cfg(test)]
mod tests;

pub use self::expression::{CelError, CelExpression, CelInput};
pub use self::{
    authorizer::{Authorize, Check, authorizer, request_resource},
    cost::Sizes,
    environment::{Environment, Objects},
    interpreter::{Failure, KnownVariables, Variables},
    library::convert_text,
    program::{CompileError, Program},
    shard_selector::parse_shard_selector,
    types::Type,
    value::{
        ConstructedObject, Key, Value, as_constructed, associative, from_json, invalid, map,
        optional, string, to_json,
    },
};
