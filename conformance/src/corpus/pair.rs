//! Two servers that get the same requests.

use serde_json::Value;
use thiserror::Error;

use super::{
    cause::Cause,
    normalise::normalised,
    request::{Case, SetUp},
    session::{Session, SetUpError},
    shrink::Shrinker,
};
use crate::{
    call::whole,
    golden::{self, EndpointError, differences},
};

/// Two servers that get the same requests.
#[derive(Clone, Debug)]
pub struct Pair {
    left: Session,
    right: Session,
}

/// A request that the servers answer differently.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The presumable cause.
    pub cause: Cause,
    /// The places that differ: `want` is the left answer, `got` the right one.
    pub differences: Vec<golden::Difference>,
}

/// The failure of a comparison: a server did not answer.
#[derive(Debug, Error)]
#[non_exhaustive]
#[error("the {side} server does not answer {request}")]
pub struct PairError {
    /// The server: `left` or `right`.
    pub side: &'static str,
    /// The request, in a line.
    pub request: String,
    /// The failure.
    #[source]
    pub source: EndpointError,
}

// === impl Pair ===

impl Pair {
    /// Creates a pair of two sessions.
    pub fn new(left: Session, right: Session) -> Self {
        Self { left, right }
    }

    /// Makes an object of the set-up on both servers.
    ///
    /// Returns the reason why they differ: one of them rejects it, or both do with other words.
    ///
    /// # Errors
    ///
    /// A server answers no request of this client.
    ///
    /// # Cancel safety
    ///
    /// The object may exist on one server or both; another call reads it.
    pub async fn set_up(&mut self, set_up: &SetUp) -> Result<Option<String>, SetUpError> {
        let (left, right) = futures::join!(self.left.set_up(set_up), self.right.set_up(set_up));
        let mut messages = Vec::new();
        for outcome in [left, right] {
            match outcome {
                Ok(()) => messages.push("it is made".to_owned()),
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => messages.push(whole(&error)),
            }
        }
        let is_equal = messages[0] == messages[1];
        Ok((!is_equal).then(|| {
            format!(
                "{}: left: {}; right: {}",
                set_up.request, messages[0], messages[1]
            )
        }))
    }

    /// Reads the objects of the set-up again on both servers, as [`Session::refresh`] does.
    ///
    /// # Errors
    ///
    /// A server does not answer.
    ///
    /// # Cancel safety
    ///
    /// Another call reads them all.
    pub async fn refresh(&mut self) -> Result<(), EndpointError> {
        let (left, right) = futures::join!(self.left.refresh(), self.right.refresh());
        left.and(right)
    }

    /// Sends a request to both servers; `None` if they answer equally.
    ///
    /// # Errors
    ///
    /// A server does not answer.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the request changes nothing.
    pub async fn compare(&self, case: &Case) -> Result<Option<Difference>, PairError> {
        let request = &case.request;
        let (left, right) = futures::join!(self.left.ask(request), self.right.ask(request));
        let answer = |side, answer: Result<Value, EndpointError>| match answer {
            Ok(answer) => Ok(normalised(&answer)),
            Err(source) => Err(PairError {
                side,
                request: request.to_string(),
                source,
            }),
        };
        let (left, right) = (answer("left", left)?, answer("right", right)?);
        let differences = differences(&left, &right);
        let found = Cause::of(&case.kind, &left, &right, &differences);
        Ok(found.map(|cause| Difference { cause, differences }))
    }

    /// Finds the smallest request that the servers answer differently for the same cause as this one.
    ///
    /// # Errors
    ///
    /// A server does not answer.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn shrink(
        &self,
        case: Case,
        difference: Difference,
    ) -> Result<(Case, Difference), PairError> {
        let mut shrinker = Shrinker::new(case);
        let mut smallest = difference;
        while let Some(candidate) = shrinker.candidate() {
            let difference = self.compare(&candidate).await?;
            if let Some(difference) = difference.filter(|found| found.cause == smallest.cause) {
                smallest = difference;
                shrinker.accept(candidate);
            }
        }
        Ok((shrinker.into_smallest(), smallest))
    }
}
