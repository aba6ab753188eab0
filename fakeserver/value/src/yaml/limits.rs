//! Limits on the work that a text can cause, beside its length.
//!
//! A real server has none of these, and takes minutes for some texts that these refuse.

/// The number of directives before a document. Each is compared with all before it.
const DIRECTIVES_MAX: usize = 100;
/// The length of the directives before a document. Each tag may repeat a prefix of them.
const DIRECTIVES_MAX_BYTES: usize = 8 * 1024;
/// The bytes that aliases may repeat in every text.
const REPEATED_BASE: usize = 1 << 20;
/// The bytes that aliases may repeat beside those, for each byte of the text.
const REPEATED_EACH: usize = 10;

/// The bytes that aliases may still repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeatable(usize);

// === impl Repeatable ===

impl Repeatable {
    /// Returns the limit of a text of this length.
    pub(super) fn of(length: usize) -> Self {
        Self(REPEATED_BASE + REPEATED_EACH * length)
    }

    /// Takes some bytes; false if there are not so many left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

/// Checks the directives before each document of a text.
///
/// # Errors
///
/// There are too many, or they are too long; the message names the line.
pub(super) fn check_directives(text: &str) -> Result<(), String> {
    let (mut is_before, mut count, mut length) = (true, 0, 0);
    for (number, line) in (1..).zip(text.split(is_break)) {
        if line.starts_with("...") {
            (is_before, count, length) = (true, 0, 0);
        } else if is_before && line.starts_with('%') {
            count += 1;
            length += line.len();
        } else {
            let line = line.trim_start_matches(['\u{feff}', ' ', '\t']);
            is_before = is_before && (line.is_empty() || line.starts_with('#'));
        }
        if count > DIRECTIVES_MAX || length > DIRECTIVES_MAX_BYTES {
            return Err(format!(
                "yaml: line {number}: exceeded max of {DIRECTIVES_MAX} directives and {DIRECTIVES_MAX_BYTES} bytes of them"
            ));
        }
    }
    Ok(())
}

/// Returns whether a character ends a line in YAML 1.1.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
