//! The errors of building a server.

use std::error::Error;

use fakeserver_value::object::ObjectError;

use crate::{
    AdmissionPluginsError,
    store::{LogError, manifests::ManifestError, snapshot::SnapshotError},
};

/// The reason why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An admission plugin is unknown, or both enabled and disabled.
    #[error(transparent)]
    Admission(#[from] AdmissionPluginsError),
    /// An object of the builder was rejected.
    #[error("an initial object is rejected")]
    Object(#[source] ObjectError),
    /// A manifest cannot be read, or an object in it was rejected.
    #[error("a manifest is rejected")]
    Manifest(#[from] ManifestError),
    /// The data file cannot be used.
    #[error("the state on disk cannot be used")]
    Data(#[from] SnapshotError),
    /// The commit log cannot be used.
    #[error("the state in the log cannot be used")]
    Log(#[from] LogError),
    /// An option of the builder needs a state of its own, and not one in a log.
    #[error("{0} and a commit log exclude each other")]
    NotWithLog(&'static str),
}

/// Formats an error with all its sources, in one line.
pub fn with_sources(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        line.push_str(": ");
        line.push_str(&error.to_string());
        source = error.source();
    }
    line
}
