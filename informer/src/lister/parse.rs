//! The grammar of label selectors.

use std::collections::BTreeSet;

use super::selector::{Requirement, Test};

/// The longest name and value of a label.
const NAME_LEN_MAX: usize = 63;
/// The longest prefix of a label's key.
const PREFIX_LEN_MAX: usize = 253;

/// A text is not a label selector. Trying again is useless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse label selector {text:?} at byte {position}: {reason}")]
pub struct ParseSelectorError {
    text: String,
    position: usize,
    reason: String,
}

/// The problem, and its token; the end of the text if there is none.
struct Refusal {
    token: usize,
    reason: String,
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
}

/// A word or an operator, and where it begins.
struct Token<'a> {
    text: &'a str,
    position: usize,
}

/// The requirements of a selector, in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, ParseSelectorError> {
    let tokens = tokens(text);
    let parser = Parser {
        tokens: &tokens,
        at: 0,
    };
    parser.selector().map_err(|refusal| {
        let token = tokens.get(refusal.token);
        ParseSelectorError {
            text: text.to_owned(),
            position: token.map_or(text.len(), |token| token.position),
            reason: refusal.reason,
        }
    })
}

/// Words, and the operators between them.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let is_operator = |c: char| matches!(c, '(' | ')' | ',' | '!' | '=' | '<' | '>');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if is_operator(first) {
            1
        } else {
            let end = rest.find(|c: char| is_operator(c) || is_space(c));
            end.unwrap_or(rest.len())
        };
        let position = text.len() - rest.len();
        let (token, after) = rest.split_at(len);
        tokens.push(Token {
            text: token,
            position,
        });
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

// === impl ParseSelectorError ===

impl ParseSelectorError {
    /// Returns the offset at which it stops being a selector, in bytes; the length of the text if it ends too early.
    pub fn position(&self) -> usize {
        self.position
    }
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn selector(mut self) -> Result<Vec<Requirement>, Refusal> {
        let mut requirements = Vec::new();
        if self.peek().is_none() {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.next() {
                None => return Ok(requirements),
                Some(",") => {}
                Some(token) => {
                    return Err(self.refuse_last(format!("found {token:?}, expected ','")));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, Refusal> {
        if self.take("!") {
            let key = self.key()?;
            return Ok(Requirement {
                key,
                test: Test::Absent,
            });
        }
        let key = self.key()?;
        let test = match self.peek() {
            None | Some(",") => Test::Exists,
            Some(operator) => {
                self.at += 1;
                self.test(operator)?
            }
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self, operator: &str) -> Result<Test, Refusal> {
        Ok(match operator {
            "=" | "==" => Test::Equal(self.value()?),
            "!=" => Test::NotEqual(self.value()?),
            "in" => Test::In(self.values()?),
            "notin" => Test::NotIn(self.values()?),
            ">" => Test::GreaterThan(self.number()?),
            "<" => Test::LessThan(self.number()?),
            other => {
                return Err(self.refuse_last(format!(
                    "found {other:?}, expected one of '=', '==', '!=', 'in', 'notin', '<', '>', ','"
                )));
            }
        })
    }

    fn key(&mut self) -> Result<String, Refusal> {
        let Some(token) = self.next() else {
            return Err(self.refuse_next("found the end, expected a key"));
        };
        let (prefix, name) = token
            .split_once('/')
            .map_or((None, token), |(prefix, name)| (Some(prefix), name));
        if prefix.is_some_and(|prefix| !is_subdomain(prefix))
            || name.is_empty()
            || !is_label_text(name)
        {
            return Err(self.refuse_last(format!("{token:?} is not the key of a label")));
        }
        Ok(token.to_owned())
    }

    /// A value, which may be empty: then there is no token for it.
    fn value(&mut self) -> Result<String, Refusal> {
        let value = match self.peek() {
            None | Some("," | ")") => "",
            Some(token) => {
                self.at += 1;
                token
            }
        };
        if !is_label_text(value) {
            return Err(self.refuse_last(format!("{value:?} is not the value of a label")));
        }
        Ok(value.to_owned())
    }

    fn values(&mut self) -> Result<BTreeSet<String>, Refusal> {
        if !self.take("(") {
            return Err(self.refuse_next("expected '(' after 'in' or 'notin'"));
        }
        let mut values = BTreeSet::new();
        if self.peek() == Some(")") {
            return Err(self.refuse_next("expected values between '(' and ')'"));
        }
        loop {
            values.insert(self.value()?);
            match self.next() {
                Some(")") => return Ok(values),
                Some(",") => {}
                Some(other) => {
                    let reason = format!("found {other:?}, expected ',' or ')'");
                    return Err(self.refuse_last(reason));
                }
                None => return Err(self.refuse_next("found the end, expected ',' or ')'")),
            }
        }
    }

    fn number(&mut self) -> Result<i64, Refusal> {
        let Some(token) = self.next() else {
            return Err(self.refuse_next("found the end, expected a number"));
        };
        // A sign is a number's, but not a label's, so that the server refuses it.
        let number = token.parse().ok().filter(|_| is_label_text(token));
        number.ok_or_else(|| {
            self.refuse_last(format!("{token:?} is not a number that a label can have"))
        })
    }

    /// Creates the error about the token that was taken last.
    fn refuse_last(&self, reason: String) -> Refusal {
        Refusal {
            token: self.at - 1,
            reason,
        }
    }

    /// Creates the error about the next token, or its absence.
    fn refuse_next(&self, reason: &str) -> Refusal {
        Refusal {
            token: self.at,
            reason: reason.to_owned(),
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.peek() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(|token| token.text)
    }
}

/// Letters and digits at both ends, `-`, `_` and `.` between; or nothing.
fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    bytes.len() <= NAME_LEN_MAX
        && bytes.iter().all(is_inner)
        && is_end(bytes.first())
        && is_end(bytes.last())
}

fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        bytes.first().is_some_and(is_plain)
            && bytes.last().is_some_and(is_plain)
            && bytes.iter().all(|byte| is_plain(byte) || *byte == b'-')
    };
    text.len() <= PREFIX_LEN_MAX && text.split('.').all(is_part)
}
