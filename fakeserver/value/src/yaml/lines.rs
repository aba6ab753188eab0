//! A text that is read line by line, so that the line is known at which a reader stopped.

use std::{
    cell::Cell,
    io::{self, BufRead, Read},
};

/// A reader of a text that counts its lines.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    /// The number of bytes that are left of the line that is handed out.
    of_line: usize,
    begun: &'a Cell<u64>,
}

// === impl Lines ===

impl<'a> Lines<'a> {
    /// Reads a text, and counts in `begun` the lines of which something was handed out.
    pub(super) fn new(text: &'a [u8], begun: &'a Cell<u64>) -> Self {
        Self {
            rest: text,
            of_line: 0,
            begun,
        }
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = self.fill_buf()?;
        let length = line.len().min(buffer.len());
        buffer[..length].copy_from_slice(&line[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Lines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.of_line == 0 && !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| *byte == b'\n');
            self.of_line = end.map_or(self.rest.len(), |end| end + 1);
            self.begun.set(self.begun.get() + 1);
        }
        Ok(&self.rest[..self.of_line])
    }

    fn consume(&mut self, amount: usize) {
        self.rest = &self.rest[amount..];
        self.of_line -= amount;
    }
}
