//! Tests of decoding: tables for each kind of body, and properties of the splitting.

use std::sync::Arc;

use bytes::Bytes;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::core::{DynamicObject, PartialObjectMeta};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Decoder, FrameSplitter, ItemContext, status_of_answer};
use crate::{
    encoding::Encoding,
    held_objects::{HeldObjects, NoHeldObjects},
    list_watch::{ArrivedObject, ListPage, ListWatchError, WatchEvent},
    object::{Metadata, Object},
};

fn config_maps() -> Decoder {
    Decoder::new("v1", "ConfigMap")
}

/// An arrived object in short: key and version, `!` for one that was refused.
pub(super) fn in_short<K>(arrived: &ArrivedObject<K>) -> String {
    match arrived {
        Ok(object) => format!("{object:?}"),
        Err(error) => format!("!{}@{}", error.key, error.resource_version),
    }
}

pub(super) fn page_in_short<K>(page: Result<ListPage<K>, ListWatchError>) -> String {
    match page {
        Err(error) => failure_in_short(&error),
        Ok(page) => {
            let items: Vec<String> = page.items.iter().map(in_short).collect();
            let token = page.continue_token.unwrap_or_default();
            format!("{} [{}] {token}", page.resource_version, items.join(" "))
                .trim_end()
                .to_owned()
        }
    }
}

pub(super) fn event_in_short<K>(event: Result<WatchEvent<K>, ListWatchError>) -> String {
    match event {
        Err(error) => failure_in_short(&error),
        Ok(WatchEvent::Added(object)) => format!("added {}", in_short(&object)),
        Ok(WatchEvent::Modified(object)) => format!("modified {}", in_short(&object)),
        Ok(WatchEvent::Deleted(object)) => format!("deleted {}", in_short(&object)),
        Ok(WatchEvent::Bookmark {
            resource_version,
            is_end_of_initial_events,
        }) => format!(
            "bookmark {resource_version}{}",
            if is_end_of_initial_events { " end" } else { "" }
        ),
        Ok(WatchEvent::Error(status)) => format!("error {} {}", status.code, status.reason),
    }
}

fn failure_in_short(error: &ListWatchError) -> String {
    match error {
        ListWatchError::Status(status) => format!("status {} {}", status.code, status.reason),
        ListWatchError::Transport(_) => "broken off".to_owned(),
        other => other.to_string(),
    }
}

/// The whole page of a list.
fn page_of<K: DeserializeOwned + Send + Sync + 'static>(
    decoder: &Decoder,
    body: &[u8],
    held: &dyn HeldObjects<K>,
) -> Result<ListPage<K>, ListWatchError> {
    let mut list = decoder.list_body(body)?;
    let items = std::iter::from_fn(|| list.next_item(held)).collect::<Result<_, _>>()?;
    assert!(list.is_empty());
    Ok(list.into_page(items))
}

fn check_list(body: &str, expected: &str) {
    let page = page_of::<ConfigMap>(&config_maps(), body.as_bytes(), &NoHeldObjects);
    assert_eq!(page_in_short(page), expected, "{body}");
}

fn check_event(frame: &str, expected: &str) {
    let event = config_maps().watch_event::<ConfigMap>(frame.as_bytes(), &NoHeldObjects);
    assert_eq!(event_in_short(event), expected, "{frame}");
}

#[test]
fn a_list_becomes_a_page_whatever_the_order_of_its_fields() {
    let built_in = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"abc","remainingItemCount":3},
        "items":[{"metadata":{"name":"a","namespace":"n","resourceVersion":"3","labels":null,"ownerReferences":null}},
                 {"metadata":{"name":"b","namespace":"n","resourceVersion":"5"},"data":{"k":"v"}}]}"#;
    check_list(built_in, "7 [n/a@3 n/b@5] abc");
    let alphabetical = r#"{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"3"}}],
        "kind":"ConfigMapList","metadata":{"continue":"","resourceVersion":"7"}}"#;
    check_list(alphabetical, "7 [a@3]");
    check_list(
        r#"{"items":null,"metadata":{"resourceVersion":"7"}}"#,
        "7 []",
    );
}

