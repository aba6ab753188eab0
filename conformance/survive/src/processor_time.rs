//! The processor time of this process and of its children, by which campaigns choose how many runs go side by side.

use std::time::Duration;

#[cfg(target_os = "linux")]
use procfs::process::Process;

/// The share of the processors that runs may keep busy: a subject that has to wait for one is late with its writes.
const BUSY_MAX: f64 = 0.7;

/// Returns the processor time that this process and its children have taken; nothing where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn taken() -> Duration {
    let Ok(stat) = Process::myself().and_then(|process| process.stat()) else {
        return Duration::ZERO;
    };
    let of_children = [stat.cutime, stat.cstime].map(i64::unsigned_abs);
    let ticks = stat.utime + stat.stime + of_children.iter().sum::<u64>();
    Duration::from_millis(ticks * 1_000 / procfs::ticks_per_second())
}

/// Returns nothing: this system is not asked.
#[cfg(not(target_os = "linux"))]
pub(super) fn taken() -> Duration {
    Duration::ZERO
}

/// Returns the number of concurrent runs on `processors`, each of which keeps `busy` of them, and `most` at most.
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
    use super::runs;

    #[test]
    fn busy_subjects_run_with_fewer_beside_them() {
        assert_eq!(runs(0.01, 2, 16), 16);
        assert_eq!(runs(0.19, 2, 16), 7);
        assert_eq!(runs(3.0, 2, 16), 1);
    }
}
