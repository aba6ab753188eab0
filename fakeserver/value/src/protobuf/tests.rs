//! Protobuf against what Go clients send, and against itself for every kind.

use proptest::prelude::*;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Value, json};

use super::{
    ItemEncoder, ProtobufError, WatchFrame, decode_object, decode_watch_frame, encode_object,
    encode_watch_frame, envelope, peek_kind,
};
use crate::schema::{
    FieldValue, Form, Shape, TypeId, TypeMeta, arbitrary::arbitrary, decode_base64, schemas,
    type_of_kind, types,
};

/// Bodies that kubectl 1.33 sent, and where it tells, the objects that it said they were.
fn recorded() -> Vec<(Vec<u8>, Value)> {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/data/protobuf.json")).unwrap();
    let cases = cases.into_iter().map(|case| {
        let bytes = decode_base64(case["protobuf"].as_str().unwrap()).unwrap();
        (bytes, case["json"].clone())
    });
    cases.collect()
}

#[test]
fn bodies_of_kubectl_decode_to_its_output() {
    let mut count = 0;
    for (bytes, expected) in recorded() {
        let object = decode_object(&bytes, None).unwrap();
        if !expected.is_null() {
            assert_eq!(object, expected);
            count += 1;
        }
    }
    assert!(count > 10);
}

#[test]
fn bodies_of_kubectl_are_encoded_to_the_byte() {
    for (bytes, _) in recorded() {
        let object = decode_object(&bytes, None).unwrap();
        assert_eq!(encode_object(&object).unwrap(), bytes, "{object}");
    }
}

#[test]
fn self_reviews_of_kubectl_decode() {
    let found: Vec<_> = (recorded().iter())
        .filter(|(_, expected)| expected.is_null())
        .map(|(bytes, _)| decode_object(bytes, None).unwrap())
        .collect();
    let expected = [
        json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
            "spec": {"audiences": null, "expirationSeconds": 600, "boundObjectRef": null},
            "status": {"token": "", "expirationTimestamp": null}}),
        json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
            "spec": {"resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods", "name": "log"}},
            "status": {"allowed": false}}),
        json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
            "status": {"userInfo": {}}}),
    ];
    assert_eq!(found, expected);
}

#[test]
fn recorded_answers_survive_protobuf() {
    let objects: Vec<Value> =
        serde_json::from_str(include_str!("../../tests/data/objects.json")).unwrap();
    for object in objects {
        let bytes = encode_object(&object).unwrap();
        assert_eq!(decode_object(&bytes, None), Ok(object));
    }
}

#[test]
fn an_object_may_leave_its_kind_to_its_url() {
    let bytes =
        encode_object(&json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b"}}))
            .unwrap();
    let kind = peek_kind(&bytes).unwrap();
    assert_eq!(
        (kind.api_version.as_str(), kind.kind.as_str()),
        ("v1", "ConfigMap")
    );
    let id = type_of_kind("", "v1", "ConfigMap").unwrap();
    let bare =
        super::encode_object_as(id, &TypeMeta::default(), &json!({"data": {"a": "b"}})).unwrap();
    let object = decode_object(&bare, Some(&kind)).unwrap();
    assert_eq!(
        object,
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}, "data": {"a": "b"}})
    );
    assert_eq!(
        decode_object(&bare, None).unwrap_err().to_string(),
        r#"no kind "" is registered for version """#
    );
}

#[test]
fn a_watch_is_cut_into_frames() {
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}});
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410});
    let mut stream = encode_watch_frame("ADDED", &encode_object(&pod).unwrap());
    let first = stream.len();
    assert_eq!(stream[..4], u32::try_from(first - 4).unwrap().to_be_bytes());
    assert_eq!(stream[4..12], *b"\x0a\x05ADDED\x12");
    assert_eq!(stream[15..19], envelope::PREFIX);
    stream.extend(encode_watch_frame(
        "ERROR",
        &encode_object(&status).unwrap(),
    ));
    for cut in 0..first {
        assert_eq!(decode_watch_frame(&stream[..cut]), Ok(None));
    }
    let (frame, length) = decode_watch_frame(&stream).unwrap().unwrap();
    assert_eq!((frame.kind.as_str(), length), ("ADDED", first));
    assert_eq!(frame.object["metadata"]["name"], "p");
    let (frame, length) = decode_watch_frame(&stream[first..]).unwrap().unwrap();
    assert_eq!(
        frame,
        WatchFrame {
            kind: "ERROR".to_owned(),
            object: status
        }
    );
    assert_eq!(length, stream.len() - first);
    let too_large = decode_watch_frame(&[0xff; 8]).unwrap_err();
    assert!(
        too_large.to_string().contains("frame too large"),
        "{too_large}"
    );
}

