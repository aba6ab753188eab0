//! The reports that an informer may make of a request, by what crossed the transport.

use std::{collections::BTreeMap, time::Duration};

use informer::reflector::FailureCause;

use crate::trace::{Ending, Observation, RequestKind};

/// The last request of an informer, and its outcome so far.
pub(super) struct LastRequest {
    stage: Stage,
    /// True if it named a version.
    is_versioned: bool,
    answer: Option<Answer>,
    problem: Option<Problem>,
    ending: Option<Ending>,
    /// The number of events and bookmarks.
    item_count: u64,
    /// The time at which it failed, if it did.
    failed_at: Option<Duration>,
    /// True if its failure was reported, or the informer was paused meanwhile.
    pub(super) is_told: bool,
    watched: WatchReport,
}

/// The report that a watch has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchReport {
    Missing,
    /// The informer was paused meanwhile.
    Unneeded,
    Made,
}

/// The kind of a request, or what a watch has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    List,
    /// A later page.
    Page,
    /// A watch whose events are those of the initial state.
    InitialEvents,
    Watch,
}

/// A problem of a request, other than its status and its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// The connection was refused.
    Refused,
    /// An event brought an error of this code.
    Error(u16),
    /// A line, or a whole list, was not what it should be.
    Garbled,
}

#[derive(Clone, Copy)]
struct Answer {
    status: u16,
    at: Duration,
}

/// The list of an informer that was requested last.
pub(super) struct Listing {
    began: Duration,
    revision: Option<u64>,
    /// The number of objects of the pages before the last failure.
    kept_count: u64,
    /// The pages since then, by their requests; `None` for one that has not arrived.
    pages: BTreeMap<usize, Option<Page>>,
    /// The times at which their requests ended.
    ended: BTreeMap<usize, Duration>,
}

/// A page that has arrived.
#[derive(Clone, Copy)]
struct Page {
    item_count: u64,
    is_last: bool,
}

// === impl LastRequest ===

impl LastRequest {
    pub(super) fn new(kind: &RequestKind) -> Self {
        Self {
            stage: match kind {
                RequestKind::List {
                    is_continued: true, ..
                } => Stage::Page,
                RequestKind::List { .. } => Stage::List,
                RequestKind::Watch {
                    is_streaming_list: true,
                    ..
                } => Stage::InitialEvents,
                RequestKind::Watch { .. } => Stage::Watch,
            },
            is_versioned: match kind {
                RequestKind::List { revision, .. } | RequestKind::Watch { revision, .. } => {
                    !revision.is_empty()
                }
            },
            answer: None,
            problem: None,
            ending: None,
            item_count: 0,
            failed_at: None,
            is_told: false,
            watched: WatchReport::Missing,
        }
    }

    /// Takes an observation of this request. Returns true if it completes the state of a streaming list.
    pub(super) fn observe(&mut self, at: Duration, observation: &Observation) -> bool {
        match observation {
            Observation::Answer { status, .. } => {
                self.answer = Some(Answer {
                    status: *status,
                    at,
                });
            }
            Observation::Refused { .. } => self.problem = Some(Problem::Refused),
            Observation::Frame { .. } => self.item_count += 1,
            Observation::Bookmark {
                ends_initial_events,
                ..
            } => {
                self.item_count += 1;
                if *ends_initial_events && self.stage == Stage::InitialEvents {
                    self.stage = Stage::Watch;
                    return true;
                }
            }
            Observation::ErrorEvent { status, .. } => {
                self.item_count += 1;
                self.problem = Some(Problem::Error(*status));
                self.failed_at.get_or_insert(at);
            }
            Observation::Garbled { .. } => {
                self.problem = Some(Problem::Garbled);
                self.failed_at.get_or_insert(at);
            }
            Observation::Ended { ending, .. } => self.end(at, *ending),
            _ => {}
        }
        false
    }

    fn end(&mut self, at: Duration, ending: Ending) {
        self.ending = Some(ending);
        let is_refused = self.answer.is_some_and(|answer| answer.status != 200);
        if ending == Ending::Broken || (is_refused && ending == Ending::Clean) {
            self.failed_at.get_or_insert(at);
        }
    }

