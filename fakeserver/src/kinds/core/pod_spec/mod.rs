//! Pod specs: what pods and the templates of pods have in common.

pub(crate) mod defaults;
pub(crate) mod validation;
pub(crate) mod warnings;
