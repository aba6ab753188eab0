//! One watch: a task that turns changes into frames, and sends them as fast as its client reads.

use std::{io, ops::ControlFlow, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    EventKind, Queued, Selection, Watcher,
    body::WatchBody,
    bookmarks::BookmarkTimes,
    sending::{Frame, Sending},
};
use crate::{
    custom_resources::CustomType,
    faults::{Connection, EventType, RequestFacts},
    response::Encoding,
    revision::Revision,
    state::Core,
    status::Status,
    storage::{Change, Snapshot, StoredObject},
    task::TaskSet,
};

/// How many frames wait for the client to read them. What is behind them waits in the watcher's own buffer.
const BODY_FRAMES: usize = 16;

/// What a watch sends, and until when.
pub(crate) struct Watch {
    pub(crate) request: RequestFacts,
    pub(crate) connection: Connection,
    pub(crate) encoding: Encoding,
    pub(crate) selection: Arc<Selection>,
    /// The state to begin with.
    pub(crate) initial: Option<Initial>,
    /// The changes to go on with, before those of the receiver.
    pub(crate) replay: Vec<Queued>,
    pub(crate) receiver: mpsc::Receiver<Queued>,
    /// What the client has seen already: nothing up to here is sent.
    pub(crate) start: Revision,
    pub(crate) bookmarks: bool,
    pub(crate) deadline: Instant,
    /// The type of the objects, if it is a custom one.
    pub(crate) custom: Option<Arc<CustomType>>,
}

/// The objects that a watch begins with.
pub(crate) struct Initial {
    pub(crate) snapshot: Snapshot,
    /// The revision of the snapshot.
    pub(crate) revision: Revision,
    /// Whether a bookmark says where they end.
    pub(crate) marks_end: bool,
    /// From which seed the order of the objects follows, if it is not that of their names.
    pub(crate) shuffle: Option<u64>,
}

/// Why a stream is over.
pub(super) enum Outcome {
    End,
    /// It is not, but nothing more comes.
    Silent,
}

pub(super) type Flow = ControlFlow<Outcome>;

/// The task's side of a stream.
struct Stream {
    sending: Sending,
    /// What the client has seen.
    position: Revision,
    custom: Option<Arc<CustomType>>,
}

/// Starts the task of `watch`, and returns the body that it fills.
pub(crate) fn open(core: Arc<Core>, tasks: &TaskSet, watcher: Watcher, watch: Watch) -> Body {
    let (sender, frames) = mpsc::channel(BODY_FRAMES);
    let watcher = Arc::new(watcher);
    let body = WatchBody {
        frames,
        watcher: Arc::clone(&watcher),
    };
    tasks.spawn(drive(
        core,
        tasks.stop_token().clone(),
        watcher,
        watch,
        sender,
    ));
    Body::new(body)
}

async fn drive(
    core: Arc<Core>,
    stop: CancellationToken,
    watcher: Arc<Watcher>,
    watch: Watch,
    body: mpsc::Sender<io::Result<Bytes>>,
) {
    let closed = body.clone();
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
    let asked = (watch.request.clone(), watch.connection.clone());
    let encoding = watch.encoding.clone();
    let stream = Stream {
        sending: Sending::new(core, Arc::clone(&watcher), asked, encoding, body),
        position: watch.start,
        custom: watch.custom.clone(),
    };
    // Whatever ends the watch goes before what it still has to send.
    let outcome = tokio::select! {
        biased;
        () = &mut over => Outcome::End,
        () = sleep_until(deadline) => Outcome::End,
        outcome = stream.run(watch) => outcome,
    };
    if let Outcome::Silent = outcome {
        over.await;
    }
    watcher.close();
}

// === impl Stream ===

impl Stream {
    async fn run(mut self, watch: Watch) -> Outcome {
        let ControlFlow::Break(outcome) = self.send_all(watch).await else {
            return Outcome::End;
        };
        // What waits for more to come with has waited in vain.
        match self.sending.flush().await {
            ControlFlow::Break(gone) => gone,
            ControlFlow::Continue(()) => outcome,
        }
    }

    async fn send_all(&mut self, watch: Watch) -> Flow {
        // Each part goes as soon as it is sent: a watch lasts long, and would keep all that is forgotten meanwhile.
        if let Some(initial) = watch.initial {
            self.send_initial(initial, &watch.selection).await?;
        }
        for queued in watch.replay {
            self.send_change(queued).await?;
        }
        self.follow(watch.receiver, watch.bookmarks, watch.deadline)
            .await
    }

