//! The lines that one run of a container has written, up to a bound.

use std::{collections::VecDeque, mem};

use bytes::Bytes;
use jiff::Timestamp;

/// The size limit of one log: the oldest lines go first.
pub(super) const LOG_MAX_BYTES: usize = 256 << 10;
/// The length limit of one line. The rest of a longer one is a line of its own, as in a file of a container runtime.
pub(super) const LINE_MAX_BYTES: usize = 16 << 10;

/// The stream to which a line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

/// One line, without the newline at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) at: Timestamp,
    pub(crate) stream: OutputStream,
    pub(crate) text: Bytes,
}

/// The lines of one run of a container, the newest of them, numbered from 0.
///
/// # Memory
///
/// At most 256 KiB, counting each line with its fixed part.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: VecDeque<Line>,
    bytes: usize,
    /// The number of lines that were dropped: the number of the first one that is kept.
    dropped: u64,
    is_ended: bool,
}

// === impl Line ===

impl Line {
    /// Returns the bytes that it counts for.
    fn size(&self) -> usize {
        self.text.len() + mem::size_of::<Self>()
    }
}

// === impl Log ===

impl Log {
    /// Appends the lines of `text`. A newline at its end begins no further line.
    pub(crate) fn write(&mut self, at: Timestamp, stream: OutputStream, text: &str) {
        for line in text.lines() {
            let bytes = Bytes::copy_from_slice(line.as_bytes());
            if bytes.is_empty() {
                self.push(Line {
                    at,
                    stream,
                    text: bytes,
                });
                continue;
            }
            for from in (0..bytes.len()).step_by(LINE_MAX_BYTES) {
                let to = bytes.len().min(from + LINE_MAX_BYTES);
                self.push(Line {
                    at,
                    stream,
                    text: bytes.slice(from..to),
                });
            }
        }
    }

    fn push(&mut self, line: Line) {
        self.bytes += line.size();
        self.lines.push_back(line);
        while self.bytes > LOG_MAX_BYTES
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.size();
            self.dropped += 1;
        }
    }

    /// Notes that the container has ended: nothing more is written.
    pub(crate) fn end(&mut self) {
        self.is_ended = true;
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns the number of the first line that is kept.
    pub(crate) fn first_number(&self) -> u64 {
        self.dropped
    }

    /// Returns the number that the next line will have.
    pub(crate) fn next_number(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// Returns the number of the first of the last `count` lines.
    pub(crate) fn tail(&self, count: u64) -> u64 {
        self.next_number().saturating_sub(count).max(self.dropped)
    }

    /// Returns the lines from `number` on. Those that were dropped are left out.
    pub(crate) fn lines_from(&self, number: u64) -> impl Iterator<Item = &Line> {
        let skipped = usize::try_from(number.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        self.lines.iter().skip(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &Log, from: u64) -> Vec<&str> {
        let lines = log.lines_from(from);
        lines
            .map(|line| str::from_utf8(&line.text).unwrap())
            .collect()
    }

    fn written(text: &str) -> Log {
        let mut log = Log::default();
        log.write(Timestamp::UNIX_EPOCH, OutputStream::Stdout, text);
        log
    }

    #[test]
    fn a_text_has_as_many_lines_as_it_has_newlines() {
        assert_eq!(texts(&written("a\n\nb\n"), 0), ["a", "", "b"]);
        assert_eq!(texts(&written("a\nb"), 0), ["a", "b"]);
        assert_eq!(texts(&written(""), 0), [""; 0]);
        let long = "x".repeat(LINE_MAX_BYTES + 1);
        assert_eq!(written(&long).next_number(), 2);
    }

    #[test]
    fn the_oldest_lines_go_when_there_are_too_many() {
        let mut log = Log::default();
        for number in 0..10_000 {
            let text = format!("line {number} {}", "x".repeat(100));
            log.write(Timestamp::UNIX_EPOCH, OutputStream::Stderr, &text);
            assert!(log.bytes <= LOG_MAX_BYTES);
        }
        assert_eq!(log.next_number(), 10_000);
        assert!(log.lines.len() > 1_000, "{}", log.lines.len());
        // A reader that has fallen behind continues with the oldest remaining line.
        assert!(texts(&log, 0)[0].starts_with(&format!("line {} ", log.dropped)));
        assert!(texts(&log, 9_998)[0].starts_with("line 9998 "));
        assert_eq!(texts(&log, 20_000), [""; 0]);
    }

    #[test]
    fn a_tail_has_at_most_all_lines() {
        let log = written("a\nb\nc");
        assert_eq!(texts(&log, log.tail(2)), ["b", "c"]);
        assert_eq!(texts(&log, log.tail(9)), ["a", "b", "c"]);
        assert_eq!(texts(&log, log.tail(0)), [""; 0]);
    }
}
