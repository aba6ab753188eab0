//! Workloads: the rules of selectors, templates and counts that kinds of several groups share.

pub(crate) mod replicas;
pub(crate) mod validation;
pub(crate) mod warnings;
