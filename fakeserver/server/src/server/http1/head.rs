//! The head of a request, written anew where the library would refuse it.

use http::{HeaderName, HeaderValue, Version, header};
use memchr::memchr_iter;

use super::{body_length::BodyLength, heads::HeadRest};

/// The size limit of a head: that of Go's server, with its slack.
pub(in crate::server) const HEAD_MAX_BYTES: u32 = (1 << 20) + 4_096;
/// The longest target that is left as it is; the library takes 65,534 bytes.
const TARGET_MAX_BYTES: usize = 60_000;
/// The number of headers that are left as they are; the library takes 100.
const HEADERS_MAX: usize = 80;
/// The head that the library reads in place of one that is too large.
const ANY_HEAD: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
/// Headers that the library has to see.
const SEEN: [HeaderName; 6] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::EXPECT,
    header::UPGRADE,
];

/// A head that has arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The number of its bytes.
    pub(super) size: usize,
    /// The bytes that the library reads in its place.
    pub(super) rewritten: Option<Vec<u8>>,
    pub(super) rest: HeadRest,
    pub(super) body: BodyLength,
}

/// The state of a head that is arriving.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Partial,
    Whole(Box<Head>),
    /// It is none; the library says so.
    Invalid,
}

/// Reads the head at the beginning of `bytes`, of which the first `searched` have no end, and adds to `searched`.
pub(super) fn read(bytes: &[u8], searched: &mut usize) -> Arrival {
    let is_token = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'\r' || *byte == b'\n';
    if bytes.first().is_some_and(|first| !is_token(first)) {
        return Arrival::Invalid;
    }
    let found = end(bytes, *searched);
    *searched = if found.is_some() { 0 } else { bytes.len() };
    match found {
        Some(size) if size <= HEAD_MAX_BYTES as usize => match parse(&bytes[..size]) {
            Some(head) => Arrival::Whole(Box::new(head)),
            None => Arrival::Invalid,
        },
        None if bytes.len() <= HEAD_MAX_BYTES as usize => Arrival::Partial,
        _ => Arrival::Whole(Box::new(Head {
            size: bytes.len(),
            rewritten: Some(ANY_HEAD.to_vec()),
            rest: HeadRest {
                is_too_large: true,
                ..HeadRest::default()
            },
            body: BodyLength::Open,
        })),
    }
}

/// Returns where a head ends, if it ends behind `searched`: after its first empty line that is not at its beginning.
fn end(bytes: &[u8], searched: usize) -> Option<usize> {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
    let from = searched.max(start);
    let mut newlines = memchr_iter(b'\n', &bytes[from..]).map(|at| from + at);
    let newline = newlines.find(|newline| {
        let line = &bytes[start..*newline];
        line.ends_with(b"\n") || line.ends_with(b"\n\r")
    });
    newline.map(|newline| newline + 1)
}

/// Reads a whole head. `None` if its first line is not one of HTTP/1.
fn parse(bytes: &[u8]) -> Option<Head> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.find(|line| !line.trim_ascii().is_empty())?;
    let mut words = first.trim_ascii_end().split(|byte| *byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let version = match version {
        b"HTTP/1.1" => Version::HTTP_11,
        b"HTTP/1.0" => Version::HTTP_10,
        _ => return None,
    };
    if words.next().is_some() {
        return None;
    }
    let headers: Vec<&[u8]> = lines.filter(|line| !line.trim_ascii().is_empty()).collect();
    let framing = Framing::of(&headers, version);
    let is_tunnel = method == b"CONNECT" || framing.wants_upgrade;
    let body = if is_tunnel || framing.has_foreign_encoding {
        BodyLength::Open
    } else {
        framing.body
    };
    let is_long = target.len() > TARGET_MAX_BYTES;
    let is_rewritten = is_long || headers.len() > HEADERS_MAX || framing.drops_encoding;
    let mut rest = HeadRest {
        has_foreign_encoding: framing.has_foreign_encoding,
        ..HeadRest::default()
    };
    let rewritten = is_rewritten.then(|| {
        let mut written = Vec::new();
        let at = target
            .iter()
            .position(|byte| *byte == b'?')
            .filter(|_| is_long);
        let (path, query) = target.split_at(at.unwrap_or(target.len()));
        let query = query.split_first().map(|(_, query)| query);
        rest.query = query.map(|query| String::from_utf8_lossy(query).into_owned());
        let version: &[u8] = if version == Version::HTTP_11 {
            b" HTTP/1.1\r\n"
        } else {
            b" HTTP/1.0\r\n"
        };
        for part in [method, b" ", path, version] {
            written.extend_from_slice(part);
        }
        let mut left = HEADERS_MAX;
        for line in &headers {
            let field = field(line);
            let is_of =
                |names: &[HeaderName]| field.as_ref().is_some_and(|(name, _)| names.contains(name));
            if framing.drops_encoding && is_of(&[header::TRANSFER_ENCODING, header::CONTENT_LENGTH])
            {
                continue;
            }
            match field {
                Some(field) if left == 0 && !SEEN.contains(&field.0) => rest.headers.push(field),
                // What is no header goes to the library, which refuses it.
                _ => {
                    left = left.saturating_sub(1);
                    written.extend_from_slice(line);
                }
            }
        }
        written.extend_from_slice(b"\r\n");
        written
    });
    Some(Head {
        size: bytes.len(),
        rewritten,
        rest,
        body,
    })
}

/// Returns the name and the value of a line.
fn field(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_bytes(&line[..colon]).ok()?;
    let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
    Some((name, value))
}

