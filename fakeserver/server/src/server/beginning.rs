//! The initial state of a server, which a reset restores.

use std::{fmt, sync::Arc};

use super::{
    assembly::Server,
    error::BuildError,
    objects::{identity, refused},
};
use crate::{
    store::manifests::{Manifest, ManifestError},
    verbs,
};

/// A callback for each initial object of a server, with the number of loaded objects and their total.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(usize, usize) + Send + Sync>);

/// Puts in what the server is to begin with.
pub(super) fn fill(server: &Server, progress: Option<&Progress>) -> Result<(), BuildError> {
    let beginning = &server.beginning;
    if let Some((snapshot, restart)) = &beginning.snapshot {
        server.restore(snapshot, *restart);
    }
    if let Some(cluster) = &server.cluster {
        cluster.fill(server.backend(), &mut |done, all| {
            if let Some(Progress(hear)) = progress {
                hear(done, all);
            }
        });
    }
    for (index, manifest) in beginning.objects.iter().enumerate() {
        put(server, manifest)?;
        if let Some(Progress(hear)) = progress {
            hear(index + 1, beginning.objects.len());
        }
    }
    Ok(())
}

fn put(server: &Server, manifest: &Manifest) -> Result<(), BuildError> {
    let object = &manifest.object;
    let Err(status) = verbs::load_object(server.backend(), object) else {
        return Ok(());
    };
    let source = refused(&identity(object), &status);
    Err(match &manifest.origin {
        None => BuildError::Object(source),
        Some(origin) => BuildError::Manifest(ManifestError::Refused {
            origin: origin.clone(),
            source: Box::new(source),
        }),
    })
}

/// Makes it the server that it was when it was built.
pub(super) fn reset(server: &Server) {
    if let Some(trace) = &server.trace {
        trace.pause();
    }
    // Nothing of the old one is to happen in the new one.
    if let Some(cluster) = &server.cluster {
        cluster.clear();
    }
    server.clear();
    // A server that began with its data file has not yet taken what it would begin with otherwise.
    if let Err(error) = fill(server, None) {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "server reset without all of its objects"
        );
    }
    if let Some(trace) = &server.trace {
        trace.resume("the server was reset");
    }
}

// === impl Progress ===

impl Progress {
    /// Creates a callback that hears the number of loaded objects and their total.
    pub fn new(hear: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}
