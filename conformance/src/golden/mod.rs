//! Wire transcripts of a real API server, replayed against another.
//!
//! [`stored()`] gives the transcripts of `conformance/golden/`, [`Transcript::parse`] reads another. [`play`] sends the requests
//! to a server, which an [`Endpoint`] names, and a [`Verdict`] tells where the normalised answers are not what was recorded.
//! A [`Scenario`] has requests only, and becomes a transcript when a server has answered them.

mod transcript;
mod stored;
mod normalise;
mod endpoint;
mod variables;
mod player;
mod compare;
mod verdict;
mod scenario;

pub use self::{
    compare::{Difference, differences, ignore},
    endpoint::{ControlError, Endpoint, EndpointError},
    normalise::Normaliser,
    player::{Playback, Played, Stopped, play},
    scenario::{Scenario, ScenarioError},
    stored::stored,
    transcript::{Action, Step, Transcript},
    verdict::{Mismatch, Verdict},
};

pub(crate) use self::compare::shown;

#[cfg(test)]
mod tests;