/// The headers that say where a body ends.
struct Framing {
    body: BodyLength,
    /// The encoding is one that the server does not have.
    has_foreign_encoding: bool,
    /// The encoding is left out of what the library reads.
    drops_encoding: bool,
    wants_upgrade: bool,
}

// === impl Framing ===

impl Framing {
    fn of(lines: &[&[u8]], version: Version) -> Self {
        let mut encodings = Vec::new();
        let mut length = 0;
        let mut wants_upgrade = false;
        for line in lines {
            // Few headers matter: those of other lengths are not read.
            let colon = memchr::memchr(b':', line).unwrap_or_default();
            let name = &line[..colon];
            if name.eq_ignore_ascii_case(b"transfer-encoding") {
                encodings.push(line[colon + 1..].trim_ascii());
            } else if name.eq_ignore_ascii_case(b"content-length") {
                let value = str::from_utf8(line[colon + 1..].trim_ascii()).ok();
                length = value
                    .and_then(|value| value.parse().ok())
                    .unwrap_or_default();
            } else if name.eq_ignore_ascii_case(b"upgrade") {
                wants_upgrade = true;
            }
        }
        let is_new = version == Version::HTTP_11;
        let is_chunked = encodings.len() == 1 && encodings[0].eq_ignore_ascii_case(b"chunked");
        let has_foreign_encoding = is_new && !encodings.is_empty() && !is_chunked;
        Self {
            body: if is_new && is_chunked {
                BodyLength::CHUNKED
            } else {
                BodyLength::Length(length)
            },
            has_foreign_encoding,
            // HTTP/1.0 has no encodings, and a header of that name means nothing there.
            drops_encoding: has_foreign_encoding || !is_new && !encodings.is_empty(),
            wants_upgrade: is_new && wants_upgrade,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Head {
        match read(text.as_bytes(), &mut 0) {
            Arrival::Whole(head) => *head,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn a_head_ends_with_its_first_empty_line() {
        for text in [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "\r\n\nGET / HTTP/1.1\nHost: x\n\n",
            "GET / HTTP/1.0\r\n\r\n",
        ] {
            let bytes = [text.as_bytes(), b"\r\n\r\nGET"].concat();
            // Byte by byte, without looking at any twice.
            let mut searched = 0;
            for size in 1..text.len() {
                let arrival = read(&bytes[..size], &mut searched);
                assert_eq!(arrival, Arrival::Partial, "{text:?} {size}");
                assert_eq!(searched, size);
            }
            let Arrival::Whole(head) = read(&bytes, &mut searched) else {
                panic!("{text:?}");
            };
            assert_eq!((head.size, searched), (text.len(), 0));
            assert_eq!(head.rewritten, None);
            assert_eq!(head.body, BodyLength::Length(0));
        }
    }

    #[test]
    fn what_is_no_head_is_left_to_the_library() {
        for text in [
            "\u{16}\u{3}\u{1}",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\n",
        ] {
            let arrival = read(text.as_bytes(), &mut 0);
            assert_eq!(arrival, Arrival::Invalid, "{text:?}");
        }
    }

    #[test]
    fn a_body_is_as_long_as_its_headers_say() {
        let body = |headers: &str| whole(&format!("POST / HTTP/1.1\r\n{headers}\r\n\r\n")).body;
        assert_eq!(body("content-length: 7"), BodyLength::Length(7));
        assert_eq!(body("Transfer-Encoding:chunked"), BodyLength::CHUNKED);
        assert_eq!(
            body("Content-Length: 7\r\nTransfer-Encoding: chunked"),
            BodyLength::CHUNKED
        );
        assert_eq!(body("Upgrade: websocket"), BodyLength::Open);
        let foreign =
            whole("POST / HTTP/1.1\r\nContent-Length: 7\r\nTransfer-Encoding: gzip\r\n\r\n");
        assert!(foreign.rest.has_foreign_encoding);
        assert_eq!(foreign.rewritten.unwrap(), b"POST / HTTP/1.1\r\n\r\n");
        let old = whole("POST / HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n");
        assert!(!old.rest.has_foreign_encoding);
        assert_eq!(old.rewritten.unwrap(), b"POST / HTTP/1.0\r\n\r\n");
        assert_eq!(whole("CONNECT x:1 HTTP/1.1\r\n\r\n").body, BodyLength::Open);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let query = "x".repeat(TARGET_MAX_BYTES);
        let long = whole(&format!("GET /a?b=?{query} HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert_eq!(
            long.rewritten.unwrap(),
            b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
        );
        assert_eq!(long.rest.query.unwrap(), format!("b=?{query}"));
        let headers = (0..HEADERS_MAX).map(|at| format!("X-{at}: {at}\r\n"));
        let headers = headers.collect::<Vec<_>>().concat();
        let many = format!("GET / HTTP/1.1\r\n{headers}Y: z \r\nhost: x\r\nno header\r\n\r\n");
        let many = whole(&many);
        assert_eq!(
            many.rest.headers,
            [(HeaderName::from_static("y"), HeaderValue::from_static("z"))]
        );
        let rewritten = String::from_utf8(many.rewritten.unwrap()).unwrap();
        assert_eq!(
            rewritten,
            format!("GET / HTTP/1.1\r\n{headers}host: x\r\nno header\r\n\r\n")
        );
        let huge = format!(
            "GET / HTTP/1.1\r\nX: {}",
            "x".repeat(HEAD_MAX_BYTES as usize)
        );
        let huge = whole(&huge);
        assert!(huge.rest.is_too_large);
    }
}
