//! An open stream, and what it brought.

use std::time::Duration;

use super::Moment;
use crate::{list_watch::WatchRequest, reflector::ReflectorOptions};

/// An open stream.
pub(super) struct Reading {
    pub(super) request: WatchRequest,
    pub(super) opened_at: Moment,
    /// When anything came last.
    pub(super) heard_at: Moment,
    /// Whether it still streams the initial state.
    pub(super) is_initial: bool,
    /// Whether events may come that are not in the order of versions: the initial ones of a watch without a version.
    pub(super) is_unordered: bool,
    pub(super) brought: Brought,
}

/// What a stream brought so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Brought {
    Nothing,
    /// Something, but nothing new.
    Items,
    /// Changes: the version advanced.
    Changes,
}

// === impl Reading ===

impl Reading {
    pub(super) fn new(request: WatchRequest, now: Moment) -> Self {
        Self {
            opened_at: now,
            heard_at: now,
            is_initial: request.send_initial_events,
            is_unordered: !request.resource_version.is_resumable(),
            brought: Brought::Nothing,
            request,
        }
    }

    pub(super) fn heard(&mut self, now: Moment, brought: Brought) {
        self.heard_at = now;
        self.brought = self.brought.max(brought);
    }

    /// When to give it up if nothing comes.
    pub(super) fn deadline(&self, options: &ReflectorOptions) -> Moment {
        let (lasts, silence) = if self.is_initial {
            (
                options.initial_events_timeout,
                options.initial_events_silence,
            )
        } else {
            let asked = self.request.timeout.unwrap_or_default();
            (
                asked.saturating_add(options.watch_timeout_slack),
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
        self.brought == Brought::Changes
    }
}

// === impl Brought ===

impl Brought {
    pub(super) fn of(is_new: bool) -> Self {
        if is_new { Self::Changes } else { Self::Items }
    }
}
