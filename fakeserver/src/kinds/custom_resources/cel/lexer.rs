//! The tokens of an expression.

use super::ast::Literal;

/// A token with the number of the character at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Symbol(&'static str),
    Name(String),
    Value(Literal),
    End,
}

/// The symbols, longer ones before those that they begin with.
const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!",
    "?", ":", "+", "*", "/", "%",
];

/// Reads the tokens of a text; `None` if it has something that is none.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let letters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        letters: &letters,
        at: 0,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        let kind = lexer.next()?;
        let is_end = kind == TokenKind::End;
        tokens.push(Token { at, kind });
        if is_end {
            return Some(tokens);
        }
    }
}

struct Lexer<'t> {
    letters: &'t [char],
    at: usize,
}

// === impl Lexer ===

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(letter) = self.peek(0) {
            if letter == '/' && self.peek(1) == Some('/') {
                while self.peek(0).is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            } else if matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn next(&mut self) -> Option<TokenKind> {
        let Some(letter) = self.peek(0) else {
            return Some(TokenKind::End);
        };
        if letter.is_ascii_digit() || (letter == '.' && self.has_digit(1)) {
            return self.number();
        }
        if let Some(prefix) = self.text_prefix() {
            return self.text(&prefix);
        }
        if letter.is_ascii_alphabetic() || letter == '_' {
            return Some(self.name());
        }
        if letter == '`' {
            let end = (self.at + 1..self.letters.len()).find(|at| self.letters[*at] == '`')?;
            let name = self.letters[self.at + 1..end].iter().collect();
            self.at = end + 1;
            return Some(TokenKind::Name(name));
        }
        let found = SYMBOLS.iter().find(|symbol| {
            let mut letters = symbol.chars().enumerate();
            letters.all(|(ahead, letter)| self.peek(ahead) == Some(letter))
        });
        let symbol = found?;
        self.at += symbol.len();
        Some(TokenKind::Symbol(symbol))
    }

    fn has_digit(&self, ahead: usize) -> bool {
        self.peek(ahead)
            .is_some_and(|letter| letter.is_ascii_digit())
    }

    fn name(&mut self) -> TokenKind {
        let mut name = String::new();
        while let Some(letter) = self.peek(0)
            && (letter.is_ascii_alphanumeric() || letter == '_')
        {
            name.push(letter);
            self.at += 1;
        }
        match name.as_str() {
            "true" => TokenKind::Value(Literal::Bool(true)),
            "false" => TokenKind::Value(Literal::Bool(false)),
            "null" => TokenKind::Value(Literal::Null),
            "in" => TokenKind::Symbol("in"),
            _ => TokenKind::Name(name),
        }
    }

    fn digits(&mut self, is_digit: fn(&char) -> bool) -> String {
        let rest = &self.letters[self.at..];
        let digits: String = rest.iter().take_while(|one| is_digit(one)).collect();
        self.at += digits.len();
        digits
    }

    fn number(&mut self) -> Option<TokenKind> {
        let is_hex = self.peek(0) == Some('0') && matches!(self.peek(1), Some('x' | 'X'));
        if is_hex && self.peek(2).is_some_and(|one| one.is_ascii_hexdigit()) {
            self.at += 2;
            let digits = self.digits(char::is_ascii_hexdigit);
            return self.integer(&digits, 16);
        }
        let mut text = self.digits(char::is_ascii_digit);
        let mut is_double = false;
        if self.peek(0) == Some('.') && self.has_digit(1) {
            self.at += 1;
            is_double = true;
            text = format!("{text}.{}", self.digits(char::is_ascii_digit));
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let sign = self.peek(1).filter(|sign| matches!(sign, '+' | '-'));
            let skipped = 1 + usize::from(sign.is_some());
            if self.has_digit(skipped) {
                self.at += skipped;
                is_double = true;
                let sign = sign.map(String::from).unwrap_or_default();
                text = format!("{text}e{sign}{}", self.digits(char::is_ascii_digit));
            }
        }
        if is_double {
            let number = format!("0{text}").parse().ok()?;
            return Some(TokenKind::Value(Literal::Double(number)));
        }
        self.integer(&text, 10)
    }

    fn integer(&mut self, digits: &str, radix: u32) -> Option<TokenKind> {
        let number = u64::from_str_radix(digits, radix).ok()?;
        if matches!(self.peek(0), Some('u' | 'U')) {
            self.at += 1;
            return Some(TokenKind::Value(Literal::Uint(number)));
        }
        // The smallest integer is written as the negation of one that is too great by one.
        Some(TokenKind::Value(Literal::Int(number.cast_signed())))
    }

    /// Returns the prefix of a text that begins here: letters that say how it is read.
    fn text_prefix(&self) -> Option<String> {
        let mut prefix = String::new();
        for ahead in 0..3 {
            match self.peek(ahead)? {
                '"' | '\'' => return Some(prefix.to_ascii_lowercase()),
                letter @ ('r' | 'R' | 'b' | 'B') => prefix.push(letter),
                _ => return None,
            }
        }
        None
    }

    fn text(&mut self, prefix: &str) -> Option<TokenKind> {
        self.at += prefix.len();
        let quote = self.peek(0)?;
        let is_long = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if is_long { 3 } else { 1 };
        self.at += width;
        let (is_raw, is_bytes) = (prefix.contains('r'), prefix.contains('b'));
        let mut bytes = Vec::new();
        loop {
            if (0..width).all(|ahead| self.peek(ahead) == Some(quote)) {
                self.at += width;
                break;
            }
            let letter = self.peek(0)?;
            self.at += 1;
            if letter == '\\' && !is_raw {
                self.escape(is_bytes, &mut bytes)?;
            } else {
                bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        Some(TokenKind::Value(if is_bytes {
            Literal::Bytes(bytes)
        } else {
            Literal::Text(String::from_utf8(bytes).ok()?)
        }))
    }

    fn escape(&mut self, is_bytes: bool, bytes: &mut Vec<u8>) -> Option<()> {
        let letter = self.peek(0)?;
        self.at += 1;
        let plain = match letter {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '"' | '\'' | '`' | '?' => letter,
            'x' | 'X' => return self.code(2, 16, is_bytes, bytes),
            'u' => return self.code(4, 16, false, bytes),
            'U' => return self.code(8, 16, false, bytes),
            '0'..='3' => {
                self.at -= 1;
                return self.code(3, 8, is_bytes, bytes);
            }
            _ => return None,
        };
        bytes.extend(plain.encode_utf8(&mut [0; 4]).bytes());
        Some(())
    }

    fn code(
        &mut self,
        digits: usize,
        radix: u32,
        is_byte: bool,
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        let text: String = self
            .letters
            .get(self.at..self.at + digits)?
            .iter()
            .collect();
        self.at += digits;
        let code = u32::from_str_radix(&text, radix).ok()?;
        if is_byte {
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.extend(char::from_u32(code)?.encode_utf8(&mut [0; 4]).bytes());
        }
        Some(())
    }
}
