//! The terminal to which the program prints.

use std::io::{self, IsTerminal as _};

use rustix::termios::tcgetwinsize;

/// The columns of a terminal that does not say how many it has.
const WIDTH_DEFAULT: usize = 80;

/// Returns the columns of the terminal, and endless ones for a file or a pipe.
pub(super) fn width() -> usize {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return usize::MAX;
    }
    let size = tcgetwinsize(stdout).map_or(0, |size| usize::from(size.ws_col));
    if size == 0 { WIDTH_DEFAULT } else { size }
}
