//! Patches that know the types they patch.

mod strategic;
mod print;

#[cfg(test)]
mod tests;

pub use self::strategic::{PatchError, merge_strategically};
