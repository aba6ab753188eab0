//! The pauses between tries that fail again and again.

use std::time::Duration;

/// Returns the pause after a number of failures: `first` after one, and twice as long after each further one, but no longer than
/// `longest`.
pub(super) fn backoff(first: Duration, failures: u32, longest: Duration) -> Duration {
    let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_pause_up_to_the_longest() {
        let after = |failures| backoff(Duration::from_secs(1), failures, Duration::from_secs(10));
        let pauses = [0, 1, 2, 3, 4, 5, u32::MAX].map(|failures| after(failures).as_secs());
        assert_eq!(pauses, [1, 1, 2, 4, 8, 10, 10]);
    }
}
