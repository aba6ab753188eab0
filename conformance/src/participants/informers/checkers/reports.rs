//! An informer reports the truth about itself: to its observer, in its status and by its numbers.
//!
//! Each failure is reported, with a cause that the transport explains and with the delay that follows; so are lists and
//! watches, with their sizes and times. Numbers are those of the requests, failures, states and notifications before.
//!
//! Not compared: reports of what does not decode, numbers of handlers that take their time while something is under way, the
//! panics of handlers, and numbers that an order of the owner to pause or to go on may have changed. Numbers of requests may be
//! one ahead of the transport.
//!
//! Nothing is compared from the first sleep of the machine on: when it wakes, limits run out in the moment in which
//! connections break. A failed later page may have any cause, since it may be the page before it that failed.

use std::{collections::BTreeMap, time::Duration};

use informer::reflector::FailureCause;

use super::{
    Finding, differences,
    reported_counts::Tally,
    reported_requests::{LastRequest, Listing},
};
use crate::{
    checkers::clock_leaps::SUSPEND,
    trace::{Observation, Part, Report, RequestKind, Trace, seconds},
};

/// The time by which a timer may be late: timers count in milliseconds.
const TIMER_STEP: Duration = Duration::from_millis(2);

/// The message of an informer after a failed request.
const TRYING_AGAIN: &str = "trying again";

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = differences::of(trace, Part::Report);
    let mut tellers = RunReports::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if matches!(observation, Observation::FaultBegins { name, .. } if name == SUSPEND) {
            break;
        }
        if let Some(text) = tellers.observe(at, observation) {
            findings.push(Finding::at(number, format!("{observation}: {text}")));
        }
    }
    findings
}

/// All informers, and what has to be known of the run.
#[derive(Default)]
struct RunReports {
    informers: BTreeMap<usize, InformerReports>,
    /// The informer of each request.
    senders: BTreeMap<usize, usize>,
    /// True if lists may have to wait for their turn.
    has_gate: bool,
    /// True if the last warning was about a failure.
    is_logged: bool,
}

/// Describes a failure that should be in the log with the report. What happens in the course of things is not.
fn unlogged(report: &Report, is_logged: bool) -> Option<String> {
    let Report::Failed { cause, delay, .. } = report else {
        return None;
    };
    let is_usual = matches!(cause, FailureCause::Expired | FailureCause::EndedEarly);
    // The log tells of a pause once.
    let is_news = !delay.is_zero() && !is_usual && !cause.is_withdrawn();
    (is_news && !is_logged).then(|| "it has not logged that".to_owned())
}

/// The acts of one informer, and its reports.
#[derive(Default)]
struct InformerReports {
    last_request: Option<LastRequest>,
    listing: Option<Listing>,
    /// The last failure that was reported, until it is followed by a request.
    failed: Option<ReportedFailure>,
    attempt: u32,
    tally: Tally,
    /// True if it reports at all.
    is_telling: bool,
    is_paused: bool,
    /// The time of the last order of the owner.
    ordered_at: Option<Duration>,
}

/// A failure that was reported.
#[derive(Clone, Copy)]
struct ReportedFailure {
    cause: FailureCause,
    at: Duration,
    delay: Duration,
}

// === impl RunReports ===

impl RunReports {
    /// Takes an observation, and describes what is untrue about it.
    fn observe(&mut self, at: Duration, observation: &Observation) -> Option<String> {
        match observation {
            Observation::ListGate { .. } => self.has_gate = true,
            Observation::Request {
                informer,
                request,
                kind,
            } => return self.ask(at, *informer, *request, kind),
            Observation::InformerPauses { informer } => self.of(*informer).order(at, true),
            Observation::InformerResumes { informer } => self.of(*informer).order(at, false),
            Observation::Cached {
                informer, members, ..
            } => self.of(*informer).tally.note_cached(members.len()),
            Observation::Undecodable {
                informer, members, ..
            } => self.of(*informer).tally.note_undecodable(members.len()),
            Observation::HandlerJoins {
                informer,
                handler,
                is_slow,
                ..
            } => self.of(*informer).tally.join(*handler, *is_slow),
            Observation::Notified(notified) => {
                let reports = self.of(notified.informer);
                reports.tally.notify(notified.handler);
            }
            Observation::Reported { informer, report } => {
                let is_logged = std::mem::take(&mut self.is_logged);
                let problem = self.of(*informer).report(at, report);
                return problem.or_else(|| unlogged(report, is_logged));
            }
            Observation::Warned { message, .. } => self.is_logged = message == TRYING_AGAIN,
            Observation::Counted { informer, counts } => {
                let is_late = self.is_late(*informer, at);
                let reports = self.of(*informer);
                reports.is_telling = true;
                let failure = reports.untold(at).or(is_late);
                return failure.or_else(|| reports.tally.untrue(at, counts));
            }
            other => self.cross(at, other),
        }
        None
    }

    fn of(&mut self, informer: usize) -> &mut InformerReports {
        self.informers.entry(informer).or_default()
    }

    fn ask(
        &mut self,
        at: Duration,
        informer: usize,
        request: usize,
        kind: &RequestKind,
    ) -> Option<String> {
        self.senders.insert(request, informer);
        let can_wait = self.has_gate
            && !matches!(
                kind,
                RequestKind::Watch {
                    is_streaming_list: false,
                    ..
                }
            );
        let is_late = self.is_late(informer, at).filter(|_| !can_wait);
        let reports = self.of(informer);
        let failed = reports.failed.take();
        let failed = failed.filter(|failed| Some(failed.at) != reports.ordered_at);
        let is_early = failed.filter(|failed| at + TIMER_STEP < failed.at + failed.delay);
        let problem = reports
            .untold(at)
            .or(is_late)
            .or_else(|| reports.last_request.as_ref()?.untold_end())
            .or_else(|| is_early.map(|failed| failed.differs("it did not wait")));
        if let RequestKind::List { is_continued, .. } = kind {
            match &mut reports.listing {
                Some(listing) if *is_continued => listing.ask(request),
                listing => *listing = Some(Listing::new(at, request)),
            }
        }
        reports.tally.ask(kind);
        reports.last_request = Some(LastRequest::new(kind));
        problem.filter(|_| reports.is_telling)
    }

