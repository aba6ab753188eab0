//! The vocabulary of objects: which of them a request selects, and which names they may have.

pub(crate) mod selectors;
