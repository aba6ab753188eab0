//! The pure core of one logical watch across many connections: when to open, what to pass on, when to end.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::Instant;

use super::WatchOptions;
use crate::{
    backoff::Backoff, list_watch::WatchRequest, object::ResourceVersion, reflector::Cause,
};

/// Beyond this nobody waits, and the clock's arithmetic is safe.
const FAR: Duration = Duration::from_hours(24 * 365 * 30);

/// Decides what to do next.
#[derive(Debug)]
pub(super) struct Machine {
    options: WatchOptions,
    backoff: Backoff,
    random: ChaCha8Rng,
    /// The version that was seen last. Never goes back.
    last: ResourceVersion,
    /// When the last watch began.
    started: Option<Instant>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// No stream; the next one may begin at this time, or at once.
    Idle { until: Option<Instant> },
    /// A stream is open.
    Reading {
        opened: Instant,
        heard: Instant,
        /// When the server should have ended it at the latest.
        end: Instant,
        has_brought: bool,
    },
    /// It cannot go on.
    Over,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing before this time.
    Wait { until: Instant },
    /// Open a watch.
    Open(WatchRequest),
    /// Read an event of the open stream, until this time at most.
    Read { until: Instant },
    /// Nothing any more.
    Over,
}

/// What is to become of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is later than all before: pass it on.
    Deliver,
    /// It was told before.
    Skip,
    /// It has no version: nothing can be resumed after it.
    Untold,
}

/// What is to become of the watch after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// It is tried again after this delay.
    Retry(Duration),
    /// The changes after the last version have expired.
    Expired,
    /// A change cannot be told.
    Untold,
    /// The server will not accept the request.
    Refused,
}

// === impl Machine ===

impl Machine {
    /// Goes on after `from`, which must be resumable.
    pub(super) fn new(from: ResourceVersion, options: WatchOptions) -> Self {
        Self {
            backoff: Backoff::new(options.backoff.clone(), options.seed),
            random: ChaCha8Rng::seed_from_u64(options.seed),
            options,
            last: from,
            started: None,
            state: State::Idle { until: None },
        }
    }

    pub(super) fn step(&mut self, now: Instant) -> Step {
        match self.state {
            State::Over => Step::Over,
            State::Idle { until: Some(until) } if now < until => Step::Wait { until },
            State::Idle { .. } => self.open(now),
            State::Reading { heard, end, .. } => Step::Read {
                until: end.min(after(heard, self.options.watch_silence)),
            },
        }
    }

    /// The response's headers are there.
    pub(super) fn on_opened(&mut self, now: Instant, request: &WatchRequest) {
        let asked = request.timeout.unwrap_or(FAR);
        self.state = State::Reading {
            opened: now,
            heard: now,
            end: after(now, asked.saturating_add(self.options.watch_timeout_slack)),
            has_brought: false,
        };
    }

    /// An event with an object at `version`.
    pub(super) fn on_event(&mut self, now: Instant, version: &ResourceVersion) -> Verdict {
        if version.is_unknown() {
            self.state = State::Over;
            return Verdict::Untold;
        }
        self.hear(now);
        if self.advance(version) {
            self.backoff.reset();
            Verdict::Deliver
        } else {
            Verdict::Skip
        }
    }

    /// All changes up to `version` have been told.
    pub(super) fn on_bookmark(&mut self, now: Instant, version: &ResourceVersion) {
        self.hear(now);
        if !version.is_unknown() {
            self.advance(version);
        }
    }

    /// The server ended the stream in good order.
    pub(super) fn on_ended(&mut self, now: Instant) {
        let State::Reading {
            opened,
            has_brought,
            ..
        } = self.state
        else {
            return;
        };
        self.note_health(now);
        let lived = now.saturating_duration_since(opened);
        let is_early = !has_brought && lived < self.options.start_interval_min;
        let delay = if is_early {
            self.backoff.next_delay(None)
        } else {
            Duration::ZERO
        };
        self.rest(now, delay);
    }

    /// The request or the stream failed.
    pub(super) fn on_failed(
        &mut self,
        now: Instant,
        cause: Cause,
        retry_after: Option<Duration>,
    ) -> After {
        self.note_health(now);
        let verdict = match cause {
            Cause::Expired => After::Expired,
            Cause::Unreadable => After::Untold,
            Cause::Invalid | Cause::Request => After::Refused,
            cause if cause.is_denied() => After::Refused,
            _ => {
                let delay = self.backoff.next_delay(retry_after);
                self.rest(now, delay);
                return After::Retry(delay);
            }
        };
        self.state = State::Over;
        verdict
    }

    pub(super) fn last(&self) -> &ResourceVersion {
        &self.last
    }

    fn open(&mut self, now: Instant) -> Step {
        self.started = Some(now);
        // A driver that is dropped before it tells the outcome has given the request up; the next one is spaced all the
        // same.
        self.rest(now, Duration::ZERO);
        let min = self.options.watch_timeout_min.max(Duration::from_secs(1));
        let drawn = min.mul_f64(1.0 + self.random.random::<f64>());
        Step::Open(WatchRequest {
            resource_version: self.last.clone(),
            allow_bookmarks: true,
            send_initial_events: false,
            timeout: Some(drawn.min(FAR)),
        })
    }

    fn rest(&mut self, now: Instant, delay: Duration) {
        let spaced = self.started.map_or(now, |started| {
            after(started, self.options.start_interval_min)
        });
        self.state = State::Idle {
            until: Some(spaced.max(after(now, delay))),
        };
    }

    fn hear(&mut self, now: Instant) {
        if let State::Reading {
            heard, has_brought, ..
        } = &mut self.state
        {
            *heard = now;
            *has_brought = true;
        }
    }

    /// False, and nothing changes, if `version` is not later than the last.
    fn advance(&mut self, version: &ResourceVersion) -> bool {
        if *version == self.last || version.is_before(&self.last) {
            return false;
        }
        self.last = version.clone();
        true
    }

    fn note_health(&mut self, now: Instant) {
        if let State::Reading { opened, .. } = self.state
            && now.saturating_duration_since(opened) >= self.options.healthy_after
        {
            self.backoff.reset();
        }
    }
}

/// `now` and `time` later, or as late as the clock's arithmetic is safe.
pub(super) fn after(now: Instant, time: Duration) -> Instant {
    now + time.min(FAR)
}
