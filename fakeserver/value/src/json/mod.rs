//! The JSON scanner: a tree with the order of keys, duplicate keys, and numbers as written.
//!
//! Clients compare error texts, so syntax errors have the messages and positions of Go's scanner.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::{Map, Number, Value};

/// The number of levels to which arrays and objects may nest in a text: the limit of `serde_json`, by which objects are read
/// again from the store and from disk.
pub const DEPTH_MAX: usize = 127;
/// The number of levels to which an object may nest, so that a list, a watch event or a review of it is still readable.
pub const OBJECT_DEPTH_MAX: usize = 100;

/// One JSON value, borrowing from the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(&'a str),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object: its pairs in order, duplicates included.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// The text is no JSON; the message is the API server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    message: String,
}

/// Reads one JSON document.
///
/// # Errors
///
/// The text is no JSON, has something after it, or nests deeper than [`DEPTH_MAX`].
pub fn parse(text: &[u8]) -> Result<Json<'_>, SyntaxError> {
    let mut parser = Parser {
        text,
        utf8: str::from_utf8(text).ok(),
        at: 0,
        depth: 0,
    };
    let value = parser.value()?;
    parser.space();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.unexpected("after top-level value")),
    }
}

/// Reads one JSON document as a plain value.
///
/// # Errors
///
/// The text is no JSON, or has a number that is no double, in Go's words.
pub fn parse_value(text: &[u8]) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_slice(text) {
        return Ok(value);
    }
    let document = parse(text).map_err(|error| error.message)?;
    // Go also takes halves of surrogate pairs, and bytes that are no text.
    match document.beyond_double() {
        Some(number) => Err(format!(
            "json: cannot unmarshal number {number} into Go value of type float64"
        )),
        None => Ok(document.to_value()),
    }
}

/// Returns Go's words for the first place at which `text` is no JSON; `None` if it is one JSON value.
pub fn syntax_error(text: &[u8]) -> Option<String> {
    parse(text).err().map(|error| error.message)
}

/// Returns whether arrays and objects nest to more than `levels` in `value`.
pub fn is_deeper_than(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(below)) => items.iter().any(|item| is_deeper_than(item, below)),
        (Value::Object(members), Some(below)) => {
            members.values().any(|member| is_deeper_than(member, below))
        }
        _ => false,
    }
}

struct Parser<'a> {
    text: &'a [u8],
    /// The same, if it is UTF-8.
    utf8: Option<&'a str>,
    at: usize,
    depth: usize,
}

// === impl Json ===

