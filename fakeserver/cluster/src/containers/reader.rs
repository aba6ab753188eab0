//! Reads a log by the options of a request: from which line on, in which form, how much of it.

use bytes::{BufMut as _, Bytes, BytesMut};
use jiff::{Timestamp, tz::TimeZone};

pub(super) use fakeserver_server::verbs::LogSelection;

use super::log::{Line, Log};

/// The lines that are read at a time.
const BATCH_MAX: usize = 256;
/// RFC 3339 with all nine digits of the second, as kubelets write the time of a line.
const TIME_FORMAT: &str = "%Y-%m-%dT%H:%M:%S%.9fZ";

/// A position in a log, and the limits of the rest to be read.
#[derive(Debug)]
pub(crate) struct LogReader {
    next: u64,
    selection: LogSelection,
    left_bytes: u64,
}

// === impl LogReader ===

impl LogReader {
    /// Creates a reader of what `selection` selects of `log`.
    pub(crate) fn new(log: &Log, selection: LogSelection) -> Self {
        Self {
            next: selection.tail.map_or(0, |count| log.tail(count)),
            left_bytes: selection.limit_bytes.unwrap_or(u64::MAX),
            selection,
        }
    }

    /// Creates a reader of lines that are written to `log` from now on.
    pub(crate) fn at_end(log: &Log) -> Self {
        Self {
            next: log.next_number(),
            left_bytes: u64::MAX,
            selection: LogSelection::default(),
        }
    }

    /// Returns some of the next lines. An empty result means that no line is left.
    pub(crate) fn read_lines(&mut self, log: &Log) -> Vec<Line> {
        self.next = self.next.max(log.first_number());
        let mut lines = Vec::new();
        for line in log.lines_from(self.next) {
            if lines.len() == BATCH_MAX {
                break;
            }
            self.next += 1;
            if self.selection.since.is_none_or(|since| line.at >= since) {
                lines.push(line.clone());
            }
        }
        lines
    }

    /// Returns the text of the next lines; empty without any.
    pub(crate) fn read_text(&mut self, log: &Log) -> Bytes {
        let mut text = BytesMut::new();
        for line in self.read_lines(log) {
            if self.selection.has_timestamps {
                text.put_slice(timestamp(line.at).as_bytes());
                text.put_u8(b' ');
            }
            text.put_slice(&line.text);
            text.put_u8(b'\n');
        }
        let left = usize::try_from(self.left_bytes).unwrap_or(usize::MAX);
        text.truncate(left);
        self.left_bytes -= text.len() as u64;
        text.freeze()
    }

    /// Returns whether nothing more is to be read, whatever is written.
    pub(crate) fn is_full(&self) -> bool {
        self.left_bytes == 0
    }
}

fn timestamp(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime(TIME_FORMAT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::log::{LOG_MAX_BYTES, OutputStream};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    /// A log with a line of every second: 0 to 4.
    fn log() -> Log {
        let mut log = Log::default();
        for second in 0..5 {
            log.write(at(second), OutputStream::Stdout, &second.to_string());
        }
        log
    }

    fn read(selection: LogSelection) -> String {
        let log = log();
        let text = LogReader::new(&log, selection).read_text(&log);
        String::from_utf8(text.to_vec()).unwrap()
    }

    #[test]
    fn lines_are_selected_by_their_number_then_by_their_time() {
        let all = LogSelection::default();
        assert_eq!(read(all.clone()), "0\n1\n2\n3\n4\n");
        let tail = |tail, since| LogSelection {
            tail: Some(tail),
            since,
            ..all.clone()
        };
        assert_eq!(read(tail(2, None)), "3\n4\n");
        assert_eq!(read(tail(0, None)), "");
        assert_eq!(read(tail(2, Some(at(4)))), "4\n");
        assert_eq!(read(tail(9, Some(at(2)))), "2\n3\n4\n");
    }

    #[test]
    fn a_limit_of_bytes_counts_times_and_newlines() {
        let selection = LogSelection {
            has_timestamps: true,
            limit_bytes: Some(35),
            ..LogSelection::default()
        };
        assert_eq!(
            read(selection.clone()),
            "1970-01-01T00:00:00.000000000Z 0\n19"
        );
        let log = log();
        let mut reader = LogReader::new(&log, selection);
        assert!(!reader.is_full());
        reader.read_text(&log);
        assert!(reader.is_full());
    }

    #[test]
    fn a_reader_continues_at_its_position_and_skips_dropped_lines() {
        let mut log = log();
        let mut reader = LogReader::at_end(&log);
        let mut all = LogReader::new(&log, LogSelection::default());
        assert_eq!(reader.read_text(&log), "");
        log.write(at(9), OutputStream::Stderr, "new");
        assert_eq!(reader.read_text(&log), "new\n");
        let many = "x\n".repeat(LOG_MAX_BYTES);
        log.write(at(10), OutputStream::Stdout, &many);
        let first = log.first_number();
        assert!(first > 5);
        let read: usize = std::iter::from_fn(|| {
            let lines = all.read_lines(&log);
            (!lines.is_empty()).then_some(lines.len())
        })
        .sum();
        assert_eq!(first + read as u64, log.next_number());
    }
}
