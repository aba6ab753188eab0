//! The protocol from the harness's side, decided line by line, without a process.

use std::time::Duration;

use tokio::time::Instant;

use super::{Command, Message, error::Breach};

/// The maximal length of a line.
pub(super) const LINE_MAX_BYTES: usize = 4 << 20;
/// The maximal number of lines within a second. A relist of all objects of a plan has a few hundred.
const LINES_A_SECOND_MAX: u64 = 10_000;
/// The number of characters of an invalid line in an error.
const SHOWN_MAX_CHARS: usize = 80;

/// One conversation with a process.
#[derive(Debug)]
pub(super) struct Conversation {
    answer_limit: Duration,
    /// The time by which it has to introduce itself, until it has.
    hello_due: Option<Instant>,
    /// The number of lines of its input.
    input_count: u64,
    /// The number of lines of its output.
    output_count: u64,
    /// The number of the input line with the open question, and its time.
    question: Option<(u64, Instant)>,
    /// The beginning of the second in which lines are counted, and the number of lines before it.
    second: Option<(Instant, u64)>,
}

// === impl Conversation ===

impl Conversation {
    /// Begins a conversation. The hello is due within `answer_limit` of `now`, and so is the answer to each question.
    pub(super) fn new(answer_limit: Duration, now: Instant) -> Self {
        Self {
            answer_limit,
            hello_due: Some(now + answer_limit),
            input_count: 0,
            output_count: 0,
            question: None,
            second: None,
        }
    }

    /// Notes a line of input.
    pub(super) fn note_sent(&mut self, command: &Command, now: Instant) {
        self.input_count += 1;
        if *command == Command::Cache {
            self.question = Some((self.input_count, now));
        }
    }

    /// Notes and parses a line of output.
    pub(super) fn receive(&mut self, line: &str, now: Instant) -> Result<Message, Breach> {
        self.output_count += 1;
        self.count(now)?;
        let message = serde_json::from_str(line).map_err(|error| self.no_message(line, &error))?;
        match (&message, self.hello_due) {
            (Message::Hello(_), Some(_)) => self.hello_due = None,
            (Message::Hello(_), None) => {
                return Err(self.no_message(line, &"it has said hello before"));
            }
            (_, Some(_)) => return Err(self.no_message(line, &"it has not said hello before")),
            (_, None) => {}
        }
        if matches!(message, Message::Cache { .. }) && self.question.take().is_none() {
            let line = self.output_count;
            return Err(Breach::Unasked { line });
        }
        Ok(message)
    }

    /// Returns the breach of an invalid message in the last line.
    pub(super) fn no_message(&self, line: &str, why: &dyn ToString) -> Breach {
        let mut text: String = line.chars().take(SHOWN_MAX_CHARS).collect();
        if text.len() < line.len() {
            text.push_str("...");
        }
        Breach::NoMessage {
            line: self.output_count,
            text,
            why: why.to_string(),
            example: self.hello_due.map_or("synced", |_| "hello"),
        }
    }

    /// Returns the breach of an unreadable line.
    pub(super) fn no_line(&self, why: &dyn ToString) -> Breach {
        Breach::NoLine {
            line: self.output_count + 1,
            why: why.to_string(),
            bytes_max: LINE_MAX_BYTES,
        }
    }

