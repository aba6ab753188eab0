//! The comparison of a played transcript with the recorded one.

use super::{
    compare::{Difference, differences, ignore},
    player::PlayedStep,
    transcript::Transcript,
};

/// The comparison of a played transcript with the recorded one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The name of the transcript.
    pub name: String,
    /// The number of steps with an answer to compare.
    pub compared_count: usize,
    /// The number of steps that were answered as recorded.
    pub matched_count: usize,
    /// The number of steps that were not played.
    pub not_played_count: usize,
    /// The steps with other answers, in order.
    pub mismatches: Vec<Mismatch>,
}

/// A step that was not answered as recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The name of the step.
    pub step: String,
    /// The request, in a line.
    pub request: String,
    /// The differences; at least one.
    pub differences: Vec<Difference>,
}

// === impl Verdict ===

impl Verdict {
    /// Compares the played steps, from the first on, with the recorded ones.
    pub fn of(transcript: &Transcript, played: &[PlayedStep]) -> Self {
        let mut verdict = Self {
            name: transcript.name.clone(),
            compared_count: transcript.compared_count(),
            matched_count: 0,
            not_played_count: 0,
            mismatches: Vec::new(),
        };
        let mut played = played.iter();
        for step in &transcript.steps {
            let played = played.next();
            let Some(mut want) = step.response.clone() else {
                continue;
            };
            let Some(played) = played else {
                verdict.not_played_count += 1;
                continue;
            };
            let mut got = played.response.clone().unwrap_or_default();
            for path in transcript.ignore.iter().chain(&step.request.ignore) {
                ignore(&mut want, path);
                ignore(&mut got, path);
            }
            let differences = differences(&want, &got);
            if differences.is_empty() {
                verdict.matched_count += 1;
                continue;
            }
            verdict.mismatches.push(Mismatch {
                step: step.id.clone(),
                request: step.request.action.to_string(),
                differences,
            });
        }
        verdict
    }

    /// Returns true if no played step differs.
    pub fn is_match(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Returns true if the server seems to have seen the transcript before: it rejected the first object to be created,
    /// because that exists.
    pub fn was_seen_before(&self) -> bool {
        let first = self.mismatches.first();
        first.is_some_and(|first| {
            first.differences.iter().any(|difference| {
                difference.path == ".status"
                    && difference.want == Some(201.into())
                    && difference.got == Some(409.into())
            })
        })
    }
}
