//! A store that keeps what a reflector tells it, and the reflector that runs into it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use informer::{
    ListWatch, Object, ObjectKey, ReflectorStore, ResourceVersion,
    object::DecodeError,
    reflector::{Failure, Reflector, ReflectorObserver, ReflectorOptions},
    store::{Replacement, StoreClosed},
    task::TaskSet,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A copy of a selection, as a reflector keeps it.
#[derive(Clone, Default)]
pub(crate) struct Mirror {
    state: Arc<Mutex<State>>,
    failed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<ObjectKey, ResourceVersion>,
    undecodable: BTreeMap<ObjectKey, String>,
    replace_count: usize,
    failures: Vec<String>,
}

/// A reflector that runs until this is dropped.
pub(crate) struct Running {
    pub(crate) mirror: Mirror,
    pub(crate) tasks: TaskSet,
}

/// Runs a reflector of `list_watch` into a mirror.
pub(crate) fn reflect<K: Send + Sync + 'static>(
    list_watch: impl ListWatch<K>,
    options: ReflectorOptions,
) -> Running {
    let mirror = Mirror::default();
    let tasks = TaskSet::new();
    let stop: CancellationToken = tasks.stop_token().clone();
    let reflector =
        Reflector::new(list_watch, mirror.clone(), options).with_observer(Arc::new(mirror.clone()));
    tasks.spawn(reflector.run(stop));
    Running { mirror, tasks }
}

// === impl Mirror ===

impl Mirror {
    /// The objects in short: `n/a@3 n/b@5`.
    pub(crate) fn objects(&self) -> String {
        let state = self.state();
        let objects = state.objects.iter();
        let objects: Vec<String> = objects.map(|(key, rv)| format!("{key}@{rv}")).collect();
        objects.join(" ")
    }

    /// The keys that cannot be decoded, each with what was said.
    pub(crate) fn undecodable(&self) -> Vec<String> {
        self.state
            .lock()
            .unwrap()
            .undecodable
            .values()
            .cloned()
            .collect()
    }

    /// How many whole states came.
    pub(crate) fn replace_count(&self) -> usize {
        self.state().replace_count
    }

    /// Waits until something has failed since this was last asked.
    pub(crate) async fn wait_for_failure(&self) {
        self.failed.notified().await;
    }

    /// What failed so far.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.state().failures.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn put<K>(&self, object: &Object<K>) {
        let mut state = self.state();
        state.undecodable.remove(object.key());
        let version = object.resource_version().clone();
        state.objects.insert(object.key().clone(), version);
    }

    fn remove(&self, key: &ObjectKey) {
        let mut state = self.state();
        state.undecodable.remove(key);
        state.objects.remove(key);
    }
}

impl<K: Send + Sync + 'static> ReflectorStore<K> for Mirror {
    async fn add(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.put(&object);
        Ok(())
    }

    async fn update(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.put(&object);
        Ok(())
    }

    async fn delete(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.remove(object.key());
        Ok(())
    }

    async fn undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.remove(&error.key);
        let told = error.to_string();
        self.state().undecodable.insert(error.key, told);
        Ok(())
    }

    async fn delete_undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.remove(&error.key);
        Ok(())
    }

    async fn replace(&mut self, replacement: Replacement<K>) -> Result<(), StoreClosed> {
        let mut state = self.state();
        let objects = replacement.objects.iter();
        state.objects = objects
            .map(|object| (object.key().clone(), object.resource_version().clone()))
            .collect();
        let undecodable = replacement.undecodable.iter();
        state.undecodable = undecodable
            .map(|error| (error.key.clone(), error.to_string()))
            .collect();
        state.replace_count += 1;
        Ok(())
    }

    async fn bookmark(&mut self, _resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        Ok(())
    }
}

impl ReflectorObserver for Mirror {
    fn failed(&self, failure: &Failure<'_>) {
        let told = match failure.error {
            Some(error) => error.to_string(),
            None => failure.cause.to_string(),
        };
        self.state().failures.push(told);
        self.failed.notify_one();
    }
}
