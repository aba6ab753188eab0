//! The encodings of answers: their frames and documents, read as JSON.
//!
//! The readers are the server's own: that the informer's agree with them is what runs show.

use std::borrow::Cow;

use fakeserver::value::{cbor::Document, protobuf};
use http::{HeaderMap, header};
use serde_json::{Value, json};

/// The encoding of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WireForm {
    #[default]
    Json,
    Protobuf,
    Cbor,
}

/// The first frame of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WireFrame<'a> {
    /// The event as JSON; `None` if it cannot be read.
    pub(super) event: Option<Cow<'a, [u8]>>,
    /// The bytes that it takes.
    pub(super) size_bytes: usize,
}

/// A CBOR item that is not complete: the number of items that it lacks, or one that ends with a break.
enum Open {
    Counted(u64),
    UntilBreak,
}

// === impl WireForm ===

impl WireForm {
    /// Returns the encoding that the headers of an answer name.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let kind = headers.get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.contains("protobuf") {
            Self::Protobuf
        } else if kind.contains("cbor") {
            Self::Cbor
        } else {
            Self::Json
        }
    }

    /// Reads the first frame of a watch; `None` if it is not all there.
    pub(super) fn frame(self, bytes: &[u8]) -> Option<WireFrame<'_>> {
        match self {
            Self::Json => {
                let end = bytes.iter().position(|byte| *byte == b'\n')?;
                Some(WireFrame {
                    event: Some(Cow::Borrowed(&bytes[..end])),
                    size_bytes: end + 1,
                })
            }
            Self::Protobuf => match protobuf::decode_watch_frame(bytes) {
                Ok(None) => None,
                Ok(Some((frame, size_bytes))) => {
                    let event = json!({"type": frame.kind, "object": frame.object});
                    Some(WireFrame {
                        event: Some(text_of(&event)),
                        size_bytes,
                    })
                }
                Err(_) => Some(WireFrame {
                    event: None,
                    size_bytes: bytes.len(),
                }),
            },
            Self::Cbor => {
                let size_bytes = item_size_bytes(bytes)?;
                Some(WireFrame {
                    event: self.document(&bytes[..size_bytes]),
                    size_bytes,
                })
            }
        }
    }

    /// Reads a whole body as JSON; `None` if it cannot be read.
    pub(super) fn document(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        let value = match self {
            Self::Json => return Some(Cow::Borrowed(bytes)),
            Self::Protobuf => protobuf::decode_object(bytes, None).ok()?,
            Self::Cbor => Document::parse(bytes).ok()?.value().ok()?,
        };
        Some(text_of(&value))
    }
}

fn text_of(value: &Value) -> Cow<'static, [u8]> {
    Cow::Owned(value.to_string().into_bytes())
}

/// Returns the size of the first CBOR item; `None` if it is not all there.
fn item_size_bytes(bytes: &[u8]) -> Option<usize> {
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    loop {
        let head = *bytes.get(at)?;
        at += 1;
        if head == 0xff {
            open.pop();
        } else {
            let (size, argument) = argument(head & 0x1f, bytes.get(at..)?)?;
            at += size;
            match (head >> 5, argument) {
                // A tag: its content follows.
                (6, _) => continue,
                (2..=5, None) => {
                    open.push(Open::UntilBreak);
                    continue;
                }
                (2 | 3, Some(length)) => {
                    at = at.checked_add(usize::try_from(length).ok()?)?;
                    bytes.get(..at)?;
                }
                (major @ (4 | 5), Some(count)) if count > 0 => {
                    let parts = if major == 5 { 2 } else { 1 };
                    open.push(Open::Counted(count.checked_mul(parts)?));
                    continue;
                }
                _ => {}
            }
        }
        // An item is complete, and with it perhaps those around it.
        loop {
            match open.last_mut() {
                None => return Some(at),
                Some(Open::UntilBreak) => break,
                Some(Open::Counted(left)) => {
                    *left -= 1;
                    if *left > 0 {
                        break;
                    }
                    open.pop();
                }
            }
        }
    }
}

/// Returns the argument of an item's head, and the number of bytes after the first that it takes; `None` within if it has none.
fn argument(info: u8, rest: &[u8]) -> Option<(usize, Option<u64>)> {
    let size = match info {
        24..=27 => 1 << (info - 24),
        28.. => return Some((0, None)),
        small => return Some((0, Some(small.into()))),
    };
    let digits = rest.get(..size)?;
    let number = digits
        .iter()
        .fold(0, |number, digit| number << 8 | u64::from(*digit));
    Some((size, Some(number)))
}

#[cfg(test)]
mod tests {
    use fakeserver::value::{cbor, protobuf};

    use super::*;

    fn bookmark() -> Value {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "7", "name": "ä".repeat(40)}})
    }

    /// Cuts two frames at each place, and reads the first as soon as it is all there.
    fn check(form: WireForm, frame: &[u8]) {
        let two = [frame, frame].concat();
        for end in 0..=two.len() {
            let read = form.frame(&two[..end]);
            assert_eq!(read.is_some(), end >= frame.len(), "{form:?} {end}");
            if let Some(read) = read {
                assert_eq!(read.size_bytes, frame.len());
                let event: Value = serde_json::from_slice(&read.event.unwrap()).unwrap();
                assert_eq!(event["type"], "BOOKMARK");
                let metadata = &event["object"]["metadata"];
                assert_eq!(metadata["resourceVersion"], "7");
                assert_eq!(metadata["name"], bookmark()["metadata"]["name"]);
            }
        }
    }

    #[test]
    fn frames_are_read_when_they_are_all_there() {
        let event = json!({"type": "BOOKMARK", "object": bookmark()});
        check(WireForm::Json, format!("{event}\n").as_bytes());
        let object = protobuf::encode_object(&bookmark()).unwrap();
        let frame = protobuf::encode_watch_frame("BOOKMARK", &object);
        check(WireForm::Protobuf, &frame);
        check(WireForm::Cbor, &cbor::encode(&event, None));
    }

    #[test]
    fn items_of_cbor_end_where_they_end() {
        for (item, size) in [
            (&[0x00][..], 1),
            (&[0x19, 1, 0], 3),
            (&[0x63, b'a', b'b', b'c'], 4),
            (&[0x82, 0x80, 0xa0], 3),
            (&[0xa1, 0x41, b'a', 0xc1, 0x1a, 0, 0, 0, 0], 9),
            (&[0x9f, 0x5f, 0x41, b'a', 0xff, 0xbf, 0xff, 0xff], 8),
            (&[0xfb, 0, 0, 0, 0, 0, 0, 0, 0], 9),
        ] {
            let followed = [item, &[0xf6]].concat();
            assert_eq!(item_size_bytes(&followed), Some(size), "{item:x?}");
            assert_eq!(item_size_bytes(&item[..size - 1]), None, "{item:x?}");
        }
    }
}
