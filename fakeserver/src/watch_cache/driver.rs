//! One watch: a task that turns changes into frames, and sends them as fast as its client reads.

use std::{io, ops::ControlFlow, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{EventKind, Queued, Selection, Watcher, body::WatchBody, bookmarks::BookmarkTimes};
use crate::{
    custom_resources::CustomType,
    faults::{Breakage, Connection, EventType, FrameFacts, FrameVerdict, RequestFacts},
    response::Encoding,
    revision::Revision,
    state::Core,
    status::Status,
    storage::{Change, Snapshot, StoredObject},
    task::TaskSet,
};

/// How many frames wait for the client to read them. What is behind them waits in the watcher's own buffer.
const BODY_FRAMES: usize = 16;

/// A delay beyond the end of any watch is as good as this one, and can be added to any instant.
const LONGEST_DELAY: Duration = Duration::from_hours(24);
/// How long a transport has to send the half of a line before the connection breaks.
const TRANSPORT_FLUSH: Duration = Duration::from_millis(1);

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
}

/// Why a stream is over.
enum Outcome {
    End,
    /// It is not, but nothing more comes.
    Silent,
}

type Flow = ControlFlow<Outcome>;

/// The task's side of a stream.
struct Stream {
    core: Arc<Core>,
    request: RequestFacts,
    connection: Connection,
    encoding: Encoding,
    body: mpsc::Sender<io::Result<Bytes>>,
    /// What the client has seen.
    position: Revision,
    frames: u64,
    /// A frame that a fault sends after the next one.
    held: Option<Bytes>,
    custom: Option<Arc<CustomType>>,
}

/// A frame, and what a fault may want to know of it.
struct Frame {
    bytes: Bytes,
    event: EventType,
    revision: Revision,
    is_initial: bool,
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
    let stream = Stream {
        core,
        request: watch.request.clone(),
        connection: watch.connection.clone(),
        encoding: watch.encoding.clone(),
        body,
        position: watch.start,
        frames: 0,
        held: None,
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
        match self.send_all(watch).await {
            ControlFlow::Break(outcome) => outcome,
            ControlFlow::Continue(()) => Outcome::End,
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
            // Changes go first: with them, the client knows more than with a bookmark.
            tokio::select! {
                biased;
                queued = receiver.recv() => match queued {
                    Some(queued) => self.send_change(queued).await?,
                    None => return Flow::Break(Outcome::End),
                },
                () = sleep_until(next_bookmark), if bookmarks => {
                    next_bookmark = times.after(Instant::now());
                    self.send_bookmark(&receiver).await?;
                }
            }
        }
    }

    async fn send_initial(&mut self, initial: Initial, selection: &Selection) -> Flow {
        for object in initial.snapshot.objects(&selection.range, None) {
            if !selection.matches(object) {
                continue;
            }
            let bytes = match self.presented(object).await {
                Ok(object) => self.encoding.initial(&object),
                Err(status) => return self.fail(&status).await,
            };
            let frame = Frame {
                bytes,
                event: EventType::Added,
                revision: Revision::new(object.revision()),
                is_initial: true,
            };
            self.send(frame).await?;
        }
        self.position = self.position.max(initial.revision);
        if initial.marks_end {
            let frame = Frame {
                bytes: self.encoding.bookmark(initial.revision, true),
                event: EventType::Bookmark,
                revision: initial.revision,
                is_initial: true,
            };
            self.send(frame).await?;
        }
        Flow::Continue(())
    }