#[test]
fn an_object_keeps_nothing_of_the_page_it_came_in() {
    let page = {
        let item = |n| format!(r#"{{"metadata":{{"name":"k{n}","resourceVersion":"{n}"}}}}"#);
        let items: Vec<_> = (1..=3).map(item).collect();
        let items = items.join(",");
        let body = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#);
        page_of::<ConfigMap>(&config_maps(), body.as_bytes(), &NoHeldObjects).unwrap()
    };
    let objects: Vec<_> = page.items.into_iter().map(Result::unwrap).collect();
    let values: Vec<_> = objects
        .iter()
        .map(|object| Arc::downgrade(object.get()))
        .collect();
    let survivor = objects.into_iter().nth(1).unwrap();
    let alive: Vec<_> = values.iter().map(std::sync::Weak::strong_count).collect();
    assert_eq!(alive, [0, 1, 0]);
    assert_eq!(format!("{survivor:?}"), "k2@2");
}

#[test]
fn an_item_that_does_not_decode_is_reported_by_key_and_the_others_go_on() {
    check_list(
        r#"{"metadata":{"resourceVersion":"7"},"items":[
            {"metadata":{"name":"bad","namespace":"n","resourceVersion":"1"},"data":{"k":5}},
            {"metadata":{"name":"good","namespace":"n","resourceVersion":"2"}}]}"#,
        "7 [!n/bad@1 n/good@2]",
    );
}

#[test]
fn invalid_lists_have_an_error_of_their_own() {
    let list =
        |items: &str| format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#);
    check_list(
        r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"Expired","code":410}"#,
        "status 410 Expired",
    );
    check_list(
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"rows":[]}"#,
        "the server sent a table where a list was asked for",
    );
    check_list(
        r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[]}"#,
        "the server sent only metadata where whole objects were asked for",
    );
    check_list(
        r#"{"metadata":{"resourceVersion":"7"}}"#,
        "the server sent a list without items",
    );
    check_list(
        r#"{"metadata":{},"items":[]}"#,
        "the server sent a list without a version",
    );
    check_list(
        &list(r#"{"metadata":{"resourceVersion":"1"}}"#),
        "the server sent an object without a name",
    );
    check_list(
        &list(r#"{"metadata":{"name":"a"}}"#),
        "the server sent an object without a version",
    );
    check_list(
        &list(
            r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}"#,
        ),
        "the server sent Secret of v1 where ConfigMap of v1 was asked for",
    );
    check_list("<html></html>", "the server sent a body that is not a list");
    check_list("[]", "the server sent a body that is not a list");
    check_list(
        r#"{"metadata":{"resourceVersion":"7"},"items":[{"metad"#,
        "broken off",
    );
    check_list("", "broken off");
    check_list(
        r#"{"metadata":{"resourceVersion":"7"},"items":[]} trailing"#,
        "the server sent a body that is not a list",
    );
}

#[test]
fn frames_become_events() {
    let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"3"}}"#;
    check_event(
        &format!(r#"{{"type":"ADDED","object":{object}}}"#),
        "added n/a@3",
    );
    check_event(
        &format!(r#"{{"object":{object},"type":"MODIFIED"}}"#),
        "modified n/a@3",
    );
    check_event(
        &format!(r#"{{"type":"DELETED","object":{object}}}"#),
        "deleted n/a@3",
    );
    check_event(
        r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"3"},"data":[]}}"#,
        "modified !a@3",
    );
    check_event(
        r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired","message":"too old"}}"#,
        "error 410 Expired",
    );
    check_event(
        r#"{"kind":"Status","apiVersion":"v1","code":500,"reason":"InternalError","message":"m"}"#,
        "status 500 InternalError",
    );
}

