//! Trace files: written, read, cut off, wrong, and large.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{delta::delta, *};

/// An example with every kind of line, which the viewer's tests read, too.
const EXAMPLE: &str = include_str!("../../data/trace/example.jsonl");

fn example() -> TraceFile {
    TraceFile::read(EXAMPLE).unwrap()
}

#[test]
fn every_line_of_the_example_is_read_and_written_alike() {
    let file = example();
    assert_eq!((file.events.len(), file.unknown_count), (33, 2));
    let kinds: BTreeSet<&str> = file.events.iter().map(|event| event.kind.name()).collect();
    let known = EventKind::NAMES
        .into_iter()
        .chain([EventKind::Unknown.name()]);
    assert_eq!(kinds, known.collect());
    let written = file
        .events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap());
    let lines = EXAMPLE.lines().filter(|line| line.starts_with("{\"t\""));
    for (value, line) in written.zip(lines) {
        if !line.contains("later-version") {
            assert_eq!(value, serde_json::from_str::<Value>(line).unwrap());
        }
    }
}

/// The text is in a file, since the viewer has to find the same words. `REWRITE=1` rewrites it.
#[test]
fn the_example_is_printed() {
    let printed = text(&example(), &Filter::default());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/trace/example.txt");
    if std::env::var_os("REWRITE").is_some() {
        fs::write(&path, &printed).unwrap();
    }
    assert_eq!(printed, fs::read_to_string(&path).unwrap());
}

#[test]
fn filters_leave_out() {
    let file = example();
    let filter = Filter {
        kinds: vec!["change".to_owned()],
        objects: vec!["secrets one/a".to_owned()],
        ..Filter::default()
    };
    let printed = text(&file, &filter);
    assert_eq!(printed.matches("made").count(), 1, "{printed}");
    assert!(!printed.contains("configmaps one/a made"), "{printed}");
    let filter = Filter {
        actors: vec!["replica".to_owned()],
        from: Some(Duration::from_millis(7)),
        to: Some(Duration::from_micros(7_500)),
        ..Filter::default()
    };
    assert_eq!(text(&file, &filter).matches("replica 0").count(), 2);
}

#[test]
fn a_file_of_a_killed_run_is_read_up_to_its_last_whole_line() {
    let cut = EXAMPLE.find("\"r\":4").unwrap();
    let file = TraceFile::read(&EXAMPLE[..cut]).unwrap();
    assert!(!file.is_complete);
    assert_eq!(file.events.len(), 18);
    assert!(text(&file, &Filter::default()).ends_with("before its trace was complete\n"));
}

#[test]
fn a_filter_leaves_promises_out_but_the_first() {
    let filter = Filter {
        kinds: vec!["lead".to_owned()],
        ..Filter::default()
    };
    let printed = text(&example(), &filter);
    let broken: Vec<&str> = printed
        .lines()
        .filter(|line| line.contains("broken"))
        .collect();
    assert_eq!(broken.len(), 2, "{printed}");
    assert!(broken[0].contains("first broken: snapshots"), "{printed}");
    assert_eq!(
        broken[1],
        "1 more broken promises are left out by the filter"
    );
}

#[test]
fn a_header_that_was_cut_off_is_no_other_file() {
    for length in [0, 1, 30, 60] {
        let error = TraceFile::read(&EXAMPLE[..length]).unwrap_err();
        assert!(
            error.what.contains("before it had written"),
            "{length}: {error}"
        );
    }
    let other = TraceFile::read("{\"a\": 1}").unwrap_err();
    assert!(other.what.contains("it is no trace file"), "{other}");
}

