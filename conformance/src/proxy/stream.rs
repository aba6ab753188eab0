//! The body of an answer on its way through: frames of a watch meet rules, everything else passes.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use fakeserver::faults::{
    Breakage, Connection, EventType, Faults, FrameFacts, FrameVerdict, RequestFacts,
};
use futures::stream;
use http_body_util::BodyExt;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    frames::{Fields, Lines},
    pieces::Pieces,
    request,
    shape::{Shaper, Step},
};

/// The time limit between two parts of an answer.
const IDLE_LIMIT: Duration = Duration::from_secs(75);
/// The time limit between two frames of a watch: a server ends it within an hour.
const WATCH_IDLE_LIMIT: Duration = Duration::from_mins(65);
/// The time for which bytes wait for others that a fault sends together with them.
const JOIN_WAIT: Duration = Duration::from_millis(20);
/// A delay beyond the end of any watch is as good as this one.
const LONGEST_DELAY: Duration = Duration::from_hours(24);

/// The state that all streams of a proxy share.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    pub(super) faults: Faults,
    /// The highest version that any frame has brought.
    pub(super) revision: Arc<AtomicU64>,
}

/// The body of one answer.
pub(super) struct ProxiedBody {
    upstream: kube::client::Body,
    shaper: Shaper,
    /// The judge of a watch's frames; `None` for other bodies.
    watch: Option<Watch>,
    /// The pieces of any other body.
    pieces: Option<Pieces>,
    connection: Connection,
    stop: CancellationToken,
}

struct Watch {
    judge: Judge,
    request: RequestFacts,
    lines: Lines,
    index: u64,
    /// True while frames belong to the initial state.
    is_initial: bool,
}

// === impl ProxiedBody ===

impl ProxiedBody {
    /// Forwards the unchanged body until `stop` fires.
    pub(super) fn of(
        upstream: kube::client::Body,
        connection: Connection,
        stop: CancellationToken,
    ) -> Self {
        Self {
            upstream,
            shaper: Shaper::default(),
            watch: None,
            pieces: None,
            connection,
            stop,
        }
    }

    /// Asks `judge` about each line, as a frame of the watch that `request` has opened.
    pub(super) fn judged(mut self, judge: Judge, request: RequestFacts) -> Self {
        self.watch = Some(Watch {
            judge,
            is_initial: request::begins_with_state(&request),
            request,
            lines: Lines::default(),
            index: 0,
        });
        self
    }

    /// Lets the body arrive so.
    pub(super) fn cut(mut self, pieces: Pieces) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// The body that the client gets.
    pub(super) fn into_body(self) -> Body {
        Body::from_stream(stream::unfold(self, |mut passage| async move {
            let part = passage.next().await?;
            Some((part, passage))
        }))
    }

    /// The next part; an error breaks the connection.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        let stop = self.stop.clone();
        loop {
            let Some(ordered) = self.shaper.next() else {
                if !self.judge() {
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return None,
                        () = self.read() => {}
                    }
                }
                continue;
            };
            match ordered {
                Step::Send(bytes) => return Some(Ok(bytes)),
                Step::Wait(delay) => {
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return None,
                        () = sleep(delay.min(LONGEST_DELAY)) => {}
                    }
                }
                Step::End => return None,
                Step::Break => return Some(Err(Breakage::Reset.into())),
                Step::Leave => self.connection.go_away(),
                Step::Silence if self.connection.is_over_tcp() => {
                    return Some(Err(Breakage::HalfOpen.into()));
                }
                Step::Silence => {
                    stop.cancelled().await;
                    return None;
                }
            }
        }
    }

    /// Applies the verdict on the next line of a watch, if it is due. Returns whether there was one.
    fn judge(&mut self) -> bool {
        let Some(watch) = &mut self.watch else {
            return false;
        };
        match watch.lines.next() {
            Ok(Some(line)) => watch.judge(line, &mut self.shaper),
            Ok(None) => return false,
            Err(error) => {
                warn!(%error, "watch broken off");
                self.shaper.break_off();
            }
        }
        true
    }

    /// Reads a part of the upstream's answer.
    async fn read(&mut self) {
        let limit = match self.watch {
            Some(_) => WATCH_IDLE_LIMIT,
            None => IDLE_LIMIT,
        };
        let part = tokio::select! {
            biased;
            part = timeout(limit, self.upstream.frame()) => part,
            () = sleep(JOIN_WAIT), if self.shaper.is_joining() => return self.shaper.flush(),
        };
        let part = match part {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => return self.end(),
            Ok(Some(Err(error))) => {
                debug!(%error, "answer of the upstream broken off");
                return self.shaper.break_off();
            }
            Err(_) => {
                warn!("the upstream has fallen silent");
                return self.shaper.break_off();
            }
        };
        match (&mut self.watch, &mut self.pieces) {
            (Some(watch), _) => watch.lines.push(&part),
            (None, _) if part.is_empty() => {}
            (None, Some(pieces)) => {
                let is_done = pieces.cut(part, &mut self.shaper);
                debug_assert!(is_done, "what cannot be done was not taken on");
            }
            (None, None) => self.shaper.pass(part),
        }
    }

    /// The upstream's answer has ended in good order.
    fn end(&mut self) {
        if let Some(watch) = &mut self.watch {
            let rest = watch.lines.rest();
            if !rest.is_empty() {
                self.shaper.pass(rest);
            }
        }
        self.shaper.end();
    }
}

// === impl Watch ===

impl Watch {
    /// Asks the rules about a line.
    fn judge(&mut self, line: Bytes, shaper: &mut Shaper) {
        let Some(event) = Fields::read(&line) else {
            return shaper.pass(line);
        };
        // Without a mark, what was there already ends with the first news.
        self.is_initial &= event.event == EventType::Added || event.is_initial_events_end;
        let revision = self
            .judge
            .revision
            .fetch_max(event.revision, Ordering::Relaxed);
        let mut facts = FrameFacts::new(&self.request, event.event, event.revision, line.len());
        if event.revision == 0 {
            facts.revision = revision;
        }
        facts.index = self.index;
        facts.is_initial = self.is_initial;
        facts.is_initial_events_end = event.is_initial_events_end;
        facts.api_version = &event.api_version;
        facts.kind = &event.kind;
        let verdict = self.judge.faults.on_frame(&facts);
        self.index += 1;
        self.is_initial &= !event.is_initial_events_end;
        let passes = verdict == FrameVerdict::Pass;
        if !shaper.shape(line, verdict) && !passes {
            warn!(
                resource = self.request.resource,
                "a fault orders what no proxy can do"
            );
        }
    }
}