#[test]
fn only_the_annotation_with_the_value_true_ends_the_initial_events() {
    let bookmark = |annotations: &str| {
        format!(
            r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"9","annotations":{annotations}}}}}}}"#
        )
    };
    check_event(
        &bookmark(r#"{"k8s.io/initial-events-end":"true"}"#),
        "bookmark 9 end",
    );
    check_event(
        &bookmark(r#"{"k8s.io/initial-events-end":"false"}"#),
        "bookmark 9",
    );
    check_event(&bookmark(r#"{"other":"true"}"#), "bookmark 9");
    check_event(&bookmark("null"), "bookmark 9");
}

#[test]
fn a_line_that_is_not_an_event_is_an_error() {
    let object = r#"{"metadata":{"name":"a","resourceVersion":"3"}}"#;
    for (frame, expected) in [
        (
            format!(r#"{{"type":"SYNCED","object":{object}}}"#),
            r#"the server sent an event of the unknown type "SYNCED""#,
        ),
        (
            r#"{"type":"ADDED"}"#.to_owned(),
            "the server sent an event without an object",
        ),
        (
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#.to_owned(),
            "the server sent an object without a version",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1"}}"#
                .to_owned(),
            "the server sent a table where objects were asked for",
        ),
        (
            r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#.to_owned(),
            "the server sent a bookmark without a version",
        ),
        (
            format!(r#"{{"type":"ERROR","object":{object}}}"#),
            "the server sent an error event without a status",
        ),
        (
            "404 page not found".to_owned(),
            "the server sent a frame that is not an event",
        ),
        (r#"{"type":"ADDED","obj"#.to_owned(), "broken off"),
    ] {
        check_event(&frame, expected);
    }
}

#[test]
fn list_items_and_events_decode_alike_although_items_lack_their_type() {
    fn types_of(decoder: &Decoder, body: &str) -> Option<(String, String)> {
        let page = page_of::<DynamicObject>(decoder, body.as_bytes(), &NoHeldObjects).unwrap();
        let object = page.items[0].as_ref().unwrap().get();
        assert_eq!(object.data, serde_json::json!({"data": {"k": "v"}}));
        object
            .types
            .clone()
            .map(|types| (types.api_version, types.kind))
    }
    let expected = Some(("v1".to_owned(), "ConfigMap".to_owned()));
    for item in [
        r#"{"metadata":{"name":"a","resourceVersion":"3"},"data":{"k":"v"}}"#,
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"3"},"data":{"k":"v"}}"#,
    ] {
        let body = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{item}]}}"#);
        assert_eq!(types_of(&config_maps(), &body), expected);
    }
}

#[test]
fn types_of_the_users_own_decode_with_their_type_put_in_front() {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Slim {
        api_version: String,
        kind: String,
        data: std::collections::BTreeMap<String, String>,
    }
    #[derive(serde::Deserialize)]
    struct Wrapped(Slim);

    let body = r#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"3"},"data":{"k":"\u00e9"}}]}"#;
    let page = page_of::<Wrapped>(&config_maps(), body.as_bytes(), &NoHeldObjects).unwrap();
    let slim = &page.items[0].as_ref().unwrap().get().0;
    assert_eq!((&*slim.api_version, &*slim.kind), ("v1", "ConfigMap"));
    assert_eq!(slim.data["k"], "é");
}

#[test]
fn types_of_the_users_own_may_keep_json_as_it_is_and_have_enums() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Size {
        Default,
        Fixed(Vec<u32>),
        Range { from: u32, to: u32 },
    }
    #[derive(serde::Deserialize)]
    struct Odd {
        raw: Box<RawValue>,
        sizes: Vec<Size>,
        names: Vec<(String, Vec<String>)>,
        #[serde(flatten)]
        rest: std::collections::BTreeMap<String, serde_json::Value>,
    }

    let frame = r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"3"},"raw":[ ["x"],{"y":[]}],
        "sizes":["default",{"fixed":[1,2]},{"range":{"from":1,"to":2}}],"names":[["n",["m","o"]]],"other":[["p"]]}}"#;
    let event = config_maps().watch_event::<Odd>(frame.as_bytes(), &NoHeldObjects);
    let Ok(WatchEvent::Added(Ok(object))) = event else {
        panic!("not added");
    };
    let odd = object.get();
    assert_eq!(odd.raw.get(), r#"[ ["x"],{"y":[]}]"#);
    let range = Size::Range { from: 1, to: 2 };
    let sizes = [Size::Default, Size::Fixed(vec![1, 2]), range];
    assert_eq!(odd.sizes, sizes);
    assert_eq!(odd.names, [("n".into(), vec!["m".into(), "o".into()])]);
    assert_eq!(odd.rest["other"], serde_json::json!([["p"]]));
}

#[test]
fn metadata_only_objects_are_accepted_where_they_were_asked_for_and_whole_ones_too() {
    let decoder = Decoder::new("v1", "Pod").metadata_only();
    let partial = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"3"}}"#;
    let whole = r#"{"metadata":{"name":"b","resourceVersion":"4"},"spec":{"containers":[]}}"#;
    let body = format!(
        r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"7"}},"items":[{partial},{whole}]}}"#
    );
    let page = page_of::<PartialObjectMeta<Pod>>(&decoder, body.as_bytes(), &NoHeldObjects);
    assert_eq!(page_in_short(page), "7 [a@3 b@4]");
    let frame = format!(r#"{{"type":"ADDED","object":{partial}}}"#);
    check_event(
        &frame,
        "the server sent only metadata where whole objects were asked for",
    );
}

