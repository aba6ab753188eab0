//! Checks of Kubernetes manifests against the API servers of several versions, in process, and comparisons of two sets of
//! manifests.
//!
//! [`ManifestSet`] has the objects of files, [`check()`] returns the findings of servers of some versions, and [`report`] prints
//! them. [`diff()`] returns the changes that a server makes.

mod finding;
mod sources;
mod position;
mod catalogue;
mod session;
mod verdict;
mod check;
mod difference;
pub mod report;
#[cfg(test)]
mod testing;

pub use self::{
    check::{CheckOptions, CheckReport, CheckedFile, Progress, check},
    difference::{ChangeKind, DiffReport, ObjectDiff, diff},
    finding::{Finding, ObjectName, Position, Rule, Severity},
    sources::{FILE_MAX_BYTES, FILES_MAX, ManifestSet, STDIN, SourceError},
};
