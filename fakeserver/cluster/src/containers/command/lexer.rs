//! The words and operators of scripts.

use super::grammar::{List, ParseError, SUPPORTED, parse_substitution};
use crate::containers::log::OutputStream;

/// The levels to which commands and substitutions may be nested.
pub(super) const DEPTH_MAX: usize = 32;

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPart {
    Text(String),
    /// A value that is known when the word is expanded. Without quotes it is split at blanks.
    Value {
        of: ValueSource,
        is_quoted: bool,
    },
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueSource {
    /// `$NAME`, `${NAME}` or `$?`.
    Variable(String),
    /// `$(…)`: what commands print.
    Commands(List),
    /// `$((…))`: an arithmetic expression.
    Expression(String),
}

/// A word, before its values are known. One that is quoted is there even if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) pieces: Vec<WordPart>,
    pub(super) is_quoted: bool,
    /// True if it begins with a name and `=`, both without quotes.
    pub(super) is_assignment: bool,
}

/// Output that goes to another stream, or nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    pub(super) from: OutputStream,
    pub(super) to: Option<OutputStream>,
}

/// A word or an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Redirection(Redirection),
    /// `;`
    Semicolon,
    /// The end of a line.
    Newline,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `)`
    Close,
    End,
}

/// Reads tokens from the characters of a script.
pub(super) struct Lexer<'a> {
    pub(super) chars: &'a [char],
    /// The index of the next character.
    pub(super) next: usize,
    /// The nesting depth of the construct that is being read.
    pub(super) depth: usize,
}

// === impl Word ===

impl Word {
    /// Returns the text of a word that has nothing but text, and no quotes.
    pub(super) fn literal(&self) -> Option<&str> {
        match &*self.pieces {
            [WordPart::Text(text)] if !self.is_quoted => Some(text),
            _ => None,
        }
    }

    fn push(&mut self, char: char) {
        match self.pieces.last_mut() {
            Some(WordPart::Text(text)) => text.push(char),
            _ => self.pieces.push(WordPart::Text(char.to_string())),
        }
    }

    fn push_value(&mut self, of: ValueSource, is_quoted: bool) {
        self.pieces.push(WordPart::Value { of, is_quoted });
    }
}

// === impl Lexer ===

