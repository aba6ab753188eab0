//! Containers without processes: their logs, for as long as their pods are there, and the commands that need no process.
//!
//! ```text
//! kubelet ──► Log ──► LogFollower ──► request, connection
//! objects ──► Setting (variables, files) ──► Program ──► actions, which a connection performs
//! ```
//!
//! Kubelets write what happens to a container, and requests read it. A server without kubelets has no containers.

mod log;
mod reader;
mod follower;
mod sources;
mod references;
mod downward;
mod environment;
mod files;
mod volumes;
mod command;
mod setting;
mod session;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use fakeserver_kinds::{
    core::pod,
    metrics::usage::{Amount, ScriptedContainers, ScriptedUsage},
};
use fakeserver_server::{
    nodes::{ContainerOptions, ExecOutput, ExecRequest},
    store::{Change, ChangeKind, ChangeSink, ObjectKey},
};
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::follower::SharedLog;
pub(crate) use self::{
    command::{Action, Program, Setting, slept},
    follower::LogFollower,
    log::OutputStream,
    references::{Holder, Reference},
    session::{CommandSession, CommandWork, ForwardTarget, Session, SessionWork},
    sources::{Entries, PodSources},
};

/// The containers of a server's pods.
///
/// # Memory
///
/// Up to 512 KiB for each container of a pod that is stored: its log and the one before.
#[derive(Debug)]
pub(crate) struct Containers {
    options: ContainerOptions,
    logs: Mutex<BTreeMap<ObjectKey, PodLogs>>,
    /// Fires when all clients are to leave for good.
    stop: CancellationToken,
    /// Fires when those of now are to leave.
    leave: Mutex<CancellationToken>,
}

/// The logs of a pod, by container.
type PodLogs = BTreeMap<Box<str>, ContainerLogs>;

/// The log and the usage of a container's present or last run, and the log of the run before.
#[derive(Debug, Default)]
struct ContainerLogs {
    current: Arc<SharedLog>,
    previous: Option<Arc<SharedLog>>,
    /// The amounts that the present run uses, each from a time on, the earliest first, as far as stages say them.
    usage: Vec<(Timestamp, Amount)>,
}

// === impl Containers ===

impl Containers {
    /// Creates the containers of no pods. Their clients leave when `stop` fires.
    pub(crate) fn new(options: ContainerOptions, stop: &CancellationToken) -> Self {
        Self {
            options,
            logs: Mutex::default(),
            leave: Mutex::new(stop.child_token()),
            stop: stop.clone(),
        }
    }

    /// Begins the log of a container that starts. What it wrote before is the log of the previous run.
    pub(crate) fn start(&self, pod: &ObjectKey, container: &str) {
        self.with(pod, container, |logs| {
            logs.usage.clear();
            if logs.current.is_ended() {
                logs.previous = Some(std::mem::take(&mut logs.current));
            }
        });
    }

    /// Appends the lines of `text` to the log of a container.
    pub(crate) fn write(
        &self,
        pod: &ObjectKey,
        container: &str,
        stream: OutputStream,
        at: Timestamp,
        text: &str,
    ) {
        self.with(pod, container, |logs| {
            logs.current.change(|log| log.write(at, stream, text));
        });
    }

    /// Ends the log of a container that has ended.
    pub(crate) fn end(&self, pod: &ObjectKey, container: &str) {
        self.with(pod, container, |logs| {
            logs.current.change(log::Log::end);
        });
    }

    /// Returns the log of a container, which is empty if it has written nothing. The log of the previous run may be missing.
    ///
    /// The pod is to be stored meanwhile.
    pub(crate) fn log(
        &self,
        pod: &ObjectKey,
        container: &str,
        is_previous: bool,
    ) -> Option<Arc<SharedLog>> {
        self.with(pod, container, |logs| {
            if is_previous {
                logs.previous.clone()
            } else {
                Some(Arc::clone(&logs.current))
            }
        })
    }

    /// Sets the usage of the present run of a container: steps and their times, the earliest first.
    pub(crate) fn set_usage(
        &self,
        pod: &ObjectKey,
        container: &str,
        usage: Vec<(Timestamp, Amount)>,
    ) {
        self.with(pod, container, |logs| logs.usage = usage);
    }

    /// Returns the usage of the containers of a pod at a time, as far as stages set it.
    pub(crate) fn usage(&self, pod: &ObjectKey, at: Timestamp) -> ScriptedContainers {
        let all = self.lock();
        let containers = all.get(pod).into_iter().flatten();
        let now = |usage: &[(Timestamp, Amount)]| {
            let mut scripted = ScriptedUsage::default();
            let past = usage.iter().take_while(|(from, _)| *from <= at);
            past.for_each(|(_, amount)| scripted.set(*amount));
            scripted
        };
        containers
            .filter(|(_, logs)| !logs.usage.is_empty())
            .map(|(name, logs)| (name.clone(), now(&logs.usage)))
            .collect()
    }

    /// Returns the outcome that a function of the user's has for a command.
    pub(crate) fn answer(&self, request: &ExecRequest) -> Option<ExecOutput> {
        let mut commands = self.options.commands.iter();
        commands.find_map(|command| command.answer(request))
    }

    /// Returns the address that stands for a pod with these labels.
    fn backend(&self, labels: &Value) -> Option<&str> {
        let mut backends = self.options.backends.iter();
        let backend = backends.find(|backend| backend.stands_for(labels))?;
        Some(backend.address())
    }

