//! An open stream, and what it brought.

use std::time::Duration;

use super::Moment;
use crate::{list_watch::WatchRequest, reflector::ReflectorOptions};

/// An open stream.
pub(super) struct OpenWatch {
    pub(super) request: WatchRequest,
    pub(super) opened_at: Moment,
    /// The time of the last event.
    pub(super) heard_at: Moment,
    /// True while it streams the initial state.
    pub(super) is_initial: bool,
    /// True if events may come that are not in the order of versions: the initial ones of a watch without a version.
    pub(super) is_unordered: bool,
    pub(super) received: ReceivedEvents,
}

/// The events of a stream so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReceivedEvents {
    Nothing,
    /// Something, but nothing new.
    Items,
    /// Changes: the version advanced.
    Changes,
}

// === impl OpenWatch ===

impl OpenWatch {
    pub(super) fn new(request: WatchRequest, now: Moment) -> Self {
        Self {
            opened_at: now,
            heard_at: now,
            is_initial: request.send_initial_events,
            is_unordered: !request.resource_version.is_resumable(),
            received: ReceivedEvents::Nothing,
            request,
        }
    }

    pub(super) fn note_received(&mut self, now: Moment, received: ReceivedEvents) {
        self.heard_at = now;
        self.received = self.received.max(received);
    }

    /// Returns the time at which it is given up if nothing comes.
    pub(super) fn deadline(&self, options: &ReflectorOptions) -> Moment {
        let (lasts, silence) = if self.is_initial {
            (
                options.initial_events_timeout,
                options.initial_events_silence,
            )
        } else {
            let requested = self.request.timeout.unwrap_or_default();
            (
                requested.saturating_add(options.watch_timeout_slack),
                options.watch_silence,
            )
        };
        let end = self.opened_at.saturating_add(lasts);
        end.min(self.heard_at.saturating_add(silence))
    }

    pub(super) fn lived(&self, now: Moment) -> Duration {
        now.saturating_sub(self.opened_at)
    }

    pub(super) fn has_changes(&self) -> bool {
        self.received == ReceivedEvents::Changes
    }
}

// === impl ReceivedEvents ===

impl ReceivedEvents {
    pub(super) fn of(is_new: bool) -> Self {
        if is_new { Self::Changes } else { Self::Items }
    }
}
