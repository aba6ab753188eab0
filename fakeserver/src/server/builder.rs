//! How a server is configured.

use std::{error::Error, sync::Arc};

use serde::Serialize;
use serde_json::Value;

use super::{BuildError, FakeServer, ObjectError};
use crate::{
    clock::Clock,
    state::{Beginning, Core, REQUESTS_KEPT, Requests},
    storage::Compaction,
};

/// Builds a [`FakeServer`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct FakeServerBuilder {
    seed: u64,
    clock: Option<Clock>,
    compaction: Compaction,
    watcher_buffer: usize,
    requests_kept: usize,
    keeps_bodies: bool,
    /// In the order in which they go in; or why one of them cannot.
    objects: Vec<Result<Value, Arc<serde_json::Error>>>,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Every uid, generated name and random timeout follows from `seed`. The default is 0.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The default is [`Clock::default`], from when the server is built.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How much history is kept. By default all of it.
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// How many changes a watcher may be behind before it is cut off. The default is 1,000.
    pub fn with_watcher_buffer_frames(mut self, frames: usize) -> Self {
        self.watcher_buffer = frames;
        self
    }

    /// How many [requests](FakeServer::requests) are remembered. The default is 1,000.
    pub fn with_requests_kept(mut self, count: usize) -> Self {
        self.requests_kept = count;
        self
    }

    /// Remembers the bodies of requests too, as far as the server reads them.
    pub fn with_request_bodies(mut self) -> Self {
        self.keeps_bodies = true;
        self
    }

    /// Begins with `object`, in the order in which objects are given. One that is there already is replaced.
    ///
    /// It says its `kind` and `apiVersion`, and is completed and validated as the object of a client is, without unknown
    /// fields. Its namespace is made if it is not there; without one it goes into `default`. It keeps what it brings of
    /// uid, time of creation, generation and status, as objects of another cluster do; its version, its managers and that
    /// it was being deleted are left out.
    pub fn with_object<T: Serialize + ?Sized>(mut self, object: &T) -> Self {
        self.objects
            .push(serde_json::to_value(object).map_err(Arc::new));
        self
    }

    /// Begins with `objects`, each as [`with_object`](Self::with_object) has it.
    pub fn with_objects<T: Serialize>(self, objects: impl IntoIterator<Item = T>) -> Self {
        let mut builder = self;
        for object in objects {
            builder = builder.with_object(&object);
        }
        builder
    }

    /// Begins with the definition of the custom resource `K`, so that it is served.
    #[cfg(feature = "client")]
    pub fn with_crd<K: kube::CustomResourceExt>(self) -> Self {
        self.with_object(&K::crd())
    }

    /// The server, with the namespaces that every cluster has. It needs no runtime until it is asked something.
    ///
    /// # Panics
    ///
    /// If it is to begin with something that it does not take. [`try_build`](Self::try_build) gives that as an error.
    #[must_use = "a server is stopped when it is dropped"]
    pub fn build(self) -> FakeServer {
        self.try_build()
            .unwrap_or_else(|error| panic!("{}", with_sources(&error)))
    }

    /// The server, as [`build`](Self::build) gives it.
    ///
    /// # Errors
    ///
    /// It is to begin with something that it does not take. Trying again does not help.
    pub fn try_build(self) -> Result<FakeServer, BuildError> {
        let core = Core::new(
            self.seed,
            self.clock.unwrap_or_default(),
            self.compaction,
            self.watcher_buffer,
            Requests::new(self.requests_kept, self.keeps_bodies),
        );
        let objects: Result<Vec<Value>, _> = self.objects.into_iter().collect();
        let objects = objects.map_err(|error| BuildError::Object(ObjectError::NotJson(error)))?;
        FakeServer::new(core, Beginning { objects })
    }
}

impl Default for FakeServerBuilder {
    fn default() -> Self {
        Self {
            seed: 0,
            clock: None,
            compaction: Compaction::default(),
            watcher_buffer: 1_000,
            requests_kept: REQUESTS_KEPT,
            keeps_bodies: false,
            objects: Vec::new(),
        }
    }
}

/// An error and what it comes from, in one line.
fn with_sources(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        line.push_str(": ");
        line.push_str(&error.to_string());
        source = error.source();
    }
    line
}
