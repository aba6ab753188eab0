//! Breaches of the protocol by a process.

use std::time::Duration;

use crate::trace::Failure;

/// A breach of the protocol. Lines of input and of output are counted from 1 each.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Breach {
    /// The system cannot run the command.
    #[error("cannot be started: {0}")]
    NotStarted(String),
    /// It ended before its input did.
    #[error(
        "{how} after line {lines} of its output; expected it to go on until its input ends{output_text}"
    )]
    Died {
        /// The exit status, in words.
        how: String,
        lines: u64,
        /// The last line of its standard error, introduced.
        output_text: String,
    },
    /// It closed its output and did not exit.
    #[error(
        "closed its output after line {lines}, and goes on; expected more lines of it{output_text}"
    )]
    OutputClosed { lines: u64, output_text: String },
    /// A line is no message of the protocol, or not the one that is due.
    #[error(
        "line {line} of its output is `{text}`: {why}; expected one as {{\"say\":\"{example}\"}}"
    )]
    NoMessage {
        line: u64,
        /// The line, truncated.
        text: String,
        why: String,
        /// The message that is due.
        example: &'static str,
    },
    /// It did not introduce itself.
    #[error("has not said {{\"say\":\"hello\"}} within {limit:?} of its start")]
    NoHello { limit: Duration },
    /// A line is too long, or no UTF-8.
    #[error("line {line} of its output: {why}; expected at most {bytes_max} bytes of UTF-8")]
    NoLine {
        line: u64,
        why: String,
        bytes_max: usize,
    },
    /// It prints without end.
    #[error(
        "line {line} of its output is one of more than {lines_max} within a second; expected a line for each change"
    )]
    TooManyLines { line: u64, lines_max: u64 },
    /// It answered without a question.
    #[error(
        "line {line} of its output says what the cache holds; expected that only after {{\"do\":\"cache\"}}"
    )]
    Unasked { line: u64 },
    /// It did not answer.
    #[error(
        "has not answered line {command} of its input, {{\"do\":\"cache\"}}, within {limit:?}; expected {{\"say\":\"cache\",\"objects\":[...]}}"
    )]
    NoAnswer { command: u64, limit: Duration },
    /// It did not read its input.
    #[error("has not read line {command} of its input within {limit:?}")]
    NotRead { command: u64, limit: Duration },
    /// It did not exit after the end of its input.
    #[error("has not ended within {limit:?} of the end of its input; it was killed")]
    NotEnded { limit: Duration },
}

// === impl Breach ===

impl Breach {
    /// Returns the kind of failure.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::NotStarted(_) | Self::Died { .. } => Failure::Ended,
            Self::OutputClosed { .. }
            | Self::NoMessage { .. }
            | Self::NoLine { .. }
            | Self::TooManyLines { .. }
            | Self::Unasked { .. } => Failure::Misspoke,
            Self::NoHello { .. }
            | Self::NoAnswer { .. }
            | Self::NotRead { .. }
            | Self::NotEnded { .. } => Failure::Unresponsive,
        }
    }
}
