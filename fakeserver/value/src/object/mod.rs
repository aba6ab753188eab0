//! Objects as values: selectors, the pairs that they select by, and errors of objects put in behind the API.

mod error;
mod pairs;
pub mod selectors;

pub use self::{
    error::ObjectError,
    pairs::{Pairs, PairsIter},
};