#[test]
fn unreadable_lines_are_reported_with_their_place() {
    let message = |text: &str| TraceFile::read(text).unwrap_err().to_string();
    insta::assert_snapshot!(message("time actor"), @"line 1, column 1: it is no trace file; `conformance replay SEED --trace FILE` writes one");
    let later = EXAMPLE.replacen("\"1.0\"", "\"2.1\"", 1);
    insta::assert_snapshot!(message(&later), @"line 1, column 1: the file has version 2.1 of the format, and this program reads 1.x; read it with the program that wrote it");
    let minor = EXAMPLE.replacen("\"1.0\"", "\"1.9\"", 1);
    assert!(TraceFile::read(&minor).is_ok());
    let wrong = format!("{EXAMPLE}{{\"t\":1,\"k\":\"answer\"}}\n{{\"t\":\n");
    insta::assert_snapshot!(message(&wrong), @"line 46, column 20: missing field `q`; correct or remove the line (docs/trace.md has the fields)");
    let gap = format!("{EXAMPLE}{{\"object\":7,\"resource\":\"pods\",\"name\":\"a\"}}\n");
    insta::assert_snapshot!(message(&gap), @"line 46, column 1: object 7 stands where 2 is due; lines are missing, or two files were joined");
    let torn = format!("{EXAMPLE}[1,\n");
    insta::assert_snapshot!(message(&torn), @"line 46, column 3: EOF while parsing a value; correct or remove the line (docs/trace.md has the fields)");
}

#[test]
fn runs_part_where_their_words_do() {
    let file = example();
    assert_eq!(diff(&file, &file), None);
    let other = EXAMPLE.replacen("\"how\":\"updated\"", "\"how\":\"replaced\"", 1);
    let other = TraceFile::read(&other).unwrap();
    let message = diff(&file, &other).unwrap();
    assert!(
        message.starts_with("the runs part at event 16\n"),
        "{message}"
    );
    let shorter = TraceFile {
        events: file.events[..3].to_vec(),
        ..file.clone()
    };
    let message = diff(&shorter, &file).unwrap();
    assert!(message.contains("- (this run has ended)"), "{message}");
}

/// Each event has the fields that the format of Chrome's trace events demands of its phase.
#[test]
fn perfetto_reads_phases_that_it_knows() {
    let json = perfetto(&example());
    let events = json["traceEvents"].as_array().unwrap();
    let mut open: Vec<&Value> = Vec::new();
    for event in events {
        let phase = event["ph"].as_str().unwrap();
        assert!(
            event["name"].is_string() && event["pid"].is_u64(),
            "{event}"
        );
        match phase {
            "M" => assert!(event["args"]["name"].is_string(), "{event}"),
            "X" => assert!(event["dur"].is_u64() && event["ts"].is_u64(), "{event}"),
            "i" => assert!(event["s"].is_string() && event["ts"].is_u64(), "{event}"),
            "b" | "s" => open.push(&event["id"]),
            "e" | "f" => {
                let place = open.iter().position(|id| *id == &event["id"]);
                open.remove(place.expect("what ends has begun"));
            }
            other => panic!("no such phase: {other}"),
        }
    }
    assert!(open.is_empty());
}

#[test]
fn nothing_in_a_trace_ends_its_element() {
    let trace = format!(
        "{EXAMPLE}{}\n",
        json!({"note": "</script><script>alert(1)</script><!--"})
    );
    let page = page(&trace, Some(&trace));
    let bare = super::page("", None);
    assert_eq!(page.matches('<').count(), bare.matches('<').count());
    assert!(bare.contains("default-src 'none'"));
}

#[test]
fn fifty_thousand_events_are_no_more_than_five_megabytes() {
    let mut writer = Writer::new(Vec::new(), &Header::new("large"));
    large(&mut writer, 50_000);
    let count = writer.event_count();
    writer.finish().unwrap();
    let bytes = writer.into_inner();
    assert!(
        count >= 50_000 && bytes.len() <= 5_000_000,
        "{count} events, {} bytes",
        bytes.len()
    );
    let file = TraceFile::read(std::str::from_utf8(&bytes).unwrap()).unwrap();
    assert_eq!(file.events.len(), count);
    let mut objects: BTreeMap<usize, Value> = BTreeMap::new();
    for event in &file.events {
        if let EventKind::Change {
            object,
            revision,
            state,
        } = &event.kind
        {
            let before = objects.remove(object);
            let after = applied(before.as_ref(), state, *revision).unwrap();
            objects.extend(after.map(|after| (*object, after)));
        }
    }
    assert_eq!(objects.len(), 400);
}

