//! At most one candidate leads at a time, and only for as long as it could renew its lease.
//!
//! One clock, which never goes back, measures the times of all candidates here; their wall clocks play no part:
//!
//! - A leadership lasts from `acquire` to the moment at which it is lost or its owner gives it up. Two of them never overlap,
//!   whatever fails. A leader cannot know at once that somebody else has deleted the lease, or written to it: it may overlap
//!   with the next one until its own deadline, but no longer.
//! - A leader is held until the renew deadline has passed since it *sent* its last successful write, and not a moment longer.
//!   From then on it sends nothing.
//! - It is lost before only if it reads that another candidate holds the lease, or is to hold it next, and then at once;
//!   where the server decides, also if it reads that the lease has no holder, or that there is no lease.
//! - The token fires in the moment in which the leadership is lost or given up.
//!
//! A machine that sleeps wakes up after a deadline at times: all this applies at the end of that moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Candidacy, ElectionEvent, LeaseState, StopKind};
use crate::{
    checkers::{Finding, clock_leaps::ClockLeaps},
    trace::{Trace, seconds},
};

/// The resolution of timers.
const TICK: Duration = Duration::from_millis(2);
/// A write of another client that does not change the content.
const TOUCH: &str = "Touch";

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut leaders = Leaders::default();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        // Before anything is judged: what was due while the machine was asleep is not late.
        if leaps.observe(at, observation) {
            leaders.wake(at);
        }
        let is_waking = leaps.is_waking(at);
        // First what had to happen before this moment, since the observation may end it.
        let mut texts = leaders.overdue(at, is_waking);
        if let Some(event) = observation.event() {
            texts.extend(leaders.observe(at, event, is_waking));
        }
        findings.extend(texts.into_iter().map(|text| Finding::at(number, text)));
    }
    findings
}

/// The leaderships so far.
#[derive(Default)]
struct Leaders {
    renew: Duration,
    /// True if the server decides who leads.
    is_coordinated: bool,
    /// The time at which each request was sent, and true for a write.
    sent: BTreeMap<usize, (Duration, bool)>,
    /// The last successful write of each candidacy: the time at which it was sent, and the lease in the answer.
    written: BTreeMap<Candidacy, (Duration, LeaseState)>,
    present: BTreeMap<Candidacy, Leadership>,
    /// The candidacies that gave a leadership up, with the time.
    given_up: BTreeMap<Candidacy, Duration>,
    /// The time of the last write of somebody else that changed the lease.
    meddled: Option<Duration>,
    /// Those that were reported to lead after their deadlines.
    reported: BTreeSet<Candidacy>,
}

/// A leadership that is neither lost nor given up.
struct Leadership {
    /// The time at which its last successful write was sent.
    renewed: Duration,
    /// The time at which it read that another candidate holds the lease, or is to.
    saw_other: Option<Duration>,
    /// True if it read that there is no lease, where only the server makes one.
    saw_none: bool,
    /// The time at which it was seen not to be held.
    is_over: Option<Duration>,
}

// === impl Leaders ===

impl Leaders {
    /// Puts off what candidates had no time for, since the machine fell asleep.
    fn wake(&mut self, at: Duration) {
        for gave_up in self.given_up.values_mut() {
            *gave_up = at;
        }
        for leadership in self.present.values_mut() {
            let seen = [&mut leadership.saw_other, &mut leadership.is_over];
            for since in seen.into_iter().flatten() {
                *since = at;
            }
        }
    }

    /// Describes leaderships that go on although they had to end before `at`.
    fn overdue(&mut self, at: Duration, is_waking: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for (candidacy, leadership) in &self.present {
            let deadline = leadership.renewed + self.renew;
            let saw_other = leadership.saw_other.filter(|seen| *seen + TICK < at);
            let text = if deadline + TICK < at && !is_waking {
                format!("still leads after its deadline at {} s", seconds(deadline))
            } else if let Some(seen) = saw_other {
                format!(
                    "still leads, although it read of another at {} s",
                    seconds(seen)
                )
            } else if leadership.is_over.is_some_and(|over| over < at) {
                "was not held, and nobody was told".to_owned()
            } else {
                continue;
            };
            if self.reported.insert(*candidacy) {
                texts.push(format!("{candidacy} {text}"));
            }
        }
        self.given_up.retain(|candidacy, gave_up| {
            let is_due = *gave_up < at;
            if is_due {
                let since = seconds(*gave_up);
                texts.push(format!(
                    "the token of {candidacy} has not fired, although it gave up at {since} s"
                ));
            }
            !is_due
        });
        texts
    }