impl Json<'_> {
    /// Returns Go's name of this type in a type error.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "bool",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Returns the first number that is beyond the range of a double.
    pub fn beyond_double(&self) -> Option<&str> {
        match self {
            Json::Number(text) => number(text).is_none().then_some(text),
            Json::Array(items) => items.iter().find_map(Json::beyond_double),
            Json::Object(pairs) => pairs.iter().find_map(|(_, value)| value.beyond_double()),
            _ => None,
        }
    }

    /// Returns the plain value: keys sorted, the last of duplicates, numbers as numbers.
    pub fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(text) => number(text).map_or(Value::Null, Value::Number),
            Json::String(text) => Value::String(text.to_string()),
            Json::Array(items) => items.iter().map(Json::to_value).collect(),
            Json::Object(pairs) => pairs
                .iter()
                .map(|(key, value)| (key.to_string(), value.to_value()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// Returns the value of a number; `None` if it is beyond the range of a double.
pub fn number(text: &str) -> Option<Number> {
    if let Ok(integer) = text.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = text.parse::<u64>() {
        return Some(integer.into());
    }
    Number::from_f64(text.parse().ok()?)
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Json<'a>, SyntaxError> {
        self.space();
        match self.peek() {
            None => Err(end()),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Json::Bool(true)),
            Some(b'f') => self.literal("false", Json::Bool(false)),
            Some(b'n') => self.literal("null", Json::Null),
            Some(_) => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Json<'a>, SyntaxError>,
    ) -> Result<Json<'a>, SyntaxError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SyntaxError {
                message: "exceeded max depth".to_owned(),
            });
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Json<'a>, SyntaxError> {
        let mut pairs = Vec::new();
        self.space();
        if self.eat(b'}') {
            return Ok(Json::Object(pairs));
        }
        loop {
            self.space();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => {
                    return Err(self.unexpected("looking for beginning of object key string"));
                }
                None => return Err(end()),
            }
            let key = self.string()?;
            self.space();
            if !self.eat(b':') {
                return Err(self.unexpected("after object key"));
            }
            pairs.push((key, self.value()?));
            self.space();
            if self.eat(b'}') {
                return Ok(Json::Object(pairs));
            }
            if !self.eat(b',') {
                return Err(self.unexpected("after object key:value pair"));
            }
        }
    }

    fn array(&mut self) -> Result<Json<'a>, SyntaxError> {
        let mut items = Vec::new();
        self.space();
        if self.eat(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.eat(b']') {
                return Ok(Json::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.unexpected("after array element"));
            }
        }
    }

    fn literal(&mut self, word: &'static str, value: Json<'a>) -> Result<Json<'a>, SyntaxError> {
        for expected in word.bytes() {
            if !self.eat(expected) {
                let expected = char::from(expected);
                let context = format!("in literal {word} (expecting '{expected}')");
                return Err(self.unexpected_within(&context));
            }
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Json<'a>, SyntaxError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits("in numeric literal")?;
        }
        if self.eat(b'.') {
            self.digits("after decimal point in numeric literal")?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits("in exponent of numeric literal")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]);
        Ok(Json::Number(text.expect("a number is ASCII")))
    }

    /// Reads at least one digit.
    fn digits(&mut self, context: &str) -> Result<(), SyntaxError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if start == self.at {
            return Err(self.unexpected_within(context));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain_length(&self.text[self.at..]);
            match self.peek() {
                None => return Err(end()),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(_) => return Err(self.unexpected("in string literal")),
            }
        }
        let text = self.utf8.and_then(|text| text.get(start..self.at));
        let text = text.map_or_else(
            || String::from_utf8_lossy(&self.text[start..self.at]),
            Cow::Borrowed,
        );
        self.at += 1;
        Ok(if escaped {
            Cow::Owned(unescape(&text))
        } else {
            text
        })
    }

    /// Reads the rest of an escape, after its backslash.
    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.unexpected_within("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(self.unexpected_within("in string escape code")),
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn unexpected(&self, context: &str) -> SyntaxError {
        match self.peek() {
            None => end(),
            Some(_) => self.unexpected_within(context),
        }
    }

    /// Does the same within a literal or an escape. Go ends a text with a space, which is unexpected there.
    fn unexpected_within(&self, context: &str) -> SyntaxError {
        let found = quote(self.peek().unwrap_or(b' '));
        SyntaxError {
            message: format!("invalid character {found} {context}"),
        }
    }
}

/// Returns the number of bytes before the end of a string, an escape, or a byte that cannot stand in a string.
fn plain_length(text: &[u8]) -> usize {
    let length = memchr2(b'"', b'\\', text).unwrap_or(text.len());
    let is_control = |byte: &u8| *byte <= 0x1f;
    // Without an early end, which the compiler turns into a few wide instructions.
    let has_control = (text[..length].iter()).fold(false, |found, byte| found | is_control(byte));
    if has_control {
        text.iter().position(is_control).unwrap_or(length)
    } else {
        length
    }
}

fn end() -> SyntaxError {
    SyntaxError {
        message: "unexpected end of JSON input".to_owned(),
    }
}

/// Quotes a byte as Go's scanner does: on its own, as if it were Latin-1.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        0x07 => r"'\a'".to_owned(),
        0x08 => r"'\b'".to_owned(),
        0x0b => r"'\v'".to_owned(),
        0x0c => r"'\f'".to_owned(),
        0..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        // Go prints these runes escaped: control characters, the no-break space and the soft hyphen.
        0x80..=0xa0 | 0xad => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

/// Resolves escapes that [`Parser::escape`] accepted; half a surrogate pair becomes U+FFFD, as in Go.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.as_bytes()[at + 1];
        rest = &rest[at + 2..];
        out.push(match code {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = hex(rest);
                rest = &rest[4..];
                match rest.strip_prefix("\\u").map(hex) {
                    Some(low) if is_pair(unit, low) => {
                        rest = &rest[6..];
                        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => char::from_u32(unit),
                }
                .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => char::from(other),
        });
    }
    out.push_str(rest);
    out
}

fn is_pair(high: u32, low: u32) -> bool {
    (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low)
}

/// Returns the number of four hexadecimal digits at the start of a text.
fn hex(text: &str) -> u32 {
    u32::from_str_radix(&text[..4], 16).expect("the parser saw four hexadecimal digits")
}

/// Returns the type of a value, as errors of Go's JSON call it.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
