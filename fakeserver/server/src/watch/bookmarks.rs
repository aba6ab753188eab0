//! The times of a watch's bookmarks.

use std::time::Duration;

use tokio::time::Instant;

/// A client that loses its watch is at most this far behind.
const PERIOD: Duration = Duration::from_mins(1);
/// A watch receives its last bookmark this long before its deadline.
const BEFORE_DEADLINE: Duration = Duration::from_secs(2);

/// The times of one watch's bookmarks.
#[derive(Debug, Clone, Copy)]
pub(super) struct BookmarkTimes {
    pub(super) deadline: Instant,
}

// === impl BookmarkTimes ===

impl BookmarkTimes {
    /// The next time after `now`: in a minute, or shortly before the end, if that is sooner.
    pub(super) fn after(self, now: Instant) -> Instant {
        let periodic = now + PERIOD;
        match self.deadline.checked_sub(BEFORE_DEADLINE) {
            // The last bookmark gives the client a recent version to resume from: the deadline ends the stream right
            // after.
            Some(last) if last > now => periodic.min(last),
            _ => periodic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bookmarks_are_due_each_minute_and_shortly_before_the_end() {
        let start = Instant::now();
        let check = |deadline: u64, now: u64, expected: u64| {
            let times = BookmarkTimes {
                deadline: start + Duration::from_secs(deadline),
            };
            let next = times.after(start + Duration::from_secs(now));
            assert_eq!(next - start, Duration::from_secs(expected));
        };
        check(1_800, 0, 60);
        check(1_800, 60, 120);
        check(90, 60, 88);
        check(90, 88, 148);
        check(4, 0, 2);
        check(1, 0, 60);
    }
}
