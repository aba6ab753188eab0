//! Lists and watches in protobuf and CBOR: cut at every byte, broken off, malformed.

use bytes::Bytes;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use proptest::prelude::*;

use crate::{
    decode::{
        Decoder, Frame, Frames, ItemContext, ListReader, status_of_answer,
        tests::{event_in_short, page_in_short},
    },
    encoding::Encoding,
    held_objects::NoHeldObjects,
    list_watch::{ListPage, ListWatchError},
    shard::{Shard, ShardField, ShardFilter},
};

const ENCODINGS: [Encoding; 2] = [Encoding::Protobuf, Encoding::Cbor];

fn config_maps() -> Decoder {
    Decoder::new("v1", "ConfigMap")
}

// === Protobuf ===

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

fn block(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [
        vec![number << 3 | 2],
        varint(content.len()),
        content.to_vec(),
    ]
    .concat()
}

fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let of = [block(1, api_version), block(2, kind)].concat();
    [
        b"k8s\0".to_vec(),
        block(1, of),
        block(2, raw),
        block(3, ""),
        block(4, ""),
    ]
    .concat()
}

/// A config map with a name, a version and one entry.
fn message(name: &str, version: &str) -> Vec<u8> {
    let labels = block(11, [block(1, "app"), block(2, "x")].concat());
    let metadata = [block(1, name), block(3, "n"), block(6, version), labels].concat();
    let entry = [block(1, "key"), block(2, "v".repeat(200))].concat();
    [block(1, metadata), block(2, entry)].concat()
}

fn protobuf_list() -> Vec<u8> {
    let metadata = [block(1, ""), block(2, "7"), block(3, "abc")].concat();
    let raw = [
        block(1, metadata),
        block(2, message("a", "3")),
        block(2, message("b", "5")),
    ];
    envelope("v1", "ConfigMapList", &raw.concat())
}

fn protobuf_frame(event_type: &str, object: &[u8]) -> Vec<u8> {
    let event = [block(1, event_type), block(2, block(1, object))].concat();
    let length = u32::try_from(event.len()).unwrap();
    [length.to_be_bytes().to_vec(), event].concat()
}

fn protobuf_watch() -> Vec<u8> {
    let map = |name, version| envelope("v1", "ConfigMap", &message(name, version));
    let annotation = [block(1, "k8s.io/initial-events-end"), block(2, "true")].concat();
    let metadata = [block(6, "8"), block(12, annotation)].concat();
    let bookmark = envelope("v1", "ConfigMap", &block(1, metadata));
    // The code is field 6: a number.
    let gone = [block(4, "Expired"), vec![6 << 3, 0x9a, 3]].concat();
    [
        protobuf_frame("ADDED", &map("a", "3")),
        protobuf_frame("BOOKMARK", &bookmark),
        protobuf_frame("DELETED", &map("a", "9")),
        protobuf_frame("ERROR", &envelope("v1", "Status", &gone)),
    ]
    .concat()
}

// === CBOR ===

fn head(major: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length @ 0..24) => vec![major << 5 | length],
        Ok(length) => vec![major << 5 | 0x18, length],
        Err(_) => [
            vec![major << 5 | 0x19],
            u16::try_from(length).unwrap().to_be_bytes().to_vec(),
        ]
        .concat(),
    }
}

fn text(text: &str) -> Vec<u8> {
    [head(2, text.len()), text.as_bytes().to_vec()].concat()
}

fn map<const N: usize>(entries: [(&str, Vec<u8>); N]) -> Vec<u8> {
    let entries = entries.map(|(key, value)| [text(key), value].concat());
    [head(5, N), entries.concat()].concat()
}

fn described(item: Vec<u8>) -> Vec<u8> {
    [vec![0xd9, 0xd9, 0xf7], item].concat()
}

fn item(name: &str, version: &str) -> Vec<u8> {
    let metadata = map([
        ("name", text(name)),
        ("labels", map([("app", text("x"))])),
        ("namespace", text("n")),
        ("resourceVersion", text(version)),
    ]);
    map([
        ("data", map([("key", text(&"v".repeat(200)))])),
        ("metadata", metadata),
    ])
}

fn cbor_list() -> Vec<u8> {
    let items = [head(4, 2), item("a", "3"), item("b", "5")].concat();
    let metadata = map([("continue", text("abc")), ("resourceVersion", text("7"))]);
    described(map([
        ("kind", text("ConfigMapList")),
        ("items", items),
        ("metadata", metadata),
        ("apiVersion", text("v1")),
    ]))
}

