//! Bodies as a server may write them: members in any order, with escapes and white space, cut anywhere. Notifications have the objects as they
//! were sent, and so is what an informer tells beside them; an answer of another form is an error that names it.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    fmt::Write,
    sync::Mutex,
    time::Duration,
};

use bytes::Bytes;
use fastrand::Rng;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use informer::{
    Metadata, Object, ObjectKey, ResourceVersion, Scope, SharedInformer,
    compact::CompactOptions,
    http::HttpListWatch,
    reflector::{FailureCause, ReflectorOptions},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Client,
    client::Body,
    core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_mins(5);
const SEEDS: u64 = 40;
/// The number of objects of a page, and that of events.
const COUNT: usize = 4;
/// The version of the bookmark behind the events.
const LAST: &str = "1000";
/// Characters that a scanner of JSON may take for something else, and some that take several bytes.
const CHARACTERS: [char; 16] = [
    'a', 'b', '{', '}', '[', ']', '"', '\\', '/', ':', ',', '\n', '\u{1}', 'é', '€', '😀',
];

/// The bodies that a server sends, in pieces.
#[derive(Clone, Default)]
struct SentBodies {
    pages: Vec<Vec<Bytes>>,
    watch: Vec<Bytes>,
}

/// A writer of JSON that chooses among all texts of a value.
struct Writer<'a> {
    random: &'a mut Rng,
    text: String,
    /// The white space that may stand between tokens.
    spaces: &'static [&'static str],
}

// === impl SentBodies ===

impl SentBodies {
    /// Returns a client of a server that sends this.
    fn client(self) -> Client {
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let body = if query.contains("watch=true") {
                let rest = stream::pending();
                stream::iter(self.watch.clone()).chain(rest).boxed()
            } else {
                let page = usize::from(query.contains("continue="));
                stream::iter(self.pages[page].clone()).boxed()
            };
            let body = body.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes)));
            async move { Ok::<_, Infallible>(Response::new(StreamBody::new(body))) }
        });
        Client::new(service, "default")
    }

    /// Writes objects in two pages and then in events.
    fn of(random: &mut Rng, objects: &[Value], list_kind: &str) -> Self {
        let (listed, changed) = objects.split_at(2 * COUNT);
        let pages = listed.chunks(COUNT).enumerate().map(|(number, items)| {
            let token = if number == 0 { "next" } else { "" };
            let body = json!({
                "kind": list_kind, "apiVersion": "v1", "items": items,
                "metadata": {"resourceVersion": listed.len().to_string(), "continue": token, "selfLink": null},
            });
            let text = Writer::write(random, &body, &["", "", " ", "\n  ", "\r\n\t"]);
            cut(random, text)
        });
        let pages = pages.collect();
        let frames = changed.iter().map(|object| {
            let kind = if random.bool() { "ADDED" } else { "MODIFIED" };
            let event = json!({"type": kind, "object": object});
            // A line end ends an event.
            let end = random.choice(["\n", "\n", "\r\n"]).unwrap();
            Writer::write(random, &event, &["", "", " ", "\t "]) + end
        });
        let last = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": LAST}}});
        let text: String = frames.chain([format!("{last}\n")]).collect();
        Self {
            pages,
            watch: cut(random, text),
        }
    }
}

// === impl Writer ===

impl Writer<'_> {
    fn write(random: &mut Rng, value: &Value, spaces: &'static [&'static str]) -> String {
        let text = String::new();
        let mut writer = Writer {
            random,
            text,
            spaces,
        };
        writer.value(value);
        writer.text
    }

    fn value(&mut self, value: &Value) {
        self.space();
        match value {
            Value::Object(members) => self.object(members),
            Value::Array(items) => {
                self.text.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.comma(place);
                    self.value(item);
                }
                self.text.push(']');
            }
            Value::String(text) => self.string(text),
            scalar => self.text.push_str(&scalar.to_string()),
        }
        self.space();
    }

    fn object(&mut self, members: &Map<String, Value>) {
        let mut members: Vec<_> = members.iter().collect();
        // The order of real servers is that of their types; both are of use.
        if self.random.bool() {
            self.random.shuffle(&mut members);
        }
        self.text.push('{');
        for (place, (name, value)) in members.into_iter().enumerate() {
            self.comma(place);
            self.space();
            self.string(name);
            self.space();
            self.text.push(':');
            self.value(value);
        }
        self.text.push('}');
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        let escapes_all = self.random.u8(..20) == 0;
        for character in text.chars() {
            let has_to = matches!(character, '"' | '\\') || character < ' ';
            if has_to || (escapes_all && self.random.bool()) {
                self.escape(character);
            } else {
                self.text.push(character);
            }
        }
        self.text.push('"');
    }

    fn escape(&mut self, character: char) {
        let short = match character {
            '"' | '\\' | '/' => Some(character),
            '\n' => Some('n'),
            _ => None,
        };
        if let Some(short) = short.filter(|_| self.random.bool()) {
            self.text.extend(['\\', short]);
            return;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(self.text, "\\u{unit:04x}").unwrap();
        }
    }

    fn comma(&mut self, place: usize) {
        if place > 0 {
            self.text.push(',');
        }
    }

    fn space(&mut self) {
        let space = self.random.choice(self.spaces).unwrap();
        self.text.push_str(space);
    }
}

