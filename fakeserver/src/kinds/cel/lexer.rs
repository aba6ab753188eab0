//! Tokens of CEL expressions.

/// A token with its position in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Ident(String),
    Int(String),
    Uint(String),
    Double(String),
    String(String),
    Bytes(Vec<u8>),
    Symbol(&'static str),
    End,
}

/// Symbols, longer ones first.
pub(super) const SYMBOLS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "-", "+", "*", "/", "%", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=",
];

/// Reads the characters of an expression.
struct Lexer<'a> {
    text: &'a [char],
    at: usize,
}

/// Splits an expression into tokens. The error is the position of what is none.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, usize> {
    let text: Vec<char> = source.chars().collect();
    let mut lexer = Lexer { text: &text, at: 0 };
    let mut all = Vec::new();
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        let kind = lexer.next().ok_or(at)?;
        let is_end = kind == TokenKind::End;
        all.push(Token { at, kind });
        if is_end {
            return Ok(all);
        }
    }
}

// === impl Lexer ===

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn skip_blanks(&mut self) {
        loop {
            if self.at < self.text.len() && self.peek(0).is_ascii_whitespace() {
                self.at += 1;
            } else if self.peek(0) == '/' && self.peek(1) == '/' {
                while self.at < self.text.len() && self.peek(0) != '\n' {
                    self.at += 1;
                }
            } else {
                return;
            }
        }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let from = self.at;
        while self.at < self.text.len() && is_part(self.text[self.at]) {
            self.at += 1;
        }
        self.text[from..self.at].iter().collect()
    }

    fn next(&mut self) -> Option<TokenKind> {
        if self.at >= self.text.len() {
            return Some(TokenKind::End);
        }
        if let Some((prefix, is_raw, is_bytes)) = self.quoted_prefix() {
            self.at += prefix;
            return self.quoted(is_raw, is_bytes);
        }
        let first = self.peek(0);
        if first.is_ascii_alphabetic() || first == '_' {
            return Some(TokenKind::Ident(
                self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'),
            ));
        }
        if first.is_ascii_digit() || (first == '.' && self.peek(1).is_ascii_digit()) {
            return Some(self.number());
        }
        let rest = &self.text[self.at..];
        let found = SYMBOLS.iter().find(|symbol| {
            let mut letters = symbol.chars().zip(rest);
            symbol.len() <= rest.len() && letters.all(|(a, b)| a == *b)
        })?;
        self.at += found.len();
        Some(TokenKind::Symbol(found))
    }

    /// Returns the length of the prefix of a text that begins here, and whether it is raw, and bytes.
    fn quoted_prefix(&self) -> Option<(usize, bool, bool)> {
        let (mut length, mut is_raw, mut is_bytes) = (0, false, false);
        loop {
            match self.peek(length) {
                '"' | '\'' => return Some((length, is_raw, is_bytes)),
                'r' | 'R' if !is_raw => is_raw = true,
                'b' | 'B' if !is_bytes => is_bytes = true,
                _ => return None,
            }
            length += 1;
        }
    }

    fn quoted(&mut self, is_raw: bool, is_bytes: bool) -> Option<TokenKind> {
        let quote = self.peek(0);
        let is_triple = self.peek(1) == quote && self.peek(2) == quote;
        let width = if is_triple { 3 } else { 1 };
        self.at += width;
        let mut bytes = Vec::new();
        loop {
            let letter = *self.text.get(self.at)?;
            if letter == quote && (0..width).all(|ahead| self.peek(ahead) == quote) {
                self.at += width;
                break;
            }
            if letter == '\n' && !is_triple {
                return None;
            }
            self.at += 1;
            if letter == '\\' && !is_raw {
                self.escape(is_bytes, &mut bytes)?;
            } else {
                if letter == '\\' {
                    // The character after it does not end a raw text.
                    push(&mut bytes, letter);
                    let next = *self.text.get(self.at)?;
                    self.at += 1;
                    push(&mut bytes, next);
                    continue;
                }
                push(&mut bytes, letter);
            }
        }
        Some(if is_bytes {
            TokenKind::Bytes(bytes)
        } else {
            TokenKind::String(String::from_utf8(bytes).ok()?)
        })
    }

    fn escape(&mut self, is_bytes: bool, bytes: &mut Vec<u8>) -> Option<()> {
        let letter = *self.text.get(self.at)?;
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
        let digits: String = self.text.get(self.at..self.at + width)?.iter().collect();
        self.at += width;
        let code = u32::from_str_radix(&digits, radix).ok()?;
        if is_byte {
            bytes.push(u8::try_from(code).ok()?);
        } else {
            push(bytes, char::from_u32(code)?);
        }
        Some(())
    }

    fn number(&mut self) -> TokenKind {
        if self.peek(0) == '0' && matches!(self.peek(1), 'x' | 'X') {
            self.at += 2;
            let digits = format!("0x{}", self.take_while(|c| c.is_ascii_hexdigit()));
            return self.integer(digits);
        }
        let mut digits = self.take_while(|c| c.is_ascii_digit());
        let mut is_double = false;
        if self.peek(0) == '.' && self.peek(1).is_ascii_digit() {
            is_double = true;
            self.at += 1;
            digits.push('.');
            digits.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        let signed = usize::from(matches!(self.peek(1), '+' | '-'));
        if matches!(self.peek(0), 'e' | 'E') && self.peek(1 + signed).is_ascii_digit() {
            is_double = true;
            for _ in 0..=signed {
                digits.push(self.peek(0));
                self.at += 1;
            }
            digits.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        if is_double {
            return TokenKind::Double(digits);
        }
        self.integer(digits)
    }

    fn integer(&mut self, digits: String) -> TokenKind {
        if matches!(self.peek(0), 'u' | 'U') {
            self.at += 1;
            return TokenKind::Uint(digits);
        }
        TokenKind::Int(digits)
    }
}

fn push(bytes: &mut Vec<u8>, letter: char) {
    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}