fn cbor_frame(event_type: &str, object: Vec<u8>) -> Vec<u8> {
    described(map([
        ("type", text(event_type)),
        ("object", described(object)),
    ]))
}

fn cbor_watch() -> Vec<u8> {
    let annotations = map([("k8s.io/initial-events-end", text("true"))]);
    let metadata = map([("annotations", annotations), ("resourceVersion", text("8"))]);
    let gone = map([
        ("code", vec![0x19, 0x01, 0x9a]),
        ("kind", text("Status")),
        ("reason", text("Expired")),
        ("apiVersion", text("v1")),
    ]);
    [
        cbor_frame("ADDED", item("a", "3")),
        cbor_frame("BOOKMARK", map([("metadata", metadata)])),
        cbor_frame("DELETED", item("a", "9")),
        cbor_frame("ERROR", gone),
    ]
    .concat()
}

fn list_in(encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => protobuf_list(),
        _ => cbor_list(),
    }
}

fn watch_in(encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => protobuf_watch(),
        _ => cbor_watch(),
    }
}

// === What is read ===

fn page(
    encoding: Encoding,
    chunks: &[&[u8]],
) -> Result<(ListPage<ConfigMap>, Option<String>), ListWatchError> {
    let decoder = config_maps();
    let mut list = ListReader::new(encoding);
    let mut items = Vec::new();
    let mut token = None;
    for chunk in chunks {
        list.push(&Bytes::copy_from_slice(chunk), |item| items.push(item));
        token = token.or_else(|| list.take_token(&decoder));
    }
    let end = list.finish(&decoder, |item| items.push(item))?;
    let items = items
        .iter()
        .filter_map(|item| {
            let object = decoder.item(encoding, item, &ItemContext::typed(Some(&NoHeldObjects)));
            object.transpose()
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok((end.into_page(items), token))
}

fn page_of(encoding: Encoding, body: &[u8]) -> String {
    page_in_short(page(encoding, &[body]).map(|(page, _)| page))
}

/// The events in chunks of a stream, and the error at its end.
fn events(encoding: Encoding, chunks: &[&[u8]]) -> Vec<String> {
    let decoder = config_maps();
    let mut frames = Frames::new(encoding);
    let mut found = Vec::new();
    let read = |frame: Result<Bytes, ListWatchError>| {
        let making = ItemContext::typed(Some(&NoHeldObjects));
        let event = frame.and_then(|frame| decoder.event_in(encoding, &frame, &making));
        let event = event.map(|frame| match frame {
            Frame::Event(event) => event,
            Frame::OutOfShard(_) => unreachable!("no shard is asked for"),
        });
        event_in_short::<ConfigMap>(event)
    };
    for chunk in chunks {
        frames.push(Bytes::copy_from_slice(chunk));
        loop {
            match frames.next_frame() {
                Ok(None) => break,
                Ok(Some(frame)) => found.push(read(Ok(frame))),
                Err(error) => {
                    found.push(read(Err(error)));
                    return found;
                }
            }
        }
    }
    found.extend(frames.finish().map(read));
    found
}

#[test]
fn a_list_is_the_same_wherever_it_is_cut() {
    for encoding in ENCODINGS {
        let body = list_in(encoding);
        for at in 0..=body.len() {
            let (page, token) = page(encoding, &[&body[..at], &body[at..]]).unwrap();
            assert_eq!(
                page_in_short(Ok(page)),
                "7 [n/a@3 n/b@5] abc",
                "{encoding:?} {at}"
            );
            let early = (encoding == Encoding::Protobuf).then(|| "abc".to_owned());
            assert_eq!(token, early);
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        let (page, _) = page(encoding, &bytes).unwrap();
        let object = page.items[1].as_ref().unwrap();
        assert_eq!(object.labels().get("app"), Some("x"));
        assert_eq!(object.get().data.as_ref().unwrap()["key"], "v".repeat(200));
    }
}

#[test]
fn a_list_that_is_broken_off_anywhere_is_no_list() {
    for encoding in ENCODINGS {
        let body = list_in(encoding);
        for at in 0..body.len() {
            // The last fields of an envelope may be left out.
            let may_end = encoding == Encoding::Protobuf && at >= body.len() - 4;
            let found = page_of(encoding, &body[..at]);
            assert!(
                found == "broken off" || may_end,
                "{encoding:?} {at}: {found}"
            );
        }
    }
}

#[test]
fn a_watch_is_the_same_wherever_it_is_cut() {
    let expected = [
        "added n/a@3",
        "bookmark 8 end",
        "deleted n/a@9",
        "error 410 Expired",
    ];
    for encoding in ENCODINGS {
        let stream = watch_in(encoding);
        for at in 0..=stream.len() {
            assert_eq!(events(encoding, &[&stream[..at], &stream[at..]]), expected);
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(encoding, &bytes), expected);
    }
}

#[test]
fn a_watch_that_is_broken_off_has_an_error_after_what_was_whole() {
    for encoding in ENCODINGS {
        let stream = watch_in(encoding);
        let first = events(encoding, &[&stream[..60]]);
        assert_eq!(first, ["broken off"], "{encoding:?}");
        let last = events(encoding, &[&stream[..stream.len() - 1]]);
        assert_eq!(last.len(), 4, "{encoding:?} {last:?}");
        assert_eq!(last[3], "broken off");
    }
}

#[test]
fn lists_of_something_else_are_refused() {
    let raw = [block(1, block(2, "7")), block(2, message("a", "3"))].concat();
    let check = |api_version, kind, expected: &str| {
        let body = envelope(api_version, kind, &raw);
        assert_eq!(page_of(Encoding::Protobuf, &body), expected);
    };
    check("v1", "ConfigMapList", "7 [n/a@3]");
    check(
        "v1",
        "PodList",
        "the server sent PodList of v1 where a list of ConfigMap of v1 was asked for",
    );
    check(
        "meta.k8s.io/v1",
        "PartialObjectMetadataList",
        "the server sent only metadata where whole objects were asked for",
    );
    let status = [
        block(3, "no such thing"),
        block(4, "NotFound"),
        vec![6 << 3, 0x94, 3],
    ]
    .concat();
    assert_eq!(
        page_of(Encoding::Protobuf, &envelope("v1", "Status", &status)),
        "status 404 NotFound"
    );
    let status = map([
        ("code", vec![0x19, 0x01, 0x94]),
        ("kind", text("Status")),
        ("reason", text("NotFound")),
        ("apiVersion", text("v1")),
    ]);
    assert_eq!(
        page_of(Encoding::Cbor, &described(status)),
        "status 404 NotFound"
    );
    assert_eq!(
        page_of(
            Encoding::Cbor,
            &map([("metadata", map([("resourceVersion", text("7"))]))])
        ),
        "the server sent a list without items"
    );
    assert_eq!(
        page_of(
            Encoding::Cbor,
            &map([
                ("items", vec![0xf6]),
                ("metadata", map([("resourceVersion", text("7"))]))
            ])
        ),
        "7 []"
    );
    for encoding in ENCODINGS {
        let found = page_of(encoding, b"{\"items\":[]}");
        assert_eq!(
            found, "the server sent a body that is not a list",
            "{encoding:?}"
        );
    }
}

#[test]
fn a_field_does_not_pass_the_end_of_its_list() {
    // Only with the first byte after the list would the number be complete.
    let raw = [block(1, block(2, "7")), vec![3 << 3, 0x80]].concat();
    let body = envelope("v1", "ConfigMapList", &raw);
    assert_eq!(
        page_of(Encoding::Protobuf, &body),
        "the server sent a body that is not a list"
    );
}

#[test]
fn a_status_is_read_in_the_encoding_that_it_has() {
    let raw = [
        block(3, "not now"),
        block(4, "TooManyRequests"),
        block(5, vec![5 << 3, 9]),
    ]
    .concat();
    let status = status_of_answer(429, &envelope("v1", "Status", &raw));
    assert_eq!((status.code, &*status.message), (429, "not now"));
    assert_eq!(status.retry_after, Some(std::time::Duration::from_secs(9)));
    let status = map([
        ("kind", text("Status")),
        ("message", text("not now")),
        ("apiVersion", text("v1")),
    ]);
    let status = status_of_answer(429, &described(status));
    assert_eq!((status.code, &*status.message), (429, "not now"));
}

#[test]
fn fields_in_another_order_are_read_as_well() {
    let metadata = [block(6, "3"), block(1, "old"), block(1, "a")].concat();
    let more = block(3, "n");
    let entry = |key, value| block(2, [block(2, value), block(1, key)].concat());
    let raw = [
        entry("x", "1"),
        block(1, metadata),
        entry("y", "2"),
        block(1, more),
    ]
    .concat();
    let list = [block(1, block(2, "7")), block(2, raw)].concat();
    let (page, _) = page(
        Encoding::Protobuf,
        &[&envelope("v1", "ConfigMapList", &list)],
    )
    .unwrap();
    let object = page.items[0].as_ref().unwrap();
    assert_eq!(object.key().to_string(), "n/a");
    let data = object.get().data.clone().unwrap();
    assert_eq!(
        data.into_iter().collect::<Vec<_>>(),
        [("x".into(), "1".into()), ("y".into(), "2".into())]
    );
}

#[test]
fn an_object_that_its_type_refuses_is_reported_beside_the_others() {
    #[derive(Debug, serde::Deserialize)]
    struct Numbers {
        #[serde(rename = "data")]
        _data: std::collections::BTreeMap<String, u8>,
    }
    let decoder = config_maps();
    for (encoding, item) in [
        (Encoding::Protobuf, message("a", "3")),
        (Encoding::Cbor, item("a", "3")),
    ] {
        let arrived = decoder.item::<Numbers>(encoding, &item, &ItemContext::typed(None));
        let error = arrived.unwrap().unwrap().unwrap_err();
        assert_eq!(error.key.to_string(), "n/a");
        assert!(
            error.source.to_string().contains("invalid type"),
            "{error:?}"
        );
    }
}

#[test]
fn metadata_alone_are_read_from_whole_and_reduced_objects() {
    let decoder = config_maps().metadata_only();
    let making = ItemContext::typed(None);
    for item in [
        message("a", "3"),
        block(1, [block(1, "a"), block(6, "3")].concat()),
    ] {
        let arrived =
            decoder.item::<PartialObjectMeta<ConfigMap>>(Encoding::Protobuf, &item, &making);
        let object = arrived.unwrap().unwrap().unwrap();
        assert_eq!(object.get().metadata.name.as_deref(), Some("a"));
    }
}

#[test]
fn huge_lengths_and_deep_nesting_are_refused_without_memory_for_them() {
    let huge = [b"k8s\0\x12".to_vec(), vec![0xff; 9], vec![1]].concat();
    assert_eq!(page_of(Encoding::Protobuf, &huge), "broken off");
    assert_eq!(
        events(Encoding::Protobuf, &[&[0xff; 8]]),
        ["a frame is larger than 16777216 bytes"]
    );
    let huge = [vec![0xa1], text("items"), vec![0x9b], vec![0xff; 8]].concat();
    assert_eq!(page_of(Encoding::Cbor, &huge), "broken off");
    let deep = [vec![0xa1], text("a"), vec![0x81; 100_000]].concat();
    assert_eq!(
        page_of(Encoding::Cbor, &deep),
        "the server sent a body that is not a list"
    );
    assert_eq!(
        events(Encoding::Cbor, &[&deep]),
        ["the server sent a frame that is not an event"]
    );
    let many = [vec![0xbb, 0xff], vec![0xff; 7]].concat();
    assert_eq!(
        events(Encoding::Cbor, &[&many]),
        ["the server sent a frame that is not an event"]
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        at in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..24),
        cut in any::<prop::sample::Index>(),
    ) {
        for encoding in ENCODINGS {
            for whole in [list_in(encoding), watch_in(encoding)] {
                let mut bytes = whole.clone();
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + garbage.len());
                bytes.splice(at..end, garbage.iter().copied());
                let cut = cut.index(bytes.len() + 1);
                drop(page(encoding, &[&bytes[..cut], &bytes[cut..]]));
                drop(events(encoding, &[&bytes[..cut], &bytes[cut..]]));
                drop(status_of_answer(500, &bytes[at..]));
            }
        }
    }
}

#[test]
fn objects_outside_of_the_shard_are_left_out_in_every_encoding() {
    let decoder = config_maps();
    for (encoding, item) in [
        (Encoding::Protobuf, message("a", "3")),
        (Encoding::Cbor, item("a", "3")),
    ] {
        let filters =
            [0, 1].map(|index| ShardFilter::new(Shard::new(ShardField::Uid, index, 2).unwrap()));
        let held = filters.each_ref().map(|filter| {
            let making = ItemContext {
                shard: Some(filter),
                ..ItemContext::typed(None)
            };
            let arrived = decoder.item::<ConfigMap>(encoding, &item, &making);
            arrived.unwrap().is_some()
        });
        assert!(held[0] != held[1], "{encoding:?}: {held:?}");
        assert_eq!(
            filters
                .iter()
                .map(|filter| filter.status().dropped)
                .sum::<u64>(),
            1
        );
    }
}
