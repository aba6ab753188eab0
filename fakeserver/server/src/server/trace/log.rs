//! The log of a trace: a pure table of lines, a clock and a writer.

use std::{
    fmt,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use fakeserver_value::resource::GroupResource;
use fakeserver_versions::KubernetesVersion;
use tokio::time::Instant;
use tracing::warn;

use super::{
    line::{Ending, EventKind},
    table::{Table, TypeName},
};
use crate::{
    FakeServerBuilder,
    store::{Change, ChangeSink},
};

/// A trace of a server: its requests by client, the changes of its objects, and its faults, as a file that
/// `conformance trace FILE` and the page of `conformance trace FILE --html PAGE` show.
///
/// Every line is written at once, so that the trace of a killed server lacks at most a part of its last line. Memory
/// grows with the number of objects, not with time. A trace that cannot be written ends with a warning; the server
/// continues. A log traces one server: of several, the one that was built first.
///
/// The first change of an object after the start or a reset contains the whole object; later changes are differences.
/// Requests to `/_control` are left out, and a request over a WebSocket ends with its handshake. Fault rules without a
/// [`FaultSpec`](crate::faults::FaultSpec) are left out.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::{FakeServer, TraceLog};
///
/// let log = TraceLog::to_writer(std::io::sink(), "a test");
/// let server = FakeServer::builder().with_trace(log).build();
/// # drop(server);
/// ```
#[derive(Clone)]
pub struct TraceLog {
    shared: Arc<Shared>,
}

struct Shared {
    title: String,
    state: Mutex<State>,
}

struct State {
    table: Table,
    writer: Box<dyn Write + Send>,
    phase: Phase,
    /// The command that the server was started by.
    command: Option<String>,
    /// The names of types by resource, set when a server is built.
    names: Option<TypeNames>,
    /// True if a task follows the faults.
    follows_faults: bool,
}

/// Returns the name of the type of a resource's objects.
pub(in crate::server) type TypeNames = Box<dyn Fn(&GroupResource) -> (String, String) + Send>;

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// No server was built yet.
    New,
    Running {
        since: Instant,
    },
    /// The server makes what it begins with.
    Paused {
        since: Instant,
    },
    Over,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Writes a trace of the server. By default there is none.
    pub fn with_trace(mut self, log: TraceLog) -> Self {
        self.trace = Some(log);
        self
    }
}

// === impl TraceLog ===

impl TraceLog {
    /// Creates the trace of a server that `title` names in a few words, written to `writer`, each event by one call. It must not
    /// block for long.
    pub fn to_writer(writer: impl Write + Send + 'static, title: impl Into<String>) -> Self {
        let state = State {
            table: Table::default(),
            writer: Box::new(writer),
            phase: Phase::New,
            command: None,
            names: None,
            follows_faults: false,
        };
        Self {
            shared: Arc::new(Shared {
                title: title.into(),
                state: Mutex::new(state),
            }),
        }
    }

    /// Sets the command line of the server in the header. It has no effect after the server was built.
    #[must_use]
    pub fn with_command(self, command: impl Into<String>) -> Self {
        self.shared.lock().command = Some(command.into());
        self
    }

    /// Writes the values of secrets, too. By default they are left out: the keys remain.
    #[must_use]
    pub fn with_secrets(self) -> Self {
        self.shared.lock().table.shows_secrets = true;
        self
    }

    /// Begins the trace, once.
    pub(in crate::server) fn begin(&self, kubernetes: KubernetesVersion, names: TypeNames) {
        self.shared.with(|state| {
            if matches!(state.phase, Phase::New) {
                state.names = Some(names);
                let since = Instant::now();
                state.phase = Phase::Running { since };
                let command = state.command.as_deref();
                state.table.begin(kubernetes, &self.shared.title, command);
            }
        });
    }

    /// Adds a line about the server.
    pub(in crate::server) fn say(&self, say: &str) {
        self.add(|table, micros| table.add_of_run(micros, EventKind::Phase { say }));
    }

    /// Leaves changes out until it is resumed.
    pub(in crate::server) fn pause(&self) {
        self.shared.with(|state| {
            if let Phase::Running { since } = state.phase {
                state.phase = Phase::Paused { since };
            }
        });
    }

    pub(in crate::server) fn resume(&self, say: &str) {
        self.shared.with(|state| {
            if let Phase::Paused { since } = state.phase {
                state.phase = Phase::Running { since };
            }
        });
        self.say(say);
    }

    /// Ends the trace.
    pub(in crate::server) fn end(&self) {
        self.shared.end();
    }

    /// Marks the faults as followed, and returns whether they were not yet.
    pub(super) fn start_following(&self) -> bool {
        let mut state = self.shared.lock();
        !std::mem::replace(&mut state.follows_faults, true)
    }

    /// Adds lines at the present time, if the trace runs.
    fn add<T>(&self, add: impl FnOnce(&mut Table, u64) -> T) -> Option<T> {
        self.shared.add(add)
    }

    /// Adds a request, and returns its number.
    pub(super) fn ask(&self, client: &str, verb: &str, say: &str) -> Option<usize> {
        self.add(|table, micros| table.ask(micros, client, verb, say))
    }

    pub(super) fn answer(&self, request: usize, code: Option<u16>) {
        self.add(|table, micros| table.add(micros, EventKind::Answer { request, code }));
    }

    pub(super) fn end_of(&self, request: usize, how: Ending) {
        self.add(|table, micros| table.add(micros, EventKind::End { request, how }));
    }

    pub(super) fn fault(&self, fault: u64, say: &str) {
        self.add(|table, micros| table.add_of_run(micros, EventKind::Fault { fault, say }));
    }

    pub(super) fn end_fault(&self, fault: u64) {
        self.add(|table, micros| table.add_of_run(micros, EventKind::Heal { fault }));
    }
}

impl ChangeSink for TraceLog {
    fn changed(&self, change: &Arc<Change>) {
        self.shared.with(|state| {
            let Phase::Running { since } = state.phase else {
                return;
            };
            let names = state.names.as_ref().map(|names| names(change.resource()));
            let (kind, api_version) = names.unwrap_or_default();
            let name = TypeName { kind, api_version };
            state.table.change(micros(since), change, &name);
        });
    }

    fn reset(&self) {
        let say = "the store begins anew";
        self.add(|table, micros| table.add_of_run(micros, EventKind::Phase { say }));
    }
}

impl fmt::Debug for TraceLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceLog")
            .field("title", &self.shared.title)
            .finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the state, and writes the lines that it has made.
    fn with(&self, act: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        act(&mut state);
        let lines = state.table.take_lines();
        if lines.is_empty() {
            return;
        }
        // Under the lock: lines are written in the order in which their numbers were given.
        let written = state.writer.write_all(&lines);
        if let Err(error) = written.and_then(|()| state.writer.flush()) {
            // A trace with a hole would be misread; it ends here.
            state.phase = Phase::Over;
            warn!(%error, "the trace ends here: it cannot be written");
        }
    }

    fn add<T>(&self, add: impl FnOnce(&mut Table, u64) -> T) -> Option<T> {
        let mut added = None;
        self.with(|state| {
            // Requests and faults are traced while paused; only changes of objects are not.
            if let Phase::Running { since } | Phase::Paused { since } = state.phase {
                added = Some(add(&mut state.table, micros(since)));
            }
        });
        added
    }

    fn end(&self) {
        // Before the phase, which stops further lines.
        self.add(|table, _| table.end());
        self.lock().phase = Phase::Over;
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end();
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
