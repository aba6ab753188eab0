//! Tokens of expressions.

use std::ops::Range;

/// A token with its position in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) kind: TokenKind,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Ident(String),
    /// A name between backquotes, which no expression of a server may have.
    EscapedIdent,
    Int(String),
    Uint(String),
    Double(String),
    String(String),
    Bytes(Vec<u8>),
    /// A text with the code of no character.
    BadText,
    /// A symbol, or one of the words `in`, `true`, `false` and `null`.
    Symbol(&'static str),
    End,
}

/// Symbols, longer ones before those that they begin with.
const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "-", "+", "*", "/", "%", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}",
];
/// The words that are symbols.
const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// Reads the characters of an expression.
struct Lexer<'a> {
    text: &'a [char],
    at: usize,
    /// True if the text that is being read has the code of no character.
    has_bad_code: bool,
}

/// Splits an expression into tokens. The error is the position of the first character that begins no token.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, usize> {
    let source: Vec<Option<char>> = source.chars().map(Some).collect();
    let (tokens, unknown) = all_tokens(&source);
    match unknown.first() {
        Some(range) => Err(range.start),
        None => Ok(tokens),
    }
}

/// Splits an expression into tokens, and returns the ranges of the characters that belong to no token.
pub(super) fn all_tokens(source: &[Option<char>]) -> (Vec<Token>, Vec<Range<usize>>) {
    let text: Vec<char> = source.iter().flatten().copied().collect();
    let mut lexer = Lexer {
        text: &text,
        at: 0,
        has_bad_code: false,
    };
    let (mut all, mut unknown) = (Vec::new(), Vec::new());
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        let Some(kind) = lexer.next().or_else(|| lexer.shorter(at)) else {
            let end = lexer.end_of_unknown(at);
            unknown.push(at..end);
            lexer.at = end;
            continue;
        };
        let is_end = kind == TokenKind::End;
        let end = lexer.at;
        all.push(Token { at, end, kind });
        if is_end {
            return (all, unknown);
        }
    }
}

