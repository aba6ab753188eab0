//! Waits grow from failure to failure, and start over only after the server has proved healthy.
//!
//! A request at once after a failure is no wait; the n-th wait in a row is at least as long as the backoff's curve
//! before jitter. A client that was asleep between two requests may have been about to send the second one at once.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Finding,
    bounded_requests::{SentRequest, WAIT_MAX, WAIT_MIN, asks, resumptions},
};
use crate::{
    checkers::{anomalies::Anomalies, clock_leaps::SUSPEND},
    trace::{Observation, Trace, seconds},
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ends = ends(trace);
    let resumptions = resumptions(trace);
    let sleeps = Anomalies::named(trace, SUSPEND);
    for (informer, asks) in asks(trace) {
        let ends = ends.get(&informer).map_or(&[][..], Vec::as_slice);
        let mut waits = Waits::default();
        for pair in asks.windows(2) {
            let [before, ask] = pair else { continue };
            if before.is_healthy() || resumptions.contains(&ask.number) {
                waits = Waits::default();
                continue;
            }
            let Some(waited) = waited(before, ask, ends) else {
                continue;
            };
            let rest = ask.at.saturating_sub(waited)..=ask.at;
            if sleeps.touching(informer, &rest).is_some() {
                continue;
            }
            if let Some(least) = waits.next(waited) {
                findings.push(Finding::at(
                    ask.number,
                    format!(
                        "informer {informer} waited {} s after failure {} in a row; the backoff has {} s at least",
                        seconds(waited),
                        waits.count,
                        seconds(least)
                    ),
                ));
                // One outage is one finding.
                waits = Waits::default();
            }
        }
    }
    findings
}

/// The waits since the server was healthy.
#[derive(Default)]
struct Waits {
    count: u32,
}

// === impl Waits ===

impl Waits {
    /// Counts a wait, and returns the minimum if it was shorter than that.
    fn next(&mut self, waited: Duration) -> Option<Duration> {
        let least = WAIT_MAX.min(WAIT_MIN * 2_u32.pow(self.count.min(8)));
        self.count += 1;
        (waited < least).then_some(least)
    }
}

/// Returns the rest of the informer between two of its requests; `None` if there was none.
fn waited(before: &SentRequest, ask: &SentRequest, ends: &[(usize, Duration)]) -> Option<Duration> {
    // The last end of a request in between, further pages included.
    let until = ends.partition_point(|(number, _)| *number < ask.number);
    let (number, ended) = ends[..until].last()?;
    let waited = ask.at.saturating_sub(*ended);
    (*number > before.number && !waited.is_zero()).then_some(waited)
}

/// Returns the ends of each informer's requests, with their record numbers, in order.
fn ends(trace: &Trace) -> BTreeMap<usize, Vec<(usize, Duration)>> {
    let mut senders: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ends: BTreeMap<usize, Vec<(usize, Duration)>> = BTreeMap::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        match observation {
            Observation::Request {
                informer, request, ..
            } => {
                senders.insert(*request, *informer);
            }
            Observation::Ended { request, .. } => {
                if let Some(informer) = senders.get(request) {
                    ends.entry(*informer).or_default().push((number, at));
                }
            }
            _ => {}
        }
    }
    ends
}
