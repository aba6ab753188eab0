//! Pod specs: rules that pods and templates of pods share.

pub mod defaults;
mod disabled;
pub mod validation;
pub mod warnings;

pub use self::disabled::drop_disabled;
