//! The commit log of servers that keep their state in etcd.
//!
//! ```text
//! append ──► a transaction of etcd for each write: compares, and a put or a deletion
//! follow ◄── a watch of all keys, from the revision after the one that is applied
//! ```
//!
//! **Every write has a revision of its own**, as that of a real server. So a transaction of several writes is not atomic: if it is
//! in conflict in the middle, its first writes stay, and it is repeated on the state that has them; if etcd fails in the middle,
//! nobody repeats it. Its writes are in the order of their dependencies, so that what stays is what an interrupted real server
//! leaves: an event of a change that has not come, or a quota that was charged too much until it is recounted.
//!
//! **The watch is of all keys**, and not of the prefix alone: each revision of etcd brings an event, so that the applied revision
//! reaches each revision that a read or a transaction has returned. A read is proved recent by a linearizable read of the revision,
//! which works with etcd 3.4; its progress notifications can overtake events.
//!
//! **A call replies when the follower has its revision**: a client reads its own write, and what it was in conflict with.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use fakeserver_etcd::{Layout, ObjectPath};
use fakeserver_server::{
    store::{AppendOutcome, CommitLog, LogError, LogFollower, LogTransaction, ObjectKey, Reply},
    task::TaskSet,
};
use fakeserver_value::revision::Revision;
use tokio::{
    runtime::{Builder, Runtime},
    sync::{Semaphore, mpsc, watch},
    time::timeout,
};

use crate::{
    client::{CALL_LIMIT, Client, ClientError, RangeRequest},
    leases::Leases,
    options::EtcdOptions,
};

/// The number of transactions that are sent at a time; others wait.
const APPENDS_MAX: usize = 256;
/// The number of reads that wait to be proved recent; others fail.
const READS_MAX: usize = 16_384;

/// A log in etcd. It has a runtime of its own, so that it is the same for callers in any runtime and in none.
pub(crate) struct EtcdLog {
    shared: Arc<Shared>,
    tasks: TaskSet,
    /// There until the log is dropped.
    runtime: Option<Runtime>,
    reads: mpsc::Sender<Reply<()>>,
    /// The other end of the reads, until the log is started.
    waiting: std::sync::Mutex<Option<mpsc::Receiver<Reply<()>>>>,
    seed: u64,
}

/// The parts of a log that its tasks share.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) options: EtcdOptions,
    follower: OnceLock<Arc<dyn LogFollower>>,
    /// The revision up to which the follower has everything.
    pub(crate) applied: watch::Sender<i64>,
    pub(crate) leases: Leases,
    pub(crate) appends: Semaphore,
}

// === impl EtcdLog ===

impl EtcdLog {
    pub(crate) fn open(options: &EtcdOptions) -> Result<Self, LogError> {
        let seed = random_seed()?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("etcd")
            .enable_all()
            .build()
            .map_err(|error| LogError::new(format!("no threads for etcd: {error}")))?;
        let client = {
            let _entered = runtime.enter();
            Client::new(&options.urls, &options.tls)
        };
        let client = match client {
            Ok(client) => client,
            Err(problem) => {
                // Not dropped here: that would wait, which another runtime does not allow.
                runtime.shutdown_background();
                return Err(LogError::new(problem));
            }
        };
        let (reads, waiting) = mpsc::channel(READS_MAX);
        Ok(Self {
            shared: Arc::new(Shared {
                client,
                options: options.clone(),
                follower: OnceLock::new(),
                applied: watch::Sender::new(0),
                leases: Leases::default(),
                appends: Semaphore::new(APPENDS_MAX),
            }),
            tasks: TaskSet::new(),
            runtime: Some(runtime),
            reads,
            waiting: std::sync::Mutex::new(Some(waiting)),
            seed,
        })
    }

    /// Runs `task` on the runtime of the log, until the log is dropped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let Some(runtime) = &self.runtime else { return };
        let _entered = runtime.enter();
        let stop = self.tasks.stop_token().clone();
        self.tasks.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }
}

