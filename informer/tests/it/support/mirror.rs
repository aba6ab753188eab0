//! A store that keeps what a reflector tells it, and the reflector that runs into it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use informer::{
    Object, ObjectKey, ResourceVersion,
    list_watch::ListWatch,
    reflector::{Delta, Reflector, ReflectorOptions, ReflectorStore, StoreClosed},
    stages::TaskSet,
};

/// A copy of a selection, as a reflector keeps it: each key at the last version received.
#[derive(Clone, Default)]
pub(crate) struct Mirror(Arc<Mutex<BTreeMap<ObjectKey, ResourceVersion>>>);

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
    let stop = tasks.stop_token().clone();
    tasks.spawn(Reflector::new(list_watch, mirror.clone(), options).run(stop));
    Running { mirror, tasks }
}

// === impl Mirror ===

impl Mirror {
    /// The objects in short: `n/a@3 n/b@5`.
    pub(crate) fn objects(&self) -> String {
        let objects = self.lock();
        let objects = objects.iter().map(|(key, rv)| format!("{key}@{rv}"));
        objects.collect::<Vec<_>>().join(" ")
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, ResourceVersion>> {
        self.0.lock().unwrap()
    }

    fn put<K>(&self, object: &Object<K>) {
        let version = object.resource_version().clone();
        self.lock().insert(object.key().clone(), version);
    }
}

impl<K: Send + Sync + 'static> ReflectorStore<K> for Mirror {
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        match delta {
            Delta::Upserted(object) => self.put(&object),
            Delta::ReplacedAll(replacement) => {
                self.lock().clear();
                for object in &replacement.objects {
                    self.put(object);
                }
            }
            delta => {
                if let Some(key) = delta.key() {
                    self.lock().remove(key);
                }
            }
        }
        Ok(())
    }
}