    /// Describes a failure after which the informer has waited longer than it said.
    fn is_late(&self, informer: usize, at: Duration) -> Option<String> {
        let reports = self.informers.get(&informer)?;
        let failed = reports.failed.filter(|_| !reports.is_paused)?;
        // An order of the same moment may have come after it.
        let failed = Some(failed).filter(|failed| Some(failed.at) != reports.ordered_at)?;
        let due = failed.at + failed.delay + TIMER_STEP;
        let is_late = at > due && !(self.has_gate && at > failed.at);
        is_late.then(|| failed.differs("it has waited longer"))
    }

    /// Takes what crosses the transport.
    fn cross(&mut self, at: Duration, observation: &Observation) {
        let (Observation::Answer { request, .. }
        | Observation::Refused { request }
        | Observation::Page { request, .. }
        | Observation::Frame { request, .. }
        | Observation::Bookmark { request, .. }
        | Observation::ErrorEvent { request, .. }
        | Observation::Garbled { request }
        | Observation::Ended { request, .. }) = observation
        else {
            return;
        };
        let Some(informer) = self.senders.get(request).copied() else {
            return;
        };
        let reports = self.of(informer);
        reports.tally.note_delivery(at);
        if let Observation::Page {
            revision,
            has_more,
            members,
            ..
        } = observation
            && let Some(listing) = &mut reports.listing
        {
            listing.add(*request, *revision, members.len(), *has_more);
        }
        if let Observation::Ended { .. } = observation
            && let Some(listing) = &mut reports.listing
        {
            listing.end(at, *request);
        }
        let Some(last_request) = &mut reports.last_request else {
            return;
        };
        if last_request.observe(at, observation) {
            reports.tally.note_state(at);
        }
    }
}

// === impl InformerReports ===

impl InformerReports {
    /// Takes an order of the owner, after which nothing is as it was announced.
    fn order(&mut self, at: Duration, pauses: bool) {
        self.is_paused = pauses;
        self.ordered_at = Some(at);
        self.failed = None;
        self.tally.note_order();
        if let Some(last_request) = &mut self.last_request {
            last_request.interrupt();
        }
    }

    /// Describes a failure that should have been reported by now.
    fn untold(&mut self, at: Duration) -> Option<String> {
        let last_request = self.last_request.as_mut()?;
        let listing = self.listing.as_ref().filter(|_| last_request.is_page());
        let known_from = listing.map_or(Some(Duration::ZERO), Listing::reads_last_from)?;
        last_request.untold(at, known_from)
    }

    /// Takes a report, and describes what is untrue about it.
    fn report(&mut self, at: Duration, report: &Report) -> Option<String> {
        self.is_telling = true;
        match report {
            Report::Follows => {
                self.tally.note_whole();
                let is_followed = self
                    .last_request
                    .as_ref()
                    .is_some_and(LastRequest::is_followed);
                (!is_followed).then(|| "it has no watch".to_owned())
            }
            Report::Waits { cause: None, .. } => {
                (!self.is_paused).then(|| "it was not paused".to_owned())
            }
            Report::Waits { cause, delay } => {
                let announced = self.failed.is_some_and(|failed| {
                    (Some(failed.cause), Some(failed.delay)) == (*cause, *delay)
                });
                (!announced).then(|| "its last failure was another".to_owned())
            }
            Report::Listed {
                revision,
                item_count,
                took,
            } => {
                self.tally.note_state(at);
                match self.listing.take() {
                    Some(listing) => listing.listed(at, *revision, *item_count, *took),
                    None => Some("it has not listed since".to_owned()),
                }
            }
            Report::Watched { item_count, took } => match &mut self.last_request {
                Some(last_request) => last_request.watched(at, *item_count, *took),
                None => Some("it had no watch".to_owned()),
            },
            Report::Failed {
                cause,
                attempt,
                delay,
            } => self.fail(at, *cause, *attempt, *delay),
            Report::Undecodable { .. } => None,
        }
    }

    fn fail(
        &mut self,
        at: Duration,
        cause: FailureCause,
        attempt: u32,
        delay: Duration,
    ) -> Option<String> {
        self.tally.note_failure(cause);
        self.failed = Some(ReportedFailure { cause, at, delay });
        if let Some(listing) = &mut self.listing {
            listing.fail();
        }
        let step = u32::from(!delay.is_zero());
        let is_next = attempt == self.attempt + step || attempt == step;
        let before = std::mem::replace(&mut self.attempt, attempt);
        let Some(last_request) = &mut self.last_request else {
            return Some("it has not asked for anything".to_owned());
        };
        last_request.is_told = true;
        if !last_request.admits(cause) {
            return Some("its last request did not fail so".to_owned());
        }
        if last_request.is_at_once(cause) == Some(!delay.is_zero()) {
            let how = if delay.is_zero() {
                "wait"
            } else {
                "go on at once"
            };
            return Some(format!("after that it has to {how}"));
        }
        (!is_next).then(|| format!("the delay before was number {before}"))
    }
}

// === impl ReportedFailure ===

impl ReportedFailure {
    fn differs(&self, how: &str) -> String {
        format!(
            "{how}, although it reported a delay of {} s at {} s",
            seconds(self.delay),
            seconds(self.at)
        )
    }
}
