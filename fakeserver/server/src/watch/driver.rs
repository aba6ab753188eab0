//! The driver of a watch: a task that encodes changes as frames, and sends them as fast as its client reads.

use std::{ops::ControlFlow, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use fakeserver_datalog::Durability;
use fakeserver_value::{revision::Revision, status::Status};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    EventKind, QueuedChange, Selection, Watcher,
    body::WatchBody,
    bookmarks::BookmarkTimes,
    gate::{Encode as _, Flow, Frame, Gate, Outcome, WatchOutput},
};
use crate::{
    store::{Change, Snapshot, Storage, StoredObject},
    task::TaskSet,
};

/// The number of frames that wait for the client to read them. Later ones wait in the watcher's own buffer.
const BODY_FRAMES: usize = 16;

/// The frames that a watch sends, and its end.
pub(crate) struct Watch {
    pub(crate) selection: Arc<Selection>,
    /// The state to begin with.
    pub(crate) initial: Option<Initial>,
    /// The changes that come before those of the receiver.
    pub(crate) replay: Vec<QueuedChange>,
    pub(crate) receiver: mpsc::Receiver<QueuedChange>,
    /// The revision that the client has seen already: only later changes are sent.
    pub(crate) start: Revision,
    pub(crate) bookmarks: bool,
    pub(crate) deadline: Instant,
    /// The log that has to have what is sent, if there is one.
    pub(crate) durability: Option<Durability>,
}

/// The objects that a watch begins with.
pub(crate) struct Initial {
    pub(crate) snapshot: Snapshot,
    /// The revision of the snapshot.
    pub(crate) revision: Revision,
    /// True if a bookmark marks their end.
    pub(crate) marks_end: bool,
    /// The seed of the order of the objects, if it is not that of their names.
    pub(crate) shuffle: Option<u64>,
}

/// The task's side of a stream.
struct Stream<G> {
    gate: G,
    output: WatchOutput,
    /// The revision that the client has seen.
    position: Revision,
    durability: Option<Durability>,
    /// The revision at which the watch has begun: only later changes are sent.
    beginning: Revision,
}

/// Starts the task of `watch`, and returns the body that it fills through `gate`.
pub(crate) fn open(
    store: Arc<Storage>,
    tasks: &TaskSet,
    watcher: Watcher,
    watch: Watch,
    gate: impl Gate,
) -> Body {
    let (sender, frames) = mpsc::channel(BODY_FRAMES);
    let watcher = Arc::new(watcher);
    let body = WatchBody {
        frames,
        watcher: Arc::clone(&watcher),
    };
    let output = WatchOutput {
        body: sender,
        watcher,
        store,
    };
    tasks.spawn(drive(tasks.stop_token().clone(), watch, gate, output));
    Body::new(body)
}

async fn drive(stop: CancellationToken, watch: Watch, gate: impl Gate, output: WatchOutput) {
    let closed = output.body.clone();
    let watcher = Arc::clone(&output.watcher);
    let over = async {
        tokio::select! {
            biased;
            () = watcher.cut().cancelled() => {}
            () = stop.cancelled() => {}
            () = closed.closed() => {}
        }
    };
    tokio::pin!(over);
    let deadline = watch.deadline;
    let stream = Stream {
        gate,
        output,
        position: watch.start,
        durability: watch.durability.clone(),
        beginning: watch.start,
    };
    // The end of the watch goes before frames that it still has to send.
    let outcome = tokio::select! {
        biased;
        () = &mut over => Outcome::End,
        () = sleep_until(deadline) => Outcome::End,
        outcome = stream.run(watch) => outcome,
    };
    // A silent watch still counts as open, until its client leaves or the server ends it.
    if let Outcome::Silent = outcome {
        over.await;
    }
    // Also dropped with the body, but a client may keep that unread: the watch no longer counts from here on.
    watcher.close();
}

// === impl Stream ===

impl<G: Gate> Stream<G> {
    async fn run(mut self, watch: Watch) -> Outcome {
        let ControlFlow::Break(outcome) = self.send_all(watch).await else {
            return Outcome::End;
        };
        // No bytes follow that could be joined with those held back.
        match self.gate.flush(&self.output).await {
            ControlFlow::Break(gone) => gone,
            ControlFlow::Continue(()) => outcome,
        }
    }

    async fn send_all(&mut self, watch: Watch) -> Flow {
        // Each part is dropped after it was sent: a watch is long-lived, and would keep compacted objects alive.
        if let Some(initial) = watch.initial {
            self.send_initial(initial, &watch.selection).await?;
        }
        for queued in watch.replay {
            self.send_change(queued).await?;
        }
        self.follow(watch.receiver, watch.bookmarks, watch.deadline)
            .await
    }

