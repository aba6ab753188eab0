//! Base64 as Go reads it: line ends are skipped, and an error names the byte.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The text is no base64; the message is Go's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {offset}")]
pub struct Base64Error {
    /// The offset, as Go counts it.
    pub offset: usize,
}

/// Bytes as JSON shows them.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads what JSON shows.
///
/// # Errors
/// The text is no base64.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    let text = text.as_bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    loop {
        let mut quantum = [0_u8; 4];
        let mut filled = 0;
        while filled < 4 {
            let Some(&byte) = text.get(at) else {
                return if filled == 0 {
                    Ok(out)
                } else {
                    Err(Base64Error {
                        offset: at - filled,
                    })
                };
            };
            at += 1;
            match (sextet(byte), byte) {
                (Some(bits), _) => {
                    quantum[filled] = bits;
                    filled += 1;
                }
                (None, b'\r' | b'\n') => {}
                (None, b'=') if filled >= 2 => {
                    padding(text, &mut at, filled)?;
                    push(&mut out, quantum, filled);
                    return Ok(out);
                }
                _ => return Err(Base64Error { offset: at - 1 }),
            }
        }
        push(&mut out, quantum, filled);
    }
}

/// Checks the text after the first `=`.
fn padding(text: &[u8], at: &mut usize, filled: usize) -> Result<(), Base64Error> {
    let skip_lines = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\r' | b'\n')) {
            *at += 1;
        }
    };
    if filled == 2 {
        skip_lines(at);
        match text.get(*at) {
            Some(b'=') => *at += 1,
            Some(_) => return Err(Base64Error { offset: *at - 1 }),
            None => return Err(Base64Error { offset: text.len() }),
        }
    }
    skip_lines(at);
    if *at < text.len() {
        return Err(Base64Error { offset: *at });
    }
    Ok(())
}

fn push(out: &mut Vec<u8>, quantum: [u8; 4], filled: usize) {
    let [a, b, c, d] = quantum;
    let bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
    out.extend_from_slice(&bytes[..filled - 1]);
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