    /// Returns the address that stands for a pod, or the reason why none can be reached.
    pub(crate) fn address(&self, pod: &Value) -> Result<String, String> {
        if pod["status"]["phase"] != "Running" {
            return Err("the pod is not running".to_owned());
        }
        let backend = self.backend(&pod["metadata"]["labels"]);
        backend.map(str::to_owned).ok_or_else(|| {
            "connection refused: no process stands for the pod; start the server with `--pod-backend \
             LABEL=VALUE=HOST:PORT`, as in `--pod-backend app=web=127.0.0.1:3000`"
                .to_owned()
        })
    }

    /// Returns whether an address stands for any pods.
    pub(crate) fn has_backends(&self) -> bool {
        !self.options.backends.is_empty()
    }

    /// Returns the signal at which a client that comes now has to leave.
    pub(crate) fn leave_token(&self) -> CancellationToken {
        let leave = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        leave.clone()
    }

    /// Lets all clients leave that follow a log or are connected to a container.
    pub(crate) fn disconnect(&self) {
        let mut leave = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *leave, self.stop.child_token()).cancel();
    }

    fn with<T>(
        &self,
        pod: &ObjectKey,
        container: &str,
        work: impl FnOnce(&mut ContainerLogs) -> T,
    ) -> T {
        let mut logs = self.lock();
        let logs = logs.entry(pod.clone()).or_default();
        match logs.get_mut(container) {
            Some(logs) => work(logs),
            None => work(logs.entry(container.into()).or_default()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, PodLogs>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSink for Containers {
    fn changed(&self, change: &Arc<Change>) {
        if change.kind() == ChangeKind::Deleted && change.resource() == pod::KIND.storage() {
            let gone = self.lock().remove(change.key());
            end_all(gone);
        }
    }

    fn reset(&self) {
        let gone = std::mem::take(&mut *self.lock());
        end_all(gone.into_values());
    }
}

/// Lets the followers of pods that are gone leave.
fn end_all(gone: impl IntoIterator<Item = PodLogs>) {
    for logs in gone.into_iter().flat_map(PodLogs::into_values) {
        logs.current.change(log::Log::end);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use fakeserver_server::verbs::LogSelection;
    use futures::FutureExt as _;

    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced(pod::KIND.storage().clone(), "default", name)
    }

    fn write(containers: &Containers, text: &str) {
        let now = Timestamp::UNIX_EPOCH;
        containers.write(&key("p"), "c", OutputStream::Stdout, now, text);
    }

    fn read(containers: &Containers, is_previous: bool) -> Option<String> {
        let log = containers.log(&key("p"), "c", is_previous)?;
        let pieces = log.read(LogSelection::default());
        Some(String::from_utf8(pieces.concat()).unwrap())
    }

    #[test]
    fn a_container_that_starts_again_has_a_new_log_and_the_previous_one() {
        let containers = Containers::new(ContainerOptions::default(), &CancellationToken::new());
        assert_eq!(read(&containers, false).as_deref(), Some(""));
        assert_eq!(read(&containers, true), None);
        for run in ["first", "second", "third"] {
            containers.start(&key("p"), "c");
            write(&containers, run);
            containers.end(&key("p"), "c");
        }
        assert_eq!(read(&containers, false).as_deref(), Some("third\n"));
        assert_eq!(read(&containers, true).as_deref(), Some("second\n"));
    }

    #[test]
    fn usage_changes_with_time_and_ends_with_the_run() {
        let containers = Containers::new(ContainerOptions::default(), &CancellationToken::new());
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let steps = [
            (0, Amount::NanoCores(1)),
            (5, Amount::Bytes(2)),
            (9, Amount::NanoCores(3)),
        ];
        let steps = steps.map(|(second, amount)| (at(second), amount));
        containers.set_usage(&key("p"), "c", steps.into());
        let used = |second| {
            let used = containers.usage(&key("p"), at(second));
            used.get("c").map(|used| (used.nano_cores, used.bytes))
        };
        assert_eq!(used(4), Some((Some(1), None)));
        assert_eq!(used(5), Some((Some(1), Some(2))));
        assert_eq!(used(9), Some((Some(3), Some(2))));
        assert!(containers.usage(&key("other"), at(9)).is_empty());
        containers.start(&key("p"), "c");
        assert_eq!(used(9), None);
    }

    #[tokio::test]
    async fn followers_receive_new_lines_and_the_end() {
        let containers = Containers::new(ContainerOptions::default(), &CancellationToken::new());
        write(&containers, "before");
        let log = containers.log(&key("p"), "c", false).unwrap();
        let follow = || {
            let leave = containers.leave_token();
            Arc::clone(&log).follow(LogSelection::default(), leave)
        };
        let (mut one, mut other) = (follow(), follow());
        assert_eq!(one.next_text().await.unwrap(), "before\n");
        {
            let mut waiting = pin!(one.next_text());
            assert!(waiting.as_mut().now_or_never().is_none());
            write(&containers, "after");
            assert_eq!(waiting.await.unwrap(), "after\n");
        }
        containers.disconnect();
        assert_eq!(one.next_text().await, None);
        assert_eq!(other.next_text().await.unwrap(), "before\nafter\n");
        let mut third = Arc::clone(&log).follow_from_end(containers.leave_token());
        containers.reset();
        assert_eq!(third.next_lines().await, None);
        assert_eq!(read(&containers, false).as_deref(), Some(""));
    }
}
