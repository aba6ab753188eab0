//! Messages against the JSON that they stand for.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{MessageDeserializer, MessageId, check::DEPTH_MAX, checked, message_of_kind, table};

fn block(number: u32, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [
        varint(u64::from(number) << 3 | 2),
        varint(content.len() as u64),
        content.to_vec(),
    ]
    .concat()
}

fn number(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

fn of(api_version: &str, kind: &str) -> MessageId {
    message_of_kind(api_version, kind).unwrap()
}

fn read(id: MessageId, bytes: &[u8]) -> Result<Value, String> {
    let bytes = checked(id, bytes).map_err(|error| error.to_string())?;
    Value::deserialize(MessageDeserializer::new(id, &bytes)).map_err(|error| error.to_string())
}

#[test]
fn the_table_fits_what_reads_it() {
    let table = table::table();
    assert!(table.objects().count() > 100);
    for message in table.messages() {
        // Fields that are shown as null are remembered by a bit each.
        assert!(message.nullable.is_empty() || message.fields.len() <= 64);
        let numbers: Vec<u32> = message.fields.iter().map(|field| field.number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{}", message.title());
    }
}

#[test]
fn zeros_are_left_out_where_json_leaves_them_out() {
    // A port is required, a host port is not.
    let port = [
        block(1, ""),
        number(2, 0),
        number(3, 80),
        block(4, "TCP"),
        block(5, ""),
    ]
    .concat();
    let container = [block(1, "c"), block(2, ""), block(6, port)].concat();
    let raw = block(2, block(2, container));
    let spec = &read(of("v1", "Pod"), &raw).unwrap()["spec"];
    assert_eq!(
        spec["containers"],
        json!([{"name": "c", "ports": [{"containerPort": 80, "protocol": "TCP"}]}])
    );
    // A pointer to zero is kept.
    let spec = block(2, number(1, 0));
    assert_eq!(
        read(of("apps/v1", "Deployment"), &spec).unwrap()["spec"]["replicas"],
        0
    );
}

#[test]
fn absent_lists_are_null_where_json_shows_them() {
    assert_eq!(
        read(of("v1", "Pod"), &block(2, "")).unwrap(),
        json!({"spec": {"containers": null}})
    );
}

#[test]
fn fields_of_inlined_messages_stand_in_their_parent() {
    let volume = [block(1, "v"), block(2, block(2, block(1, "")))].concat();
    let raw = block(2, block(1, volume));
    let spec = &read(of("v1", "Pod"), &raw).unwrap()["spec"];
    assert_eq!(spec["volumes"], json!([{"name": "v", "emptyDir": {}}]));
}

#[test]
fn objects_within_objects_have_their_type() {
    let claim = block(1, block(1, "data"));
    let raw = block(2, block(4, claim));
    let set = read(of("apps/v1", "StatefulSet"), &raw).unwrap();
    let expected =
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}});
    assert_eq!(set["spec"]["volumeClaimTemplates"], json!([expected]));
}

#[test]
fn times_quantities_and_ports_are_as_json_has_them() {
    let time =
        |seconds: i64, nanos: u64| [number(1, seconds.cast_unsigned()), number(2, nanos)].concat();
    let metadata = |time: &[u8]| block(1, block(8, time));
    let created = |time: &[u8]| {
        read(of("v1", "Pod"), &metadata(time))
            .map(|pod| pod["metadata"]["creationTimestamp"].clone())
    };
    assert_eq!(
        created(&time(1_700_000_000, 5)),
        Ok(json!("2023-11-14T22:13:20Z"))
    );
    assert_eq!(created(&time(-1, 0)), Ok(json!("1969-12-31T23:59:59Z")));
    assert_eq!(created(&[]), Ok(Value::Null));
    assert_eq!(created(&time(-62_135_596_800, 0)), Ok(Value::Null));
    assert_eq!(
        created(&time(i64::MAX, 0)),
        Err("a time out of range".to_owned())
    );
    // An election's record has microseconds.
    let lease = read(
        of("coordination.k8s.io/v1", "Lease"),
        &block(2, block(4, time(1, 5_000_999))),
    );
    assert_eq!(
        lease.unwrap()["spec"]["renewTime"],
        "1970-01-01T00:00:01.005000Z"
    );

    let data = block(
        2,
        block(7, [block(1, "cpu"), block(2, block(1, "100m"))].concat()),
    );
    assert!(read(of("v1", "ResourceQuota"), &data).is_ok());

    let port = |target: &[u8]| {
        let port = [number(3, 80), block(4, target)].concat();
        let service = read(of("v1", "Service"), &block(2, block(1, port))).unwrap();
        service["spec"]["ports"][0]["targetPort"].clone()
    };
    assert_eq!(
        port(&[number(1, 0), number(2, 8080), block(3, "")].concat()),
        8080
    );
    assert_eq!(
        port(&[number(1, 1), number(2, 0), block(3, "http")].concat()),
        "http"
    );
    assert_eq!(port(&[]), 0);
}

