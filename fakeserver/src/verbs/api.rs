//! The parts of a server that verbs use.

use std::sync::Arc;

use super::{inert::InertWarnings, tally::Tally};
use crate::{
    edge::{authentication::Authenticator, request::MediaTypes},
    faults::Faults,
    task::TaskSet,
    write::Backend,
};

/// The backend, and the parts of a server that only verbs use.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) backend: Arc<Backend>,
    pub(crate) faults: Faults,
    pub(crate) authenticator: Authenticator,
    pub(crate) tally: Tally,
    pub(crate) media_types: MediaTypes,
    /// True if lists and watches can be of shards.
    pub(crate) has_shards: bool,
    /// The warnings about objects without effect that were given.
    pub(crate) inert: InertWarnings,
    /// The owner of the tasks of watches, and of the server's others.
    pub(crate) tasks: TaskSet,
}
