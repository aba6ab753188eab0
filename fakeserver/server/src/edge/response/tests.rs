//! Tests of negotiation and encoding.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use super::*;
use crate::edge::request::MediaTypes;

fn served(protobuf: bool) -> ServedForms {
    ServedForms {
        media_types: MediaTypes::default(),
        protobuf,
        tables: true,
        drops_managed_fields: false,
        is_routed: true,
    }
}

#[test]
fn pretty_json_is_indented_by_two_and_otherwise_the_same() {
    fn check(json: &str) {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let expected = serde_json::to_string_pretty(&value).unwrap();
        let compact = serde_json::to_string(&value).unwrap();
        assert_eq!(
            String::from_utf8(pretty(compact.as_bytes())).unwrap(),
            expected
        );
    }
    check(r#"{"a":{},"b":[],"c":[1,{"d":null}],"e":"x, {y}: \"[\\"}"#);
    check("[[[]],[{}],\"\\\\\"]");
    check("true");
    assert_eq!(pretty(b"{\"a\":1}\n"), b"{\n  \"a\": 1\n}");
}

#[test]
fn pretty_json_in_pieces_is_the_same_as_at_once() {
    let json = br#"{"a":{},"b":[],"c":[1,{"d":null}],"e":"x, {y}: \"[\\"}"#;
    for size in 1..json.len() {
        let pieces = json.chunks(size).map(Bytes::from_static);
        let joined: Vec<u8> = pretty::pretty_pieces(pieces).flatten().collect();
        assert_eq!(
            joined,
            pretty(json),
            "pieces of {size} bytes differ from the whole"
        );
    }
}

fn check(accept: &'static str, shape: Shape, expected: Result<(Format, View), &str>) {
    let mut headers = HeaderMap::new();
    if !accept.is_empty() {
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    }
    let found = negotiate(&headers, shape, served(true)).map_err(|status| {
        assert_eq!(status.code, 406);
        status.message
    });
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!((found.format, found.view), expected, "{accept}");
        }
        (Err(found), Err(expected)) => {
            assert!(found.starts_with(expected), "{accept}: {found}");
        }
        (found, _) => panic!("{accept}: {found:?}"),
    }
}

const JSON: Result<(Format, View), &str> = Ok((Format::Json, View::Object));
const PROTOBUF: Result<(Format, View), &str> = Ok((Format::Protobuf, View::Object));
const UNKNOWN: Result<(Format, View), &str> = Err("406: Not Acceptable");
const REFUSED: Result<(Format, View), &str> = Err("only the following media types are accepted");

#[test]
fn the_first_format_that_is_accepted_and_known_is_taken() {
    check("", Shape::Object, JSON);
    check(" ", Shape::List, JSON);
    check("*/*", Shape::List, JSON);
    check("text/html,*/*;q=0.8", Shape::Object, JSON);
    check("application/json", Shape::List, JSON);
    check("text/html, application/json;q=0.5", Shape::Object, JSON);
    check("application/xml", Shape::Object, UNKNOWN);
    check("application/*", Shape::Object, UNKNOWN);
    check("application/cbor", Shape::List, UNKNOWN);
    // A quality of zero is the lowest preference, and no exclusion.
    check("application/json;q=0", Shape::Object, JSON);
    let yaml = Ok((Format::Yaml, View::Object));
    check("application/yaml", Shape::Object, yaml);
    check("application/yaml", Shape::List, yaml);
    check("application/yaml", Shape::Watch, REFUSED);
    // The first is taken, and has no streams.
    check("application/yaml,application/json", Shape::Watch, REFUSED);
    check("application/json,application/yaml", Shape::Watch, JSON);
    let typed = "application/vnd.kubernetes.protobuf,application/json";
    check(typed, Shape::Object, PROTOBUF);
    check(typed, Shape::Watch, PROTOBUF);
    let preferring = "application/vnd.kubernetes.protobuf;q=0.2,application/json;q=0.3";
    check(preferring, Shape::Object, JSON);

    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static(typed));
    let custom = negotiate(&headers, Shape::Object, served(false)).unwrap();
    assert_eq!(
        custom.format,
        Format::Json,
        "what has no protobuf goes as JSON"
    );
}

#[test]
fn the_first_view_that_there_is_of_it_is_taken() {
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for shape in [Shape::Object, Shape::List, Shape::Watch] {
        check(table, shape, Ok((Format::Json, View::Table)));
    }
    check(metadata, Shape::Object, Ok((Format::Json, View::Metadata)));
    check(metadata, Shape::Watch, Ok((Format::Json, View::Metadata)));
    // The handler checks later whether the view fits the resource.
    check(list, Shape::List, Ok((Format::Json, View::MetadataList)));
    check(metadata, Shape::List, Ok((Format::Json, View::Metadata)));
    check(
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        Shape::Object,
        Ok((Format::Protobuf, View::Metadata)),
    );
    check(
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
        Shape::List,
        REFUSED,
    );
    check(
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
        Shape::List,
        Ok((Format::Json, View::Table)),
    );
    check(
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v2",
        Shape::Object,
        REFUSED,
    );
    check(
        "application/json;q=0.2,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;q=0.9",
        Shape::Object,
        Ok((Format::Json, View::Metadata)),
    );
}

#[test]
fn compression_in_pieces_equals_compression_at_once() {
    use std::io::Read;

    let pieces: Vec<Bytes> = (0..100_u8).map(|at| Bytes::from(vec![at; 3_000])).collect();
    let whole: Vec<u8> = pieces.iter().flatten().copied().collect();
    let sent: Vec<u8> = gzip::compressed(pieces.into_iter()).flatten().collect();
    let mut read = Vec::new();
    flate2::read::GzDecoder::new(sent.as_slice())
        .read_to_end(&mut read)
        .unwrap();
    assert_eq!(read, whole);
    assert!(sent.len() < whole.len() / 10);
}

#[test]
fn only_the_bare_word_asks_for_gzip() {
    for (accepted, expected) in [
        ("gzip", true),
        ("deflate, gzip", true),
        ("gzip;q=1.0", false),
        ("br", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted));
        assert_eq!(gzip::takes_gzip(&headers), expected, "{accepted}");
    }
}
