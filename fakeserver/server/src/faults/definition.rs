//! The definition of a fault: one type a fault, in a file of its own.

use std::fmt::Debug;

use http::StatusCode;
use rand::{rngs::ChaCha8Rng, seq::IndexedRandom};

use super::{
    CatalogueEntry, Fault, FrameFacts, FrameVerdict, RequestFacts, RequestVerdict,
    fault_rule::Effect,
};

/// The longest time that a parameter may name: a day.
const DURATION_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// An invalid parameter by its name in JSON, with the reason.
pub(super) type Problem = (&'static str, String);

/// A fault: its entry in the catalogue, the bounds of its parameters, and its effect. The type holds the parameters.
pub(super) trait Definition: Debug + Copy + Default + Send + 'static {
    const ENTRY: CatalogueEntry;

    /// Returns an invalid parameter.
    fn problem(self) -> Option<Problem> {
        None
    }

    /// Draws parameters for a random plan.
    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let _ = rng;
        Self::default()
    }

    /// Returns the verdict on a request; `None` if the fault does not apply to it.
    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let _ = request;
        None
    }

    /// Returns the verdict on a frame; `None` if the fault does not apply to it.
    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let _ = frame;
        None
    }

    /// Returns the effect. A fault that remembers something between occasions returns its own.
    fn effect(self) -> Box<dyn Effect> {
        Box::new(Stateless(self))
    }
}

/// A [`Definition`] behind a pointer.
pub(super) trait AnyDefinition: Debug {
    fn entry(&self) -> &'static CatalogueEntry;
    fn problem(&self) -> Option<Problem>;
    fn drawn(&self, rng: &mut ChaCha8Rng) -> Fault;
    fn effect(&self) -> Box<dyn Effect>;
}

/// The effect of a fault that remembers nothing between occasions.
#[derive(Debug)]
struct Stateless<D>(D);

/// Returns the problem of a duration of more than a day.
pub(super) fn too_long(parameter: &'static str, ms: u64) -> Option<Problem> {
    let is_too_long = ms > DURATION_MAX_MS;
    is_too_long.then(|| (parameter, format!("{ms} ms is more than a day")))
}

/// Returns the status code of a checked parameter.
pub(super) fn status_code(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns one of `choices`.
pub(super) fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    *choices.choose(rng).expect("there are choices")
}

/// Returns whether `value` is the default of its type, for serde.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(super) fn is_true(value: &bool) -> bool {
    *value
}

// === impl AnyDefinition ===

impl<D: Definition + Into<Fault>> AnyDefinition for D {
    fn entry(&self) -> &'static CatalogueEntry {
        const { &D::ENTRY }
    }

    fn problem(&self) -> Option<Problem> {
        Definition::problem(*self)
    }

    fn drawn(&self, rng: &mut ChaCha8Rng) -> Fault {
        D::drawn(rng).into()
    }

    fn effect(&self) -> Box<dyn Effect> {
        Definition::effect(*self)
    }
}

// === impl Stateless ===

impl<D: Definition> Effect for Stateless<D> {
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        self.0.on_request(request)
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        self.0.on_frame(frame)
    }
}
