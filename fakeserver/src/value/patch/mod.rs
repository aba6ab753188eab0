//! Patches that know the types they patch.
//!
//! [`merge_strategically`] applies a strategic merge patch: a merge patch that knows, from the schema, which lists merge
//! and by which key. What it does, in which order, and the words of its errors are those of apimachinery's package
//! `strategicpatch`; only where that panics does it go on or answer an error.

mod error;
mod print;
mod lists;
mod strategic;

#[cfg(test)]
mod tests;

pub(crate) use self::print::print;
pub use self::{error::PatchError, strategic::merge_strategically};
