//! What is wrong with a text that should be JSON, in the words that the API has for it.

/// The first place at which `bytes` stop being JSON; nothing if they are one JSON value.
///
/// serde parses what is right. This only words what is wrong, since clients and their tests read those words.
pub(crate) fn syntax_error(bytes: &[u8]) -> Option<String> {
    let mut scanner = Scanner { bytes, at: 0 };
    let outcome = scanner.value(DEPTH_MAX).and_then(|()| {
        scanner.skip_space();
        match scanner.peek() {
            None => Ok(()),
            Some(_) => Err(scanner.unexpected("after top-level value")),
        }
    });
    outcome.err()
}

/// How deep values may be nested, as the API's own decoder limits it.
const DEPTH_MAX: usize = 10_000;

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

// === impl Scanner ===

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, context: &str) -> String {
        match self.peek() {
            None => "unexpected end of JSON input".to_owned(),
            Some(byte) => format!("invalid character {} {context}", quoted(byte)),
        }
    }

    fn value(&mut self, depth_left: usize) -> Result<(), String> {
        let Some(depth_left) = depth_left.checked_sub(1) else {
            return Err("exceeded max depth".to_owned());
        };
        // Containers are walked in a loop over an explicit stack: a text may be nested deeper than this thread's stack.
        let mut open = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        self.key()?;
                        open.push(b'}');
                        if open.len() > depth_left {
                            return Err("exceeded max depth".to_owned());
                        }
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(b']');
                        if open.len() > depth_left {
                            return Err("exceeded max depth".to_owned());
                        }
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => return Err(self.unexpected("looking for beginning of value")),
            }
            if self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Behind a value: closes what ends here, up to a comma. Whether nothing is open any more.
    fn close(&mut self, open: &mut Vec<u8>) -> Result<bool, String> {
        while let Some(&closing) = open.last() {
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if closing == b'}' {
                        self.skip_space();
                        self.key()?;
                    }
                    return Ok(false);
                }
                Some(byte) if byte == closing => {
                    self.at += 1;
                    open.pop();
                }
                _ if closing == b'}' => return Err(self.unexpected("after object key:value pair")),
                _ => return Err(self.unexpected("after array element")),
            }
        }
        Ok(true)
    }

    fn key(&mut self) -> Result<(), String> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) | None => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.unexpected("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.unexpected("in string escape code")),
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting {})", quoted(expected));
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }
}

/// A byte between quotes, as the API shows what it read: each byte a Latin-1 character.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        0x07 => r"'\a'".to_owned(),
        0x08 => r"'\b'".to_owned(),
        0x0b => r"'\v'".to_owned(),
        0x0c => r"'\f'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        control @ (0..0x20 | 0x7f) => format!(r"'\x{control:02x}'"),
        control @ (0x80..=0xa0 | 0xad) => format!(r"'\u{control:04x}'"),
        printable => format!("'{}'", char::from(printable)),
    }
}
