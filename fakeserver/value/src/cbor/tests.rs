//! Vectors of the decoder and the encoder of API servers, and properties.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Document, encode, encode_frame,
    head::{from_half, push_float},
};
use crate::schema::{TypeId, type_of_kind, types};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).unwrap();
        u8::from_str_radix(pair, 16).unwrap()
    });
    pairs.collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn read(hex: &str) -> Result<Value, String> {
    let bytes = bytes(hex);
    let value = Document::parse(&bytes).and_then(|document| document.value());
    value.map_err(|error| error.to_string())
}

fn id(version: &str, kind: &str) -> TypeId {
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    type_of_kind(group, version, kind).unwrap()
}

fn decode(id: TypeId, hex: &str) -> Result<Value, String> {
    let bytes = bytes(hex);
    let value = Document::parse(&bytes).and_then(|document| document.decode(id));
    value.map_err(|error| error.to_string())
}

#[test]
fn floats_are_written_in_as_few_bytes_as_they_need() {
    let written = |number: f64| {
        let mut out = Vec::new();
        push_float(&mut out, number);
        out
    };
    for half in 0..=u16::MAX {
        let number = from_half(half);
        if number.is_finite() {
            let [high, low] = half.to_be_bytes();
            assert_eq!(written(number), [0xf9, high, low]);
            assert_eq!(written(number.next_up()).len(), 9, "{number}");
        }
    }
    for number in [
        65_520.0,
        100_000.0,
        f64::from(f32::MIN_POSITIVE),
        1.0 / 33_554_432.0,
    ] {
        assert_eq!(written(number).len(), 5, "{number}");
    }
}

#[test]
fn values_are_read_from_any_of_their_forms() {
    for (hex, expected) in [
        ("00", json!(0)),
        ("1818", json!(24)),
        ("1b000000e8d4a51000", json!(1_000_000_000_000_u64)),
        ("1b7fffffffffffffff", json!(i64::MAX)),
        ("20", json!(-1)),
        ("3b7fffffffffffffff", json!(i64::MIN)),
        ("f93e00", json!(1.5)),
        ("fa47c35000", json!(100_000.0)),
        ("fb3ff199999999999a", json!(1.1)),
        ("f90000", json!(0.0)),
        ("f4", json!(false)),
        ("f5", json!(true)),
        ("f6", Value::Null),
        ("40", json!("")),
        ("4401020304", json!("\u{1}\u{2}\u{3}\u{4}")),
        ("43616263", json!("abc")),
        ("63616263", json!("abc")),
        ("5f42616241 63ff", json!("abc")),
        ("7f6261626163ff", json!("abc")),
        ("62c3bc", json!("ü")),
        ("80", json!([])),
        ("9f0102ff", json!([1, 2])),
        ("a0", json!({})),
        ("bf4161 01ff", json!({"a": 1})),
        ("a2416101616202", json!({"a": 1, "b": 2})),
        // Tags: self-described, unknown ones, times, and those that ask for another text.
        ("d9d9f7f5", json!(true)),
        ("d8646161", json!("a")),
        (
            "c074323031332d30332d32315432303a30343a30305a",
            json!("2013-03-21T20:04:00Z"),
        ),
        ("c11a514b67b0", json!("2013-03-21T20:04:00Z")),
        ("c1fb41d452d9ec200000", json!("2013-03-21T20:04:00.5Z")),
        ("d74401020304", json!("01020304")),
        ("d6426869", json!("aGk=")),
        ("d542fbff", json!("-_8")),
        ("d682426869d7426869", json!(["aGk=", "6869"])),
    ] {
        assert_eq!(read(hex), Ok(expected), "{hex}");
    }
}

#[test]
fn bytes_that_are_not_acceptable_are_refused_in_the_words_of_the_api() {
    for (hex, expected) in [
        ("", "EOF"),
        ("61", "unexpected EOF"),
        (
            "0000",
            "cbor: 1 bytes of extraneous data starting at index 1",
        ),
        ("ff", "cbor: unexpected \"break\" code"),
        ("bf00ff", "cbor: unexpected \"break\" code"),
        (
            "1c",
            "cbor: invalid additional information 28 for type positive integer",
        ),
        ("df", "cbor: invalid additional information 31 for type tag"),
        ("f818", "cbor: invalid simple value 24 for type primitives"),
        (
            "7f4161ff",
            "cbor: wrong element type byte string for indefinite-length UTF-8 text string",
        ),
        (
            "7f7fffff",
            "cbor: indefinite-length UTF-8 text string chunk is not definite-length",
        ),
        (
            "9bffffffffffffffff",
            "cbor: array length 18446744073709551615 is too large, it would cause integer overflow",
        ),
        (
            "ba00200001",
            "cbor: exceeded max number of key-value pairs 2097152 for CBOR map",
        ),
    ] {
        assert_eq!(read(hex), Err(expected.to_owned()), "{hex}");
    }
}

#[test]
fn values_that_json_does_not_have_are_refused() {
    for (hex, expected) in [
        (
            "f97e00",
            "cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN",
        ),
        (
            "f97c00",
            "cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity",
        ),
        (
            "c240",
            "cbor: data item of cbor type tag is not accepted by protocol: bignum",
        ),
        (
            "f7",
            "cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized",
        ),
        ("61ff", "cbor: invalid UTF-8 string"),
        (
            "a2416101616102",
            "cbor: found duplicate map key \"a\" at map element index 1",
        ),
        (
            "a10102",
            "cbor: cannot unmarshal positive integer into Go value of type string",
        ),
        (
            "1b8000000000000000",
            "cbor: cannot unmarshal positive integer into Go value of type int64 (9223372036854775808 overflows Go's \
             int64)",
        ),
        (
            "c001",
            "cbor: tag number 0 must be followed by text string, got positive integer",
        ),
    ] {
        assert_eq!(read(hex), Err(expected.to_owned()), "{hex}");
    }
    let deep = "81".repeat(128) + "00";
    assert_eq!(
        read(&deep),
        Err("cbor: exceeded max nested level 127".to_owned())
    );
    assert!(read(&("81".repeat(127) + "00")).is_ok());
}