#[test]
fn json_within_messages_is_read_as_what_it_is() {
    let entry = [
        block(1, "kubectl"),
        block(7, block(1, r#"{"f:data":{".":{}}}"#)),
    ]
    .concat();
    let read_entry = |entry: &[u8]| {
        read(of("v1", "ConfigMap"), &block(1, block(17, entry)))
            .map(|map| map["metadata"]["managedFields"][0].clone())
    };
    assert_eq!(
        read_entry(&entry),
        Ok(json!({"manager": "kubectl", "fieldsV1": {"f:data": {".": {}}}}))
    );
    let error = read_entry(&block(7, block(1, "{"))).unwrap_err();
    assert!(error.contains("EOF"), "{error}");
}

#[test]
fn bytes_are_base64_and_numbers_have_their_sign() {
    let data = |content: &[u8]| block(2, [block(1, "k"), block(2, content)].concat());
    let secret = read(of("v1", "Secret"), &data(&[0xff, 0, 1])).unwrap();
    assert_eq!(secret["data"], json!({"k": "/wAB"}));
    let pod = read(of("v1", "Pod"), &block(2, number(25, u64::MAX))).unwrap();
    assert_eq!(pod["spec"]["priority"], -1);
}

#[test]
fn texts_that_are_not_utf_8_are_read_as_go_prints_them() {
    let map = read(of("v1", "ConfigMap"), &block(1, block(1, [b'a', 0xff])));
    assert_eq!(map.unwrap()["metadata"]["name"], "a\u{fffd}");
}

#[test]
fn schemas_have_their_alternatives() {
    let crd = of("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    let schema = |schema: &[u8]| {
        let version = block(4, block(1, schema));
        let crd = read(crd, &block(2, block(7, version))).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    };
    let kind = |kind: &str| block(5, kind);
    assert_eq!(
        schema(&block(24, block(1, kind("string")))),
        json!({"items": {"type": "string"}})
    );
    let list = [block(2, kind("string")), block(2, kind("integer"))].concat();
    assert_eq!(
        schema(&block(24, list)),
        json!({"items": [{"type": "string"}, {"type": "integer"}]})
    );
    assert_eq!(
        schema(&block(30, number(1, 1))),
        json!({"additionalProperties": true})
    );
    let object = [number(1, 1), block(2, kind("object"))].concat();
    assert_eq!(
        schema(&block(30, object)),
        json!({"additionalProperties": {"type": "object"}})
    );
    let default = block(8, block(1, "[1, {}]"));
    assert_eq!(schema(&default), json!({"default": [1, {}]}));
    let maximum = [vec![9 << 3 | 1], 3f64.to_le_bytes().to_vec()].concat();
    assert_eq!(schema(&maximum), json!({"maximum": 3}));
}

#[test]
fn packed_numbers_are_the_same_as_others() {
    let pod = |groups: &[u8]| {
        let pod = read(of("v1", "Pod"), &block(2, block(14, groups))).unwrap();
        pod["spec"]["securityContext"]["supplementalGroups"].clone()
    };
    assert_eq!(pod(b"\x20\x01\x20\x80\x01"), json!([1, 128]));
    assert_eq!(pod(b"\x22\x03\x01\x80\x01"), json!([1, 128]));
}

#[test]
fn malformed_input_is_an_error_with_its_place() {
    let map = of("v1", "ConfigMap");
    let check = |bytes: &[u8], expected: &str| assert_eq!(read(map, bytes), Err(expected.into()));
    check(b"\x12\x05ab", "v1.ConfigMap.data: unexpected end");
    check(b"\x10\x05", "v1.ConfigMap.data: wrong wire type");
    check(b"\x0a\x03\x0a\x05x", "v1.ObjectMeta.name: unexpected end");
    check(b"\x07", "v1.ConfigMap: invalid tag");
    check(b"\x00", "v1.ConfigMap: invalid tag");
    check(&[0xff; 11], "v1.ConfigMap: invalid tag");
    check(b"\x12\xff", "v1.ConfigMap.data: unexpected end");
    // Unknown fields of every kind are stepped over.
    let unknown = b"\xa0\x06\x05\xa9\x06\0\0\0\0\0\0\0\0\xa2\x06\x01x\xa5\x06\0\0\0\0";
    assert_eq!(read(map, unknown), Ok(json!({})));
}

#[test]
fn nesting_is_bounded() {
    let mut schema = Vec::new();
    for _ in 0..usize::from(DEPTH_MAX) {
        schema = block(28, schema);
    }
    let crd = block(2, block(7, block(4, block(1, schema))));
    let error = read(
        of("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        &crd,
    );
    assert_eq!(
        error,
        Err("v1.JSONSchemaProps.not: more than 64 messages in each other".into())
    );
}
