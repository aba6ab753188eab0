//! The command of a process under test.

use std::{sync::Arc, time::Duration};

/// The default time for an answer. Many processes may be starting at once.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// The default time to exit after the end of the input.
const ENDING_LIMIT: Duration = Duration::from_secs(10);

/// The command of a process under test, and its time limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The command line for the shell, `sh -c`.
    pub command: Arc<str>,
    /// The time to answer a question and to read a command; 30 s by default.
    pub answer_limit: Duration,
    /// The time to exit after the end of the input; 10 s by default.
    pub ending_limit: Duration,
}

// === impl Program ===

impl Program {
    /// Creates a program that the shell runs.
    pub fn new(command: impl Into<Arc<str>>) -> Self {
        Self {
            command: command.into(),
            answer_limit: ANSWER_LIMIT,
            ending_limit: ENDING_LIMIT,
        }
    }

    setters! {
        /// Limits the time for an answer.
        with_answer_limit(limit: Duration) |this| this.answer_limit = limit;
        /// Limits the time to exit.
        with_ending_limit(limit: Duration) |this| this.ending_limit = limit;
    }
}
