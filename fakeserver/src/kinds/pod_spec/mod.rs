//! Pod specs: rules that pods and templates of pods share.

pub(crate) mod defaults;
mod disabled;
pub(crate) mod validation;
pub(crate) mod warnings;

pub(crate) use self::disabled::drop_disabled;
