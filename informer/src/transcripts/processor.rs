//! The fan-out to handlers, some of which are slow.

use std::{collections::BTreeMap, panic::resume_unwind, sync::Arc};

use tokio::{sync::Semaphore, time::Instant};

use super::{
    Command, Outcome, World,
    clock::{Clock, Journal},
    play,
};
use crate::{
    fixtures::{Value, object},
    handler::{Notification, NotificationCause},
    object::{Deleted, Object},
    processor::{Buffer, HandlerOptions, HandlerRegistration, Listener, PresentObjects, Processor},
    task::TaskSet,
    testing::notification_text,
};

struct ProcessorWorld {
    processor: Processor<Value>,
    listeners: BTreeMap<String, ListenerCalls>,
    tasks: TaskSet,
    /// Dropped last.
    clock: Clock,
}

struct ListenerCalls {
    registration: HandlerRegistration,
    /// One permit for each call that may return.
    calls: Arc<Semaphore>,
}

// === impl ProcessorWorld ===

impl World for ProcessorWorld {
    fn new() -> Self {
        Self {
            processor: Processor::new(),
            listeners: BTreeMap::new(),
            tasks: TaskSet::new(),
            clock: Clock::new(),
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "start" => {
                let spawner = self.tasks.spawner();
                let start = || self.processor.start(&spawner, Instant::now());
                Ok(self.clock.act(start).1)
            }
            "listener" => self.listen(command),
            "distribute" => {
                let is_live = !command.flag("initial")?;
                let changes = changes(&command.words(), is_live)?;
                let distribute = || self.processor.distribute(changes, is_live);
                Ok(self.clock.act(distribute).1)
            }
            "synced" => Ok(self.clock.act(|| self.processor.mark_synced()).1),
            "resync" => {
                let words = command.words();
                let resync = || self.processor.resync(Instant::now(), || present(&words));
                Ok(self.clock.act(resync).1)
            }
            "serve" => {
                let calls = command.value("calls")?.unwrap_or(1);
                let semaphore = Arc::clone(&self.listening(&command.word()?)?.calls);
                Ok(self.clock.act(|| semaphore.add_permits(calls)).1)
            }
            "advance" => Ok(self.clock.advance(command.word_of_time()?)),
            "remove" => {
                let name = command.word()?;
                self.listening(&name)?;
                Ok(self.clock.act(|| drop(self.listeners.remove(&name))).1)
            }
            "close" => Ok(self.clock.act(|| self.processor.close()).1),
            "state" => Ok(self.state()),
            _ => Err(command.unknown()),
        }
    }
}

impl ProcessorWorld {
    /// `listener NAME [held] [panics] [resync=TIME] [coalesce=N] [disconnect=N]` and what is present.
    fn listen(&mut self, command: &mut Command<'_>) -> Outcome {
        let mut options = HandlerOptions::default();
        if let Some(period) = command.time("resync")? {
            options = options.with_resync_period(period);
        }
        if let Some(limit) = command.value("coalesce")? {
            options = options.with_buffer(Buffer::Coalescing { limit });
        }
        if let Some(limit) = command.value("disconnect")? {
            options = options.with_buffer(Buffer::Disconnecting { limit });
        }
        let calls = if command.flag("held")? {
            0
        } else {
            Semaphore::MAX_PERMITS / 2
        };
        let is_panicking = command.flag("panics")?;
        let name = command.word()?;
        let calls = Arc::new(Semaphore::new(calls));
        let (journal, words) = (self.clock.journal().clone(), command.words());
        let handler = handler(name.clone(), Arc::clone(&calls), is_panicking, journal);
        let (registration, output) = self.clock.act(|| {
            let (listener, registration) = Listener::new_async(handler, options.with_name(&*name));
            self.processor
                .attach(listener, present(&words), Instant::now());
            registration
        });
        let listening = ListenerCalls {
            registration,
            calls,
        };
        self.listeners.insert(name, listening);
        Ok(output)
    }

    fn listening(&self, name: &str) -> Outcome<&ListenerCalls> {
        let listening = self.listeners.get(name);
        listening.ok_or_else(|| format!("no listener is called {name}"))
    }

    fn state(&self) -> String {
        let lines = self.listeners.iter().map(|(name, listening)| {
            let metrics = listening.registration.metrics();
            let mut words = vec![
                format!("{} pending", metrics.pending),
                format!("{} delivered", metrics.delivered),
            ];
            for (count, what) in [(metrics.coalesced, "merged"), (metrics.panics, "panics")] {
                if count > 0 {
                    words.push(format!("{count} {what}"));
                }
            }
            if metrics.has_synced {
                words.push("synced".to_owned());
            }
            if let Some(end) = listening.registration.end() {
                words.push(format!("ended: {end:?}"));
            }
            format!("{name}: {}", words.join(", "))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Takes a permit for each call, and records its notifications.
fn handler(
    name: String,
    calls: Arc<Semaphore>,
    is_panicking: bool,
    journal: Journal,
) -> impl FnMut(Notification<Value>) -> futures::future::BoxFuture<'static, ()> + Send + 'static {
    move |notification| {
        let (name, calls, journal) = (name.clone(), Arc::clone(&calls), journal.clone());
        Box::pin(async move {
            let permit = calls.acquire().await.expect("it is never closed");
            permit.forget();
            journal.note(format!("{name}: {}", notification_text(&notification)));
            if is_panicking {
                // Without the hook's message on standard error.
                resume_unwind(Box::new("told to"));
            }
        })
    }
}

/// `+a@1` an add, `~a@1..2` an update, `-a@1` a deletion.
fn changes(words: &[String], is_live: bool) -> Outcome<Vec<Notification<Value>>> {
    let cause = if is_live {
        NotificationCause::Live
    } else {
        NotificationCause::Initial
    };
    let change = |word: &String| {
        let (kind, rest) = word.split_at(1);
        let change = match (kind, rest.split_once("..")) {
            ("+", None) => {
                let object = object(rest);
                Notification::Add { object, cause }
            }
            ("~", Some((old, version))) => {
                let old = object(old);
                let new = object(&format!("{}@{version}", old.key()));
                Notification::Update { old, new, cause }
            }
            ("-", None) => {
                let deleted = Deleted::Object(object(rest));
                Notification::Delete { deleted, cause }
            }
            _ => return Err(format!("{word} is no change")),
        };
        Ok(change)
    };
    words.iter().map(change).collect()
}

fn present(words: &[String]) -> PresentObjects<Value> {
    let objects: Vec<Object<Value>> = words.iter().map(|word| object(word)).collect();
    Box::new(objects.into_iter())
}

#[test]
fn transcripts() {
    play::<ProcessorWorld>("processor");
}
