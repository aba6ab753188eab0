//! The initial state of a server, which a reset restores.

use std::{fmt, sync::Arc};

use fakeserver_value::object::ObjectError;
use serde_json::Value;

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

/// Reads the objects that were given one by one.
pub(super) fn given(
    objects: Vec<Result<Value, Arc<serde_json::Error>>>,
) -> Result<Vec<Manifest>, BuildError> {
    let manifests = objects.into_iter().map(|object| {
        let object = object.map_err(ObjectError::NotJson);
        Ok(Manifest {
            origin: None,
            object: object.map_err(BuildError::Object)?,
        })
    });
    manifests.collect()
}

/// Loads the initial objects of the server.
pub(super) fn fill(server: &Server, progress: Option<&Progress>) -> Result<(), BuildError> {
    let initial_state = &server.initial_state;
    // The snapshot first, since it replaces the whole store; then the cluster, which writes into it; then objects,
    // which may refer to both.
    if let Some((snapshot, restart)) = &initial_state.snapshot {
        server.restore(snapshot, *restart);
    }
    if let Some(cluster) = &server.cluster {
        cluster.fill(server.backend(), &mut |done, all| {
            if let Some(Progress(hear)) = progress {
                hear(done, all);
            }
        });
    }
    for (index, manifest) in initial_state.objects.iter().enumerate() {
        put(server, manifest)?;
        if let Some(Progress(hear)) = progress {
            hear(index + 1, initial_state.objects.len());
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

/// Resets the server to its initial state.
pub(super) fn reset(server: &Server) {
    if server.backend().storage.log().is_some() {
        tracing::warn!("not reset: the state in the log is not this server's alone");
        return;
    }
    if let Some(trace) = &server.logs.trace {
        // First: the trace of a reset is the new state as a whole, and not the way there.
        trace.pause();
    }
    // The simulated cluster stops first, so that none of its changes reaches the new store.
    if let Some(cluster) = &server.cluster {
        cluster.clear();
    }
    server.clear();
    // A server that began with its data file has not validated its other initial objects yet, so this can fail.
    if let Err(error) = fill(server, None) {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "server reset without all of its objects"
        );
    }
    if let Some(trace) = &server.logs.trace {
        trace.resume("the server was reset");
    }
}

// === impl Progress ===

impl Progress {
    /// Creates a callback that gets the number of loaded objects and their total.
    pub fn new(hear: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}
