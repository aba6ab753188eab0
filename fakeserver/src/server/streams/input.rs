//! The standard input of a command, from a client.

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::sync::mpsc;

use super::{
    channels::STDOUT,
    output::{Gone, Output},
    terminal::Terminal,
};

/// The length limit of a line of commands. A longer one is taken in parts.
const LINE_MAX_BYTES: usize = 64 << 10;

/// The bytes of a client, in order.
pub(super) struct Input {
    receiver: mpsc::Receiver<Bytes>,
    /// The bytes that were not read yet.
    buffer: BytesMut,
    terminal: Option<Terminal>,
    is_ended: bool,
}

// === impl Input ===

impl Input {
    /// Creates the input that `receiver` brings, from a terminal or as it is.
    pub(super) fn new(receiver: mpsc::Receiver<Bytes>, is_terminal: bool) -> Self {
        Self {
            receiver,
            buffer: BytesMut::new(),
            terminal: is_terminal.then(Terminal::default),
            is_ended: false,
        }
    }

    /// Reads what comes next. Returns `None` at the end.
    pub(super) async fn read(&mut self, output: &mut Output) -> Result<Option<Bytes>, Gone> {
        while self.buffer.is_empty() {
            if !self.fill(output).await? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer.split().freeze()))
    }

    /// Reads a line. Returns `None` at the end.
    pub(super) async fn read_line(&mut self, output: &mut Output) -> Result<Option<String>, Gone> {
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
    async fn fill(&mut self, output: &mut Output) -> Result<bool, Gone> {
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
