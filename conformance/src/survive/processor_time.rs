//! The processor time of this process and of its children, by which campaigns choose how many runs go side by side.

use std::{fs, time::Duration};

/// The unit of the times in `/proc`, on every Linux that Rust runs on.
const TICK: Duration = Duration::from_millis(10);
/// The share of the processors that runs may keep busy: a subject that has to wait for one is late with its writes.
const BUSY_MAX: f64 = 0.7;

/// Returns the processor time that this process and its children have taken; nothing where the system does not tell.
pub(super) fn taken() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    TICK * ticks(&text).unwrap_or_default()
}

/// Returns the sum of the four times in a line of `/proc/PID/stat`.
fn ticks(line: &str) -> Option<u32> {
    // The name of the program may hold spaces and brackets.
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let times = fields.get(11..15)?;
    times.iter().map(|time| time.parse::<u32>().ok()).sum()
}

/// Returns the number of runs side by side on so many processors, each of which keeps `busy` of them, and `most` at most.
pub(super) fn runs(busy: f64, cores: usize, most: usize) -> usize {
    let mut count = 1;
    #[expect(
        clippy::cast_precision_loss,
        reason = "the numbers of runs and processors are small"
    )]
    while count < most && (count + 1) as f64 * busy <= cores as f64 * BUSY_MAX {
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_whatever_the_program_is_called() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 0 0 11 2 300 4000 20 0 1 0 5 6 7";
        assert_eq!(ticks(line), Some(4_313));
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn busy_subjects_run_with_fewer_beside_them() {
        assert_eq!(runs(0.01, 2, 16), 16);
        assert_eq!(runs(0.19, 2, 16), 7);
        assert_eq!(runs(3.0, 2, 16), 1);
    }
}
