//! The pure core of a lease candidate: when its object is written, and which time it says.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// The period of renewals without a ping; six of them fit before the object is deleted.
const INTERVAL: Duration = Duration::from_mins(5);
/// The difference of a written time from the server's after which it is corrected.
const ERROR_MAX: Duration = Duration::from_secs(2);
/// The resolution of the times in objects.
const TICK: Duration = Duration::from_micros(1);

/// The part of a candidate's object that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ObservedCandidate {
    /// The time at which the server asked, by its clock.
    pub(super) pinged: Option<Timestamp>,
}

/// A candidate's knowledge of the server's time, and of what it has written.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidacy {
    /// The server's time, not later than it is, and the moment of it.
    server_time: Option<(Timestamp, Instant)>,
    /// The ping that was answered last.
    answered: Option<Timestamp>,
    written: Option<LastWrite>,
}

/// The last successful write.
#[derive(Clone, Copy, Debug)]
struct LastWrite {
    at: Instant,
    renewed: Timestamp,
}

/// The next step of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Write that it was there at this time: to a new object if there is none.
    Write { renewed: Timestamp },
    /// Wait for a change, but no longer.
    Rest { until: Instant },
}

// === impl Candidacy ===

impl Candidacy {
    /// Returns the next step, by the object as it was seen; `None` if there is none. `wall` is this machine's time of day.
    pub(super) fn step(
        &mut self,
        now: Instant,
        wall: Timestamp,
        seen: Option<ObservedCandidate>,
    ) -> Step {
        let pinged = seen.and_then(|seen| seen.pinged);
        if let Some(pinged) = pinged {
            self.learn(pinged, now);
        }
        let renewed = self.time(now).unwrap_or(wall);
        let renewed = pinged.map_or(renewed, |pinged| renewed.max(after(pinged, TICK)));
        let Some(written) = self.written.filter(|_| seen.is_some()) else {
            return Step::Write { renewed };
        };
        let until = written.at + INTERVAL;
        let is_asked = pinged.is_some() && pinged != self.answered;
        if is_asked || until <= now || self.is_wrong(written) {
            Step::Write { renewed }
        } else {
            Step::Rest { until }
        }
    }

    /// Takes a successful write that was answered at `now`. The answer shows that the server's time was `server_time` or later.
    pub(super) fn on_written(
        &mut self,
        now: Instant,
        renewed: Timestamp,
        answered: Option<ObservedCandidate>,
        server_time: Option<Timestamp>,
    ) {
        if let Some(time) = server_time {
            self.learn(time, now);
        }
        self.answered = answered.and_then(|seen| seen.pinged).or(self.answered);
        self.written = Some(LastWrite { at: now, renewed });
    }

    /// Takes over that the server's time was `time` or later at `now`, unless more is known.
    fn learn(&mut self, time: Timestamp, now: Instant) {
        if self.time(now).is_none_or(|known| known < time) {
            self.server_time = Some((time, now));
        }
    }

    /// Returns the server's time, not later than it is.
    fn time(&self, now: Instant) -> Option<Timestamp> {
        let (time, moment) = self.server_time?;
        Some(after(time, now.saturating_duration_since(moment)))
    }

    /// Returns whether a time was written that the server takes for another.
    fn is_wrong(&self, written: LastWrite) -> bool {
        let error = self.time(written.at).map(|time| {
            let error = time.duration_until(written.renewed);
            error.unsigned_abs()
        });
        error.is_some_and(|error| error > ERROR_MAX)
    }
}

fn after(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}
