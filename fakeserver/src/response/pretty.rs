//! JSON for people: two spaces for each level, one member a line.

use http::{HeaderMap, header};

use super::accept::accepts_pretty;
use crate::request::Query;

/// The user agents of people, who like to read what they get.
const READERS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Whether a request is answered for people to read.
pub(crate) fn is_pretty(query: &Query, headers: &HeaderMap) -> bool {
    query.bool("pretty").unwrap_or_else(|| {
        if accepts_pretty(headers) {
            return true;
        }
        let agent = headers.get(header::USER_AGENT);
        let agent = agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        READERS.iter().any(|reader| agent.starts_with(reader))
    })
}

/// Indents `json`, which must be compact, without changing anything else but a newline at its end: that goes.
pub(crate) fn pretty(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let json = json.strip_suffix(b"\n").unwrap_or(json);
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        out.push(byte);
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => out.extend(bytes.next()),
            b'{' | b'[' if !in_string => {
                if let Some(close) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b',' if !in_string => new_line(&mut out, depth),
            b':' if !in_string => out.push(b' '),
            _ => {}
        }
        if !in_string && matches!(bytes.peek(), Some(b'}' | b']')) {
            depth = depth.saturating_sub(1);
            new_line(&mut out, depth);
        }
    }
    out
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}
