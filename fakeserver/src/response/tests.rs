//! Heads, bodies and tails fit together.

use http::{HeaderMap, HeaderValue, header};

use super::*;

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
    assert_eq!(pretty(b"{\"a\":1}\n"), b"{\n  \"a\": 1\n}\n");
}

#[test]
fn the_first_representation_that_is_accepted_and_known_is_taken() {
    fn check(accept: &'static str, shape: Shape, expected: Result<Representation, &str>) {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        }
        let found = negotiate(&headers, shape).map_err(|status| {
            assert_eq!(status.code, 406);
            status.message
        });
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{accept}"),
            (Err(found), Err(expected)) => {
                assert!(found.starts_with(expected), "{accept}: {found}");
            }
            (found, _) => panic!("{accept}: {found:?}"),
        }
    }
    use Representation::{Metadata, Object};
    check("", Shape::Object, Ok(Object));
    check(" ", Shape::List, Ok(Object));
    check("*/*", Shape::List, Ok(Object));
    check("text/html,*/*;q=0.8", Shape::Object, Ok(Object));
    check("application/json", Shape::List, Ok(Object));
    check(
        "text/html, application/json;q=0.5",
        Shape::Object,
        Ok(Object),
    );
    check("application/xml", Shape::Object, Err("406: Not Acceptable"));
    check("application/*", Shape::Object, Err("406: Not Acceptable"));
    check(
        "application/json;q=0",
        Shape::Object,
        Err("406: Not Acceptable"),
    );
    check(
        "application/vnd.kubernetes.protobuf,application/json",
        Shape::Object,
        Ok(Object),
    );

    let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    check(metadata, Shape::Object, Ok(Metadata));
    check(list, Shape::List, Ok(Metadata));
    check(
        metadata,
        Shape::List,
        Err("only the following media types are accepted"),
    );
    check(
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        Shape::List,
        Ok(Object),
    );
    check(
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        Shape::List,
        Err("only the"),
    );
    check(
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v2",
        Shape::Object,
        Err("only the"),
    );
    check(
        "application/json;q=0.2,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;q=0.9",
        Shape::Object,
        Ok(Metadata),
    );
}
