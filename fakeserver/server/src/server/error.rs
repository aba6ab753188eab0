//! The errors of building a server.

use std::error::Error;

use fakeserver_value::object::ObjectError;

use crate::{
    AdmissionPluginsError,
    store::{manifests::ManifestError, snapshot::SnapshotError},
};

/// A server that cannot be built as told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An admission plugin is unknown, or both enabled and disabled.
    #[error(transparent)]
    Admission(#[from] AdmissionPluginsError),
    /// One of the builder's objects is not taken.
    #[error("an object to begin with is refused")]
    Object(#[source] ObjectError),
    /// A manifest cannot be read, or an object in it is not taken.
    #[error("a manifest is refused")]
    Manifest(#[from] ManifestError),
    /// The file that it keeps its state in cannot be used.
    #[error("the state on disk cannot be used")]
    Data(#[from] SnapshotError),
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
