//! The standard input of a command, from a client.

use std::{collections::VecDeque, future::pending};

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::sync::mpsc;

use super::{
    channels::STDOUT,
    output::{Disconnection, Output},
    terminal::Terminal,
};

/// The length limit of a line of commands. A longer one is taken in parts.
const LINE_MAX_BYTES: usize = 64 << 10;
/// The messages of a client that wait to be read.
const QUEUE: usize = 16;
/// The bytes beside them that are heard ahead, as much as a pipe holds.
const AHEAD_MAX_BYTES: usize = 64 << 10;

/// The other end of an [`Input`]: takes data of the client, also while the command does not read.
///
/// # Memory
///
/// The messages of the queue, 64 KiB, and one message more.
pub(super) struct InputSender {
    /// `None` once the command reads no more, or the end of the input is due.
    sender: Option<mpsc::Sender<Bytes>>,
    ahead: VecDeque<Bytes>,
    ahead_bytes: usize,
    is_terminal: bool,
    is_ended: bool,
}

/// The bytes of a client, in order.
pub(super) struct Input {
    receiver: mpsc::Receiver<Bytes>,
    /// The bytes that were not read yet.
    buffer: BytesMut,
    terminal: Option<Terminal>,
    is_ended: bool,
}

// === impl InputSender ===

impl InputSender {
    /// Ends the input behind the data taken so far.
    pub(super) fn end(&mut self) {
        self.is_ended = true;
        self.settle();
    }

    /// Takes bytes of the client. A terminal drops input beyond its limit, and a command that reads no more drops all.
    pub(super) fn take(&mut self, bytes: Bytes) {
        let is_lost = self.is_terminal && self.is_full();
        if self.sender.is_some() && !self.is_ended && !is_lost {
            self.ahead_bytes += bytes.len();
            self.ahead.push_back(bytes);
        }
    }

    /// Returns whether the client is to be heard: of a pipe that is full, nothing more is taken.
    pub(super) fn hears(&self) -> bool {
        self.is_terminal || !self.is_full()
    }

    /// Forwards the next bytes once the command can take them. Without bytes the future never completes.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was handed on, and nothing is lost.
    pub(super) async fn hand_on(&mut self) {
        let sender = match &self.sender {
            Some(sender) if !self.ahead.is_empty() => sender,
            _ => return pending().await,
        };
        if let Ok(permit) = sender.reserve().await {
            if let Some(bytes) = self.ahead.pop_front() {
                self.ahead_bytes -= bytes.len();
                permit.send(bytes);
            }
        } else {
            self.ahead.clear();
            self.ahead_bytes = 0;
            self.is_ended = true;
        }
        self.settle();
    }

    fn settle(&mut self) {
        if self.is_ended && self.ahead.is_empty() {
            self.sender = None;
        }
    }

    fn is_full(&self) -> bool {
        self.ahead_bytes >= AHEAD_MAX_BYTES
    }
}

// === impl Input ===

impl Input {
    /// Creates the input of a command, from a terminal or unprocessed, with its sender.
    pub(super) fn new(is_terminal: bool) -> (InputSender, Self) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let sender = InputSender {
            sender: Some(sender),
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            is_terminal,
            is_ended: false,
        };
        let input = Self {
            receiver,
            buffer: BytesMut::new(),
            terminal: is_terminal.then(Terminal::default),
            is_ended: false,
        };
        (sender, input)
    }

    /// Reads the next bytes. Returns `None` at the end.
    pub(super) async fn read(
        &mut self,
        output: &mut Output,
    ) -> Result<Option<Bytes>, Disconnection> {
        while self.buffer.is_empty() {
            if !self.fill(output).await? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer.split().freeze()))
    }

    /// Reads a line. Returns `None` at the end.
    pub(super) async fn read_line(
        &mut self,
        output: &mut Output,
    ) -> Result<Option<String>, Disconnection> {
        loop {
            let end = memchr(b'\n', &self.buffer);
            let is_long = self.buffer.len() >= LINE_MAX_BYTES;
            if end.is_some() || is_long {
                let line = self.buffer.split_to(end.unwrap_or(LINE_MAX_BYTES));
                if end.is_some() {
                    let _newline = self.buffer.split_to(1);
                }
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            if !self.fill(output).await? {
                let last = self.buffer.split();
                let line = String::from_utf8_lossy(&last).into_owned();
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }

    /// Waits for more. Returns whether there may be more.
    async fn fill(&mut self, output: &mut Output) -> Result<bool, Disconnection> {
        if self.is_ended {
            return Ok(false);
        }
        let Some(bytes) = self.receiver.recv().await else {
            self.is_ended = true;
            return Ok(false);
        };
        match &mut self.terminal {
            None => self.buffer.extend_from_slice(&bytes),
            Some(terminal) => {
                let typed = terminal.take(&bytes);
                if !typed.echo.is_empty() {
                    output.write(STDOUT, &typed.echo).await?;
                }
                self.buffer.extend_from_slice(&typed.input);
                self.is_ended = typed.is_end;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// Sends parts of a kilobyte until no more is taken or heard, and returns their number.
    fn fill(sender: &mut InputSender) -> usize {
        let part = Bytes::from(vec![b'x'; 1 << 10]);
        let taken = (0..1_000).take_while(|_| {
            let before = sender.ahead_bytes;
            if sender.hears() {
                sender.take(part.clone());
            }
            while sender.hand_on().now_or_never().is_some() {}
            sender.ahead_bytes > before || sender.ahead_bytes == 0
        });
        taken.count()
    }

    #[test]
    fn unread_input_is_buffered_up_to_a_limit() {
        for is_terminal in [false, true] {
            let (mut sender, mut input) = Input::new(is_terminal);
            assert_eq!(fill(&mut sender), QUEUE + (AHEAD_MAX_BYTES >> 10));
            assert_eq!(sender.hears(), is_terminal, "a terminal loses the rest");
            sender.end();
            let mut received = 0;
            while let Some(bytes) = input.receiver.recv().now_or_never().flatten() {
                received += bytes.len();
                let _ = sender.hand_on().now_or_never();
            }
            assert_eq!(received, (QUEUE << 10) + AHEAD_MAX_BYTES);
            assert!(input.receiver.is_closed(), "the end comes after the rest");
        }
    }

    #[test]
    fn a_command_that_stops_reading_blocks_no_client() {
        let (mut sender, input) = Input::new(false);
        drop(input);
        for _ in 0..100 {
            sender.take(Bytes::from(vec![b'x'; 1 << 10]));
            let _ = sender.hand_on().now_or_never();
        }
        assert!(sender.hears());
        assert_eq!(sender.ahead_bytes, 0);
    }
}
