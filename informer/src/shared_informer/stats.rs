//! Counts of an informer.

use std::sync::Arc;

use crate::{
    counter::Counter,
    object::{DecodeError, ResourceVersion},
    processor::ListenerMetrics,
    reflector::{Failure, ListSummary, Phase, ReflectorObserver, Request, WatchSummary},
};

/// The numbers of one informer at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InformerMetrics {
    /// The resource that the informer mirrors.
    pub resource: Arc<str>,
    /// `informer_queued_items`: how many changes wait to be applied.
    pub queued_items: u64,
    /// The number of objects that are held.
    pub objects: u64,
    /// The number of objects that exist but cannot be decoded.
    pub undecodable: u64,
    /// Requests for a page of a list.
    pub lists: u64,
    /// Watches that began with the present state.
    pub streaming_lists: u64,
    /// Watches from a version on.
    pub watches: u64,
    /// Requests and streams that failed.
    pub failures: u64,
    /// Replacements of the whole state.
    pub replacements: u64,
    /// Versions that were older than what is known, and changed nothing.
    pub stale_versions: u64,
    /// Objects that went back to an older version, on the server's authority.
    pub gone_back_versions: u64,
    /// Objects for which the filter or the transform failed.
    pub transform_failures: u64,
    /// Differences that consistency checks have found, on demand or after lists.
    pub inconsistencies: u64,
    /// Objects and events that were dropped, since they are outside of the informer's [shard](crate::shard).
    pub out_of_shard: u64,
    /// One for each handler.
    pub listeners: Vec<ListenerMetrics>,
}

/// The counters behind it.
#[derive(Debug, Default)]
pub(super) struct Stats {
    pub(super) lists: Counter,
    pub(super) streaming_lists: Counter,
    pub(super) watches: Counter,
    pub(super) failures: Counter,
    pub(super) replacements: Counter,
    pub(super) stale_versions: Counter,
    pub(super) gone_back_versions: Counter,
    pub(super) inconsistencies: Counter,
}

/// Tells several observers the same.
pub(super) struct Observers(pub(super) Vec<Arc<dyn ReflectorObserver>>);

// === impl Stats ===

impl ReflectorObserver for Stats {
    fn requested(&self, request: Request) {
        match request {
            Request::List => self.lists.increment(),
            Request::StreamingList => self.streaming_lists.increment(),
            Request::Watch => self.watches.increment(),
        }
    }

    fn failed(&self, _failure: &Failure<'_>) {
        self.failures.increment();
    }
}

// === impl Observers ===

impl ReflectorObserver for Observers {
    fn phase_changed(&self, phase: Phase) {
        self.0.iter().for_each(|own| own.phase_changed(phase));
    }

    fn requested(&self, request: Request) {
        self.0.iter().for_each(|own| own.requested(request));
    }

    fn listed(&self, list: ListSummary<'_>) {
        self.0.iter().for_each(|own| own.listed(list));
    }

    fn watched(&self, watch: WatchSummary) {
        self.0.iter().for_each(|own| own.watched(watch));
    }

    fn failed(&self, failure: &Failure<'_>) {
        self.0.iter().for_each(|own| own.failed(failure));
    }

    fn undecodable(&self, error: &DecodeError) {
        self.0.iter().for_each(|own| own.undecodable(error));
    }

    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        for own in &self.0 {
            own.version_went_back(from, to, is_accepted);
        }
    }
}
