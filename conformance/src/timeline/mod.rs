//! A run of the simulation as a [trace file](crate::tracefile), and as a timeline for people.
//!
//! [`EventWriter`] turns observations into events during a run. Observations for checkers alone are left out: the server's log
//! at the end, statuses, counts, and unchanged caches.

mod event_writer;
mod caches;
mod causes;

use std::{
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use self::event_writer::EventWriter;
use fakeserver::cli::output;

use crate::{
    checkers::Violation,
    trace::{SharedSink, Sink as _, Trace},
    tracefile::{Filter, Header, TraceFile, text},
};

/// A trace file that is written during a run.
#[derive(Clone)]
pub struct LiveFile(Arc<Mutex<EventWriter<Box<dyn Write + Send>>>>);

/// Formats the events of a trace and marks the broken promises.
pub fn timeline(trace: &Trace, violations: &[Violation]) -> String {
    let mut writer = EventWriter::new(Vec::new(), &Header::new("timeline"));
    for record in trace.records() {
        writer.observed(record.at, &record.observation);
    }
    let written = writer.finish(violations);
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
        let writer = EventWriter::new(output::create(path)?, header);
        Ok(Self(Arc::new(Mutex::new(writer))))
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
        let mut writer: MutexGuard<'_, _> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.end(violations)
    }
}

impl<W: Write> EventWriter<W> {
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
