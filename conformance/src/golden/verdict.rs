//! What became of a transcript: which steps are as recorded, and in what the others differ.

use super::{
    compare::{Difference, differences, ignore},
    player::Played,
    transcript::Transcript,
};

/// A transcript that was played, compared with what was recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The name of the transcript.
    pub name: String,
    /// How many steps have an answer to compare.
    pub compared_count: usize,
    /// How many of them were answered as recorded.
    pub matched_count: usize,
    /// How many of them were not played.
    pub not_played_count: usize,
    /// The others, in order.
    pub mismatches: Vec<Mismatch>,
}

/// A step that was not answered as recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The name of the step.
    pub step: String,
    /// What was asked, in a line.
    pub request: String,
    /// In what the answer differs; never empty.
    pub differences: Vec<Difference>,
}

// === impl Verdict ===

impl Verdict {
    /// Compares what was played, step by step from the first, with what was recorded.
    pub fn of(transcript: &Transcript, played: &[Played]) -> Self {
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

    /// Whether nothing differs in what was played.
    pub fn is_match(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Whether the server seems to have seen the transcript before: it refused the first thing that was to be made, because
    /// that is there.
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
