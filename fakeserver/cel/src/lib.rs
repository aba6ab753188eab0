//! CEL: parser, type checker, estimation of costs, and interpreter of expressions.
//!
//! [`Program`] is a compiled expression, of a policy, a match condition, or a rule of a definition. The crates `kube-cel`
//! and `cel` give the values, the functions of addresses, quantities and the like, and the words of syntax errors. The
//! rest is here, since errors and costs of a real server depend on it: positions and macros ([`parser`], [`macros`]),
//! types ([`checker`], [`functions`]), constants ([`constants`]), costs ([`cost`]), evaluation ([`interpreter`],
//! [`attributes`]), the other functions ([`library`]), the authorizer ([`mod@authorizer`]).
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
mod parser;
mod macros;
mod types;
mod functions;
mod environment;
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
    interpreter::{Failure, Known, Variables},
    library::convert_text,
    program::{CompileError, Program},
    shard_selector::parse_shard_selector,
    types::Type,
    value::{
        Constructed, as_constructed, associative, from_json, invalid, map, optional, string,
        to_json,
    },
};
