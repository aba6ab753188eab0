//! The time of day, which a lease shows to people.

use jiff::Timestamp;
use tokio::time::Instant;

/// Tells the time of day. No decision rests on it.
#[derive(Clone, Copy, Debug)]
pub struct WallClock(Source);

#[derive(Clone, Copy, Debug)]
enum Source {
    System,
    Simulated { start: Timestamp, origin: Instant },
}

// === impl WallClock ===

impl WallClock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// Creates a clock that now shows `start_seconds` since 1970, and advances with tokio's clock, so that tests can
    /// pause it.
    pub fn simulated(start_seconds: u32) -> Self {
        Self(Source::Simulated {
            start: Timestamp::from_second(start_seconds.into())
                .expect("the next century is within a timestamp's range"),
            origin: Instant::now(),
        })
    }

    /// Returns the time of day.
    pub fn now(&self) -> Timestamp {
        match self.0 {
            #[expect(
                clippy::disallowed_methods,
                reason = "the one reading of the system clock, for people to read"
            )]
            Source::System => Timestamp::now(),
            Source::Simulated { start, origin } => start
                .checked_add(origin.elapsed())
                .unwrap_or(Timestamp::MAX),
        }
    }
}