    /// Returns true if the failure of this request may have this cause.
    pub(super) fn admits(&self, cause: FailureCause) -> bool {
        use FailureCause::{EndedEarly, Protocol, Refused, TimedOut, Transport};

        let given_up = !matches!(self.ending, Some(Ending::Clean | Ending::Broken));
        // It may be the page before it that has failed: a page is asked for while that is read.
        if self.stage == Stage::Page {
            return true;
        }
        match (self.answer.map(|answer| answer.status), self.problem) {
            (None, Some(Problem::Refused)) => cause == Refused,
            (None, _) if given_up => cause == TimedOut,
            (None, _) => cause == Transport,
            (Some(200), Some(Problem::Error(code))) => is_of_code(cause, code),
            (Some(200), Some(Problem::Garbled)) => cause == Protocol,
            (Some(200), _) if given_up => cause == TimedOut,
            (Some(200), _) if self.ending == Some(Ending::Broken) => cause == Transport,
            // A page of another list, or of one without an end.
            (Some(200), _) if self.is_list() => cause == Protocol,
            // An end within an event counts as a break.
            (Some(200), _) => matches!(cause, EndedEarly | Transport),
            (Some(status), _) => is_of_code(cause, status) || (given_up && cause == TimedOut),
        }
    }

    /// Returns true if it is a watch that brings changes.
    pub(super) fn is_followed(&self) -> bool {
        let is_open = self.answer.is_some_and(|answer| answer.status == 200);
        self.stage == Stage::Watch && is_open
    }

    /// Returns true if it is a later page.
    pub(super) fn is_page(&self) -> bool {
        self.stage == Stage::Page
    }

    fn is_list(&self) -> bool {
        matches!(self.stage, Stage::List | Stage::Page)
    }

    /// Returns true if an informer has to try something else at once after a failure of this cause, false if it has to wait;
    /// `None` if that depends on what came before.
    pub(super) fn is_at_once(&self, cause: FailureCause) -> Option<bool> {
        use FailureCause::{EndedEarly, Expired, Invalid, TimedOut, TooLargeVersion, Transport};

        let is_open = self.answer.is_some();
        match (self.stage, cause) {
            // The second time in a row it waits.
            (Stage::Page, Expired) | (Stage::InitialEvents, EndedEarly) => None,
            (Stage::List | Stage::InitialEvents, Expired | TooLargeVersion) => {
                Some(self.is_versioned)
            }
            (Stage::InitialEvents, Invalid) => Some(true),
            (Stage::InitialEvents, TimedOut) => Some(is_open),
            (Stage::InitialEvents, cause) => Some(cause.is_denied()),
            (Stage::Watch, Transport | TimedOut) if is_open => None,
            _ => Some(false),
        }
    }

    /// Takes an order of the owner: what follows from it need not be reported.
    pub(super) fn interrupt(&mut self) {
        self.is_told = true;
        if self.watched == WatchReport::Missing {
            self.watched = WatchReport::Unneeded;
        }
    }

    /// Describes a failure that should have been reported by now, if it was known from `known_from` on.
    pub(super) fn untold(&mut self, at: Duration, known_from: Duration) -> Option<String> {
        let failed_at = self.failed_at.map(|failed_at| failed_at.max(known_from));
        let has_failed = failed_at.is_some_and(|failed_at| failed_at < at);
        if has_failed && !self.is_told {
            self.is_told = true;
            return Some("its last request failed, and it has not reported that".to_owned());
        }
        None
    }

    /// Describes the end of a watch that should have been reported before the next request.
    pub(super) fn untold_end(&self) -> Option<String> {
        let was_open = self.answer.is_some_and(|answer| answer.status == 200);
        let is_untold = !self.is_list() && was_open && self.watched == WatchReport::Missing;
        is_untold.then(|| "it has not reported that its last watch has ended".to_owned())
    }

