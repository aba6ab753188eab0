//! The numbers that an informer has to tell of itself.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use informer::reflector::FailureCause;

use crate::trace::{Counts, HandlerCounts, RequestKind};

/// The acts of an informer so far, in numbers.
#[derive(Default)]
pub(super) struct Tally {
    lists: u64,
    /// The number of later pages: one is asked for while the page before it is read, and does not count if that fails.
    later_pages: u64,
    streaming_lists: u64,
    watches: u64,
    /// The number of orders: a request that an order interrupts may not have been sent.
    order_count: u64,
    failures: u64,
    /// The failures since it was last whole.
    failed_attempts: u64,
    last_cause: Option<FailureCause>,
    objects: u64,
    undecodable: u64,
    states: RecentValue,
    /// The time of the last delivery of the server.
    delivered_at: Duration,
    handlers: BTreeMap<usize, Handler>,
}

/// A number, and its value before the moment of its last change.
#[derive(Default)]
struct RecentValue {
    value: u64,
    at: Duration,
    before: u64,
}

/// The notifications of one handler, in numbers.
#[derive(Default)]
struct Handler {
    is_slow: bool,
    notified: u64,
    /// The last reported number of notifications for it.
    notifications: u64,
}

// === impl Tally ===

impl Tally {
    pub(super) fn ask(&mut self, kind: &RequestKind) {
        match kind {
            RequestKind::List { is_continued, .. } => {
                self.lists += 1;
                self.later_pages += u64::from(*is_continued);
            }
            RequestKind::Watch {
                is_streaming_list: true,
                ..
            } => self.streaming_lists += 1,
            RequestKind::Watch { .. } => self.watches += 1,
        }
    }

    pub(super) fn note_order(&mut self) {
        self.order_count += 1;
    }

    pub(super) fn note_failure(&mut self, cause: FailureCause) {
        self.failures += 1;
        self.failed_attempts += 1;
        self.last_cause = Some(cause);
    }

    /// The cache holds a whole state: what failed before is over.
    pub(super) fn note_whole(&mut self) {
        self.failed_attempts = 0;
        self.last_cause = None;
    }

    /// A whole state arrived.
    pub(super) fn note_state(&mut self, at: Duration) {
        self.states.add(at);
    }

    pub(super) fn note_delivery(&mut self, at: Duration) {
        self.delivered_at = at;
    }

    pub(super) fn note_cached(&mut self, count: usize) {
        self.objects = count as u64;
        self.undecodable = 0;
    }

    pub(super) fn note_undecodable(&mut self, count: usize) {
        self.undecodable = count as u64;
    }

    pub(super) fn join(&mut self, handler: usize, is_slow: bool) {
        let joined = Handler {
            is_slow,
            ..Handler::default()
        };
        self.handlers.insert(handler, joined);
    }

    pub(super) fn notify(&mut self, handler: usize) {
        self.handlers.entry(handler).or_default().notified += 1;
    }

    /// Describes the first number that is untrue.
    pub(super) fn untrue(&mut self, at: Duration, counts: &Counts) -> Option<String> {
        // What arrives at this moment may not have been read.
        let is_quiet = self.delivered_at < at;
        let is_sent =
            |sent: u64, counted: u64| (sent..=sent + 1 + self.order_count).contains(&counted);
        let mut wrong = None;
        let mut expect = |is_true: bool, name: &'static str, want: u64| {
            if !is_true && wrong.is_none() {
                wrong = Some(format!("{name}: want {want}"));
            }
        };
        let first_pages = self.lists - self.later_pages;
        let is_true =
            (first_pages..=self.lists).contains(&counts.lists) || is_sent(self.lists, counts.lists);
        expect(is_true, "lists", self.lists);
        let streaming = self.streaming_lists;
        expect(
            is_sent(streaming, counts.streaming_lists),
            "streaming lists",
            streaming,
        );
        expect(
            is_sent(self.watches, counts.watches),
            "watches",
            self.watches,
        );
        expect(counts.failures == self.failures, "failures", self.failures);
        expect(
            counts.failed_attempts == self.failed_attempts && counts.last_cause == self.last_cause,
            "failed since",
            self.failed_attempts,
        );
        expect(counts.objects == self.objects, "objects", self.objects);
        expect(
            counts.undecodable == self.undecodable,
            "undecodable",
            self.undecodable,
        );
        // A state that is queued is not counted yet.
        let with_queued = counts.replacements..=counts.replacements + counts.queued;
        expect(
            self.states.admits(at, with_queued),
            "states",
            self.states.value,
        );
        expect(counts.queued == 0 || !is_quiet, "queued", 0);
        wrong.or_else(|| self.untrue_of_handlers(counts, is_quiet))
    }

    fn untrue_of_handlers(&mut self, counts: &Counts, is_quiet: bool) -> Option<String> {
        counts.handlers.iter().find_map(|counts| {
            let handler = self.handlers.entry(counts.handler).or_default();
            let text = handler.untrue(counts, is_quiet)?;
            Some(format!("handler {}: {text}", counts.handler))
        })
    }
}

// === impl RecentValue ===

impl RecentValue {
    fn add(&mut self, at: Duration) {
        if self.at != at {
            self.at = at;
            self.before = self.value;
        }
        self.value += 1;
    }

    /// Returns true if it may have been one of these numbers at the moment.
    fn admits(&self, at: Duration, numbers: RangeInclusive<u64>) -> bool {
        let least = if self.at == at {
            self.before
        } else {
            self.value
        };
        *numbers.start() <= self.value && least <= *numbers.end()
    }
}

// === impl Handler ===

impl Handler {
    fn untrue(&mut self, counts: &HandlerCounts, is_quiet: bool) -> Option<String> {
        let notified = self.notified;
        let in_call = u64::from(self.is_slow);
        let notifications = counts.delivered + counts.pending + counts.coalesced;
        let before = std::mem::replace(&mut self.notifications, notifications);
        if !(notified.saturating_sub(in_call)..=notified).contains(&counts.delivered) {
            return Some(format!("delivered: want {notified}"));
        }
        if is_quiet && !self.is_slow && counts.pending > 0 {
            return Some("pending: want 0".to_owned());
        }
        (notifications < before).then(|| format!("it was to receive {before} in all"))
    }
}
