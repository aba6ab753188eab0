//! Wire transcripts of a real API server, replayed against another one.
//!
//! [`stored()`] returns the transcripts of `conformance/golden/`, [`Transcript::parse`] reads another. [`play`] sends
//! the requests to the server of an [`Endpoint`], and a [`Verdict`] compares the normalised answers with the recorded
//! ones. A [`Scenario`] has requests only, and becomes a transcript with the answers of a server.

mod transcript;
mod stored;
pub(crate) mod patterns;
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
    player::{PlayError, Playback, PlayedStep, play},
    scenario::{Scenario, ScenarioError},
    stored::stored,
    transcript::{Action, Step, Transcript},
    verdict::{Mismatch, Verdict},
};

pub(crate) use self::{compare::shown, variables::replaced};

#[cfg(test)]
mod tests;
