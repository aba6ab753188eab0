//! A terminal as far as commands need one: typed text is echoed, and passed on line by line.

/// The keys that are no text.
const INTERRUPT: u8 = 3;
const END: u8 = 4;
const BACKSPACE: u8 = 8;
const ESCAPE: u8 = 27;
const DELETE: u8 = 127;

/// The length limit of a line. What is typed beyond it is lost, as with a terminal of Linux.
const LINE_MAX_BYTES: usize = 4_095;

/// The line that is being typed.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    line: Vec<u8>,
}

/// The effect of typed keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TerminalEffect {
    /// The bytes to show.
    pub(super) echo: Vec<u8>,
    /// The lines that are complete.
    pub(super) input: Vec<u8>,
    /// True at the end of the input.
    pub(super) is_end: bool,
}

/// Returns whether the keys interrupt a command.
pub(super) fn is_interrupt(keys: &[u8]) -> bool {
    keys.contains(&INTERRUPT)
}

/// Returns text as a terminal wants it, with a return before each newline.
pub(super) fn with_returns(text: &[u8]) -> Vec<u8> {
    let mut with_returns = Vec::with_capacity(text.len());
    for byte in text {
        if *byte == b'\n' {
            with_returns.push(b'\r');
        }
        with_returns.push(*byte);
    }
    with_returns
}

// === impl Terminal ===

impl Terminal {
    /// Takes the keys that were typed.
    pub(super) fn take(&mut self, keys: &[u8]) -> TerminalEffect {
        let mut typed = TerminalEffect::default();
        for key in keys {
            match *key {
                b'\r' | b'\n' => {
                    typed.echo.extend(b"\r\n");
                    self.line.push(b'\n');
                    typed.input.append(&mut self.line);
                }
                END if self.line.is_empty() => typed.is_end = true,
                BACKSPACE | DELETE => {
                    if self.line.pop().is_some() {
                        typed.echo.extend(b"\x08 \x08");
                    }
                }
                // The rest of a key such as an arrow.
                ESCAPE => break,
                key if key < b' ' && key != b'\t' => {}
                _ if self.line.len() >= LINE_MAX_BYTES => {}
                key => {
                    typed.echo.push(key);
                    self.line.push(key);
                }
            }
        }
        typed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_and_handed_on() {
        let mut terminal = Terminal::default();
        let typed = terminal.take(b"lx");
        assert_eq!((&*typed.echo, &*typed.input), (&b"lx"[..], &b""[..]));
        let typed = terminal.take(b"\x7fs\recho");
        assert_eq!(typed.echo, b"\x08 \x08s\r\necho");
        assert_eq!(typed.input, b"ls\n");
        let typed = terminal.take(b"\x04\x1b[A");
        assert_eq!(typed, TerminalEffect::default());
        assert_eq!(terminal.take(b"\n").input, b"echo\n");
        assert!(terminal.take(b"\x04").is_end);
        let typed = terminal.take(&[b'x'; 5_000]);
        assert_eq!((typed.echo.len(), typed.input.len()), (4_095, 0));
        assert_eq!(terminal.take(b"\n").input.len(), 4_096);
        assert!(is_interrupt(b"a\x03"));
        assert_eq!(with_returns(b"a\nb"), b"a\r\nb");
    }
}
