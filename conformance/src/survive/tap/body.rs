//! The names in the body of a create, in JSON or in protobuf.

use serde_json::Value;

/// The first bytes of an object in protobuf: an envelope with the kind follows, whose field 2 is the object.
const PROTOBUF: &[u8] = b"k8s\0";

/// The names in the metadata of an object that is created.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) name: Option<String>,
    /// The beginning of a name that the server completes.
    pub(super) generate_name: Option<String>,
}

// === impl Names ===

impl Names {
    /// Reads the names in a body. What is no object has none.
    pub(super) fn of(body: &[u8]) -> Self {
        match body.strip_prefix(PROTOBUF) {
            Some(envelope) => Self::of_protobuf(envelope).unwrap_or_default(),
            None => Self::of_json(body),
        }
    }

    fn of_json(body: &[u8]) -> Self {
        let object: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |field: &str| object["metadata"][field].as_str().map(ToOwned::to_owned);
        Self {
            name: text("name"),
            generate_name: text("generateName"),
        }
    }

    /// Reads an object whose field 1 is its metadata, as it is of all that can be created by a name.
    fn of_protobuf(envelope: &[u8]) -> Option<Self> {
        let metadata = field(field(envelope, 2)?, 1)?;
        let text = |number: u64| {
            let text = String::from_utf8(field(metadata, number)?.to_vec()).ok()?;
            (!text.is_empty()).then_some(text)
        };
        Some(Self {
            name: text(1),
            generate_name: text(2),
        })
    }
}

/// Returns the first field of a message with this number, if it is one with a length.
fn field(mut message: &[u8], wanted: u64) -> Option<&[u8]> {
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let value = match tag & 7 {
            0 => {
                varint(&mut message)?;
                None
            }
            1 => {
                message = message.get(8..)?;
                None
            }
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (value, rest) = message.split_at_checked(length)?;
                message = rest;
                Some(value)
            }
            5 => {
                message = message.get(4..)?;
                None
            }
            _ => return None,
        };
        if tag >> 3 == wanted && value.is_some() {
            return value;
        }
    }
    None
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: Option<&str>, generate_name: Option<&str>) -> Names {
        Names {
            name: name.map(ToOwned::to_owned),
            generate_name: generate_name.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn names_are_read_from_json() {
        let body = br#"{"metadata": {"generateName": "web-"}}"#;
        assert_eq!(Names::of(body), names(None, Some("web-")));
        assert_eq!(Names::of(b"no object"), Names::default());
    }

    #[test]
    fn names_are_read_from_protobuf() {
        // A pod as client-go sends it: apiVersion and kind, then metadata with an empty name, and a spec.
        let body = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x0c\x0a\x08\x0a\0\x12\x04web-\x12\0\x1a\0\x22\0";
        assert_eq!(Names::of(body), names(None, Some("web-")));
        let body = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x07\x0a\x05\x0a\x03web";
        assert_eq!(Names::of(body), names(Some("web"), None));
    }

    #[test]
    fn a_message_that_ends_early_has_no_names() {
        let body = b"k8s\0\x12\x07\x0a\x05\x0a\x03web";
        for length in 4..body.len() - 1 {
            assert_eq!(Names::of(&body[..length]), Names::default());
        }
        assert_eq!(
            Names::of(&[b"k8s\0".as_slice(), &[0xff; 12]].concat()),
            Names::default()
        );
    }
}