    async fn send_change(&mut self, queued: Queued) -> Flow {
        let revision = Revision::new(queued.change.revision());
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
        };
        self.send(frame).await
    }

    /// The frame of a change, whose object a webhook may have to convert first.
    async fn event(&self, queued: &Queued) -> Result<Bytes, Status> {
        let change = &queued.change;
        let custom = self.custom.as_ref();
        if custom.is_none_or(|custom| custom.conversion().is_none()) {
            return Ok(self.encoding.event(queued.kind, change));
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
        Ok(self.encoding.event(queued.kind, change))
    }

    /// A stored object as its type shows it, which may have to ask a webhook.
    async fn presented(&self, object: &Arc<StoredObject>) -> Result<Arc<StoredObject>, Status> {
        let Some(custom) = &self.custom else {
            return Ok(Arc::clone(object));
        };
        let core = &self.core;
        let shown = custom.present(&core.webhooks, &core.entropy, vec![Arc::clone(object)]);
        let shown = shown.await?.into_iter().next();
        Ok(shown.unwrap_or_else(|| Arc::clone(object)))
    }

    /// Tells the client why the watch cannot go on.
    async fn fail(&mut self, status: &Status) -> Flow {
        let frame = self.encoding.error_frame(status);
        self.put(frame).await?;
        Flow::Break(Outcome::End)
    }

    /// Tells the client how far the store has come, if that is news, and if nothing of it is still queued.
    async fn send_bookmark(&mut self, receiver: &mpsc::Receiver<Queued>) -> Flow {
        // Changes are queued under the store's lock: with an empty queue, everything up to the revision was sent.
        let reached = self
            .core
            .storage
            .view(|view| receiver.is_empty().then(|| view.revision()));
        let Some(revision) = reached.filter(|revision| *revision > self.position) else {
            return Flow::Continue(());
        };
        self.position = revision;
        let frame = Frame {
            bytes: self.encoding.bookmark(revision, false),
            event: EventType::Bookmark,
            revision,
            is_initial: false,
        };
        self.send(frame).await
    }

    /// Sends a frame, or does what a fault makes of it.
    async fn send(&mut self, frame: Frame) -> Flow {
        let verdict = self.core.faults.on_frame(&FrameFacts {
            watch: &self.request,
            index: self.frames,
            event: frame.event,
            revision: frame.revision.get(),
            is_initial: frame.is_initial,
            is_initial_events_end: frame.is_initial && frame.event == EventType::Bookmark,
            length: frame.bytes.len(),
            api_version: self.encoding.api_version(),
            kind: self.encoding.kind(),
        });
        self.frames += 1;
        self.encoding.first_was_sent();
        match verdict {
            // One frame is held at a time: the next one goes before it, whatever a rule says.
            FrameVerdict::SwapWithNext if self.held.is_none() => {
                self.held = Some(frame.bytes);
                Flow::Continue(())
            }
            FrameVerdict::Pass | FrameVerdict::SwapWithNext => self.put(frame.bytes).await,
            FrameVerdict::Delay(delay) => {
                sleep(delay.min(LONGEST_DELAY)).await;
                self.put(frame.bytes).await
            }
            FrameVerdict::Replace(bytes) => {
                let bytes = self.encoding.adopt(bytes);
                self.put(bytes).await
            }
            FrameVerdict::Drop => Flow::Continue(()),
            FrameVerdict::Duplicate => {
                self.put(frame.bytes.clone()).await?;
                self.put(frame.bytes).await
            }
            FrameVerdict::End => Flow::Break(Outcome::End),
            FrameVerdict::EndAfter => {
                self.put(frame.bytes).await?;
                Flow::Break(Outcome::End)
            }
            FrameVerdict::EndWith(bytes) => {
                let bytes = self.encoding.adopt(bytes);
                self.put(bytes).await?;
                Flow::Break(Outcome::End)
            }
            FrameVerdict::Reset { after_bytes } => self.reset(frame.bytes, after_bytes).await,
            FrameVerdict::GoAway if self.connection.is_over_tcp() => {
                self.connection.go_away();
                self.put(frame.bytes).await
            }
            FrameVerdict::GoAway => self.reset(frame.bytes, 0).await,
            FrameVerdict::Silence => {
                // In process, a body that says nothing more is all there is to it.
                if self.connection.is_over_tcp() {
                    self.hand_over(Err(Breakage::HalfOpen.into())).await?;
                }
                Flow::Break(Outcome::Silent)
            }
        }
    }

    /// Hands bytes to the client, and after them what was held back for that.
    async fn put(&mut self, bytes: Bytes) -> Flow {
        self.hand_over(Ok(bytes)).await?;
        match self.held.take() {
            Some(held) => self.hand_over(Ok(held)).await,
            None => Flow::Continue(()),
        }
    }

    async fn reset(&mut self, mut bytes: Bytes, after_bytes: usize) -> Flow {
        bytes.truncate(after_bytes);
        if !bytes.is_empty() {
            self.hand_over(Ok(bytes)).await?;
            // A transport that is told of both at once breaks off before it has written anything.
            sleep(TRANSPORT_FLUSH).await;
        }
        self.hand_over(Err(Breakage::Reset.into())).await?;
        Flow::Break(Outcome::End)
    }

    async fn hand_over(&mut self, bytes: io::Result<Bytes>) -> Flow {
        if self.body.send(bytes).await.is_err() {
            debug!(resource = self.request.resource, rv = %self.position, "watcher has left");
            return Flow::Break(Outcome::End);
        }
        Flow::Continue(())
    }
}
