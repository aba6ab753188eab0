//! Corpora of independent requests: recorded with the answers of a server, compared with another one, and generated.
//!
//! A [`Corpus`] is a file of lines. Its first lines are the set-up, which makes the objects that all others are about;
//! the others are dry runs and reads, which depend on nothing but the set-up. A [`Session`] plays both against the
//! server of an [`Endpoint`](crate::golden::Endpoint), [`normalised`] removes from an answer the parts that differ from
//! run to run, and a [`Cause`] groups what differs. An [`Overlay`] replaces answers by those of another version.
//!
//! A [`Generator`] makes such requests of a seed and of the documents of a server. A [`Pair`] sends each to two servers,
//! and shrinks those that they answer differently.

mod request;
mod file;
mod overlay;
mod normalise;
mod session;
mod cause;
mod tally;
mod shrink;
mod generate;
mod served;
mod pair;

pub use self::{
    cause::{Cause, Causes},
    file::{Corpus, CorpusError, Line},
    generate::Generator,
    normalise::normalised,
    overlay::{Overlay, OverlayError},
    pair::{Difference, Pair, PairError},
    request::{Body, Case, Request, SetUp},
    served::{ServedError, ServedKinds},
    session::{Session, SetUpError},
    tally::{Count, Tally},
};

#[cfg(test)]
mod tests;
