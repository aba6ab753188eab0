//! Indented JSON: two spaces for each level, one member a line.

use bytes::Bytes;
use http::{HeaderMap, header};

use super::accept::accepts_pretty;
use crate::edge::request::{Query, header_text};

/// The user agents that get indented JSON, as in kube-apiserver.
const READERS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Returns whether a request is answered for people to read.
pub(crate) fn is_pretty(query: &Query, headers: &HeaderMap) -> bool {
    let value = query.get("pretty").filter(|value| !value.is_empty());
    let value = value.map(|value| matches!(value, "1" | "t" | "T" | "true" | "True" | "TRUE"));
    value.unwrap_or_else(|| {
        if accepts_pretty(headers) {
            return true;
        }
        let agent = header_text(headers, header::USER_AGENT);
        READERS.iter().any(|reader| agent.starts_with(reader))
    })
}

/// Indents `json`, which must be compact. A newline at its end is removed; nothing else changes.
pub(crate) fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    Indenter::default().push(json, &mut out);
    out
}

/// The same, while the pieces of a document come.
pub(super) fn pretty_pieces(
    pieces: impl Iterator<Item = Bytes> + Send + 'static,
) -> impl Iterator<Item = Bytes> + Send + 'static {
    let mut indenter = Indenter::default();
    pieces.map(move |piece| {
        let mut out = Vec::with_capacity(piece.len() * 2);
        indenter.push(&piece, &mut out);
        out.into()
    })
}

/// The reader's position in a document.
#[derive(Debug, Default)]
struct Indenter {
    depth: usize,
    in_string: bool,
    /// The last byte was a backslash that escapes the next one.
    is_escaped: bool,
    /// The last byte was an opening bracket, whose content may be empty.
    has_opened: bool,
}

// === impl Indenter ===

impl Indenter {
    fn push(&mut self, mut json: &[u8], out: &mut Vec<u8>) {
        while let Some((byte, rest)) = json.split_first() {
            if self.in_string {
                let length = self.text_length(json);
                out.extend_from_slice(&json[..length]);
                json = &json[length..];
            } else {
                self.push_outside(*byte, out);
                json = rest;
            }
        }
    }

    /// Returns the length of the rest of the current text in `json`, with its closing mark.
    fn text_length(&mut self, json: &[u8]) -> usize {
        for (place, byte) in json.iter().enumerate() {
            if self.is_escaped {
                self.is_escaped = false;
            } else if *byte == b'\\' {
                self.is_escaped = true;
            } else if *byte == b'"' {
                self.in_string = false;
                return place + 1;
            }
        }
        json.len()
    }

    fn push_outside(&mut self, byte: u8, out: &mut Vec<u8>) {
        let was_opened = std::mem::take(&mut self.has_opened);
        match byte {
            b'\n' => return,
            b'}' | b']' if was_opened => {}
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.new_line(out);
            }
            _ if was_opened => {
                self.depth += 1;
                self.new_line(out);
            }
            _ => {}
        }
        out.push(byte);
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.has_opened = true,
            b',' => self.new_line(out),
            b':' => out.push(b' '),
            _ => {}
        }
    }

    fn new_line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + 2 * self.depth, b' ');
    }
}