/// Returns the seed of the uids of a server, which others must not have.
#[expect(
    clippy::disallowed_methods,
    reason = "servers of one etcd are no simulation: equal seeds would give two objects one uid"
)]
fn random_seed() -> Result<u64, LogError> {
    getrandom::u64().map_err(|error| LogError::new(format!("no random seed: {error}")))
}

impl CommitLog for EtcdLog {
    fn seed(&self) -> u64 {
        self.seed
    }

    fn start(&self, follower: Arc<dyn LogFollower>, reply: Reply<()>) {
        let shared = Arc::clone(&self.shared);
        let waiting = self
            .waiting
            .lock()
            .ok()
            .and_then(|mut waiting| waiting.take());
        let (Some(waiting), Ok(())) = (waiting, shared.follower.set(follower)) else {
            reply(Err(LogError::new("the log was started twice")));
            return;
        };
        self.spawn(async move {
            match shared.load().await {
                Ok(()) => reply(Ok(())),
                Err(error) => return reply(Err(error)),
            }
            tokio::join!(
                shared.follow(),
                shared.prove_reads(waiting),
                shared.compact()
            );
        });
    }

    fn append(&self, transaction: LogTransaction, reply: Reply<AppendOutcome>) {
        // Encoded on the caller's thread, of which there are more.
        let encoded = match self.shared.encode(&transaction) {
            Ok(encoded) => encoded,
            Err(error) => return reply(Err(error)),
        };
        let shared = Arc::clone(&self.shared);
        self.spawn(async move { reply(shared.append(encoded).await) });
    }

    fn catch_up(&self, reply: Reply<()>) {
        if let Err(error) = self.reads.try_send(reply) {
            let reply = error.into_inner();
            reply(Err(LogError::new("too many reads wait for etcd")));
        }
    }
}

impl fmt::Debug for EtcdLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdLog")
            .field("options", &self.shared.options)
            .finish_non_exhaustive()
    }
}

impl Drop for EtcdLog {
    fn drop(&mut self) {
        // It may be dropped in another runtime, where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

// === impl Shared ===

impl Shared {
    pub(crate) fn layout(&self) -> &Layout {
        &self.options.layout
    }

    pub(crate) fn follower(&self) -> Option<&Arc<dyn LogFollower>> {
        self.follower.get()
    }

    pub(crate) fn key(&self, key: &ObjectKey) -> Vec<u8> {
        let path = ObjectPath {
            resource: key.resource().clone(),
            namespace: key.namespace().map(str::to_owned),
            name: key.name().to_owned(),
        };
        self.layout().key_of(&path).into_bytes()
    }

    /// Waits until the follower has everything up to `revision`.
    pub(crate) async fn reached(&self, revision: i64) -> Result<(), LogError> {
        let mut applied = self.applied.subscribe();
        let reached = timeout(CALL_LIMIT, applied.wait_for(|applied| *applied >= revision)).await;
        match reached {
            Ok(_) => Ok(()),
            Err(_) => Err(LogError::new(format!(
                "etcd is at revision {revision}, of which its watch has not told within {CALL_LIMIT:?}"
            ))),
        }
    }

    /// Replies to reads when they are as recent as they came. Those that come while one is proved are proved together.
    async fn prove_reads(&self, mut waiting: mpsc::Receiver<Reply<()>>) {
        let mut replies = Vec::new();
        while waiting.recv_many(&mut replies, READS_MAX).await > 0 {
            let proved = match self.revision().await {
                Ok(revision) => self.reached(revision).await,
                Err(error) => Err(LogError::new(error.to_string())),
            };
            for reply in replies.drain(..) {
                reply(proved.clone());
            }
        }
    }

    /// Returns the revision of etcd, by a linearizable read of a key that need not exist.
    async fn revision(&self) -> Result<i64, ClientError> {
        let request = RangeRequest {
            key: self.layout().compaction_key().into(),
            limit: 1,
            ..RangeRequest::default()
        };
        let response = self.client.range(request).await?;
        Ok(response.header.unwrap_or_default().revision)
    }
}

/// Returns a revision of etcd as the store has it. None is negative.
pub(crate) fn revision_of(revision: i64) -> Revision {
    Revision::new(u64::try_from(revision).unwrap_or_default())
}