/// Cuts a text into pieces, within characters, too.
fn cut(random: &mut Rng, text: String) -> Vec<Bytes> {
    let most = *random.choice(&[3, 40, 1_000, usize::MAX]).unwrap();
    let mut left = Bytes::from(text);
    let mut pieces = Vec::new();
    while !left.is_empty() {
        let len = random.usize(1..=most.min(left.len()));
        pieces.push(left.split_to(len));
    }
    pieces
}

fn draw_text(random: &mut Rng) -> String {
    let len = random.usize(0..8);
    (0..len)
        .map(|_| CHARACTERS[random.usize(..CHARACTERS.len())])
        .collect()
}

fn draw_texts(random: &mut Rng) -> Map<String, Value> {
    let texts = (0..random.usize(1..4)).map(|_| (draw_text(random), draw_text(random).into()));
    texts.collect()
}

fn draw_value(random: &mut Rng, depth: usize) -> Value {
    let most = if depth == 0 { 7 } else { 9 };
    match random.u8(..most) {
        0 => Value::Null,
        1 => random.bool().into(),
        2 => random.i64(..).into(),
        3 => random.u64(..).into(),
        4 => (f64::from(random.i32(..)) / 8.0).into(),
        5 | 6 => draw_text(random).into(),
        7 => (0..random.usize(..4))
            .map(|_| draw_value(random, depth - 1))
            .collect(),
        _ => {
            let names = (0..random.usize(..4))
                .map(|_| draw_text(random))
                .collect::<Vec<_>>();
            let members = names
                .into_iter()
                .map(|name| (name, draw_value(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Draws the metadata of an object: what there may be beside its name and version, in part.
fn draw_metadata(random: &mut Rng, number: usize) -> Value {
    let mut metadata = json!({
        "name": format!("object-{number:02}"), "namespace": "default", "uid": format!("uid-{number}"),
        "resourceVersion": (number + 1).to_string(),
    });
    let owners = (0..random.usize(1..3)).map(|owner| {
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": draw_text(random), "uid": format!("owner-{owner}"),
            "controller": random.bool(), "blockOwnerDeletion": random.bool(),
        })
    });
    let owners: Vec<Value> = owners.collect();
    let manager = json!({
        "manager": draw_text(random), "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}}, "time": "2026-01-01T00:00:00Z",
    });
    let parts = [
        ("labels", draw_texts(random).into()),
        ("annotations", draw_texts(random).into()),
        ("ownerReferences", owners.into()),
        ("managedFields", vec![manager].into()),
        ("finalizers", vec![draw_text(random)].into()),
        ("deletionTimestamp", "2026-01-01T00:00:00Z".into()),
        ("generation", random.i64(0..).into()),
    ];
    for (name, value) in parts {
        match random.u8(..4) {
            0 => {}
            1 => metadata[name] = Value::Null,
            _ => metadata[name] = value,
        }
    }
    metadata
}

/// Describes what an informer tells of an object beside it.
fn metadata_json(metadata: &Metadata) -> Value {
    let labels: BTreeMap<&str, &str> = metadata.labels.iter().collect();
    let owners = metadata.owners.iter().map(|owner| {
        json!([
            &*owner.api_version,
            &*owner.kind,
            &*owner.name,
            &*owner.uid,
            owner.is_controller
        ])
    });
    json!({
        "key": [metadata.key.namespace(), metadata.key.name()], "uid": &*metadata.uid,
        "version": metadata.resource_version.as_str(), "labels": labels,
        "owners": owners.collect::<Vec<_>>(), "is_terminating": metadata.is_terminating,
    })
}

/// Describes what an informer should tell of an object beside it.
fn to_tell(metadata: &Value) -> Value {
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let owners = owners.map(|owner| {
        let names = ["apiVersion", "kind", "name", "uid", "controller"];
        Value::from_iter(names.map(|name| owner[name].clone()))
    });
    let labels = metadata["labels"].as_object().cloned().unwrap_or_default();
    json!({
        "key": [metadata["namespace"], metadata["name"]], "uid": metadata["uid"],
        "version": metadata["resourceVersion"], "labels": labels,
        "owners": owners.collect::<Vec<_>>(), "is_terminating": !metadata["deletionTimestamp"].is_null(),
    })
}

/// Returns an object without the members of its metadata that are null, which say the same as if they were not there.
fn without_nulls(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|_, value| !value.is_null());
    object
}

/// Sends objects to an informer, and compares what it holds with them.
async fn check<K: Send + Sync + 'static>(
    context: &str,
    sent: SentBodies,
    objects: &[Value],
    make: impl Fn(Client) -> SharedInformer<K>,
    read: impl Fn(&Object<K>) -> Value,
) {
    let informer = make(sent.client());
    informer.start();
    let last = ResourceVersion::new(LAST);
    let caught_up = informer.wait_until(&last, LIMIT).await;
    caught_up.unwrap_or_else(|error| panic!("{context}: {error}"));
    let undecodable = informer.undecodable();
    assert!(undecodable.is_empty(), "{context}: {undecodable:?}");
    let held = informer.store().list();
    assert_eq!(held.len(), objects.len(), "{context}");
    for (object, expected) in held.iter().zip(objects) {
        assert_eq!(
            metadata_json(object.metadata()),
            to_tell(&expected["metadata"]),
            "{context}"
        );
        assert_eq!(read(object), without_nulls(expected), "{context}");
    }
    informer.shutdown().await;
}

fn builder<K: Send + Sync + 'static>(list_watch: HttpListWatch<K>) -> SharedInformer<K> {
    let options = ReflectorOptions::default().with_seed(0);
    SharedInformer::builder(list_watch)
        .with_options(options.with_streaming_lists(false))
        .build()
        .unwrap()
}

fn json_of(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap()
}

fn widgets() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"))
}