#[test]
fn kinds_named_as_the_servers_own_forms_are_decoded_as_any_other_kind() {
    for kind in ["PartialObjectMetadata", "Table"] {
        let names = format!(r#""kind":"{kind}","apiVersion":"example.com/v1""#);
        let object = format!(r#"{{{names},"metadata":{{"name":"a","resourceVersion":"3"}}}}"#);
        let frame = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        let decoder = Decoder::new("example.com/v1", kind);
        let event = decoder.watch_event::<DynamicObject>(frame.as_bytes(), &NoHeldObjects);
        assert_eq!(event_in_short(event), "added a@3");
        let body = format!(
            r#"{{"kind":"{kind}List","apiVersion":"example.com/v1","metadata":{{"resourceVersion":"7"}},"items":[{object}]}}"#
        );
        let page = page_of::<DynamicObject>(&decoder, body.as_bytes(), &NoHeldObjects);
        assert_eq!(page_in_short(page), "7 [a@3]");
    }
}

#[test]
fn the_peeked_metadata_is_that_of_the_decoded_object() {
    let item = r#"{"metadata":{"name":"a\"\u00e9","namespace":"n","uid":"u-1","resourceVersion":"3","labels":{"b":"2","a":"1"},
        "annotations":{"x":"y"},"deletionTimestamp":"2026-01-01T00:00:00Z","creationTimestamp":null,
        "managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{}}}],
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u-2","controller":true}]}}"#;
    let body = format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{item}]}}"#);
    let page = page_of::<ConfigMap>(&config_maps(), body.as_bytes(), &NoHeldObjects).unwrap();
    let object = page.items[0].as_ref().unwrap();
    assert_eq!(object.metadata(), &Metadata::of(&**object.get()));
    assert!(object.metadata().is_terminating);
    assert_eq!(object.labels().get("b"), Some("2"));
}

#[test]
fn vectors_are_as_long_as_they_need_to_be() {
    let container = r#"{"name":"c","args":["a","b","c"],"resources":{"claims":[]},"env":[{"name":"x","value":"[\"["}],
        "ports":[{"containerPort":1},{"containerPort":2},{"containerPort":3},{"containerPort":4},{"containerPort":5}]}"#;
    let object = format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","resourceVersion":"3","ownerReferences":[],
        "managedFields":[{{"manager":"m","fieldsV1":{{"f:data":[[],[[]]]}}}}],"finalizers":["x/y"],"unknown":[[],[[]]]}},
        "spec":{{"containers":[{container},{container},{container}],"tolerations":null}}}}"#
    );
    let frame = format!(r#"{{"type":"ADDED","object":{object}}}"#);
    let whole = Decoder::new("v1", "Pod");
    let pruned = whole
        .clone()
        .without_fields([".metadata.managedFields".parse().unwrap()]);
    let cut = pruned
        .clone()
        .without_fields([".spec.containers[*]".parse().unwrap()]);
    for (decoder, len) in [(&whole, 3), (&pruned, 3), (&cut, 0)] {
        let event = decoder.watch_event(frame.as_bytes(), &NoHeldObjects);
        let Ok(WatchEvent::Added(Ok(of_event))) = event else {
            panic!("{event:?}");
        };
        let of_item = decoder.item(Encoding::Json, object.as_bytes(), &ItemContext::typed(None));
        for pod in [of_event, of_item.unwrap().unwrap().unwrap()] {
            let pod: &Arc<Pod> = pod.get();
            assert_eq!(pod.metadata.finalizers.as_ref().unwrap().capacity(), 1);
            let containers = &pod.spec.as_ref().unwrap().containers;
            assert_eq!((containers.len(), containers.capacity()), (len, len));
            for container in containers {
                assert_eq!(container.args.as_ref().unwrap().capacity(), 3);
                assert_eq!(container.env.as_ref().unwrap().capacity(), 1);
                assert_eq!(container.ports.as_ref().unwrap().capacity(), 5);
            }
        }
    }
}

/// Holds every version of every object.
struct SameObject(Object<ConfigMap>);

impl HeldObjects<ConfigMap> for SameObject {
    fn lookup(&self, _: &Metadata) -> Option<Object<ConfigMap>> {
        Some(self.0.clone())
    }
}

