//! The options for the files of one run.

use std::path::{Path, PathBuf};

use clap::Args;

/// The files of one run.
#[derive(Clone, Debug, Default, Args)]
pub struct TraceArgs {
    /// Write the trace of the run to this file, compressed by a name that ends in `.gz`; `conformance trace FILE` reads it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a page that shows the run to this file, for a browser; it needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

// === impl TraceArgs ===

impl TraceArgs {
    /// Returns the files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.trace, &self.html].into_iter().flatten();
        files.map(PathBuf::as_path)
    }
}
