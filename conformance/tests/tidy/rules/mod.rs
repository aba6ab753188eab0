//! The rules, one a file.

pub(crate) mod commands;
pub(crate) mod fields;
pub(crate) mod imports;
pub(crate) mod module_order;
pub(crate) mod modules;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod roles;
pub(crate) mod scratch;
pub(crate) mod sizes;
pub(crate) mod spawn;
pub(crate) mod versions;
pub(crate) mod wording;