#[test]
fn a_known_version_is_the_handle_that_is_held_and_is_not_decoded() {
    struct HeldObject(Object<ConfigMap>);
    impl HeldObjects<ConfigMap> for HeldObject {
        fn lookup(&self, metadata: &Metadata) -> Option<Object<ConfigMap>> {
            (metadata.key == *self.0.key()
                && metadata.uid[..] == *self.0.uid()
                && metadata.resource_version == *self.0.resource_version())
            .then(|| self.0.clone())
        }
    }
    let mut held = ConfigMap::default();
    held.metadata.name = Some("a".into());
    held.metadata.uid = Some("u".into());
    held.metadata.resource_version = Some("3".into());
    let held = Object::new(held);
    // The content would not decode: only if nothing looks at it the page is whole.
    let body = r#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"3"},"data":0},
        {"metadata":{"name":"a","uid":"u","resourceVersion":"4"}}]}"#;
    let page = page_of(&config_maps(), body.as_bytes(), &HeldObject(held.clone())).unwrap();
    assert!(page.items[0].as_ref().unwrap().is_same(&held));
    assert!(!page.items[1].as_ref().unwrap().is_same(&held));
}

#[test]
fn an_error_answer_is_read_in_any_form() {
    let check = |code, body: &str, expected: &str| {
        let status = status_of_answer(code, body.as_bytes());
        let text = format!(
            "{} {} {:?} {:?}",
            status.code, status.reason, status.message, status.retry_after
        );
        assert_eq!(text, expected);
    };
    check(
        429,
        "Too many requests, please try again later.\n",
        r#"429  "Too many requests, please try again later." None"#,
    );
    check(
        504,
        r#"{"metadata":{},"status":"Failure","message":"Timeout: x","reason":"Timeout","details":{"retryAfterSeconds":1},"code":504}"#,
        r#"504 Timeout "Timeout: x" Some(1s)"#,
    );
    check(
        502,
        "<html>\n  <b>Bad</b>\n</html>",
        r#"502  "<html> <b>Bad</b> </html>" None"#,
    );
    check(
        500,
        r#"{"error":"no status"}"#,
        r#"500  "{\"error\":\"no status\"}" None"#,
    );
    check(500, "", r#"500  "" None"#);
    assert_eq!(
        status_of_answer(500, "é".repeat(2000).as_bytes())
            .message
            .len(),
        1024
    );
}

/// All frames of `chunks`, with the rest at the end marked.
fn split(chunks: &[&[u8]], size_max_bytes: usize) -> Result<Vec<String>, ListWatchError> {
    let mut splitter = FrameSplitter::new(size_max_bytes);
    let mut frames = Vec::new();
    let text = |frame: Bytes| String::from_utf8_lossy(&frame).into_owned();
    for chunk in chunks {
        splitter.push(Bytes::copy_from_slice(chunk));
        while let Some(frame) = splitter.next_frame()? {
            frames.push(text(frame));
        }
    }
    frames.extend(splitter.finish().map(|rest| format!("rest {}", text(rest))));
    Ok(frames)
}

#[test]
fn lines_are_frames() {
    let check = |stream: &[u8], expected: &[&str]| {
        assert_eq!(split(&[stream], 100).unwrap(), expected);
    };
    check(b"a\nb\n", &["a", "b"]);
    check(b"a\r\nb\r\n", &["a", "b"]);
    check(b"a\n\n \n\r\nb", &["a", "rest b"]);
    check(b"", &[]);
    check(b"\n", &[]);
}

#[test]
fn a_frame_over_the_limit_is_an_error_before_it_is_complete() {
    assert!(split(&[b"12345\n"], 5).is_ok());
    for chunks in [
        &[&b"123456\n"[..]][..],
        &[b"123", b"456"],
        &[b"123", b"456\n"],
    ] {
        let error = split(chunks, 5).unwrap_err();
        assert_eq!(error.to_string(), "a frame is larger than 5 bytes");
    }
}

#[test]
fn a_frame_within_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"{\"a\":1}\n{\"b\":2}\n");
    let mut splitter = FrameSplitter::default();
    splitter.push(chunk.clone());
    let frame = splitter.next_frame().unwrap().unwrap();
    assert_eq!(frame.as_ptr(), chunk.as_ptr());
}

/// Cuts `bytes` at each place of `cuts` that lies within.
fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.sort_unstable();
    let mut chunks = Vec::new();
    let mut start = 0;
    for place in places {
        chunks.push(&bytes[start..place]);
        start = place;
    }
    chunks.push(&bytes[start..]);
    chunks
}

fn decode_all<K: DeserializeOwned + Send + Sync + 'static>(
    decoder: &Decoder,
    frames: &[String],
) -> Vec<String> {
    frames
        .iter()
        .map(|frame| event_in_short(decoder.watch_event::<K>(frame.as_bytes(), &NoHeldObjects)))
        .collect()
}

