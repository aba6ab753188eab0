//! A reflector over HTTP, with a store that records its writes.

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
    watched::{PhaseObserver, phase_text, reflector_options},
    wire::Wire,
};
use crate::{
    fixtures::delta_line,
    http::{HttpListWatch, Scope},
    object::{Object, ObjectKey, ResourceVersion},
    reflector::{Phase, Reflector, ReflectorControl},
    store::{Delta, ReflectorStore, StoreClosed},
    task::TaskSet,
};

struct ReflectorWorld {
    wire: Wire,
    running: Option<Running>,
    /// Dropped last.
    clock: Clock,
}

/// The reflector at work. Dropping it ends it.
struct Running {
    store: JournalStore,
    phase: Arc<Mutex<Option<Phase>>>,
    control: ReflectorControl,
    _tasks: TaskSet,
}

/// A store that records its writes and keeps their state. Clones are the same store.
#[derive(Clone)]
struct JournalStore {
    journal: Journal,
    held: Arc<Mutex<HeldState>>,
}

#[derive(Default)]
struct HeldState {
    objects: BTreeMap<ObjectKey, Object<ConfigMap>>,
    version: ResourceVersion,
    is_closed: bool,
}

// === impl ReflectorWorld ===

impl World for ReflectorWorld {
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
                let (outcome, output) = self.clock.act(|| self.wire.run(command));
                outcome?.then_some(output).ok_or_else(|| command.unknown())
            }
        }
    }
}

impl ReflectorWorld {
    /// Begins with a new server and a new store.
    fn start(&mut self, command: &mut Command<'_>) -> Outcome {
        let options = reflector_options(command)?;
        self.running = None;
        // The reflector before takes note of its end.
        self.clock.act(|| ());
        self.wire = Wire::new(self.clock.journal());
        let journal = self.clock.journal().clone();
        let (running, output) = self.clock.act(|| {
            let store = JournalStore {
                journal: journal.clone(),
                held: Arc::default(),
            };
            let phase = Arc::default();
            let watched = PhaseObserver {
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
        Ok(output)
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

// === impl JournalStore ===

impl JournalStore {
    fn held(&self) -> MutexGuard<'_, HeldState> {
        self.held.lock().unwrap()
    }

    fn note(&self, line: String, keep: impl FnOnce(&mut HeldState)) -> Result<(), StoreClosed> {
        let mut held = self.held();
        if held.is_closed {
            return Err(StoreClosed);
        }
        keep(&mut held);
        self.journal.note(line);
        Ok(())
    }
}

impl ReflectorStore<ConfigMap> for JournalStore {
    async fn write(&mut self, delta: Delta<ConfigMap>) -> Result<(), StoreClosed> {
        let line = delta_line(&delta);
        self.note(line, |held| match delta {
            Delta::Upserted(object) => {
                held.version = object.resource_version().clone();
                held.objects.insert(object.key().clone(), object);
            }
            Delta::Deleted(object) => {
                held.version = object.resource_version().clone();
                held.objects.remove(object.key());
            }
            Delta::Undecodable(error) | Delta::DeletedUndecodable(error) => {
                held.version = error.resource_version;
                held.objects.remove(&error.key);
            }
            Delta::ReplacedAll(replacement) => {
                let objects = replacement.objects.into_iter();
                held.objects = objects.map(|own| (own.key().clone(), own)).collect();
                held.version = replacement.resource_version;
            }
            Delta::Bookmark(version) => held.version = version,
        })
    }
}

#[test]
fn transcripts() {
    play::<ReflectorWorld>("reflector");
}