    /// Sends every change and due bookmarks, until the watcher is cut off.
    async fn follow(
        &mut self,
        mut receiver: mpsc::Receiver<QueuedChange>,
        bookmarks: bool,
        deadline: Instant,
    ) -> Flow {
        let times = BookmarkTimes { deadline };
        let mut next_bookmark = times.after(Instant::now());
        loop {
            let postponed = self.gate.end_postponed_to();
            let joined = self.gate.joined_until();
            // Changes go before bookmarks, which would otherwise claim a revision of unsent changes. Buffered bytes are
            // flushed last.
            tokio::select! {
                biased;
                queued = receiver.recv() => match queued {
                    Some(queued) => self.send_change(queued).await?,
                    None => return Flow::Break(Outcome::End),
                },
                () = due(postponed), if postponed.is_some() => {
                    self.gate.send_postponed_end(self.position, &self.output).await?;
                }
                () = sleep_until(next_bookmark), if bookmarks && postponed.is_none() => {
                    next_bookmark = times.after(Instant::now());
                    self.send_bookmark(&receiver).await?;
                }
                () = due(joined), if joined.is_some() => self.gate.flush(&self.output).await?,
            }
        }
    }

    async fn send_initial(&mut self, initial: Initial, selection: &Selection) -> Flow {
        self.durable(initial.revision).await;
        let objects = initial.snapshot.objects(&selection.range, None);
        let objects = objects.filter(|object| selection.matches(object));
        let objects: Box<dyn Iterator<Item = &Arc<StoredObject>> + Send> = match initial.shuffle {
            None => Box::new(objects),
            Some(seed) => {
                let mut objects: Vec<_> = objects.collect();
                objects.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                Box::new(objects.into_iter())
            }
        };
        for object in objects {
            // One webhook call an object, as it is sent: a large collection is never converted as a whole.
            let bytes = match self.gate.encoding().convert(object).await {
                Ok(object) => self.gate.encoding().initial(&object),
                Err(status) => return self.fail(&status).await,
            };
            let frame = Frame {
                bytes,
                event: Some(EventKind::Added),
                revision: Revision::new(object.revision()),
                is_initial: true,
                change: None,
            };
            self.gate.send(frame, &self.output).await?;
        }
        // After the objects: a bookmark in between would claim a state of which the client has a part only.
        self.position = self.position.max(initial.revision);
        self.beginning = self.position;
        if initial.marks_end {
            let frame = Frame {
                bytes: self.gate.encoding().bookmark(initial.revision, true),
                event: None,
                revision: initial.revision,
                is_initial: true,
                change: None,
            };
            self.gate.send(frame, &self.output).await?;
        }
        Flow::Continue(())
    }

    async fn send_change(&mut self, queued: QueuedChange) -> Flow {
        let change = &queued.change;
        let revision = Revision::new(change.revision());
        // A watch from a version that had not come yet waits for what is behind it. Later on each change comes once, but several
        // may have one revision, that of a lease in etcd.
        if revision <= self.beginning {
            return Flow::Continue(());
        }
        self.position = revision;
        self.durable(revision).await;
        let bytes = match self.event(&queued).await {
            Ok(bytes) => bytes,
            Err(status) => return self.fail(&status).await,
        };
        let frame = Frame {
            bytes,
            event: Some(queued.kind),
            revision,
            is_initial: false,
            change: Some((change.committed(), change.key().clone())),
        };
        self.gate.send(frame, &self.output).await
    }

    /// Returns the frame of a change, whose object a webhook may have to convert first.
    async fn event(&self, queued: &QueuedChange) -> Result<Bytes, Status> {
        let change = &queued.change;
        if !self.gate.encoding().is_converting() {
            return Ok(self.gate.encoding().event(queued.kind, change));
        }
        let (mut before, mut after) = (None, None);
        // A deletion contains the last state, all other events the new one.
        match (queued.kind, change.before(), change.after()) {
            (EventKind::Deleted, Some(object), _) => {
                before = Some(self.gate.encoding().convert(object).await?);
            }
            (_, _, Some(object)) => after = Some(self.gate.encoding().convert(object).await?),
            _ => {}
        }
        let converted: Option<Change> = change.with_objects(before, after);
        let change = converted.as_ref().unwrap_or(change);
        Ok(self.gate.encoding().event(queued.kind, change))
    }

    /// Waits until the state of `revision` is on the disk, if it is to be: no client sees what a crash takes back.
    async fn durable(&self, revision: Revision) {
        if let Some(durability) = &self.durability {
            durability.reached(revision.get()).await;
        }
    }

    /// Sends the client the error that ends the watch.
    async fn fail(&mut self, status: &Status) -> Flow {
        let frame = self.gate.encoding().error(status);
        self.gate.put(frame, &self.output).await?;
        Flow::Break(Outcome::End)
    }

    /// Sends a bookmark of the store's revision, if it has advanced and no change is queued.
    async fn send_bookmark(&mut self, receiver: &mpsc::Receiver<QueuedChange>) -> Flow {
        // Changes are queued under the store's lock: with an empty queue, everything up to the revision was sent.
        let reached = self
            .output
            .store
            .view(|view| receiver.is_empty().then(|| view.revision()));
        let Some(revision) = reached.filter(|revision| *revision > self.position) else {
            return Flow::Continue(());
        };
        self.position = revision;
        self.durable(revision).await;
        let frame = Frame {
            bytes: self.gate.encoding().bookmark(revision, false),
            event: None,
            revision,
            is_initial: false,
            change: None,
        };
        self.gate.send(frame, &self.output).await
    }
}

/// Waits until `then`, or for ever if it is `None`.
async fn due(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
