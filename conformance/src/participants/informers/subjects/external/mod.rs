//! A process under test: an informer in any language, which speaks a few lines of JSON.
//!
//! The page `docs/external.md` of this crate describes the protocol.
//!
//! ```text
//!             commands  ┌─────────┐ lines
//!  External ──────────►│ process ├───────► machine ──► Seen ──► trace
//!                       └─────────┘         (interprets a line)
//! ```

mod protocol;
mod program;
mod error;
mod machine;
mod process;

use std::{
    collections::BTreeMap,
    future::{self, Future},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::sync::{mpsc, oneshot};

use self::error::Breach;
pub use self::{
    program::Program,
    protocol::{Command, Introduction, Message, StatedObject},
};
use super::{Subject, SubjectParts};
use crate::{
    participants::HandlerPlan,
    plan::Selection,
    task::TaskSet,
    trace::{HandlerNotification, Key, Member, NotifiedChange, Observation, Recorder, State},
};

/// The number of commands that may wait for the process: the start, and a question.
const COMMANDS_MAX: usize = 2;

/// Creates the process that mirrors the selection of `parts`.
pub(super) fn subject(parts: SubjectParts<'_>, program: Program) -> Box<dyn Subject> {
    let url = parts.url.expect("a process reaches the server over TCP");
    let selection = parts.plan.selection.plain();
    let start = Command::Start {
        server: url,
        resource: selection.resource.plural().to_owned(),
        namespace: selection.namespace.clone(),
        label_selector: selection.label_selector(),
    };
    Box::new(External {
        selection,
        program: Some(program),
        first: Some(start),
        messages: ProcessMessages {
            informer: parts.informer,
            recorder: parts.recorder,
            state: Arc::default(),
        },
        commands: None,
        tasks: TaskSet::new(),
    })
}

/// Starts `program`, and ends it once it has introduced itself.
///
/// # Errors
///
/// It breaks the protocol, in words.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn introduction(program: &Program) -> Result<Introduction, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("the system gives what a runtime needs");
    let introduced = runtime.block_on(process::introduction(program));
    introduced.map_err(|breach| format!("`{}` {breach}", program.command))
}

struct External {
    selection: Selection,
    /// The program, until it boots.
    program: Option<Program>,
    /// Its first input, until the start.
    first: Option<Command>,
    messages: ProcessMessages,
    commands: Option<mpsc::Sender<Command>>,
    tasks: TaskSet,
}

/// The messages of a process. Clones share them.
#[derive(Clone, Debug)]
struct ProcessMessages {
    informer: usize,
    recorder: Recorder,
    state: Arc<Mutex<ProcessState>>,
}

#[derive(Debug, Default)]
struct ProcessState {
    handlers: Vec<usize>,
    introduction: Introduction,
    has_synced: bool,
    holds: BTreeMap<Key, State>,
    /// True while a question about its cache is open.
    is_asked: bool,
    /// True if the next answer is to be recorded.
    is_observed: bool,
}

// === impl External ===

impl External {
    /// Asks for the content of the cache, unless a question is open.
    fn ask(&self) {
        let mut state = self.messages.state();
        if let Some(commands) = self.commands.as_ref().filter(|_| !state.is_asked) {
            state.is_asked = commands.try_send(Command::Cache).is_ok();
        }
    }
}

impl Subject for External {
    fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Boots the process, and waits for its hello.
    fn prepare(&mut self) -> Pin<Box<dyn Future<Output = ()>>> {
        let Some(program) = self.program.take() else {
            return Box::pin(future::ready(()));
        };
        let (sender, commands) = mpsc::channel(COMMANDS_MAX);
        let (ready, is_ready) = oneshot::channel();
        self.commands = Some(sender);
        let running = process::run(program, self.messages.clone(), commands, ready);
        self.tasks.spawn(running);
        Box::pin(async move {
            // Without a hello the run ends by itself.
            let _ = is_ready.await;
        })
    }

    fn start(&mut self) {
        if let (Some(commands), Some(start)) = (&self.commands, self.first.take()) {
            // A process that has failed takes no commands.
            let _ = commands.try_send(start);
        }
    }

    fn join(&mut self, handler: usize, _: &HandlerPlan) {
        self.messages.state().handlers.push(handler);
    }

    fn leave(&mut self, handler: usize) {
        self.messages
            .state()
            .handlers
            .retain(|other| *other != handler);
    }