    fn observe(&mut self, at: Duration, event: &ElectionEvent, is_waking: bool) -> Option<String> {
        match event {
            ElectionEvent::Begins { renew, .. } => self.renew = *renew,
            ElectionEvent::IsCoordinated { .. } => self.is_coordinated = true,
            ElectionEvent::Asks {
                candidacy,
                request,
                method,
            } => {
                self.sent.insert(*request, (at, method != "GET"));
                let deadline = self.deadline(*candidacy)?;
                if deadline <= at && !is_waking {
                    let deadline = seconds(deadline);
                    return Some(format!("{event} after its deadline at {deadline} s"));
                }
            }
            ElectionEvent::Answered {
                candidacy,
                request,
                status: Some(200 | 201),
                lease: Some(lease),
            } => self.answered(at, *candidacy, *request, lease),
            ElectionEvent::Answered {
                candidacy,
                status: Some(404),
                ..
            } if self.is_coordinated => {
                if let Some(leadership) = self.present.get_mut(candidacy) {
                    leadership.saw_none = true;
                }
            }
            ElectionEvent::Stands { candidacy } => {
                self.written.remove(candidacy);
            }
            ElectionEvent::Leads {
                candidacy,
                transitions,
            } => return self.leads(at, *candidacy, *transitions, is_waking),
            ElectionEvent::Lost { candidacy } => return self.lost(at, *candidacy),
            ElectionEvent::Stops { candidacy, kind } => {
                let was_leading = self.present.remove(candidacy).is_some();
                if was_leading && *kind != StopKind::Crash {
                    self.given_up.insert(*candidacy, at);
                }
            }
            ElectionEvent::GaveUp { candidacy } => {
                self.given_up.remove(candidacy);
            }
            ElectionEvent::Status {
                candidacy,
                is_held,
                is_cancelled,
            } => return self.status(at, *candidacy, *is_held, *is_cancelled),
            ElectionEvent::Meddled {
                text,
                revision: Some(_),
            } if text != TOUCH => self.meddled = Some(at),
            _ => {}
        }
        None
    }

    fn deadline(&self, candidacy: Candidacy) -> Option<Duration> {
        let leadership = self.present.get(&candidacy)?;
        Some(leadership.renewed + self.renew)
    }

    /// Takes a successful answer, to a read or to a write.
    fn answered(&mut self, at: Duration, candidacy: Candidacy, request: usize, lease: &LeaseState) {
        let Some((sent, is_write)) = self.sent.remove(&request) else {
            return;
        };
        let leadership = self.present.get_mut(&candidacy);
        if is_write && *lease.holder == *candidacy.name() {
            self.written.insert(candidacy, (sent, lease.clone()));
            if let Some(leadership) = leadership {
                leadership.renewed = sent;
            }
        } else if let Some(leadership) = leadership
            && !is_write
            && (is_anothers(lease, candidacy) || (self.is_coordinated && lease.holder.is_empty()))
        {
            leadership.saw_other = Some(at);
        }
    }

    fn leads(
        &mut self,
        at: Duration,
        candidacy: Candidacy,
        transitions: u32,
        is_waking: bool,
    ) -> Option<String> {
        let Some((renewed, lease)) = self.written.get(&candidacy) else {
            return Some(format!(
                "{candidacy} leads without having written to the lease"
            ));
        };
        let renewed = *renewed;
        let counted = lease.transitions;
        // The excuse ends with the first renewal: then the lease is its own again.
        let is_excused = |other: &Leadership| {
            is_waking || self.meddled.is_some_and(|meddled| other.renewed <= meddled)
        };
        let mut others = self.present.iter();
        let other = others.find(|(_, other)| !is_excused(other));
        let text = if let Some((other, _)) = other {
            Some(format!("{candidacy} leads while {other} does"))
        } else if renewed + self.renew <= at && !is_waking {
            Some(format!("{candidacy} leads, and its deadline has passed"))
        } else if counted != u64::from(transitions) {
            Some(format!(
                "{candidacy} tells {transitions} transitions, and has written {counted}"
            ))
        } else {
            None
        };
        let leadership = Leadership {
            renewed,
            saw_other: None,
            saw_none: false,
            is_over: None,
        };
        self.present.insert(candidacy, leadership);
        self.reported.remove(&candidacy);
        text
    }

    fn lost(&mut self, at: Duration, candidacy: Candidacy) -> Option<String> {
        let deadline = self.deadline(candidacy);
        let leadership = self.present.remove(&candidacy)?;
        let saw_reason = leadership.saw_other.is_some() || leadership.saw_none;
        let has_reason = saw_reason || deadline <= Some(at);
        (!has_reason).then(|| format!("{candidacy} has lost without a reason"))
    }

    fn status(
        &mut self,
        at: Duration,
        candidacy: Candidacy,
        is_held: bool,
        is_cancelled: bool,
    ) -> Option<String> {
        if is_held == is_cancelled {
            return Some(format!(
                "the leadership of {candidacy} is held: {is_held}, and its token has fired: {is_cancelled}"
            ));
        }
        match self.present.get_mut(&candidacy) {
            Some(leadership) if !is_held => {
                leadership.is_over.get_or_insert(at);
                None
            }
            None if is_held => Some(format!("{candidacy} says that it leads, and does not")),
            _ => None,
        }
    }
}

/// Returns whether another candidate holds a lease, or is to hold it next.
fn is_anothers(lease: &LeaseState, candidacy: Candidacy) -> bool {
    let own = candidacy.name();
    [&lease.holder, &lease.preferred]
        .into_iter()
        .any(|name| !name.is_empty() && **name != *own)
}
