//! A whole informer over HTTP, with handlers that record their notifications.

use std::{collections::BTreeMap, panic::resume_unwind, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;

use super::{
    Command, Outcome, World,
    clock::{Clock, Journal},
    play,
    watched::{PhaseObserver, phase_text, reflector_options},
    wire::Wire,
};
use crate::{
    handler::{EventHandler, Notification},
    http::{HttpListWatch, Scope},
    indexer::IndexFn,
    processor::{HandlerOptions, HandlerRegistration},
    reflector::{Decision, FailureCause},
    shared_informer::{SharedInformer, SyncPhase},
    testing::notification_text,
};

struct InformerWorld {
    wire: Wire,
    informer: Option<SharedInformer<ConfigMap>>,
    handlers: BTreeMap<String, HandlerRegistration>,
    /// Dropped last.
    clock: Clock,
}

/// A handler that records each notification, and then may panic.
struct NotingHandler {
    name: String,
    journal: Journal,
    is_panicking: bool,
}

// === impl InformerWorld ===

impl World for InformerWorld {
    fn new() -> Self {
        let clock = Clock::new();
        Self {
            wire: Wire::new(clock.journal()),
            informer: None,
            handlers: BTreeMap::new(),
            clock,
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "start" => self.start(command),
            "handler" => self.add_handler(command),
            "remove" => {
                let name = command.word()?;
                let registration = self.handlers.remove(&name);
                let registration =
                    registration.ok_or_else(|| format!("no handler is called {name}"))?;
                Ok(self.clock.act(|| drop(registration)).1)
            }
            "advance" => Ok(self.clock.advance(command.word_of_time()?)),
            "pause" => {
                let informer = self.informer()?.clone();
                Ok(self.clock.act(|| informer.pause()).1)
            }
            "resume" => {
                let informer = self.informer()?.clone();
                Ok(self.clock.act(|| informer.resume()).1)
            }
            "shutdown" => {
                let informer = self.informer()?.clone();
                let ((), output) = self.clock.wait(informer.shutdown());
                Ok(format!(
                    "{output}\n{} tasks are left",
                    informer.task_count()
                ))
            }
            "cache" => self.cache(),
            "index" => {
                let found = self
                    .informer()?
                    .indexer()
                    .by_index("text", &command.word()?);
                let found = found.map_err(|error| error.to_string())?;
                Ok(format!("{found:?}"))
            }
            "phase" => self.phase(),
            "metrics" => self.metrics(),
            _ => {
                let (outcome, output) = self.clock.act(|| self.wire.run(command));
                outcome?.then_some(output).ok_or_else(|| command.unknown())
            }
        }
    }
}

impl InformerWorld {
    /// Begins with a new server and a new informer.
    fn start(&mut self, command: &mut Command<'_>) -> Outcome {
        let options = reflector_options(command)?;
        let (has_transform, has_policy) = (command.flag("transform")?, command.flag("policy")?);
        (self.informer, self.handlers) = (None, BTreeMap::new());
        // The informer before takes note of its end.
        self.clock.act(|| ());
        self.wire = Wire::new(self.clock.journal());
        let watched = PhaseObserver {
            journal: self.clock.journal().clone(),
            phase: Arc::default(),
        };
        let (informer, output) = self.clock.act(|| {
            let config_maps = HttpListWatch::<ConfigMap>::new(self.wire.client(), Scope::All);
            let mut builder = SharedInformer::builder(config_maps)
                .with_options(options)
                .with_observer(Arc::new(watched))
                .with_index("text", IndexFn::of_value(words));
            if has_transform {
                builder = builder.with_fallible_transform(transform);
            }
            if has_policy {
                builder = builder.with_error_policy(|failure| match failure.cause {
                    FailureCause::Forbidden => Decision::Stop,
                    // Without the hook's message on standard error.
                    _ => resume_unwind(Box::new("told to")),
                });
            }
            let informer = builder.build().expect("one index has this name");
            informer.start();
            informer
        });
        self.informer = Some(informer);
        Ok(output)
    }

    /// `handler NAME [resync=TIME] [panics]`
    fn add_handler(&mut self, command: &mut Command<'_>) -> Outcome {
        let mut options = HandlerOptions::default();
        if let Some(period) = command.time("resync")? {
            options = options.with_resync_period(period);
        }
        let is_panicking = command.flag("panics")?;
        let name = command.word()?;
        let handler = NotingHandler {
            name: name.clone(),
            journal: self.clock.journal().clone(),
            is_panicking,
        };
        let informer = self.informer()?.clone();
        let options = options.with_name(&*name);
        let add = || informer.add_handler_with(handler, options);
        let (registration, output) = self.clock.act(add);
        self.handlers.insert(name, registration);
        Ok(output)
    }

    fn cache(&self) -> Outcome {
        let informer = self.informer()?;
        let objects = informer.store().list();
        let objects = objects.iter().map(|object| format!("{object:?}"));
        let refused = informer.undecodable();
        let refused = refused.iter().map(|error| format!("!{}", error.key));
        let words: Vec<String> = objects.chain(refused).collect();
        let version = informer.last_sync_resource_version();
        Ok(format!("[{}] at {version:?}", words.join(" ")))
    }

    fn phase(&self) -> Outcome {
        let status = self.informer()?.status();
        let synced = if status.has_synced { "" } else { "not " };
        let failures = status.failed_attempts;
        let phase = match status.phase {
            SyncPhase::Reflecting(phase) => phase_text(phase),
            phase => format!("{phase:?}"),
        };
        Ok(format!("{phase}, {synced}synced, {failures} failures"))
    }

    fn metrics(&self) -> Outcome {
        let metrics = self.informer()?.metrics();
        let counts = [
            (metrics.lists, "lists"),
            (metrics.streaming_lists, "streaming lists"),
            (metrics.watches, "watches"),
            (metrics.failures, "failures"),
            (metrics.stale_versions, "stale versions"),
            (metrics.transform_failures, "transforms failed"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> = counts.map(|(count, of)| format!("{count} {of}")).collect();
        for listener in &metrics.listeners {
            let name = &listener.handler;
            words.push(format!("{name} heard {}", listener.delivered));
            if listener.panics > 0 {
                words.push(format!("{name} panicked on {}", listener.panics));
            }
        }
        Ok(words.join(", "))
    }

    fn informer(&self) -> Outcome<&SharedInformer<ConfigMap>> {
        self.informer
            .as_ref()
            .ok_or_else(|| "nothing was started".to_owned())
    }
}

fn text(object: &ConfigMap) -> &str {
    let text = object.data.as_ref().and_then(|data| data.get("text"));
    text.map_or("", String::as_str)
}

fn words(object: &ConfigMap) -> Vec<String> {
    text(object).split_whitespace().map(str::to_owned).collect()
}

/// Refuses `bad`, panics at `panic`, and forgets everything else.
fn transform(object: &mut ConfigMap) -> Result<(), &'static str> {
    match text(object) {
        "bad" => Err("the text says so"),
        // Without the hook's message on standard error.
        "panic" => resume_unwind(Box::new("told to")),
        _ => {
            object.data = None;
            Ok(())
        }
    }
}

// === impl NotingHandler ===

impl EventHandler<ConfigMap> for NotingHandler {
    fn on_notification(&mut self, notification: &Notification<ConfigMap>) {
        let text = notification_text(notification);
        self.journal.note(format!("{}: {text}", self.name));
        if self.is_panicking {
            // Without the hook's message on standard error.
            resume_unwind(Box::new("told to"));
        }
    }
}

#[test]
fn transcripts() {
    play::<InformerWorld>("shared_informer");
}
