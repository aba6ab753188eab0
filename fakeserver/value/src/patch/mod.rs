//! Patches, as a real server applies them.
//!
//! JSON patches and merge patches need no schema. [`merge_strategically`] applies a strategic merge patch: a merge patch that knows, from the schema, which lists
//! merge and by which key. Its results, their order and its errors are those of apimachinery's package
//! `strategicpatch`. Only where that package panics, this one continues or returns an error.

mod location;
mod document;
mod error;
mod print;
mod lists;
mod strategic;
mod consumed;
mod touched;

#[cfg(test)]
mod tests;

pub use self::touched::touched_by;
pub use self::{
    consumed::consumed,
    document::{apply_operation, changed_items, difference, kind, merge_document, source},
};
pub use self::{error::PatchError, strategic::merge_strategically};
