//! Arbitrary bytes for the readers of the fake server's values.

use fakeserver_cel::parse_shard_selector;
use fakeserver_server::edge::request::{duplicate_key, parse_config};
use fakeserver_value::{
    cbor,
    json::syntax_error,
    managed_fields::FieldSet,
    object::{
        Pairs,
        selectors::{FieldSelector, LabelSelector},
    },
    protobuf::{decode_object, decode_watch_frame, encode_object, peek_kind},
    schema::type_of_kind,
};
use serde_json::Value;

/// A selector that is understood can be asked about anything.
pub fn selectors(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let labels = Pairs::from_iter([("a", "b"), ("n", "5")]);
    let value = |field: &str| if field == "metadata.name" { "x" } else { "" };
    if let Ok(selector) = LabelSelector::parse(text) {
        let found = selector.matches(&labels);
        assert!(
            found || !selector.is_everything(),
            "everything selects everything"
        );
    }
    if let Ok(selector) = FieldSelector::parse(text, |_: &str| Ok(())) {
        let found = selector.matches(value);
        assert!(
            found || !selector.is_everything(),
            "everything selects everything"
        );
    }
    if let Ok(selector) = parse_shard_selector(text) {
        let again = parse_shard_selector(&selector.to_string());
        assert!(again.is_ok_and(|again| again == selector));
    }
}

/// A set that is read and written is the set; so is what is taken from it and given back.
pub fn field_set(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let Some(set) = FieldSet::from_value(&value) else {
        return;
    };
    let again =
        FieldSet::from_value(&set.clone().into_value()).expect("what is written can be read");
    assert_eq!(again, set);
    assert_eq!(set.intersection(&set).printed(), set.printed());
    let mut rest = set.clone();
    rest.subtract(&set);
    assert_eq!(rest.printed(), Vec::<String>::new());
    rest.extend(&set);
    assert_eq!(rest.printed(), set.printed());
}

/// Checks that an object read from protobuf can be written, and is then read as the same.
pub fn protobuf(data: &[u8]) {
    let _ = peek_kind(data);
    if let Ok(Some((_, length))) = decode_watch_frame(data) {
        assert!(length <= data.len(), "a frame is within its bytes");
    }
    let Ok(object) = decode_object(data, None) else {
        return;
    };
    let Ok(written) = encode_object(&object) else {
        return;
    };
    let again = decode_object(&written, None).expect("what is written can be read");
    assert_eq!(again, object);
}

/// Checks that CBOR that is read as JSON can be written, and is then read as the same.
pub fn cbor(data: &[u8]) {
    let Ok(document) = cbor::Document::parse(data) else {
        return;
    };
    let _ = (document.type_meta(), document.diagnose());
    for kind in ["Pod", "Secret", "DeleteOptions"] {
        let id = type_of_kind("", "v1", kind).expect("it is built in");
        let _ = (document.decode(id), document.unknown_field(id));
    }
    let Ok(value) = document.value() else {
        return;
    };
    let written = cbor::encode(&value, None);
    let again = cbor::Document::parse(&written).and_then(|document| document.value());
    assert_eq!(again.expect("what is written can be read"), value);
}

/// The two readers of JSON agree on what is JSON; YAML is read by its own.
pub fn json_syntax(data: &[u8]) {
    let is_json = serde_json::from_slice::<Value>(data).is_ok();
    if is_json {
        assert_eq!(syntax_error(data), None, "serde reads it");
    } else {
        let _ = syntax_error(data);
    }
    let _ = parse_config(data);
    let _ = duplicate_key(data);
}