    fn has_synced(&self) -> bool {
        self.messages.state().has_synced
    }

    /// Returns the last answer, and asks again.
    fn holds(&self) -> BTreeMap<Key, State> {
        self.ask();
        self.messages.state().holds.clone()
    }

    /// Asks; the answer is recorded when it comes.
    fn observe(&self) {
        self.ask();
        self.messages.state().is_observed = true;
    }

    fn stop(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            // The end of its input tells the process to exit; it is killed if it does not.
            self.commands = None;
            self.tasks.wait().await;
            self.messages.recorder.record(Observation::InformerStopped {
                informer: self.messages.informer,
                task_count: 0,
            });
        })
    }
}

// === impl ProcessMessages ===

impl ProcessMessages {
    /// Takes a message. Fails, in words, if it makes no sense.
    fn hear(&self, message: Message) -> Result<(), String> {
        match message {
            Message::Hello(introduction) => {
                self.recorder.record(Observation::Introduced {
                    informer: self.informer,
                    withholds: introduction.withholds.clone(),
                });
                self.state().introduction = introduction;
            }
            Message::Synced => self.state().has_synced = true,
            Message::Cache { objects } => return self.answered(objects),
            Message::Added { object, is_initial } => {
                let Member { key, state: new } = object.into_member()?;
                self.record(&key, &NotifiedChange::Added { new, is_initial });
            }
            Message::Updated { old, new } => {
                let old = old.into_member()?.state;
                let Member { key, state: new } = new.into_member()?;
                if self.state().introduction.replaces_by_update && old.uid != new.uid {
                    self.record_replacement(&key, old, new);
                } else {
                    self.record(&key, &NotifiedChange::Updated { old, new });
                }
            }
            Message::Deleted {
                object,
                is_tombstone,
            } => {
                let Member { key, state } = object.into_member()?;
                let last = Some(state);
                self.record(&key, &NotifiedChange::Deleted { last, is_tombstone });
            }
        }
        Ok(())
    }

    /// Records a breach and ends the run: the process cannot be asked any more.
    fn failed(&self, program: &Program, breach: &Breach) {
        let command = &program.command;
        self.recorder.give_up(Observation::SubjectFailed {
            informer: self.informer,
            failure: breach.failure(),
            text: format!("`{command}` {breach}"),
        });
    }

    fn answered(&self, objects: Vec<StatedObject>) -> Result<(), String> {
        let held: Result<Vec<Member>, String> =
            objects.into_iter().map(StatedObject::into_member).collect();
        let held = held?.into_iter();
        let mut state = self.state();
        state.is_asked = false;
        state.holds = held.map(|member| (member.key, member.state)).collect();
        if !std::mem::take(&mut state.is_observed) {
            return Ok(());
        }
        let members = state.holds.iter().map(|(key, state)| Member {
            key: Key::clone(key),
            state: state.clone(),
        });
        self.recorder.record(Observation::Cached {
            informer: self.informer,
            // A process does not report its version.
            revision: None,
            has_synced: state.has_synced,
            members: members.collect(),
        });
        Ok(())
    }

    /// Notifies all handlers. The process does not report its cache at that moment, which is assumed to agree.
    fn record(&self, key: &Key, change: &NotifiedChange) {
        let cached = match change {
            NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => Some(new),
            NotifiedChange::Deleted { .. } => None,
        };
        self.record_with(key, change, cached);
    }

    /// Notifies all handlers that `new` has taken the place of `old`, which the cache shows already.
    fn record_replacement(&self, key: &Key, old: State, new: State) {
        let gone = NotifiedChange::Deleted {
            last: Some(old),
            is_tombstone: true,
        };
        self.record_with(key, &gone, Some(&new));
        let is_initial = false;
        self.record(key, &NotifiedChange::Added { new, is_initial });
    }

    fn record_with(&self, key: &Key, change: &NotifiedChange, cached: Option<&State>) {
        for handler in &self.state().handlers {
            self.recorder
                .record(Observation::Notified(HandlerNotification {
                    informer: self.informer,
                    handler: *handler,
                    key: Key::clone(key),
                    change: change.clone(),
                    cause: None,
                    cached: cached.cloned(),
                }));
        }
    }

    fn state(&self) -> MutexGuard<'_, ProcessState> {
        self.state.lock().expect("no holder panics")
    }
}
