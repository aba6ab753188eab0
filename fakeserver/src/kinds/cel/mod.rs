//! CEL: parser, type checker and interpreter of expressions.
//!
//! [`Program`] is a compiled expression. The crates `kube-cel` and `cel` give the values, the functions of the
//! libraries and the words of syntax errors. What they lack is here, each named in its module: positions and macros
//! ([`parser`]), types ([`checker`], [`functions`]), costs, laziness, constructed objects and a real server's words for
//! errors ([`interpreter`]), the authorizer ([`mod@authorizer`]).

mod ast;
mod lexer;
mod parser;
mod macros;
mod types;
mod functions;
mod environment;
mod value;
mod library;
mod literals;
mod checker;
mod authorizer;
mod operations;
mod interpreter;
mod loops;
mod error;
mod program;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    authorizer::{Authorize, Check, authorizer, request_resource},
    environment::{Environment, Objects},
    error::{print_error, syntax_problem},
    interpreter::{Failure, Variables},
    program::Program,
    types::Type,
    value::{Constructed, from_json, to_json},
};