// === impl Lexer ===

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn is_digit(&self, ahead: usize) -> bool {
        self.peek(ahead)
            .is_some_and(|letter| letter.is_ascii_digit())
    }

    fn skip_blanks(&mut self) {
        while let Some(letter) = self.peek(0) {
            if letter == '/' && self.peek(1) == Some('/') {
                self.take_while(|letter| letter != '\n');
            } else if matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let rest = &self.text[self.at..];
        let taken: Vec<char> = rest
            .iter()
            .copied()
            .take_while(|letter| is_part(*letter))
            .collect();
        self.at += taken.len();
        taken.into_iter().collect()
    }

    fn next(&mut self) -> Option<TokenKind> {
        let Some(first) = self.peek(0) else {
            return Some(TokenKind::End);
        };
        if first.is_ascii_digit() || (first == '.' && self.is_digit(1)) {
            return Some(self.number());
        }
        if let Some((prefix, is_raw, is_bytes)) = self.quoted_prefix() {
            self.at += prefix;
            return self.quoted(is_raw, is_bytes);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let name = self.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let word = WORDS.into_iter().find(|word| *word == name);
            return Some(word.map_or(TokenKind::Ident(name), TokenKind::Symbol));
        }
        if let Some(end) = self.escaped_ident_end() {
            self.at = end;
            return Some(TokenKind::EscapedIdent);
        }
        let symbol = SYMBOLS.into_iter().find(|symbol| {
            let mut letters = symbol.chars().enumerate();
            letters.all(|(ahead, letter)| self.peek(ahead) == Some(letter))
        })?;
        self.at += symbol.len();
        Some(TokenKind::Symbol(symbol))
    }

    /// Reads the token with which a text begins that does not end: its prefix, or an empty text before a third quote.
    fn shorter(&mut self, at: usize) -> Option<TokenKind> {
        self.at = at;
        let (prefix, _, is_bytes) = self.quoted_prefix()?;
        let quote = self.peek(prefix);
        if self.peek(prefix + 1) == quote {
            self.at += prefix + 2;
            return Some(if is_bytes {
                TokenKind::Bytes(Vec::new())
            } else {
                TokenKind::String(String::new())
            });
        }
        let name: String = self.text[at..at + prefix].iter().collect();
        self.at += prefix;
        (prefix > 0).then_some(TokenKind::Ident(name))
    }

    /// Returns the end of the characters that are read before it is known that they are no token.
    fn end_of_unknown(&mut self, at: usize) -> usize {
        self.at = at;
        match self.peek(0) {
            Some('"' | '\'') => {
                let _ = self.quoted(false, false);
            }
            Some('`') => {
                self.at += 1;
                self.take_while(is_of_escaped_ident);
                self.at += 1;
            }
            Some('&' | '|' | '=') => self.at += 2,
            _ => self.at += 1,
        }
        self.at.min(self.text.len())
    }

    /// Returns the length of the prefix of a text that begins here, and whether it is raw, and bytes.
    fn quoted_prefix(&self) -> Option<(usize, bool, bool)> {
        let is = |ahead: usize, letter: char| {
            self.peek(ahead)
                .is_some_and(|found| found.eq_ignore_ascii_case(&letter))
        };
        let bytes = usize::from(is(0, 'b'));
        let raw = usize::from(is(bytes, 'r'));
        let length = bytes + raw;
        matches!(self.peek(length), Some('"' | '\'')).then_some((length, raw == 1, bytes == 1))
    }

    fn quoted(&mut self, is_raw: bool, is_bytes: bool) -> Option<TokenKind> {
        let quote = self.peek(0);
        let is_triple = self.peek(1) == quote && self.peek(2) == quote;
        let width = if is_triple { 3 } else { 1 };
        self.at += width;
        self.has_bad_code = false;
        let mut bytes = Vec::new();
        while !(0..width).all(|ahead| self.peek(ahead) == quote) {
            let letter = self.peek(0)?;
            self.at += 1;
            match letter {
                '\n' | '\r' if !is_triple => return None,
                '\\' if !is_raw => self.escape(is_bytes, &mut bytes)?,
                // Ends of lines are normalized.
                '\r' => {
                    if self.peek(0) != Some('\n') {
                        bytes.push(b'\n');
                    }
                }
                letter => push(&mut bytes, letter),
            }
        }
        self.at += width;
        if self.has_bad_code {
            return Some(TokenKind::BadText);
        }
        Some(if is_bytes {
            TokenKind::Bytes(bytes)
        } else {
            TokenKind::String(String::from_utf8(bytes).ok()?)
        })
    }

    fn escaped_ident_end(&self) -> Option<usize> {
        let rest = self.text[self.at..].strip_prefix(&['`'])?;
        let length = rest
            .iter()
            .take_while(|letter| is_of_escaped_ident(**letter))
            .count();
        (length > 0 && rest.get(length) == Some(&'`')).then_some(self.at + length + 2)
    }

    fn escape(&mut self, is_bytes: bool, bytes: &mut Vec<u8>) -> Option<()> {
        let letter = self.peek(0)?;
        self.at += 1;
        let simple = match letter {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '`' | '?' => letter,
            'x' | 'X' => return self.code(2, 16, is_bytes, bytes),
            'u' => return self.code(4, 16, false, bytes),
            'U' => return self.code(8, 16, false, bytes),
            '0'..='3' => {
                self.at -= 1;
                return self.code(3, 8, is_bytes, bytes);
            }
            _ => return None,
        };
        push(bytes, simple);
        Some(())
    }

    fn code(&mut self, width: usize, radix: u32, is_byte: bool, bytes: &mut Vec<u8>) -> Option<()> {
        let mut digits = String::new();
        for _ in 0..width {
            let digit = self.peek(0)?;
            self.at += 1;
            digits.extend(digit.is_digit(radix).then_some(digit));
            if !digit.is_digit(radix) {
                return None;
            }
        }
        let code = u32::from_str_radix(&digits, radix).ok()?;
        if is_byte {
            bytes.push(u8::try_from(code).ok()?);
        } else {
            let letter = char::from_u32(code);
            self.has_bad_code |= letter.is_none();
            push(bytes, letter.unwrap_or_default());
        }
        Some(())
    }

    fn number(&mut self) -> TokenKind {
        let is_hex = self.peek(0) == Some('0')
            && self.peek(1) == Some('x')
            && self.peek(2).is_some_and(|digit| digit.is_ascii_hexdigit());
        if is_hex {
            self.at += 2;
            let digits = self.take_while(|digit| digit.is_ascii_hexdigit());
            return self.integer(format!("0x{digits}"));
        }
        let mut digits = self.take_while(|digit| digit.is_ascii_digit());
        let mut is_double = false;
        if self.peek(0) == Some('.') && self.is_digit(1) {
            self.at += 1;
            is_double = true;
            let fraction = self.take_while(|digit| digit.is_ascii_digit());
            digits = format!("{digits}.{fraction}");
        }
        let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if matches!(self.peek(0), Some('e' | 'E')) && self.is_digit(1 + signed) {
            is_double = true;
            let sign: String = self.text[self.at + 1..=self.at + signed].iter().collect();
            self.at += 1 + signed;
            let exponent = self.take_while(|digit| digit.is_ascii_digit());
            digits = format!("{digits}e{sign}{exponent}");
        }
        if is_double {
            return TokenKind::Double(digits);
        }
        self.integer(digits)
    }

    fn integer(&mut self, digits: String) -> TokenKind {
        if matches!(self.peek(0), Some('u' | 'U')) {
            self.at += 1;
            return TokenKind::Uint(digits);
        }
        TokenKind::Int(digits)
    }
}

fn push(bytes: &mut Vec<u8>, letter: char) {
    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

fn is_of_escaped_ident(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_.-/ ".contains(letter)
}
