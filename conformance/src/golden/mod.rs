//! Wire transcripts of a real API server, replayed against the fake one.
//!
//! [`Transcript::parse`] reads a file of `conformance/golden/`, [`play`] sends its requests to a server, and
//! [`differences`] tells where the normalised answers are not what was recorded.

mod transcript;
mod normalise;
mod player;
mod compare;

pub use self::{
    compare::{Difference, differences, ignore},
    normalise::Normaliser,
    player::{Played, play},
    transcript::{Action, Step, Transcript},
};

#[cfg(test)]
mod tests;
