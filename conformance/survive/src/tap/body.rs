//! The names in the body of a create, in JSON or in protobuf.

use fakeserver::value::protobuf;
use serde_json::Value;

/// The first bytes of an object in protobuf.
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
        let object: Value = if body.starts_with(PROTOBUF) {
            protobuf::decode_object(body, None).unwrap_or_default()
        } else {
            serde_json::from_slice(body).unwrap_or_default()
        };
        let text = |field: &str| object["metadata"][field].as_str().map(ToOwned::to_owned);
        Self {
            name: text("name"),
            generate_name: text("generateName"),
        }
    }
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
