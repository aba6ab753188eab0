//! The usage of this process, as the operating system and the allocator report it.

use std::{error::Error, fs, time::Duration};

use procfs::{WithCurrentSystemInfo, process::Process};

#[cfg(feature = "heap")]
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// The resources that a process has used so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Memory that is resident now, in bytes.
    pub(crate) resident_bytes: u64,
    /// The most that ever was.
    pub(crate) peak_bytes: u64,
    /// The bytes on the heap now, where they are counted.
    pub(crate) heap_bytes: Option<u64>,
    /// Processor time so far, user and system; to the clock tick, usually 10 ms.
    pub(crate) cpu: Duration,
}

/// Reads this process's usage.
pub(crate) fn usage() -> Result<Usage, Box<dyn Error>> {
    let usage = of(&Process::myself()?)?;
    Ok(Usage {
        heap_bytes: heap_bytes(),
        ..usage
    })
}

/// The same of another process, of whose heap nothing is known.
pub(crate) fn usage_of(pid: i32) -> Result<Usage, Box<dyn Error>> {
    of(&Process::new(pid)?)
}

/// Forgets how much memory was resident up to now.
pub(crate) fn reset_peak() -> Result<(), Box<dyn Error>> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// The same of another process of this user.
pub(crate) fn reset_peak_of(pid: i32) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

fn of(process: &Process) -> Result<Usage, Box<dyn Error>> {
    let stat = process.stat()?;
    let ticks = stat.utime + stat.stime;
    let milliseconds = ticks * 1000 / procfs::ticks_per_second();
    let peak_kib = process.status()?.vmhwm.unwrap_or_default();
    Ok(Usage {
        resident_bytes: stat.rss_bytes().get(),
        peak_bytes: peak_kib * 1024,
        heap_bytes: None,
        cpu: Duration::from_millis(milliseconds),
    })
}

#[cfg(feature = "heap")]
fn heap_bytes() -> Option<u64> {
    u64::try_from(ALLOCATOR.current_usage()).ok()
}

#[cfg(not(feature = "heap"))]
fn heap_bytes() -> Option<u64> {
    None
}