    /// Sends every change as it comes, and a bookmark now and then, until the watcher is cut off.
    async fn follow(
        &mut self,
        mut receiver: mpsc::Receiver<Queued>,
        bookmarks: bool,
        deadline: Instant,
    ) -> Flow {
        let times = BookmarkTimes { deadline };
        let mut next_bookmark = times.after(Instant::now());
        loop {
            let postponed = self.sending.end_postponed_to();
            let joined = self.sending.joined_until();
            // Changes go first: with them, the client knows more than with a bookmark. Bytes that wait for more go last.
            tokio::select! {
                biased;
                queued = receiver.recv() => match queued {
                    Some(queued) => self.send_change(queued).await?,
                    None => return Flow::Break(Outcome::End),
                },
                () = due(postponed), if postponed.is_some() => {
                    self.sending.send_postponed_end(self.position).await?;
                }
                () = sleep_until(next_bookmark), if bookmarks && postponed.is_none() => {
                    next_bookmark = times.after(Instant::now());
                    self.send_bookmark(&receiver).await?;
                }
                () = due(joined), if joined.is_some() => self.sending.flush().await?,
            }
        }
    }

    async fn send_initial(&mut self, initial: Initial, selection: &Selection) -> Flow {
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
            let bytes = match self.presented(object).await {
                Ok(object) => self.sending.encoding.initial(&object),
                Err(status) => return self.fail(&status).await,
            };
            let frame = Frame {
                bytes,
                event: EventType::Added,
                revision: Revision::new(object.revision()),
                is_initial: true,
                change: None,
            };
            self.sending.send(frame).await?;
        }
        self.position = self.position.max(initial.revision);
        if initial.marks_end {
            let frame = Frame {
                bytes: self.sending.encoding.bookmark(initial.revision, true),
                event: EventType::Bookmark,
                revision: initial.revision,
                is_initial: true,
                change: None,
            };
            self.sending.send(frame).await?;
        }
        Flow::Continue(())
    }

    async fn send_change(&mut self, queued: Queued) -> Flow {
        let change = &queued.change;
        let revision = Revision::new(change.revision());
        // A watch from a version that had not come yet waits for what is behind it.
        if revision <= self.position {
            return Flow::Continue(());
        }
        self.position = revision;
        let bytes = match self.event(&queued).await {
            Ok(bytes) => bytes,
            Err(status) => return self.fail(&status).await,
        };
        let frame = Frame {
            bytes,
            event: match queued.kind {
                EventKind::Added => EventType::Added,
                EventKind::Modified => EventType::Modified,
                EventKind::Deleted => EventType::Deleted,
            },
            revision,
            is_initial: false,
            change: Some((change.committed(), change.key().clone())),
        };
        self.sending.send(frame).await
    }

    /// The frame of a change, whose object a webhook may have to convert first.
    async fn event(&self, queued: &Queued) -> Result<Bytes, Status> {
        let change = &queued.change;
        let custom = self.custom.as_ref();
        if custom.is_none_or(|custom| custom.conversion().is_none()) {
            return Ok(self.sending.encoding.event(queued.kind, change));
        }
        let (mut before, mut after) = (None, None);
        // Of what has gone the last state is shown, of all else the new one.
        match (queued.kind, change.before(), change.after()) {
            (EventKind::Deleted, Some(object), _) => before = Some(self.presented(object).await?),
            (_, _, Some(object)) => after = Some(self.presented(object).await?),
            _ => {}
        }
        let converted: Option<Change> = change.saying(before, after);
        let change = converted.as_ref().unwrap_or(change);
        Ok(self.sending.encoding.event(queued.kind, change))
    }

    /// A stored object as its type shows it, which may have to ask a webhook.
    async fn presented(&self, object: &Arc<StoredObject>) -> Result<Arc<StoredObject>, Status> {
        let Some(custom) = &self.custom else {
            return Ok(Arc::clone(object));
        };
        let core = &self.sending.core;
        let shown = custom.present(&core.webhooks, &core.entropy, vec![Arc::clone(object)]);
        let shown = shown.await?.into_iter().next();
        Ok(shown.unwrap_or_else(|| Arc::clone(object)))
    }

    /// Tells the client why the watch cannot go on.
    async fn fail(&mut self, status: &Status) -> Flow {
        let frame = self.sending.encoding.error_frame(status);
        self.sending.put(frame).await?;
        Flow::Break(Outcome::End)
    }

    /// Tells the client how far the store has come, if that is news, and if nothing of it is still queued.
    async fn send_bookmark(&mut self, receiver: &mpsc::Receiver<Queued>) -> Flow {
        // Changes are queued under the store's lock: with an empty queue, everything up to the revision was sent.
        let reached = self
            .sending
            .core
            .storage
            .view(|view| receiver.is_empty().then(|| view.revision()));
        let Some(revision) = reached.filter(|revision| *revision > self.position) else {
            return Flow::Continue(());
        };
        self.position = revision;
        let frame = Frame {
            bytes: self.sending.encoding.bookmark(revision, false),
            event: EventType::Bookmark,
            revision,
            is_initial: false,
            change: None,
        };
        self.sending.send(frame).await
    }
}

/// Waits until then, or for ever.
async fn due(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
