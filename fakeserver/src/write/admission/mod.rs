//! Admission webhooks: who is asked before something is written, and what becomes of the answers.
//!
//! [`Hooks`] are the webhook configurations that are stored, understood. A write that some of them are about is put to them
//! as [`Attributes`], by a [`Dispatcher`]: first to the mutating ones, one after the other in the order of their names,
//! each seeing what those before it made of the object; then to the validating ones, all at once. Whether a webhook is
//! asked, what it is asked, and what its answer means are functions of values; only the dispatcher waits.

mod attributes;
mod rule;
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

pub(crate) use self::{
    attributes::{Attributes, Operation, Resource, Versions, kind_below, resource_of, versions_of},
    cache::HookCache,
    dispatcher::Dispatcher,
    hooks::{Hooks, Phase},
    mutating::Mutated,
    webhook::Webhook,
};
