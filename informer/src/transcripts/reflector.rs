//! A reflector over HTTP, with a store that notes what it is told.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use k8s_openapi::api::core::v1::ConfigMap;
use tokio_util::sync::CancellationToken;

use super::{
    Command, Outcome, World,
    clock::{Clock, Journal},
    play,
    watched::{Watched, phase_text, reflector_options},
    wire::Wire,
};
use crate::{
    http::{HttpListWatch, Scope},
    object::{DecodeError, Object, ObjectKey, ResourceVersion},
    reflector::{Phase, Reflector, ReflectorControl},
    store::{ReflectorStore, Replacement, StoreClosed},
    task::TaskSet,
};

struct Reflecting {
    wire: Wire,
    running: Option<Running>,
    /// Dropped last.
    clock: Clock,
}

/// The reflector at work. Dropping it ends it.
struct Running {
    store: Noting,
    phase: Arc<Mutex<Option<Phase>>>,
    control: ReflectorControl,
    _tasks: TaskSet,
}

/// Notes what it is told, and keeps it. Clones are the same store.
#[derive(Clone)]
struct Noting {
    journal: Journal,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    objects: BTreeMap<ObjectKey, Object<ConfigMap>>,
    version: ResourceVersion,
    is_closed: bool,
}

// === impl Reflecting ===

impl World for Reflecting {
    fn new() -> Self {
        let clock = Clock::new();
        Self {
            wire: Wire::new(clock.journal()),
            running: None,
            clock,
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "start" => self.start(command),
            "advance" => Ok(self.clock.advance(command.word_of_time()?)),
            "state" => self.state(),
            "pause" => {
                let control = self.running()?.control.clone();
                Ok(self.clock.act(|| control.pause()).1)
            }
            "resume" => {
                let control = self.running()?.control.clone();
                Ok(self.clock.act(|| control.resume()).1)
            }
            "close-store" => {
                self.running()?.store.held().is_closed = true;
                Ok("closed".to_owned())
            }
            _ => {
                let (outcome, told) = self.clock.act(|| self.wire.run(command));
                outcome?.then_some(told).ok_or_else(|| command.unknown())
            }
        }
    }
}

impl Reflecting {
    /// Begins with a new server and a new store.
    fn start(&mut self, command: &mut Command<'_>) -> Outcome {
        let options = reflector_options(command)?;
        self.running = None;
        // The reflector before takes note of its end.
        self.clock.act(|| ());
        self.wire = Wire::new(self.clock.journal());
        let journal = self.clock.journal().clone();
        let (running, told) = self.clock.act(|| {
            let store = Noting {
                journal: journal.clone(),
                held: Arc::default(),
            };
            let phase = Arc::default();
            let watched = Watched {
                journal: journal.clone(),
                phase: Arc::clone(&phase),
            };
            let control = ReflectorControl::new();
            let config_maps = HttpListWatch::<ConfigMap>::new(self.wire.client(), Scope::All);
            let reflector = Reflector::new(config_maps, store.clone(), options)
                .with_observer(Arc::new(watched))
                .with_control(control.clone());
            let tasks = TaskSet::new();
            let stop = tasks.stop_token().clone();
            tasks.spawn(reflect(reflector.run(stop.clone()), stop, journal));
            Running {
                store,
                phase,
                control,
                _tasks: tasks,
            }
        });
        self.running = Some(running);
        Ok(told)
    }

    fn state(&self) -> Outcome {
        let running = self.running()?;
        let phase = *running.phase.lock().unwrap();
        let phase = phase.map_or("not started".to_owned(), phase_text);
        let held = running.store.held();
        let objects: Vec<String> = held
            .objects
            .values()
            .map(|object| format!("{object:?}"))
            .collect();
        Ok(format!(
            "{phase}; [{}] at {:?}",
            objects.join(" "),
            held.version
        ))
    }

    fn running(&self) -> Outcome<&Running> {
        self.running
            .as_ref()
            .ok_or_else(|| "nothing was started".to_owned())
    }
}

/// Runs a reflector, and notes if it ends by itself.
async fn reflect(run: impl Future<Output = ()>, stop: CancellationToken, journal: Journal) {
    run.await;
    if !stop.is_cancelled() {
        journal.note("the reflector has ended");
    }
}

// === impl Noting ===

impl Noting {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap()
    }

    fn note(&self, line: String, keep: impl FnOnce(&mut Held)) -> Result<(), StoreClosed> {
        let mut held = self.held();
        if held.is_closed {
            return Err(StoreClosed);
        }
        keep(&mut held);
        self.journal.note(line);
        Ok(())
    }
}

impl ReflectorStore<ConfigMap> for Noting {
    async fn add(&mut self, object: Object<ConfigMap>) -> Result<(), StoreClosed> {
        self.note(format!("add {object:?}"), |held| {
            held.version = object.resource_version().clone();
            held.objects.insert(object.key().clone(), object);
        })
    }

    async fn update(&mut self, object: Object<ConfigMap>) -> Result<(), StoreClosed> {
        self.note(format!("update {object:?}"), |held| {
            held.version = object.resource_version().clone();
            held.objects.insert(object.key().clone(), object);
        })
    }

    async fn delete(&mut self, object: Object<ConfigMap>) -> Result<(), StoreClosed> {
        self.note(format!("delete {object:?}"), |held| {
            held.version = object.resource_version().clone();
            held.objects.remove(object.key());
        })
    }

    async fn undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.note(format!("undecodable {}", error.key), |held| {
            held.version = error.resource_version;
            held.objects.remove(&error.key);
        })
    }

    async fn delete_undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.note(format!("delete undecodable {}", error.key), |held| {
            held.version = error.resource_version;
            held.objects.remove(&error.key);
        })
    }

    async fn replace(&mut self, replacement: Replacement<ConfigMap>) -> Result<(), StoreClosed> {
        let objects = replacement.objects.iter();
        let objects = objects.map(|object| format!("{object:?}"));
        let refused = replacement.undecodable.iter();
        let refused = refused.map(|error| format!("!{}", error.key));
        let words: Vec<String> = objects.chain(refused).collect();
        let authority = if replacement.is_authoritative {
            ", the most recent state"
        } else {
            ""
        };
        let version = &replacement.resource_version;
        let line = format!("replace [{}] at {version}{authority}", words.join(" "));
        self.note(line, |held| {
            let objects = replacement.objects.into_iter();
            held.objects = objects.map(|own| (own.key().clone(), own)).collect();
            held.version = replacement.resource_version;
        })
    }

    async fn bookmark(&mut self, resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        self.note(format!("bookmark {resource_version}"), |held| {
            held.version = resource_version;
        })
    }
}

#[test]
fn transcripts() {
    play::<Reflecting>("reflector");
}
