//! What the server has told each informer: up to which version, and since when.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::lists::{Lists, WholeList};
use crate::trace::{Observation, RequestKind};

/// The name of the fault after which time leaps: what was due meanwhile is due at once.
pub(super) const SUSPEND: &str = "suspend";

/// Notices when time leapt.
#[derive(Default)]
pub(super) struct Leaps {
    asleep_since: Option<Duration>,
    woke_at: BTreeSet<Duration>,
}

/// What the server has told all informers so far.
#[derive(Default)]
pub(super) struct Heard {
    informers: BTreeMap<usize, Told>,
    requests: BTreeMap<usize, Asked>,
    lists: Lists,
}

/// What the server has told one informer.
#[derive(Default)]
pub(super) struct Told {
    /// The version of the last state, change or bookmark; `None` before the first state.
    pub(super) version: Option<u64>,
    /// The version before the last list, if that was of one page: then it may have been a look at the server's version only.
    pub(super) before_look: Option<u64>,
    /// When the server has said that the version has expired, if it has given no state since.
    pub(super) expired_at: Option<Duration>,
    /// What was told before the moment at which `version` was.
    settled: Option<u64>,
    /// The moment at which `version` was told.
    pub(super) at: Duration,
}

struct Asked {
    informer: usize,
    /// The version asked for.
    revision: String,
    /// Whether events are those of the initial state.
    is_initial: bool,
    is_watch: bool,
}

// === impl Leaps ===

impl Leaps {
    /// Takes in what was observed at a moment. Whether time leapt right before it.
    pub(super) fn observe(&mut self, at: Duration, observation: &Observation) -> bool {
        let has_leapt = self.asleep_since.is_some_and(|since| since < at);
        if has_leapt {
            self.asleep_since = None;
            self.woke_at.insert(at);
        }
        if let Observation::FaultBegins { name, .. } = observation
            && name == SUSPEND
        {
            self.asleep_since = Some(at);
        }
        has_leapt
    }

    /// Whether time leapt right before `moment`: then tasks may not have had their turn in it.
    pub(super) fn is_waking(&self, moment: Duration) -> bool {
        self.woke_at.contains(&moment)
    }
}

// === impl Heard ===

impl Heard {
    /// What an informer was told.
    pub(super) fn of(&mut self, informer: usize) -> &mut Told {
        self.informers.entry(informer).or_default()
    }

    /// The informer that sent a request, whose answer is a part of a whole state or of what follows one.
    pub(super) fn sender(&self, request: usize) -> Option<usize> {
        self.requests.get(&request).map(|asked| asked.informer)
    }

    /// Takes in what was observed at a moment. Whether a whole state is complete with it; a request is to be looked at before.
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
                if let Some(asked) = self.requests.get(request) {
                    let told = self.informers.entry(asked.informer).or_default();
                    told.expired_at = Some(at);
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
        let asked = Asked {
            informer,
            revision: revision.clone(),
            is_initial,
            is_watch,
        };
        self.requests.insert(request, asked);
    }

    fn list(&mut self, at: Duration, list: &WholeList) -> bool {
        let told = self.informers.entry(list.informer).or_default();
        told.state(at, list.version, &list.asked, list.has_one_page)
    }

    fn end_of_initial_state(&mut self, at: Duration, request: usize, revision: u64) -> bool {
        let Some(asked) = self.requests.get_mut(&request) else {
            return false;
        };
        let told = self.informers.entry(asked.informer).or_default();
        if !asked.is_initial {
            told.change(at, revision);
            return false;
        }
        asked.is_initial = false;
        told.state(at, revision, &asked.revision, false)
    }

    fn change(&mut self, at: Duration, request: usize, revision: u64) {
        if let Some(asked) = self.requests.get(&request)
            && asked.is_watch
            && !asked.is_initial
        {
            let told = self.informers.entry(asked.informer).or_default();
            told.change(at, revision);
        }
    }
}

// === impl Told ===

impl Told {
    /// Up to where the informer was told before `now`; what comes at this very moment may be on its way.
    pub(super) fn settled(&self, now: Duration) -> Option<u64> {
        if now > self.at {
            self.version
        } else {
            self.settled.min(self.version)
        }
    }

    /// The same of an informer that may have been asleep: who wakes up may give a stream up, for its silence, before it has
    /// read what came in that moment.
    pub(super) fn read(&self, now: Duration, leaps: &Leaps) -> Option<u64> {
        let now = if leaps.is_waking(self.at) {
            self.at
        } else {
            now
        };
        self.settled(now)
    }

    /// A whole state came. One that is older than what was told is believed only if the most recent was asked for.
    fn state(&mut self, at: Duration, version: u64, asked: &str, is_look: bool) -> bool {
        let is_older = self.version.is_some_and(|told| version < told);
        if is_older && !asked.is_empty() {
            return false;
        }
        self.before_look = self.version.filter(|_| is_look);
        self.expired_at = None;
        self.set(at, version);
        true
    }

    fn change(&mut self, at: Duration, version: u64) {
        self.before_look = None;
        if self.version.is_none_or(|told| told < version) {
            self.set(at, version);
        }
    }

    fn set(&mut self, at: Duration, version: u64) {
        if at > self.at {
            self.settled = self.version;
            self.at = at;
        }
        self.version = Some(version);
    }
}
