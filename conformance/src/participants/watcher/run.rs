//! The watches of a run.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fakeserver::StoredObject;
use informer::{
    ResourceVersion, Scope,
    http::HttpListWatch,
    list_watch::{ListWatch, WatchEvent},
    watch::{RetryWatcher, RetryWatcherError, WatchOptions},
};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{Act, WatchPlan, WatcherEvent, WatcherPlan};
use crate::{
    bugs::{Bug, BuggyListWatch},
    participants::{
        participant::{End, Host, Run},
        states::{key, state},
    },
    plan::{LABEL, Resource, SPOILED, Selection},
    task::TaskSet,
    trace::{Member, Recorder},
    transport::{ClientLine, ExchangePart, Leader},
};

/// The interval of comparisons with the server at the end.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The pause after a failed watch.
const PAUSE: Duration = Duration::from_secs(5);
/// No version that a watch reaches.
const FAILED: u64 = 0;

/// The watches of a run.
pub(crate) struct Watcher {
    plan: WatcherPlan,
    leader: Leader,
    recorder: Recorder,
    seed: u64,
    bug: Option<Bug>,
    clients: Vec<kube::Client>,
    running: BTreeMap<usize, Running>,
    /// The ends of watches that were stopped.
    ending: Vec<TaskSet>,
}

/// A watch in a run. Its task ends with this.
struct Running {
    /// The version up to which it has brought everything; [`FAILED`] from a failure until it begins again.
    reached: Arc<AtomicU64>,
    stop: oneshot::Sender<()>,
    task: TaskSet,
}

/// A watch as its task has it.
struct Task {
    watch: usize,
    plan: WatchPlan,
    client: kube::Client,
    leader: Leader,
    recorder: Recorder,
    options: WatchOptions,
    bug: Option<Bug>,
    reached: Arc<AtomicU64>,
}

/// Returns the name of the client of a watch.
pub(super) fn client(watch: usize) -> String {
    format!("watch-{watch}")
}

// === impl Watcher ===

impl Run<WatcherPlan> for Watcher {
    async fn act(&mut self, act: Act) {
        match act {
            Act::Start(watch) => self.start(watch),
            Act::Stop(watch) => {
                if let Some(running) = self.running.remove(&watch) {
                    self.ending.push(running.stop());
                }
            }
        }
    }

    /// Waits until each watch has brought the last change of its selection.
    async fn settle(&mut self, end: &End<'_>) {
        let until = Instant::now() + end.limit;
        let is_behind = |(watch, running): (&usize, &Running)| {
            let reached = running.reached.load(Ordering::Relaxed);
            // The store may have forgotten the changes after which a watch has failed.
            reached == FAILED
                || has_changed(&self.leader, &self.plan.watches[*watch].selection, reached)
        };
        while self.running.iter().any(is_behind) && Instant::now() < until {
            sleep(POLL_INTERVAL).await;
        }
        // Recorded after the time limit as well: the checker reports what a watch has not brought by then.
        let revision = self.leader.get().revision();
        for watch in self.running.keys() {
            let watch = *watch;
            self.recorder
                .record(WatcherEvent::Settles { watch, revision });
        }
    }

    fn watch_count(&self) -> usize {
        self.running.len()
    }

    async fn shut_down(&mut self) {
        let running = std::mem::take(&mut self.running).into_values();
        for ending in running.map(Running::stop).chain(self.ending.drain(..)) {
            ending.wait().await;
        }
        self.clients.clear();
    }
}

impl Watcher {
    pub(super) fn new(plan: &WatcherPlan, host: &mut Host<'_>) -> Self {
        let clients = (0..plan.watches.len()).map(|watch| {
            let name = client(watch);
            let (route, yields) = ((host.open_route)(), host.yields(&name));
            let recorder = host.recorder.clone();
            let record = move |request, crossing: ExchangePart<'_>| {
                crossed(watch, request, &crossing).into()
            };
            ClientLine::new(&name, route, yields, recorder, record).client()
        });
        Self {
            clients: clients.collect(),
            plan: plan.clone(),
            leader: host.leader.clone(),
            recorder: host.recorder.clone(),
            seed: host.seed.get(),
            bug: host.bug,
            running: BTreeMap::new(),
            ending: Vec::new(),
        }
    }

    fn start(&mut self, watch: usize) {
        let (stop, stopped) = oneshot::channel();
        let mut options = WatchOptions::default();
        options.seed = self.seed.wrapping_add(watch as u64);
        let reached = Arc::<AtomicU64>::default();
        let task = Task {
            watch,
            plan: self.plan.watches[watch].clone(),
            client: self.clients[watch].clone(),
            leader: self.leader.clone(),
            recorder: self.recorder.clone(),
            options,
            bug: self.bug,
            reached: reached.clone(),
        };
        let task = TaskSet::of(task.run(stopped));
        let running = Running {
            reached,
            stop,
            task,
        };
        self.running.insert(watch, running);
    }
}

// === impl Running ===

impl Running {
    fn stop(self) -> TaskSet {
        // The task has not ended before.
        let _ = self.stop.send(());
        self.task
    }
}

// === impl Task ===

