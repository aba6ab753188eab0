//! What is run as a process under test.

use std::{sync::Arc, time::Duration};

/// How long a process may take to answer, where nobody says. Many of them may be starting at a time.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long it may take to end when it has been told to.
const ENDING_LIMIT: Duration = Duration::from_secs(10);

/// What is run as a process under test, and how long it is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// What the shell runs, `sh -c`.
    pub command: Arc<str>,
    /// How long it may take to answer a question, and to read a command; 30 s unless set.
    pub answer_limit: Duration,
    /// How long it may take to end when its input has ended; 10 s unless set.
    pub ending_limit: Duration,
}

// === impl Program ===

impl Program {
    /// What the shell makes of `command`.
    pub fn new(command: impl Into<Arc<str>>) -> Self {
        Self {
            command: command.into(),
            answer_limit: ANSWER_LIMIT,
            ending_limit: ENDING_LIMIT,
        }
    }

    /// It may take so long to answer.
    #[must_use]
    pub fn with_answer_limit(mut self, limit: Duration) -> Self {
        self.answer_limit = limit;
        self
    }

    /// It may take so long to end.
    #[must_use]
    pub fn with_ending_limit(mut self, limit: Duration) -> Self {
        self.ending_limit = limit;
        self
    }
}
