//! Admission webhooks: selection, calls, and their verdicts.
//!
//! [`Hooks`] are the parsed webhook configurations of the store. If any of them match a write, a [`Dispatcher`] sends
//! it to them as [`Attributes`]. The mutating webhooks are called one after the other in the order of their names, and
//! each sees the changes of those before it. Then the validating webhooks are called, all at once. Selecting a webhook,
//! building its request and reading its answer are functions of values; only the dispatcher waits.

mod attributes;
mod rule;
mod matching;
mod versions;
mod webhook;
mod hooks;
mod cache;
mod review;
mod verdict;
mod dispatcher;
mod mutating;
mod validating;
#[cfg(test)]
mod tests;

pub use self::{
    attributes::{Attributes, Operation, Resource, Versions, kind_below, resource_of, versions_of},
    cache::HookCache,
    dispatcher::Dispatcher,
    hooks::{Hooks, Phase},
    matching::{Criteria, Invocation},
    mutating::MutationResult,
    webhook::Webhook,
};
pub use self::{
    hooks::equivalents,
    review::cel_request,
    versions::{convert, in_version_of},
};
