//! The origin of a report: the program that made it, its choice, and when.

use serde::Serialize;

use super::{campaign::Choice, plan::Family, subject::Subject};

/// The origin of a report.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// The version of this program.
    pub version: &'static str,
    /// The words before the options in a call of this program, with which lines that replay a plan begin.
    #[serde(skip)]
    pub program: &'static str,
    /// The words by which this program was called; none of a Rust test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub call: Vec<String>,
    /// The words of the subject's command; none of a function.
    pub command: Vec<String>,
    /// The chosen families of plans.
    pub families: Vec<Family>,
    /// The seed of pairs and changes.
    pub seed: u64,
    /// The number of runs at once.
    pub jobs: usize,
    /// The time of day at the beginning (RFC 3339).
    pub started: String,
    /// The duration of all runs in seconds.
    pub seconds: f64,
}

// === impl Origin ===

impl Origin {
    /// Returns that of a campaign which begins now.
    pub(super) fn of(subject: &Subject, choice: &Choice) -> Self {
        let command = match subject {
            Subject::Command(command) => {
                let words = [&command.program].into_iter().chain(&command.arguments);
                words.map(|word| word.display().to_string()).collect()
            }
            Subject::Function(_) => Vec::new(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            program: "survive",
            call: Vec::new(),
            command,
            families: choice.families.clone(),
            seed: choice.seed,
            jobs: 0,
            started: fakeserver::Clock::wall().now_text(),
            seconds: 0.0,
        }
    }
}