proptest! {
    #[test]
    fn any_chunking_of_a_stream_gives_the_same_events(
        lines in prop::collection::vec(("[a-zé😀]{1,12}", 1_u32..1000, prop::bool::ANY), 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..40),
    ) {
        let frames = lines.iter().map(|(name, version, has_return)| {
            let end = if *has_return { "\r\n" } else { "\n" };
            let metadata = format!(r#"{{"name":"{name}","resourceVersion":"{version}"}}"#);
            format!(r#"{{"type":"ADDED","object":{{"metadata":{metadata}}}}}{end}"#)
        });
        let stream = frames.collect::<Vec<_>>().concat();
        let expected: Vec<String> = lines
            .iter()
            .map(|(name, version, _)| format!("added {name}@{version}"))
            .collect();
        let frames = split(&cut(stream.as_bytes(), &cuts), 1 << 20).unwrap();
        prop_assert_eq!(decode_all::<ConfigMap>(&config_maps(), &frames), expected);
    }

    #[test]
    fn any_chunking_of_any_bytes_gives_the_same_frames(
        bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        prop_assert_eq!(
            split(&cut(&bytes, &cuts), 1 << 20).unwrap(),
            split(&[&bytes], 1 << 20).unwrap()
        );
    }

    #[test]
    fn a_body_that_was_cut_short_is_never_taken_for_a_page(length in 0_usize..1000) {
        let body = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
            {"metadata":{"name":"a","resourceVersion":"3"}},{"metadata":{"name":"b","resourceVersion":"5"}}]}"#;
        let length = length % body.len();
        let page = page_of::<ConfigMap>(&config_maps(), &body.as_bytes()[..length], &NoHeldObjects);
        prop_assert!(matches!(page, Err(ListWatchError::Transport(_))), "{:?}", page);
    }

    #[test]
    fn invalid_json_is_never_an_object(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let object = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"3","finalizers":["x/y"],
            "managedFields":[{"manager":"m","fieldsV1":{"f:data":{".":{}}}}]},"data":{"k":"v \" w"},"immutable":true}"#;
        let mut object = object.to_vec();
        let at = at.index(object.len());
        object[at] = byte;
        let is_json = serde_json::from_slice::<&RawValue>(&object).is_ok();
        let frame = [b"{\"type\":\"ADDED\",\"object\":", &*object, b"}"].concat();
        let held = SameObject(Object::new(ConfigMap::default()));
        let whole = config_maps();
        let pruned = config_maps().without_fields([".metadata.managedFields".parse().unwrap()]);
        for decoder in [whole, pruned] {
            let event = decoder.watch_event::<ConfigMap>(&frame, &NoHeldObjects);
            let item = decoder.item::<ConfigMap>(Encoding::Json, &object, &ItemContext::typed(None));
            let held = decoder.item(Encoding::Json, &object, &ItemContext::typed(Some(&held)));
            for is_taken in [event.is_ok(), item.is_ok(), held.is_ok()] {
                prop_assert!(is_json || !is_taken, "{}", String::from_utf8_lossy(&object));
            }
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let decoder = config_maps();
        let held: Arc<dyn HeldObjects<DynamicObject>> = Arc::new(NoHeldObjects);
        drop(decoder.watch_event(&bytes, &*held));
        drop(page_of(&decoder, &bytes, &*held));
        drop(status_of_answer(500, &bytes));
    }

    #[test]
    fn no_json_makes_a_decoder_panic(json in json(), event_type in "[A-Z]{0,8}") {
        let decoder = config_maps();
        let frame = serde_json::json!({"type": event_type, "object": json}).to_string();
        let list = serde_json::json!({"metadata": json, "items": [json]}).to_string();
        for text in [json.to_string(), frame, list] {
            drop(decoder.watch_event::<DynamicObject>(text.as_bytes(), &NoHeldObjects));
            drop(page_of::<DynamicObject>(&decoder, text.as_bytes(), &NoHeldObjects));
        }
    }
}

/// JSON whose field names are those that a decoder looks at.
fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(v1|Status|Table|true|[0-9]{1,3}|.{0,5})".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "metadata",
        "name",
        "namespace",
        "resourceVersion",
        "labels",
        "ownerReferences",
        "kind",
        "apiVersion",
        "continue",
        "items",
        "object",
        "type",
        "details",
        "causes",
        "code",
        "x",
    ]);
    leaf.prop_recursive(4, 30, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..5).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            }),
        ]
    })
}