    /// Compares what is reported of the watch with what it was.
    pub(super) fn watched(
        &mut self,
        at: Duration,
        item_count: u64,
        took: Duration,
    ) -> Option<String> {
        let before = std::mem::replace(&mut self.watched, WatchReport::Made);
        let opened = self.answer.filter(|answer| answer.status == 200);
        let is_watch = !self.is_list() && before != WatchReport::Made;
        let Some(opened) = opened.filter(|_| is_watch) else {
            return Some("it had no watch".to_owned());
        };
        // What follows an error is not read, nor is what came in the moment of an order.
        let is_read = self.ending != Some(Ending::Dropped);
        let is_right = item_count == self.item_count || (!is_read && item_count < self.item_count);
        let lived = at.saturating_sub(opened.at);
        let is_true = is_right && took == lived;
        let was = || format!("its watch brought {} in {lived:?}", self.item_count);
        (!is_true).then(was)
    }
}

// === impl Listing ===

impl Listing {
    /// Creates the list that begins with a request.
    pub(super) fn new(at: Duration, request: usize) -> Self {
        Self {
            began: at,
            revision: None,
            kept_count: 0,
            pages: BTreeMap::from([(request, None)]),
            ended: BTreeMap::new(),
        }
    }

    /// Takes a request for a later page.
    pub(super) fn ask(&mut self, request: usize) {
        self.pages.insert(request, None);
    }

    /// Takes a page, which may arrive before the one that it continues.
    pub(super) fn add(&mut self, request: usize, revision: u64, count: usize, has_more: bool) {
        let Some(page) = self.pages.get_mut(&request) else {
            return;
        };
        *page = Some(Page {
            item_count: count as u64,
            is_last: !has_more,
        });
        self.revision.get_or_insert(revision);
    }

    /// Takes the end of a request.
    pub(super) fn end(&mut self, at: Duration, request: usize) {
        self.ended.insert(request, at);
    }

    /// Returns the time from which on a failure of the last page is known to the informer: it reads a page that was asked for
    /// ahead after the one before it. `None` if that is still under way.
    pub(super) fn reads_last_from(&self) -> Option<Duration> {
        let before = self.pages.keys().rev().skip(1);
        let ends = before.map(|request| self.ended.get(request).copied());
        ends.max_by_key(|end| end.unwrap_or(Duration::MAX))
            .unwrap_or(Some(Duration::ZERO))
    }

    /// Takes a failure: with a page, those are given up that were asked for ahead.
    pub(super) fn fail(&mut self) {
        let pages = std::mem::take(&mut self.pages).into_values();
        let kept = pages.map_while(|page| page);
        self.kept_count += kept.map(|page| page.item_count).sum::<u64>();
    }

    /// Compares what is reported of the list with what it was.
    pub(super) fn listed(
        &self,
        at: Duration,
        revision: u64,
        item_count: u64,
        took: Duration,
    ) -> Option<String> {
        let lasted = at.saturating_sub(self.began);
        let arrived = self.pages.values().flatten();
        let count = self.kept_count + arrived.map(|page| page.item_count).sum::<u64>();
        let is_complete = self.pages.values().all(Option::is_some);
        let last = self.pages.values().next_back().copied().flatten();
        let is_whole = is_complete && last.is_some_and(|page| page.is_last);
        let is_true =
            is_whole && self.revision == Some(revision) && count == item_count && lasted == took;
        let whole = if is_whole { "whole" } else { "not whole" };
        let version = self
            .revision
            .map_or_else(|| "no version".to_owned(), |it| it.to_string());
        let was = || format!("its list is {whole}, of {count} at {version} in {lasted:?}");
        (!is_true).then(was)
    }
}

/// Returns true if a status of this code may have the cause.
fn is_of_code(cause: FailureCause, code: u16) -> bool {
    use FailureCause::{
        Denied, Expired, Forbidden, Invalid, NotFound, ServerError, Throttled, TooLargeVersion,
        Unauthorized, Unavailable, Unreadable,
    };

    match code {
        410 => cause == Expired,
        429 => cause == Throttled,
        400 | 406 | 415 | 422 => cause == Invalid,
        401 => cause == Unauthorized,
        403 => cause == Forbidden,
        404 => cause == NotFound,
        402..=499 => cause == Denied,
        // The reason tells them apart.
        504 => matches!(cause, Unavailable | TooLargeVersion),
        502 | 503 => cause == Unavailable,
        500 => matches!(cause, ServerError | Unreadable),
        _ => cause == ServerError,
    }
}
