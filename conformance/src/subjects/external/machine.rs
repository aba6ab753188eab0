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
    told_count: u64,
    /// The number of lines of its output.
    said_count: u64,
    /// The number of the input line with the open question, and its time.
    asked: Option<(u64, Instant)>,
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
            told_count: 0,
            said_count: 0,
            asked: None,
            second: None,
        }
    }

    /// Notes a line of input.
    pub(super) fn told(&mut self, command: &Command, now: Instant) {
        self.told_count += 1;
        if *command == Command::Cache {
            self.asked = Some((self.told_count, now));
        }
    }

    /// Notes and parses a line of output.
    pub(super) fn heard(&mut self, line: &str, now: Instant) -> Result<Message, Breach> {
        self.said_count += 1;
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
        if matches!(message, Message::Cache { .. }) && self.asked.take().is_none() {
            let line = self.said_count;
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
            line: self.said_count,
            text,
            why: why.to_string(),
            example: self.hello_due.map_or("synced", |_| "hello"),
        }
    }

    /// Returns the breach of an unreadable line.
    pub(super) fn no_line(&self, why: &dyn ToString) -> Breach {
        Breach::NoLine {
            line: self.said_count + 1,
            why: why.to_string(),
            bytes_max: LINE_MAX_BYTES,
        }
    }

    /// Returns the time by which the hello or an answer is due, if one is.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let answer_due = self.asked.map(|(_, at)| at + self.answer_limit);
        self.hello_due.or(answer_due)
    }

    /// Returns the breach of a missing hello or answer.
    pub(super) fn overdue(&self) -> Breach {
        if self.hello_due.is_some() {
            let limit = self.answer_limit;
            return Breach::NoHello { limit };
        }
        Breach::NoAnswer {
            command: self.asked.map_or(0, |(command, _)| command),
            limit: self.answer_limit,
        }
    }

    /// Returns the breach of an unread input.
    pub(super) fn not_read(&self) -> Breach {
        Breach::NotRead {
            command: self.told_count + 1,
            limit: self.answer_limit,
        }
    }

    /// Returns the number of lines of output.
    pub(super) fn said_count(&self) -> u64 {
        self.said_count
    }

    fn count(&mut self, now: Instant) -> Result<(), Breach> {
        let line = self.said_count;
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
    use crate::subjects::external::{Command, Message, error::Breach};

    const SYNCED: &str = r#"{"say":"synced"}"#;
    const EMPTY: &str = r#"{"say":"cache","objects":[]}"#;

    const HELLO: &str = r#"{"say":"hello"}"#;

    /// Begins a conversation with a process that has said hello.
    fn conversation() -> (Conversation, Instant) {
        let now = Instant::now();
        let mut talk = Conversation::new(Duration::from_secs(5), now);
        assert!(talk.heard(HELLO, now).is_ok());
        (talk, now)
    }

    #[test]
    fn the_first_line_is_a_hello_and_no_other_line_is() {
        let now = Instant::now();
        let mut talk = Conversation::new(Duration::from_secs(5), now);
        assert_eq!(talk.deadline(), Some(now + Duration::from_secs(5)));
        let limit = Duration::from_secs(5);
        assert_eq!(talk.overdue(), Breach::NoHello { limit });
        let told = talk.heard(SYNCED, now).unwrap_err().to_string();
        let want = r#"it has not said hello before; expected one as {"say":"hello"}"#;
        assert!(told.ends_with(want), "{told}");
        assert!(talk.heard(HELLO, now).is_ok());
        assert_eq!(talk.deadline(), None);
        let told = talk.heard(HELLO, now).unwrap_err().to_string();
        assert!(told.contains("it has said hello before"), "{told}");
    }

    #[test]
    fn a_question_is_answered_once() {
        let (mut talk, now) = conversation();
        assert_eq!(talk.deadline(), None);
        talk.told(&Command::Cache, now);
        assert_eq!(talk.deadline(), Some(now + Duration::from_secs(5)));
        // Another message is no answer.
        assert_eq!(talk.heard(SYNCED, now), Ok(Message::Synced));
        assert!(talk.deadline().is_some());
        assert!(talk.heard(EMPTY, now).is_ok());
        assert_eq!(talk.deadline(), None);
        assert_eq!(talk.heard(EMPTY, now), Err(Breach::Unasked { line: 4 }));
    }

    #[test]
    fn what_is_wrong_names_the_line_and_what_was_expected() {
        let (mut talk, now) = conversation();
        assert!(talk.heard(SYNCED, now).is_ok());
        let long = "garbage ".repeat(40);
        let told = talk.heard(&long, now).unwrap_err().to_string();
        assert!(
            told.starts_with("line 3 of its output is `garbage "),
            "{told}"
        );
        assert!(told.contains("...`: expected value"), "{told}");
        assert!(
            told.ends_with(r#"expected one as {"say":"synced"}"#),
            "{told}"
        );
        talk.told(&Command::Cache, now);
        let told = talk.overdue().to_string();
        assert!(
            told.contains(r#"line 1 of its input, {"do":"cache"}, within 5s"#),
            "{told}"
        );
        let told = talk.not_read().to_string();
        assert!(told.contains("line 2 of its input"), "{told}");
    }

    #[test]
    fn lines_without_end_are_noticed_and_many_over_time_are_not() {
        let (mut talk, now) = conversation();
        for _ in 0..3 * LINES_A_SECOND_MAX {
            // Just below the limit.
            let later =
                now + Duration::from_micros(101) * u32::try_from(talk.said_count()).unwrap();
            assert!(talk.heard(SYNCED, later).is_ok());
        }
        let (mut talk, now) = conversation();
        for _ in 1..LINES_A_SECOND_MAX {
            assert!(talk.heard(SYNCED, now).is_ok());
        }
        let line = LINES_A_SECOND_MAX + 1;
        assert!(matches!(
            talk.heard(SYNCED, now),
            Err(Breach::TooManyLines { line: told, .. }) if told == line
        ));
    }
}
