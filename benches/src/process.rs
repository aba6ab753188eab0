//! What the operating system says of this process.

use std::time::Duration;

use procfs::{ProcError, WithCurrentSystemInfo, process::Process};

/// What a process has used so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Memory that is resident now, in bytes.
    pub(crate) resident_bytes: u64,
    /// Processor time so far, user and system; to the clock tick, usually 10 ms.
    pub(crate) cpu: Duration,
}

/// Reads this process's usage from `/proc`.
pub(crate) fn usage() -> Result<Usage, ProcError> {
    let stat = Process::myself()?.stat()?;
    let ticks = stat.utime + stat.stime;
    let milliseconds = ticks * 1000 / procfs::ticks_per_second();
    Ok(Usage {
        resident_bytes: stat.rss_bytes().get(),
        cpu: Duration::from_millis(milliseconds),
    })
}