#[test]
fn bytes_are_base64_in_json() {
    let secret = id("v1", "Secret");
    // {"data": {"a": 22(h'ff00'), "b": 'aGk=', "c": [104, 105]}}
    let body = "a1 4464617461 a3 4161 d642ff00 4162 4461476b3d 4163 8218681869";
    let expected = json!({"data": {"a": "/wA=", "b": "aGk=", "c": "aGk="}});
    assert_eq!(decode(secret, body), Ok(expected));
    assert_eq!(
        decode(secret, "a1 4464617461 a1 4161 4321 2122"),
        Err(
            "cbor: failed to decode base64 from byte string: illegal base64 data at input byte 0"
                .to_owned()
        )
    );
}

#[test]
fn a_wrong_type_is_reported_at_its_outermost_field() {
    let (map, pod) = (id("v1", "ConfigMap"), id("v1", "Pod"));
    for (id, hex, expected) in [
        (
            map,
            "a1 4464617461 01",
            "cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type map[string]string",
        ),
        (
            map,
            "a1 49696d6d757461626c65 01",
            "cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.immutable of type bool",
        ),
        (
            pod,
            "a1 4473706563 a1 4a636f6e7461696e657273 81 a1 446e616d65 01",
            "cbor: cannot unmarshal positive integer into Go struct field v1.Pod.spec of type string",
        ),
        (
            pod,
            "a1 4473706563 80",
            "cbor: cannot unmarshal array into Go struct field v1.Pod.spec of type v1.PodSpec (cannot decode CBOR array \
             to struct without toarray option)",
        ),
        (
            map,
            "a2 4464617461 a0 6464617461 a0",
            "cbor: found duplicate map key \"data\" at map element index 1",
        ),
    ] {
        assert_eq!(decode(id, hex), Err(expected.to_owned()), "{hex}");
    }
    let body = bytes("a2 4464617461 a0 446e6f7065 00");
    let document = Document::parse(&body).unwrap();
    let unknown = document.unknown_field(map).map(|error| error.to_string());
    let expected = "cbor: found unknown field at map element index 1";
    assert_eq!(unknown.as_deref(), Some(expected));
    assert!(document.decode(map).is_ok());
}

#[test]
fn objects_are_written_as_api_servers_write_them() {
    let map = json!({
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"},
        "data": {"k": "v"}, "binaryData": {"b": "aGk="},
    });
    assert_eq!(
        hex(&encode(&map, Some(id("v1", "ConfigMap")))),
        "d9d9f7a54464617461a1416b4176446b696e6449436f6e6669674d6170486d65746164617461a1446e616d6541614a617069566572\
         73696f6e4276314a62696e61727944617461a14162d6426869"
    );
    // Without a type, texts are texts, and whole numbers integers.
    assert_eq!(
        hex(&encode(&json!({"b": "aGk=", "a": 1.0}), None)),
        "d9d9f7a24161f93c0041624461476b3d"
    );
    assert_eq!(
        hex(&encode(&json!([-1, i64::MIN, 1.1, null]), None)),
        "d9d9f784203b7ffffffffffffffffb3ff199999999999af6"
    );
    let object = encode(&json!({}), None);
    assert_eq!(
        hex(&encode_frame("ADDED", &object)),
        "d9d9f7a24474797065454144444544466f626a656374d9d9f7a0"
    );
}

#[test]
fn errors_show_items_in_diagnostic_notation() {
    let body =
        bytes("a6 4161 d64101 6162 82 f93c00 f5 00 f6 01 f7 02 c1 20 4342c3bc fb7e37e43c8800759c");
    assert_eq!(
        Document::parse(&body).unwrap().diagnose(),
        r#"{'a': 22('\u0001'), "b": [1.0, true], 0: null, 1: undefined, 2: 1(-1), 'B\u00fc': 1.0e+300}"#
    );
}

/// Any JSON that an object may have.
fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("a number", |number| {
            number.is_finite().then(|| Value::from(number))
        }),
        ".{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,30}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_that_is_written_reads_as_the_same(value in json_values()) {
        let bytes = encode(&value, None);
        let read = Document::parse(&bytes).and_then(|document| document.value());
        prop_assert_eq!(read.unwrap(), value);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = Document::parse(&bytes) {
            let _ = (document.value(), document.object(), document.type_meta(), document.diagnose());
            for kind in ["Pod", "Secret", "DeleteOptions"] {
                let id = id("v1", kind);
                let _ = (document.decode(id), document.unknown_field(id));
            }
        }
    }

    #[test]
    fn every_type_that_is_written_reads_as_the_same(seed in any::<u64>()) {
        let table = types();
        let count = table.iter().count();
        let at = usize::try_from(seed % count as u64).unwrap();
        let (id, ty) = table.iter().nth(at).unwrap();
        let value = crate::schema::arbitrary::arbitrary(id, seed);
        if value.is_object() {
            let bytes = encode(&value, Some(id));
            let read = Document::parse(&bytes).and_then(|document| document.decode(id));
            prop_assert_eq!(read.unwrap(), value, "{}", &ty.name);
        }
    }
}