/// Writes events as a cluster of pods makes them: of each change, a watch tells three clients, and their handlers.
fn large(writer: &mut Writer<Vec<u8>>, count: usize) {
    let server = writer.actor("server", Role::Server, None);
    let clients: Vec<usize> = (0..3)
        .map(|client| writer.actor(&format!("informer {client}"), Role::Client, None))
        .collect();
    for client in &clients {
        let mirrored = MirroredSelection {
            resource: "pods".to_owned(),
            namespace: None,
            selector: None,
        };
        writer.event(&Event::new(
            Duration::ZERO,
            *client,
            EventKind::Mirror(mirrored),
        ));
    }
    let mut revision = 1;
    while writer.event_count() < count {
        revision += 1;
        let at = Duration::from_micros(revision * 1_250);
        let slot = revision % 400;
        let name = ObjectName {
            kind: "Pod".to_owned(),
            resource: "pods".to_owned(),
            namespace: Some(format!("namespace-{}", slot % 7)),
            name: format!("web-7c5ddbdf54-{slot:05}"),
            uid: format!("8c1a7a52-6bd5-4d0f-9d3c-{slot:012}"),
        };
        writer.change(
            at,
            server,
            name.clone(),
            revision,
            Some(pod(&name, revision)),
        );
        let object = writer.object(name);
        for (request, client) in clients.iter().enumerate() {
            let kind = EventKind::Frame {
                request,
                change: "MODIFIED".to_owned(),
                object,
                revision,
            };
            writer.event(&Event::new(at, server, kind));
            let kind = EventKind::Belief {
                revision: Some(revision),
                set: vec![object as u64, revision],
                gone: Vec::new(),
                synced: None,
            };
            writer.event(&Event::new(at, *client, kind));
            let kind = EventKind::Notified {
                object,
                revision: Some(revision),
                how: "updated".to_owned(),
                was: Some(revision.saturating_sub(400)),
                initial: false,
            };
            writer.event(&Event::new(at, *client, kind));
        }
    }
}

/// Returns a pod as a kubelet writes it, with the managers of its fields.
fn pod(name: &ObjectName, revision: u64) -> Value {
    let time = format!(
        "2026-05-17T14:{:02}:{:02}Z",
        revision / 60 % 60,
        revision % 60
    );
    let condition = |kind: &str, time: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name.name, "namespace": name.namespace, "uid": name.uid, "resourceVersion": revision.to_string(),
            "labels": {"app": "web", "pod-template-hash": "7c5ddbdf54"},
            "managedFields": [
                {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                 "time": "2026-05-17T14:00:00Z", "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}}},
                {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                 "time": time, "subresource": "status", "fieldsV1": {"f:status": {"f:phase": {}, "f:podIP": {}}}},
            ],
        },
        "spec": {"containers": [{"name": "main", "image": "example.com/app:1"}], "nodeName": "node-3"},
        "status": {
            "phase": if (revision / 400).is_multiple_of(2) { "Pending" } else { "Running" },
            "podIP": "10.0.7.12",
            "conditions": [condition("Initialized", "2026-05-17T14:00:00Z"), condition("Ready", &time)],
        },
    })
}

fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u8..4).prop_map(Value::from),
        "[a-c/~]{0,2}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c/~]{1,2}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-c]{1,2}", value, 0..4).prop_map(|fields| {
        let mut object = Value::Object(fields.into_iter().collect());
        object["metadata"] = json!({"resourceVersion": "9"});
        object
    })
}

proptest! {
    #[test]
    fn a_difference_leads_from_one_version_to_the_next(before in objects(), after in objects()) {
        let found = applied(Some(&before), &delta(&before, &after), 9).unwrap();
        prop_assert_eq!(found, Some(after));
    }
}
