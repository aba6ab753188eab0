//! The versions that the server has delivered to each informer.

use std::{collections::BTreeMap, time::Duration};

use super::paged_lists::{CompleteList, PagedLists};
use crate::checkers::clock_leaps::ClockLeaps;
use crate::trace::{Observation, RequestKind};

/// The deliveries to all informers so far.
#[derive(Default)]
pub(super) struct Deliveries {
    informers: BTreeMap<usize, InformerDeliveries>,
    requests: BTreeMap<usize, OpenRequest>,
    lists: PagedLists,
}

/// The deliveries to one informer.
#[derive(Default)]
pub(super) struct InformerDeliveries {
    /// The version of the last state, change or bookmark; `None` before the first state.
    pub(super) version: Option<u64>,
    /// The version before the last list, if that had one page: it may have been a probe of the server's version only.
    pub(super) before_look: Option<u64>,
    /// The time of the last "expired" answer, unless a state followed.
    pub(super) expired_at: Option<Duration>,
    /// The version that was delivered before the moment of `version`, and is sure to have been read.
    settled: Option<u64>,
    /// The moment at which `version` was delivered.
    at: Duration,
    /// The moment of the last order to pause.
    paused_at: Option<Duration>,
    /// True if `version` came in the moment of a pause: the informer may have given up its stream before it read that.
    is_unread: bool,
}

struct OpenRequest {
    informer: usize,
    /// The version in the request.
    revision: String,
    /// True while events are those of the initial state.
    is_initial: bool,
    is_watch: bool,
}

// === impl Deliveries ===

impl Deliveries {
    /// Returns the deliveries to an informer.
    pub(super) fn of(&mut self, informer: usize) -> &mut InformerDeliveries {
        self.informers.entry(informer).or_default()
    }

    /// Returns the informer of a request for a whole state or for a watch.
    pub(super) fn sender(&self, request: usize) -> Option<usize> {
        self.requests
            .get(&request)
            .map(|request_of| request_of.informer)
    }

    /// Takes an observation. Returns true if it completes a whole state. Callers look at requests before this call.
    pub(super) fn observe(&mut self, at: Duration, observation: &Observation) -> bool {
        if let Some(list) = self.lists.observe(observation) {
            return self.list(at, &list);
        }
        match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => {
                self.ask(*informer, *request, kind);
                false
            }
            Observation::Answer {
                request,
                status: 410,
            }
            | Observation::ErrorEvent {
                request,
                status: 410,
            } => {
                if let Some(request_of) = self.requests.get(request) {
                    let deliveries = self.informers.entry(request_of.informer).or_default();
                    deliveries.expired_at = Some(at);
                }
                false
            }
            Observation::Frame {
                request, member, ..
            } => {
                self.change(at, *request, member.state.revision);
                false
            }
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events: true,
            } => self.end_of_initial_state(at, *request, *revision),
            Observation::Bookmark {
                request, revision, ..
            } => {
                self.change(at, *request, *revision);
                false
            }
            Observation::InformerPauses { informer } => {
                self.of(*informer).pause(at);
                false
            }
            _ => false,
        }
    }

    fn ask(&mut self, informer: usize, request: usize, kind: &RequestKind) {
        let (revision, is_watch, is_initial) = match kind {
            RequestKind::List { revision, .. } => (revision, false, false),
            RequestKind::Watch {
                revision,
                is_streaming_list,
            } => (revision, true, *is_streaming_list),
        };
        let request_of = OpenRequest {
            informer,
            revision: revision.clone(),
            is_initial,
            is_watch,
        };
        if is_watch {
            self.of(informer).watch(&request_of.revision);
        }
        self.requests.insert(request, request_of);
    }

    fn list(&mut self, at: Duration, list: &CompleteList) -> bool {
        let deliveries = self.informers.entry(list.informer).or_default();
        deliveries.state(at, list.version, &list.requested, list.has_one_page)
    }

    fn end_of_initial_state(&mut self, at: Duration, request: usize, revision: u64) -> bool {
        let Some(request_of) = self.requests.get_mut(&request) else {
            return false;
        };
        let deliveries = self.informers.entry(request_of.informer).or_default();
        if !request_of.is_initial {
            deliveries.change(at, revision);
            return false;
        }
        request_of.is_initial = false;
        deliveries.state(at, revision, &request_of.revision, false)
    }

    fn change(&mut self, at: Duration, request: usize, revision: u64) {
        if let Some(request_of) = self.requests.get(&request)
            && request_of.is_watch
            && !request_of.is_initial
        {
            let deliveries = self.informers.entry(request_of.informer).or_default();
            deliveries.change(at, revision);
        }
    }
}

// === impl InformerDeliveries ===

impl InformerDeliveries {
    /// Returns the version that was delivered before `now`; deliveries at this very moment may be in flight.
    ///
    /// An informer that wakes up, or is paused, may give up a stream before it has read the events of that moment.
    pub(super) fn read(&self, now: Duration, leaps: &ClockLeaps) -> Option<u64> {
        if now > self.at && !self.may_be_unread(leaps) {
            self.version
        } else {
            self.settled.min(self.version)
        }
    }

    /// Returns true if the stream that brought the last version may have been given up before that was read.
    pub(super) fn may_be_unread(&self, leaps: &ClockLeaps) -> bool {
        self.is_unread || leaps.is_waking(self.at)
    }

    fn pause(&mut self, at: Duration) {
        self.paused_at = Some(at);
        self.is_unread |= self.at == at;
    }

    /// Takes a whole state. One that is older than the present version is accepted only if the most recent was
    /// requested.
    fn state(&mut self, at: Duration, version: u64, request_of: &str, is_look: bool) -> bool {
        let is_older = self.version.is_some_and(|deliveries| version < deliveries);
        if is_older && !request_of.is_empty() {
            return false;
        }
        self.before_look = self.version.filter(|_| is_look);
        self.expired_at = None;
        self.set(at, version);
        true
    }

    /// Takes a watch from a version. If that is the one before a list, the list was a probe, and has brought nothing into the
    /// cache.
    fn watch(&mut self, from: &str) {
        let before = self.before_look.take();
        if let Some(before) = before.filter(|before| before.to_string() == from) {
            self.version = Some(before);
            self.settled = self.settled.min(self.version);
        }
    }

    fn change(&mut self, at: Duration, version: u64) {
        self.before_look = None;
        // The next stream brings what was not read once more.
        let is_again = self.is_unread && self.version == Some(version);
        if is_again || self.version.is_none_or(|deliveries| deliveries < version) {
            self.set(at, version);
        }
    }

    fn set(&mut self, at: Duration, version: u64) {
        if at > self.at {
            if !self.is_unread {
                self.settled = self.version;
            }
            self.at = at;
            self.is_unread = self.paused_at == Some(at);
        }
        self.version = Some(version);
    }
}