/// An envelope around a config map of these bytes.
fn config_map(raw: &[u8]) -> Vec<u8> {
    let mut out = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap".to_vec();
    super::wire::block(2, raw, &mut out);
    out
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    const NAME: &str = "io.k8s.api.core.v1.ConfigMap";
    let check = |bytes: &[u8], message: &str| {
        assert_eq!(decode_object(bytes, None).unwrap_err().to_string(), message);
    };
    check(
        b"{}",
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
    check(
        b"",
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
    check(
        &config_map(b"\x12\x05ab"),
        &format!("{NAME}.data: unexpected end at byte 25"),
    );
    check(
        &config_map(b"\x10\x05"),
        &format!("{NAME}.data: wrong wire type 0 at byte 24"),
    );
    check(
        &config_map(b"\x0a\x03\x0a\x05x"),
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.name: unexpected end at byte 27",
    );
    for (raw, what) in [
        (
            &b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..],
            "?: invalid tag at byte 23",
        ),
        (b"\x07", "?: invalid tag at byte 23"),
        (b"\x00", "?: invalid tag at byte 23"),
        (b"\x12\xff", "data: invalid varint at byte 24"),
        (b"\xa0\x06\xff", "100: not to be passed over at byte 25"),
        (b"\xb3\x06\x08", "102: not to be passed over at byte 25"),
    ] {
        check(&config_map(raw), &format!("{NAME}.{what}"));
    }
}

#[test]
fn unknown_fields_are_passed_over_and_the_last_of_a_field_counts() {
    let name = |name: &[u8]| {
        let (mut meta, mut out) = (Vec::new(), Vec::new());
        super::wire::block(1, name, &mut meta);
        super::wire::block(1, &meta, &mut out);
        out
    };
    let mut raw = name(b"first");
    // A varint, a fixed number and a group, all of fields that a config map does not have.
    raw.extend(b"\xa0\x06\x05\xa9\x06\0\0\0\0\0\0\0\0\xb3\x06\x08\x01\xb4\x06");
    raw.extend(name(b"second"));
    // Messages that come twice are merged: this one only adds a namespace.
    raw.extend(b"\x0a\x03\x1a\x01n");
    // Half an entry of a map stands for zero.
    raw.extend(b"\x12\x03\x0a\x01k\x12\x03\x12\x01v\x12\0");
    let object = decode_object(&config_map(&raw), None).unwrap();
    assert_eq!(
        object["metadata"],
        json!({"name": "second", "namespace": "n"})
    );
    assert_eq!(object["data"], json!({"k": "", "": ""}));
}

#[test]
fn packed_and_plain_lists_of_numbers_are_the_same() {
    // securityContext is field 14 of a pod's spec, supplementalGroups field 4 of that.
    let pod = |groups: &[u8]| {
        let (mut spec, mut raw, mut out) = (
            Vec::new(),
            Vec::new(),
            b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod".to_vec(),
        );
        super::wire::block(14, groups, &mut spec);
        super::wire::block(2, &spec, &mut raw);
        super::wire::block(2, &raw, &mut out);
        decode_object(&out, None).unwrap()["spec"]["securityContext"]["supplementalGroups"].clone()
    };
    assert_eq!(pod(b"\x20\x01\x20\x80\x01"), json!([1, 128]));
    assert_eq!(pod(b"\x22\x03\x01\x80\x01"), json!([1, 128]));
}

#[test]
fn nesting_and_size_are_bounded() {
    let mut schema = Vec::new();
    for _ in 0..500 {
        let mut outer = Vec::new();
        // The field `not` of a schema is a schema.
        super::wire::block(26, &schema, &mut outer);
        schema = outer;
    }
    let not = types()
        .find("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        .unwrap();
    let error = super::decode::message(not, super::reader::Reader::new(&schema, 0), 0).unwrap_err();
    assert!(matches!(error, ProtobufError::TooDeep { .. }), "{error}");
    let many = config_map(&b"\x12\0".repeat(1_100_000));
    assert_eq!(
        decode_object(&many, None),
        Err(ProtobufError::TooLarge {
            values_max: 1_000_000
        })
    );
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_its_field() {
    let check = |object: Value, message: &str| {
        assert_eq!(encode_object(&object).unwrap_err().to_string(), message);
    };
    check(
        json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": 1}}),
        "io.k8s.api.core.v1.ConfigMap.data: expected a string",
    );
    check(
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": "now"}}),
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp: expected a time",
    );
    check(
        json!({"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replicas": 3_000_000_000_i64}}),
        "io.k8s.api.apps.v1.DeploymentSpec.replicas: expected a 32-bit integer",
    );
    check(
        json!({"kind": "Widget", "apiVersion": "example.com/v1"}),
        r#"no kind "Widget" is registered for version "example.com/v1""#,
    );
}

#[test]
fn zero_and_absent_are_kept_apart_where_go_keeps_them_apart() {
    let check = |spec: Value| {
        let object = json!({"kind": "Deployment", "apiVersion": "apps/v1", "spec": spec});
        let bytes = encode_object(&object).unwrap();
        decode_object(&bytes, None).unwrap()["spec"]["replicas"].clone()
    };
    assert_eq!(check(json!({"replicas": 0})), json!(0));
    assert_eq!(check(json!({})), Value::Null);
}

/// Every kind, with its type.
fn kinds() -> impl Iterator<Item = (TypeMeta, TypeId)> {
    let kinds = schemas()
        .kinds()
        .filter(|(_, _, kind)| *kind != "WatchEvent");
    kinds.map(|(group, version, kind)| {
        let api_version = if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        };
        let id = type_of_kind(group, version, kind).unwrap();
        (
            TypeMeta {
                kind: kind.to_owned(),
                api_version,
            },
            id,
        )
    })
}

#[test]
fn a_map_may_leave_values_out() {
    // Field 2 of a config map is its data, field 3 its binary data.
    let bytes = b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x07\x12\x03\n\x01k\x1a\x00\"\0";
    let expected = json!({
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {},
        "data": {"k": ""}, "binaryData": {"": ""},
    });
    let object = decode_object(bytes, None).unwrap();
    assert_eq!(object, expected);
    assert_eq!(
        decode_object(&encode_object(&object).unwrap(), None),
        Ok(object)
    );
}

/// Prints a value of a type as JSON, members from the last to the first, but for those of a free form, which are kept as text.
fn print_backwards(id: TypeId, value: &Value) -> String {
    let members = match value {
        Value::Object(members) if types().get(id).form == Form::Struct => members,
        _ => return value.to_string(),
    };
    let printed = members.iter().rev().map(|(name, value)| {
        let field = types().field(id, name).unwrap();
        let one = |value: &Value| match field.value {
            FieldValue::Message(id) => print_backwards(id, value),
            _ => value.to_string(),
        };
        let value = match value {
            Value::Object(entries) if field.shape == Shape::Map => {
                let entries = entries.iter().rev();
                let entries = entries.map(|(key, value)| format!("{}:{}", json!(key), one(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
            Value::Array(items) if field.shape == Shape::Repeated => {
                format!("[{}]", items.iter().map(one).collect::<Vec<_>>().join(","))
            }
            value => one(value),
        };
        format!("{}:{value}", json!(name))
    });
    format!("{{{}}}", printed.collect::<Vec<_>>().join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_kind_survives_protobuf(seed: u64) {
        for (meta, id) in kinds() {
            let mut object = arbitrary(id, seed);
            object["kind"] = json!(meta.kind);
            object["apiVersion"] = json!(meta.api_version);
            let bytes = encode_object(&object);
            prop_assert!(bytes.is_ok(), "{:?} {}", bytes, object);
            let bytes = bytes.unwrap();
            prop_assert_eq!(decode_object(&bytes, None), Ok(object));
        }
    }

    #[test]
    fn the_order_of_members_makes_no_difference(seed: u64) {
        for (meta, id) in kinds() {
            let object = arbitrary(id, seed);
            let text = print_backwards(id, &object);
            let (mut by_text, mut by_value) = (Vec::new(), Vec::new());
            let mut encoder = ItemEncoder::new(id);
            encoder.push_json(text.as_bytes(), &mut by_text).unwrap();
            encoder.push(&object, &mut by_value).unwrap();
            prop_assert_eq!(by_text, by_value, "{} {}", meta.kind, text);
        }
    }

    #[test]
    fn damaged_objects_are_read_or_refused(seed: u64, damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        for (meta, id) in kinds() {
            let mut bytes = super::encode_object_as(id, &meta, &arbitrary(id, seed)).unwrap();
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let _ = decode_object(&bytes, None);
            let _ = decode_watch_frame(&encode_watch_frame("ADDED", &bytes));
        }
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_object(&raw, None);
        let _ = decode_watch_frame(&raw);
        let mut bytes = envelope::PREFIX.to_vec();
        bytes.extend_from_slice(&raw);
        let _ = decode_object(&bytes, None);
        for (meta, id) in kinds() {
            let _ = super::decode::message(id, super::reader::Reader::new(&raw, 0), 0).map(|_| meta);
        }
    }

    #[test]
    fn well_formed_fields_of_any_kind_are_read_or_refused(fields in prop::collection::vec((1_u32..40, 0_u8..3, any::<u64>()), 0..40)) {
        let mut raw = Vec::new();
        for (number, kind, value) in fields {
            match kind {
                0 => {
                    encode_key(number, WireType::Varint, &mut raw);
                    encode_varint(value, &mut raw);
                }
                1 => super::wire::block(number, &value.to_be_bytes()[..(value % 9) as usize], &mut raw),
                _ => {
                    let inner = raw.split_off(raw.len() / 2);
                    super::wire::block(number, &inner, &mut raw);
                }
            }
        }
        for (_, id) in kinds() {
            let _ = super::decode::message(id, super::reader::Reader::new(&raw, 0), 0);
        }
    }
}
