//! Pod specs: rules that pods and templates of pods share.

pub(crate) mod defaults;
pub(crate) mod validation;
pub(crate) mod warnings;
