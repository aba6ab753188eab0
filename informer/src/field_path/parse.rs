//! From the text of a path to its steps.

use super::{ParseFieldPathError, Step};

/// The characters that end a name, or change what follows.
const SPECIAL: [char; 8] = ['.', '[', ']', '{', '}', '\\', '\'', '"'];

struct Parser<'a> {
    text: &'a str,
    /// The end of the path itself.
    end: usize,
    position: usize,
}

/// Returns true if `name` can be written after a dot without escapes.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "*" && !name.contains(SPECIAL)
}

pub(super) fn steps(text: &str) -> Result<Vec<Step>, ParseFieldPathError> {
    let mut parser = Parser {
        text,
        end: text.len(),
        position: 0,
    };
    parser.take_braces()?;
    let mut steps = Vec::new();
    // `spec` is `.spec`.
    if parser.peek().is_some_and(|next| !matches!(next, '.' | '[')) {
        steps.push(parser.name()?);
    }
    while let Some(next) = parser.peek() {
        parser.position += 1;
        steps.push(match next {
            '.' => parser.name()?,
            '[' => parser.bracket()?,
            // A name ends where another step begins, or at what it refuses.
            _ => return Err(parser.error_at(parser.position - 1, "a step without a dot")),
        });
    }
    if steps.is_empty() {
        return Err(parser.error("no field"));
    }
    Ok(steps)
}

// === impl Parser ===

impl Parser<'_> {
    fn take_braces(&mut self) -> Result<(), ParseFieldPathError> {
        if self.peek() != Some('{') {
            return Ok(());
        }
        if !self.text.ends_with('}') {
            return Err(self.error_at(self.end, "a brace that is not closed"));
        }
        self.position += 1;
        self.end -= 1;
        Ok(())
    }

    /// The name after a dot.
    fn name(&mut self) -> Result<Step, ParseFieldPathError> {
        let start = self.position;
        let mut name = String::new();
        while let Some(next) = self.peek() {
            match next {
                '.' | '[' => break,
                '\\' => {
                    self.position += 1;
                    let escaped = self.next();
                    name.push(escaped.ok_or_else(|| self.error("nothing after a backslash"))?);
                }
                ']' | '{' | '}' | '\'' | '"' => {
                    return Err(self.error("a character that needs a backslash"));
                }
                _ => {
                    name.push(next);
                    self.position += next.len_utf8();
                }
            }
        }
        match (name.as_str(), self.position - start) {
            ("", _) => Err(self.error("no name after a dot")),
            ("*", 1) => Ok(Step::Each),
            _ => Ok(Step::Field(name.into())),
        }
    }

    /// Parses the text between brackets, the first of which was taken.
    fn bracket(&mut self) -> Result<Step, ParseFieldPathError> {
        let start = self.position;
        let step = match self.next() {
            Some('*') => Step::Each,
            Some(quote @ ('\'' | '"')) => Step::Field(self.quoted(quote)?.into()),
            _ => return Err(self.error_at(start, "neither [*] nor a quoted key")),
        };
        match self.next() {
            Some(']') => Ok(step),
            _ => Err(self.error("a bracket that is not closed")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, ParseFieldPathError> {
        let mut key = String::new();
        loop {
            match self.next() {
                Some(next) if next == quote => return Ok(key),
                Some('\\') => key.extend(self.next()),
                Some(next) => key.push(next),
                None => return Err(self.error("a quote that is not closed")),
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..self.end].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    fn error(&self, reason: &'static str) -> ParseFieldPathError {
        self.error_at(self.position, reason)
    }

    fn error_at(&self, position: usize, reason: &'static str) -> ParseFieldPathError {
        ParseFieldPathError {
            text: self.text.to_owned(),
            position,
            reason,
        }
    }
}
