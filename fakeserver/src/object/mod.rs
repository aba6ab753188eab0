//! The vocabulary of objects: which of them a request selects, and which names they may have.

mod pairs;
pub(crate) mod selectors;

pub use self::pairs::{Pairs, PairsIter};
