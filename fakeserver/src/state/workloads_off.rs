//! The controllers of workloads, without any.

/// The times and sizes of the controllers of workloads, of which there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Workloads {}