impl Lexer<'_> {
    /// Reads the next token.
    ///
    /// # Errors
    ///
    /// The token is unsupported, or has no end.
    pub(super) fn token(&mut self) -> Result<Token, ParseError> {
        self.skip_blanks();
        let Some(char) = self.peek() else {
            return Ok(Token::End);
        };
        self.next += 1;
        match char {
            ';' => Ok(Token::Semicolon),
            '\n' => Ok(Token::Newline),
            ')' => Ok(Token::Close),
            '&' if self.takes('&') => Ok(Token::And),
            '|' if self.takes('|') => Ok(Token::Or),
            '>' => self.redirection(OutputStream::Stdout),
            '1' if self.takes('>') => self.redirection(OutputStream::Stdout),
            '2' if self.takes('>') => self.redirection(OutputStream::Stderr),
            _ => {
                self.next -= 1;
                self.word().map(Token::Word)
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.next).copied()
    }

    fn take(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.next += 1;
        Some(char)
    }

    fn takes(&mut self, char: char) -> bool {
        let is_next = self.peek() == Some(char);
        self.next += usize::from(is_next);
        is_next
    }

    /// Takes the characters for which `is_wanted` holds.
    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> String {
        let rest = &self.chars[self.next..];
        let taken: String = rest.iter().take_while(|char| is_wanted(**char)).collect();
        self.next += taken.chars().count();
        taken
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.next += 1,
                Some('\\') if self.chars.get(self.next + 1) == Some(&'\n') => self.next += 2,
                Some('#') => {
                    self.take_while(|char| char != '\n');
                }
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Result<Word, ParseError> {
        let mut word = Word::default();
        while let Some(char) = self.peek() {
            let is_end = matches!(char, ' ' | '\t' | '\n' | ';' | '&' | '|' | '>' | ')');
            if is_end && (word.is_quoted || !word.pieces.is_empty()) {
                break;
            }
            self.next += 1;
            match char {
                '\'' => self.single_quotes(&mut word)?,
                '"' => self.double_quotes(&mut word)?,
                '\\' => match self.take() {
                    None => return Err(ParseError::Incomplete),
                    Some('\n') => {}
                    Some(escaped) => word.push(escaped),
                },
                '$' => self.value(&mut word, false)?,
                '&' | '|' | '<' | '(' | '`' => return Err(unexpected(char)),
                '=' => {
                    word.is_assignment |= word.literal().is_some_and(is_name);
                    word.push('=');
                }
                _ => word.push(char),
            }
        }
        Ok(word)
    }

    fn single_quotes(&mut self, word: &mut Word) -> Result<(), ParseError> {
        word.is_quoted = true;
        loop {
            match self.take() {
                Some('\'') => return Ok(()),
                Some(char) => word.push(char),
                None => return Err(ParseError::Incomplete),
            }
        }
    }

    fn double_quotes(&mut self, word: &mut Word) -> Result<(), ParseError> {
        word.is_quoted = true;
        loop {
            match self.take().ok_or(ParseError::Incomplete)? {
                '"' => return Ok(()),
                '$' => self.value(word, true)?,
                '`' => return Err(unexpected('`')),
                '\\' => match self.take().ok_or(ParseError::Incomplete)? {
                    '\n' => {}
                    char @ ('"' | '\\' | '$' | '`') => word.push(char),
                    char => {
                        word.push('\\');
                        word.push(char);
                    }
                },
                char => word.push(char),
            }
        }
    }

    /// Reads the expansion behind a dollar sign.
    fn value(&mut self, word: &mut Word, is_quoted: bool) -> Result<(), ParseError> {
        if self.takes('{') {
            let name = self.take_while(|char| char != '}');
            if !self.takes('}') {
                return Err(ParseError::Incomplete);
            }
            if name != "?" && !is_name(&name) {
                let error = format!("${{{name}}}: bad substitution; {SUPPORTED}");
                return Err(ParseError::Refused(error));
            }
            word.push_value(ValueSource::Variable(name), is_quoted);
        } else if self.takes('?') {
            word.push_value(ValueSource::Variable("?".to_owned()), is_quoted);
        } else if self.takes('(') {
            let of = if self.takes('(') {
                ValueSource::Expression(self.expression()?)
            } else {
                ValueSource::Commands(parse_substitution(self)?)
            };
            word.push_value(of, is_quoted);
        } else {
            let name = self.take_while(is_name_char);
            match name.as_str() {
                "" => word.push('$'),
                _ => word.push_value(ValueSource::Variable(name), is_quoted),
            }
        }
        Ok(())
    }

    /// Reads an arithmetic expression and the two brackets at its end.
    fn expression(&mut self) -> Result<String, ParseError> {
        let mut expression = String::new();
        let mut open = 0_usize;
        loop {
            match self.take().ok_or(ParseError::Incomplete)? {
                ')' if open == 0 => break,
                char => {
                    match char {
                        '(' => open += 1,
                        ')' => open -= 1,
                        _ => {}
                    }
                    expression.push(char);
                }
            }
        }
        if self.takes(')') {
            Ok(expression)
        } else {
            Err(unexpected(')'))
        }
    }

    /// Reads what follows `>`.
    fn redirection(&mut self, from: OutputStream) -> Result<Token, ParseError> {
        self.takes('>');
        self.take_while(|char| char == ' ');
        let to = self.take_while(|char| !matches!(char, ' ' | '\t' | '\n' | ';' | '|' | ')'));
        let to = match to.as_str() {
            "&1" | "/dev/stdout" => Some(OutputStream::Stdout),
            "&2" | "/dev/stderr" => Some(OutputStream::Stderr),
            "/dev/null" => None,
            _ => return Err(ParseError::Refused(format!("> {to}: {SUPPORTED}"))),
        };
        Ok(Token::Redirection(Redirection { from, to }))
    }
}

/// Returns the error for a character that means nothing here.
pub(super) fn unexpected(char: char) -> ParseError {
    ParseError::Refused(format!("syntax error: unexpected {char:?}; {SUPPORTED}"))
}

pub(super) fn is_name(text: &str) -> bool {
    let is_first = |char: char| is_name_char(char) && !char.is_ascii_digit();
    text.starts_with(is_first) && text.chars().all(is_name_char)
}

pub(super) fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