    /// Returns the time by which the hello or an answer is due, if one is.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let answer_due = self.question.map(|(_, at)| at + self.answer_limit);
        self.hello_due.or(answer_due)
    }

    /// Returns the breach of a missing hello or answer.
    pub(super) fn overdue(&self) -> Breach {
        if self.hello_due.is_some() {
            let limit = self.answer_limit;
            return Breach::NoHello { limit };
        }
        Breach::NoAnswer {
            command: self.question.map_or(0, |(command, _)| command),
            limit: self.answer_limit,
        }
    }

    /// Returns the breach of an unread input.
    pub(super) fn not_read(&self) -> Breach {
        Breach::NotRead {
            command: self.input_count + 1,
            limit: self.answer_limit,
        }
    }

    /// Returns the number of lines of output.
    pub(super) fn output_count(&self) -> u64 {
        self.output_count
    }

    fn count(&mut self, now: Instant) -> Result<(), Breach> {
        let line = self.output_count;
        let (since, before) = self.second.unwrap_or((now, 0));
        let is_same = now.saturating_duration_since(since) < Duration::from_secs(1);
        let (since, before) = if is_same {
            (since, before)
        } else {
            (now, line - 1)
        };
        self.second = Some((since, before));
        if line - before > LINES_A_SECOND_MAX {
            let lines_max = LINES_A_SECOND_MAX;
            return Err(Breach::TooManyLines { line, lines_max });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Conversation, LINES_A_SECOND_MAX};
    use crate::participants::subjects::external::{Command, Message, error::Breach};

    const SYNCED: &str = r#"{"say":"synced"}"#;
    const EMPTY: &str = r#"{"say":"cache","objects":[]}"#;

    const HELLO: &str = r#"{"say":"hello"}"#;

    /// Begins a conversation with a process that has said hello.
    fn conversation() -> (Conversation, Instant) {
        let now = Instant::now();
        let mut talk = Conversation::new(Duration::from_secs(5), now);
        assert!(talk.receive(HELLO, now).is_ok());
        (talk, now)
    }

    #[test]
    fn the_first_line_is_a_hello_and_no_other_line_is() {
        let now = Instant::now();
        let mut talk = Conversation::new(Duration::from_secs(5), now);
        assert_eq!(talk.deadline(), Some(now + Duration::from_secs(5)));
        let limit = Duration::from_secs(5);
        assert_eq!(talk.overdue(), Breach::NoHello { limit });
        let text = talk.receive(SYNCED, now).unwrap_err().to_string();
        let want = r#"it has not said hello before; expected one as {"say":"hello"}"#;
        assert!(text.ends_with(want), "{text}");
        assert!(talk.receive(HELLO, now).is_ok());
        assert_eq!(talk.deadline(), None);
        let text = talk.receive(HELLO, now).unwrap_err().to_string();
        assert!(text.contains("it has said hello before"), "{text}");
    }

    #[test]
    fn a_question_is_answered_once() {
        let (mut talk, now) = conversation();
        assert_eq!(talk.deadline(), None);
        talk.note_sent(&Command::Cache, now);
        assert_eq!(talk.deadline(), Some(now + Duration::from_secs(5)));
        // Another message is no answer.
        assert_eq!(talk.receive(SYNCED, now), Ok(Message::Synced));
        assert!(talk.deadline().is_some());
        assert!(talk.receive(EMPTY, now).is_ok());
        assert_eq!(talk.deadline(), None);
        assert_eq!(talk.receive(EMPTY, now), Err(Breach::Unasked { line: 4 }));
    }

    #[test]
    fn a_breach_names_the_line_and_the_expected_message() {
        let (mut talk, now) = conversation();
        assert!(talk.receive(SYNCED, now).is_ok());
        let long = "garbage ".repeat(40);
        let text = talk.receive(&long, now).unwrap_err().to_string();
        assert!(
            text.starts_with("line 3 of its output is `garbage "),
            "{text}"
        );
        assert!(text.contains("...`: expected value"), "{text}");
        assert!(
            text.ends_with(r#"expected one as {"say":"synced"}"#),
            "{text}"
        );
        talk.note_sent(&Command::Cache, now);
        let text = talk.overdue().to_string();
        assert!(
            text.contains(r#"line 1 of its input, {"do":"cache"}, within 5s"#),
            "{text}"
        );
        let text = talk.not_read().to_string();
        assert!(text.contains("line 2 of its input"), "{text}");
    }

    #[test]
    fn lines_without_end_are_noticed_and_many_over_time_are_not() {
        let (mut talk, now) = conversation();
        for _ in 0..3 * LINES_A_SECOND_MAX {
            // Just below the limit.
            let later =
                now + Duration::from_micros(101) * u32::try_from(talk.output_count()).unwrap();
            assert!(talk.receive(SYNCED, later).is_ok());
        }
        let (mut talk, now) = conversation();
        for _ in 1..LINES_A_SECOND_MAX {
            assert!(talk.receive(SYNCED, now).is_ok());
        }
        let line = LINES_A_SECOND_MAX + 1;
        assert!(matches!(
            talk.receive(SYNCED, now),
            Err(Breach::TooManyLines { line: text, .. }) if text == line
        ));
    }
}
