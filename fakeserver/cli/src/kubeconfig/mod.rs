//! Kubeconfigs: entries of a server are merged into a file, and removed from it when the server ends.
//!
//! A file that other programs have written keeps its bytes: comments, order, style and unknown fields. `edit` is the
//! pure core, text in and text out; `file` applies it to files, under kubectl's lock. Entries carry a `mark` that names
//! their process. It distinguishes entries of a killed server from those of a running one.

mod config;
mod mark;
mod server;
mod edit;
mod lock;
mod file;
mod error;

#[cfg(test)]
mod tests;

pub use self::{
    error::KubeconfigError,
    file::{AddedEntries, KubeconfigFile, quoted},
    server::{Credential, Kubeconfig},
};

/// The name of a server's context, unless it is given another.
pub const DEFAULT_CONTEXT: &str = "fakeserver";