fn draw_objects(random: &mut Rng, draw: impl Fn(&mut Rng) -> Value) -> Vec<Value> {
    let objects = (0..3 * COUNT).map(|number| {
        let mut object = draw(random);
        object["metadata"] = draw_metadata(random, number);
        object
    });
    objects.collect()
}

#[tokio::test(start_paused = true)]
async fn objects_of_any_type_are_reported_as_they_were_sent() {
    for seed in 0..SEEDS {
        let mut random = Rng::with_seed(seed);
        let objects = draw_objects(&mut random, |random| {
            let (spec, status) = (draw_value(random, 4), draw_value(random, 2));
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": spec, "status": status})
        });
        let sent = SentBodies::of(&mut random, &objects, "WidgetList");
        let list =
            |client| HttpListWatch::<DynamicObject>::new_with(client, Scope::All, &widgets());
        let make = |client| builder(list(client));
        let context = format!("seed {seed}, decoded");
        check(&context, sent.clone(), &objects, make, |object| {
            json_of(object.get())
        })
        .await;
        let make = |client| {
            let options = CompactOptions::default().with_young_size_max_bytes(1_000);
            builder(list(client).compact(options))
        };
        let context = format!("seed {seed}, compact");
        check(&context, sent.clone(), &objects, make, |object| {
            json_of(&object.decode().unwrap())
        })
        .await;
        let make = |client| builder(list(client).without_fields([".spec"]).unwrap());
        let reduced: Vec<Value> = objects
            .iter()
            .map(|object| without(object, "spec"))
            .collect();
        let context = format!("seed {seed}, without a field");
        check(&context, sent, &reduced, make, |object| {
            json_of(object.get())
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_built_in_type_are_reported_as_they_were_sent() {
    for seed in 0..SEEDS {
        let mut random = Rng::with_seed(seed);
        let objects = draw_objects(
            &mut random,
            |random| json!({"apiVersion": "v1", "kind": "ConfigMap", "data": draw_texts(random), "immutable": random.bool()}),
        );
        let sent = SentBodies::of(&mut random, &objects, "ConfigMapList");
        let make = |client| builder(HttpListWatch::<ConfigMap>::new(client, Scope::All));
        let context = format!("seed {seed}");
        check(&context, sent, &objects, make, |object| {
            json_of(object.get())
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_are_reported_as_they_were_sent() {
    for seed in 0..SEEDS {
        let mut random = Rng::with_seed(seed);
        let objects = draw_objects(
            &mut random,
            |_| json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}),
        );
        let sent = SentBodies::of(&mut random, &objects, "PartialObjectMetadataList");
        let make = |client| {
            builder(HttpListWatch::<PartialObjectMeta<DynamicObject>>::new_with(
                client,
                Scope::All,
                &widgets(),
            ))
        };
        let context = format!("seed {seed}");
        check(&context, sent, &objects, make, |object| {
            json_of(object.get())
        })
        .await;
    }
}

/// Returns the error with which an informer refuses a list or an event, before it continues: the next list is sound.
async fn refusal_of(list: Option<&str>, event: Option<&str>) -> String {
    let object = |name, version: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "resourceVersion": version}});
    let sound = |version: &str, name| {
        let metadata = json!({"resourceVersion": version});
        let items = [object(name, version)];
        json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items})
            .to_string()
    };
    let answers = Mutex::new(VecDeque::from([
        list.map_or_else(|| sound("1", "first"), str::to_owned),
        sound("2", "second"),
    ]));
    let frame = event.map(|event| Bytes::from(format!("{event}\n")));
    let service = tower::service_fn(move |request: Request<Body>| {
        let mut answers = answers.lock().unwrap();
        let body = if request.uri().query().unwrap().contains("watch=true") {
            let frame = frame.clone().filter(|_| answers.len() == 1);
            stream::iter(frame).chain(stream::pending()).boxed()
        } else {
            let answer = answers.pop_front().expect("no further list is needed");
            stream::iter([Bytes::from(answer)]).boxed()
        };
        let body = body.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes)));
        async move { Ok::<_, Infallible>(Response::new(StreamBody::new(body))) }
    });
    let client = Client::new(service, "default");
    let informer = builder(HttpListWatch::<ConfigMap>::new(client, Scope::All));
    let mut status = informer.status_stream();
    informer.start();
    let mut refused = None;
    let is_there = || {
        informer
            .store()
            .get(&ObjectKey::new("", "second"))
            .is_some()
    };
    let all = async {
        while !is_there() {
            let status = status.next().await.unwrap();
            if status.last_cause == Some(FailureCause::Protocol) {
                refused = status.last_error;
            }
        }
    };
    timeout(LIMIT, all)
        .await
        .unwrap_or_else(|_| panic!("{list:?} {event:?}: {refused:?}"));
    assert_eq!(informer.store().list().len(), 1);
    informer.shutdown().await;
    refused
        .unwrap_or_else(|| panic!("{list:?} {event:?}"))
        .to_string()
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_another_form_is_an_error_that_names_it() {
    let of = |kind: &str, version| json!({"apiVersion": version, "kind": kind, "metadata": {"resourceVersion": "1"}, "items": [], "rows": []});
    let item = json!({"metadata": {"name": "a", "resourceVersion": "1"}});
    let mut with_item = of("ConfigMapList", "v1");
    with_item["items"] = json!([{"metadata": {"name": "a"}}]);
    let lists = [
        (of("Table", "meta.k8s.io/v1").to_string(), "a table"),
        (
            of("PartialObjectMetadataList", "meta.k8s.io/v1").to_string(),
            "metadata",
        ),
        (with_item.to_string(), "without a version"),
        ("<html></html>".to_owned(), "list"),
        (of("ConfigMapList", "v1").to_string() + "]", "list"),
    ];
    for (list, name) in lists {
        let refused = refusal_of(Some(&list), None).await;
        assert!(refused.contains(name), "{list}: {refused}");
    }
    let added = |object: &Value| json!({"type": "ADDED", "object": object}).to_string();
    let events = [
        (added(&of("Table", "meta.k8s.io/v1")), "a table"),
        (
            added(&of("PartialObjectMetadata", "meta.k8s.io/v1")),
            "metadata",
        ),
        (added(&of("Secret", "v1")), "Secret"),
        (
            added(&json!({"metadata": {"name": "a"}})),
            "without a version",
        ),
        (
            json!({"type": "SYNCED", "object": item}).to_string(),
            "SYNCED",
        ),
        (json!({"type": "ADDED"}).to_string(), "without an object"),
        (
            json!({"type": "BOOKMARK", "object": {"metadata": {}}}).to_string(),
            "a bookmark without a version",
        ),
        (
            json!({"type": "ERROR", "object": item}).to_string(),
            "without a status",
        ),
        ("404 page not found".to_owned(), "not an event"),
    ];
    for (event, name) in events {
        let refused = refusal_of(None, Some(&event)).await;
        assert!(refused.contains(name), "{event}: {refused}");
    }
}

/// Returns an object without one of its members.
fn without(object: &Value, member: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove(member);
    object
}