impl Task {
    async fn run(self, mut stopped: oneshot::Receiver<()>) {
        let followed = async {
            match self.plan.selection.resource {
                Resource::Pods => self.follow(&mut stopped, HttpListWatch::<Pod>::new).await,
                Resource::ConfigMaps => {
                    self.follow(&mut stopped, HttpListWatch::<ConfigMap>::new)
                        .await;
                }
                Resource::Nodes => self.follow(&mut stopped, HttpListWatch::<Node>::new).await,
            }
        };
        followed.await;
    }

    /// Follows one watch after the other until it is stopped.
    async fn follow<K>(
        &self,
        stopped: &mut oneshot::Receiver<()>,
        list_watch: impl Fn(kube::Client, Scope) -> HttpListWatch<K>,
    ) where
        K: Send + Sync + 'static,
        HttpListWatch<K>: ListWatch<K>,
    {
        let selection = &self.plan.selection;
        let scope = match &selection.namespace {
            Some(namespace) => Scope::Namespace(namespace.clone()),
            None => Scope::All,
        };
        let present = self.leader.get().revision();
        // 0 is no revision to resume from: it asks for any state.
        let mut from = present.saturating_sub(self.plan.behind).max(1);
        loop {
            let list_watch = list_watch(self.client.clone(), scope.clone());
            let list_watch = match selection.label_selector() {
                Some(labels) => list_watch.with_labels(labels),
                None => list_watch,
            };
            let list_watch = BuggyListWatch::new(list_watch, self.bug);
            // Before the watch begins: `settle` waits for all changes after this revision.
            self.reached.store(from, Ordering::Relaxed);
            self.recorder.record(WatcherEvent::Begins {
                watch: self.watch,
                selection: selection.clone(),
                revision: from,
            });
            let version = ResourceVersion::from(from.to_string().as_str());
            let options = self.options.clone();
            let watcher = RetryWatcher::with_options(list_watch, version, options);
            let watcher = watcher.expect("a watch can be resumed from a revision");
            let Some(error) = self.bring(stopped, watcher).await else {
                return;
            };
            self.recorder.record(WatcherEvent::Fails {
                watch: self.watch,
                text: error.to_string(),
            });
            let reached = self.reached.swap(FAILED, Ordering::Relaxed);
            tokio::select! {
                biased;
                _ = &mut *stopped => return,
                () = sleep(PAUSE) => {}
            }
            from = match error {
                // It continues where it was.
                RetryWatcherError::Refused(_) => reached,
                _ => self.leader.get().revision(),
            };
        }
    }

    /// Records what a watch brings, until it fails; returns `None` if it is stopped before.
    async fn bring<K, L>(
        &self,
        stopped: &mut oneshot::Receiver<()>,
        mut watcher: RetryWatcher<K, L>,
    ) -> Option<RetryWatcherError>
    where
        K: Send + Sync + 'static,
        L: ListWatch<K>,
    {
        let watch = self.watch;
        let error = loop {
            let next = tokio::select! {
                biased;
                _ = &mut *stopped => break None,
                next = watcher.next() => next,
            };
            match next {
                Some(Ok(event)) => self.brings(event),
                Some(Err(error)) => break Some(error),
                None => break None,
            }
            let reached = watcher.resource_version().to_string().parse();
            self.reached
                .store(reached.unwrap_or_default(), Ordering::Relaxed);
        };
        let reached = watcher.resource_version().to_string().parse();
        let revision = reached.unwrap_or_default();
        self.reached.store(revision, Ordering::Relaxed);
        self.recorder
            .record(WatcherEvent::Reaches { watch, revision });
        error
    }

    fn brings<K>(&self, event: WatchEvent<K>) {
        let (kind, object) = match event {
            WatchEvent::Added(object) => ("ADDED", object),
            WatchEvent::Modified(object) => ("MODIFIED", object),
            WatchEvent::Deleted(object) => ("DELETED", object),
            _ => return,
        };
        let Ok(object) = object else {
            return;
        };
        self.recorder.record(WatcherEvent::Brings {
            watch: self.watch,
            kind,
            resource: self.plan.selection.resource,
            member: Member {
                key: key(&object),
                state: state(&object),
            },
        });
    }
}

/// Returns what crossed the line of a watch.
fn crossed(watch: usize, request: usize, crossing: &ExchangePart<'_>) -> WatcherEvent {
    match crossing {
        ExchangePart::Asks(uri) => {
            let query = uri.query().unwrap_or_default().as_bytes();
            let revision = form_urlencoded::parse(query)
                .find(|(name, _)| name == "resourceVersion")
                .map(|(_, version)| version.into_owned())
                .unwrap_or_default();
            WatcherEvent::Asks {
                watch,
                request,
                revision,
            }
        }
        ExchangePart::Answers(status) => WatcherEvent::Answers {
            watch,
            request,
            status: *status,
        },
        ExchangePart::Ends(ending) => WatcherEvent::Ends {
            watch,
            request,
            ending: *ending,
        },
    }
}

/// Returns true if the server has changes of a selection after a revision.
fn has_changed(leader: &Leader, selection: &Selection, revision: u64) -> bool {
    let is_of = |object: Option<&Arc<StoredObject>>| {
        object.is_some_and(|object| {
            let labels = object.labels();
            let namespace = object.namespace().unwrap_or_default();
            selection.contains(namespace, labels.get(LABEL), labels.get(SPOILED).is_some())
        })
    };
    let plural = selection.resource.plural();
    let changes = leader.get().history("", "v1", plural, revision);
    let mut changes = changes.into_iter();
    changes.any(|change| is_of(change.before()) || is_of(change.after()))
}
