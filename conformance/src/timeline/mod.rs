//! A run of the simulation as a [trace file](crate::tracefile), and as a timeline for people.
//!
//! [`Teller`] turns observations into events while a run goes on. What only checkers need is left out: the server's log
//! at the end, statuses, counts, and unchanged caches.

mod teller;
mod caches;
mod causes;

use std::{
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use self::teller::Teller;
use fakeserver::cli::output;

use crate::{
    checkers::Violation,
    trace::{SharedSink, Sink as _, Trace},
    tracefile::{Filter, Header, TraceFile, text},
};

/// A trace file that is written while a run goes on.
#[derive(Clone)]
pub struct LiveFile(Arc<Mutex<Teller<Box<dyn Write + Send>>>>);

/// Formats the events of a trace and marks the broken promises.
pub fn timeline(trace: &Trace, violations: &[Violation]) -> String {
    let mut teller = Teller::new(Vec::new(), &Header::new("timeline"));
    for record in trace.records() {
        teller.observed(record.at, &record.observation);
    }
    let written = teller.finish(violations);
    let bytes = written.expect("memory takes what is written");
    let file = TraceFile::read(&String::from_utf8_lossy(&bytes));
    text(
        &file.expect("what was written can be read"),
        &Filter::default(),
    )
}

// === impl LiveFile ===

impl LiveFile {
    /// Creates the file, or replaces it. By a name that ends in `.gz` it is compressed.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let teller = Teller::new(output::create(path)?, header);
        Ok(Self(Arc::new(Mutex::new(teller))))
    }

    /// Returns the sink for the observations of a run.
    pub fn sink(&self) -> SharedSink {
        Arc::clone(&self.0) as SharedSink
    }

    /// Adds the broken promises and the last line.
    ///
    /// # Errors
    ///
    /// Something could not be written.
    pub fn finish(&self, violations: &[Violation]) -> io::Result<()> {
        let mut teller: MutexGuard<'_, _> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        teller.end(violations)
    }
}

impl<W: Write> Teller<W> {
    /// Adds the broken promises and the last line, and returns what was written to.
    ///
    /// # Errors
    ///
    /// Something could not be written.
    pub fn finish(mut self, violations: &[Violation]) -> io::Result<W> {
        self.end(violations)?;
        Ok(self.into_inner())
    }
}

#[cfg(test)]
mod tests;
