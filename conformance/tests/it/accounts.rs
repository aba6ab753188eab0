//! The account that an informer gives of what it was sent: versions out of order, objects that cannot be decoded or
//! transformed, lists that go back. Each seed sends one informer events and lists by hand, and a model of the documented rules
//! says which of them count, and as what.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;
use futures::{FutureExt, StreamExt, channel::mpsc, stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use informer::{
    NAMESPACE_INDEX, Notification, NotificationStream, ObjectKey, ResourceVersion, Scope,
    SharedInformer,
    http::HttpListWatch,
    reflector::{ReflectorObserver, ReflectorOptions},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, client::Body};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_mins(30);
/// The objects whose versions come out of order.
const KEYS: [&str; 4] = ["a", "b", "c", "d"];
/// The object whose changes say that what was sent before them has been applied.
const MARKER: &str = "marker";
/// The number of versions after which an object is deleted and another one is created.
const VERSIONS_OF_ONE: u64 = 16;
const SEEDS: u64 = 40;
const STEPS: u32 = 60;

/// Texts by the names of objects.
type Texts = BTreeMap<String, String>;

/// A server of config maps whose answers the test chooses.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    watch: Option<mpsc::UnboundedSender<String>>,
    /// The events since the list was set, with which a watch begins.
    events: Vec<String>,
    /// The state that lists are answered with. Watches are refused until one was.
    list: List,
    /// The lists since then: true for one that was asked for without a version.
    answered: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
struct List {
    version: u64,
    items: Vec<Item>,
}

/// A version of an object on the wire.
#[derive(Clone, Debug)]
struct Item {
    key: &'static str,
    version: u64,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Sound,
    /// Its data are no texts.
    Undecodable,
    /// The transform refuses it.
    Refused,
}

/// The cache and its account, as they should be.
#[derive(Default)]
struct Model {
    held: BTreeMap<&'static str, Item>,
    /// The versions at which keys were deleted since `settled`.
    deleted: BTreeMap<&'static str, u64>,
    /// The version at which all objects that are not held were absent.
    settled: u64,
    /// The latest version that was sent, in the order in which it was sent.
    last: u64,
    account: Account,
}

/// The numbers that are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Account {
    objects: u64,
    undecodable: u64,
    stale_versions: u64,
    gone_back_versions: u64,
    transform_failures: u64,
    replacements: u64,
    /// The number of versions that the observer heard to have gone back.
    went_back: u64,
}

/// An observer that counts the versions that went back.
#[derive(Default)]
struct Observer(AtomicU64);

/// One seed: the server, the informer, what one of its handlers heard, and the model.
struct Run {
    seed: u64,
    random: Rng,
    revision: u64,
    wire: Wire,
    informer: SharedInformer<ConfigMap>,
    observer: Arc<Observer>,
    notifications: NotificationStream<ConfigMap>,
    notified: Texts,
    model: Model,
}

// === impl Item ===

impl Item {
    fn json(&self) -> Value {
        let Self { key, version, form } = self;
        // Now and then an object is another one of the same name.
        let uid = version / VERSIONS_OF_ONE;
        let data = match form {
            Form::Sound => json!({"text": self.text()}),
            Form::Undecodable => json!({"text": 5}),
            Form::Refused => json!({"refused": ""}),
        };
        let metadata = json!({
            "name": key, "namespace": "default", "uid": uid.to_string(), "resourceVersion": version.to_string(),
        });
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    }

    fn text(&self) -> String {
        format!("{} {}", self.key, self.version)
    }

    fn event(&self, kind: &str) -> String {
        format!("{}\n", json!({"type": kind, "object": self.json()}))
    }
}

// === impl Wire ===

impl Wire {
    fn client(&self) -> Client {
        let wire = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let (status, body) = wire.answer(&query);
            let body = body.map(|text| Ok::<_, Infallible>(Frame::data(text.into())));
            let response = Response::builder().status(status);
            let response = response.body(StreamBody::new(body)).unwrap();
            async move { Ok::<_, Infallible>(response) }
        });
        Client::new(service, "default")
    }

    fn answer(&self, query: &str) -> (StatusCode, stream::BoxStream<'static, String>) {
        let mut state = self.0.lock().unwrap();
        let parameters: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
        let is_watch = parameters.contains_key("watch");
        let streams_list = parameters.contains_key("sendInitialEvents");
        let once = |status, value: Value| (status, stream::iter([value.to_string()]).boxed());
        if !is_watch || streams_list {
            let is_authoritative = !parameters.contains_key("resourceVersion");
            state.answered.push(is_authoritative);
            if !streams_list {
                return once(StatusCode::OK, state.list.json());
            }
        }
        if state.answered.is_empty() {
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "code": 500, "status": "Failure"});
            return once(StatusCode::INTERNAL_SERVER_ERROR, status);
        }
        let (sender, receiver) = mpsc::unbounded();
        let initial = if streams_list {
            state.list.events()
        } else {
            Vec::new()
        };
        for event in initial.into_iter().chain(state.events.clone()) {
            sender.unbounded_send(event).unwrap();
        }
        state.watch = Some(sender);
        (StatusCode::OK, receiver.boxed())
    }

    fn send(&self, event: String) {
        let mut state = self.0.lock().unwrap();
        state.events.push(event.clone());
        if let Some(watch) = &state.watch {
            // No client may read it any more: the next watch begins with it.
            let _ = watch.unbounded_send(event);
        }
    }

    /// Ends the watch, after an event that says that its version is gone if `has_expired`, and answers lists with `list`.
    fn relist(&self, list: List, has_expired: bool) {
        let mut state = self.0.lock().unwrap();
        state.list = list;
        state.answered.clear();
        state.events.clear();
        let watch = state.watch.take().expect("a watch is open");
        if has_expired {
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"});
            let event = json!({"type": "ERROR", "object": status});
            watch.unbounded_send(format!("{event}\n")).unwrap();
        }
    }

    /// Returns the lists since the last one was set: true for one that was asked for without a version.
    fn answered(&self) -> Vec<bool> {
        self.0.lock().unwrap().answered.clone()
    }
}

// === impl List ===

impl List {
    fn json(&self) -> Value {
        let items: Vec<Value> = self.items.iter().map(Item::json).collect();
        json!({
            "apiVersion": "v1", "kind": "ConfigMapList",
            "metadata": {"resourceVersion": self.version.to_string()}, "items": items,
        })
    }

    /// Returns the events of a streaming list: one object is created and deleted in between.
    fn events(&self) -> Vec<String> {
        let passing = Item {
            key: "passing",
            version: self.version,
            form: Form::Sound,
        };
        let end = bookmark(self.version, &json!({"k8s.io/initial-events-end": "true"}));
        let items = self.items.iter().map(|item| item.event("ADDED"));
        let passing = [passing.event("ADDED"), passing.event("DELETED")];
        items.chain(passing).chain([end]).collect()
    }
}

// === impl Observer ===

impl ReflectorObserver for Observer {
    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, _is_accepted: bool) {
        assert!(to.is_before(from), "{from:?} {to:?}");
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// === impl Model ===

impl Model {
    fn event(&mut self, item: &Item, is_deleted: bool) {
        let item = &self.decoded(item, is_deleted);
        self.account.went_back += u64::from(item.version < self.last);
        self.last = self.last.max(item.version);
        if self.is_stale(item) {
            self.account.stale_versions += 1;
        } else if is_deleted {
            self.held.remove(item.key);
            self.deleted.insert(item.key, item.version);
        } else {
            self.held.insert(item.key, item.clone());
        }
    }

    /// Returns true if an event says nothing that is newer than what is known of its key.
    fn is_stale(&self, item: &Item) -> bool {
        let is_sound = |held: &Item| held.form == Form::Sound;
        let deleted = self.deleted.get(item.key);
        self.is_before_held(item)
            || (!self.held.get(item.key).is_some_and(is_sound)
                && (item.version < self.settled || deleted.is_some_and(|at| item.version < *at)))
    }

    /// Returns true if a version is older than the one that is held, or refused, of its key.
    fn is_before_held(&self, item: &Item) -> bool {
        let held = self.held.get(item.key);
        held.is_some_and(|held| item.version < held.version)
    }

    /// Decodes and transforms an object. The version that is held is taken for the same if it is sent once more, unless it is
    /// deleted.
    fn decoded(&mut self, item: &Item, is_deleted: bool) -> Item {
        let held = self.held.get(item.key);
        let is_same = |held: &&Item| held.form == Form::Sound && held.version == item.version;
        match held.filter(is_same) {
            Some(held) if !is_deleted => held.clone(),
            _ => {
                self.account.transform_failures += u64::from(item.form == Form::Refused);
                item.clone()
            }
        }
    }

    fn bookmark(&mut self, version: u64) {
        self.last = version;
        self.settle(version);
    }

    fn settle(&mut self, version: u64) {
        self.settled = version;
        self.deleted.retain(|_, deleted| *deleted > version);
    }

    /// Takes a list that was answered so often; the last answer counts.
    fn list(&mut self, list: &List, answered: &[bool]) {
        let is_authoritative = *answered.last().expect("it was asked for");
        self.account.replacements += 1;
        if list.version < self.last {
            self.account.went_back += answered.len() as u64;
        }
        let listed: BTreeSet<&str> = list.items.iter().map(|item| item.key).collect();
        self.held.retain(|key, _| listed.contains(key));
        for item in &list.items {
            let item = &self.decoded(item, false);
            let is_before_held = self.is_before_held(item);
            if is_before_held && !is_authoritative {
                self.account.stale_versions += 1;
                continue;
            }
            let held = self.held.insert(item.key, item.clone());
            let is_object = |item: &Item| item.form == Form::Sound;
            let goes_back =
                is_before_held && held.as_ref().is_some_and(is_object) && is_object(item);
            self.account.gone_back_versions += u64::from(goes_back);
        }
        self.last = list.version;
        self.settle(list.version);
    }

    fn account(&self) -> Account {
        let undecodable = self.held.values().filter(|held| held.form != Form::Sound);
        let undecodable = undecodable.count() as u64;
        Account {
            undecodable,
            objects: self.held.len() as u64 - undecodable,
            ..self.account.clone()
        }
    }

    /// Returns the texts of what is held, as the transform leaves them.
    fn texts(&self) -> Texts {
        let held = self.held.values();
        held.filter(|item| item.form == Form::Sound)
            .map(|item| (item.key.to_owned(), format!("{}!", item.text())))
            .collect()
    }

    fn refused_versions(&self) -> Texts {
        let held = self.held.values();
        held.filter(|item| item.form != Form::Sound)
            .map(|item| (item.key.to_owned(), item.version.to_string()))
            .collect()
    }
}

// === impl Run ===

impl Run {
    async fn begin(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let (wire, observer) = (Wire::default(), Arc::new(Observer::default()));
        let list = List {
            version: 1,
            items: Vec::new(),
        };
        wire.0.lock().unwrap().list = list.clone();
        let options = ReflectorOptions::default()
            .with_seed(seed)
            .with_streaming_lists(random.bool());
        let list_watch = HttpListWatch::<ConfigMap>::new(wire.client(), Scope::All);
        let informer = SharedInformer::builder(list_watch)
            .with_options(options)
            .with_observer(Arc::<Observer>::clone(&observer))
            .with_fallible_transform(mark_once)
            .build()
            .unwrap();
        let notifications = informer.stream();
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
        let mut model = Model::default();
        model.list(&list, &wire.answered());
        Self {
            seed,
            random,
            revision: 1,
            wire,
            informer,
            observer,
            notifications,
            notified: Texts::new(),
            model,
        }
    }

    /// Draws what is sent next, and waits until it is applied.
    async fn step(&mut self) {
        let mut relisted = None;
        match self.random.u32(..20) {
            0 => {
                let version = self.next_version();
                self.wire.send(bookmark(version, &json!({})));
                self.model.bookmark(version);
            }
            1 | 2 => relisted = Some(self.relist()),
            draw => {
                let is_deleted = draw < 8;
                let item = self.draw_item();
                let kind = if is_deleted { "DELETED" } else { "MODIFIED" };
                self.wire.send(item.event(kind));
                self.model.event(&item, is_deleted);
            }
        }
        let marker = self.catch_up().await;
        if let Some(list) = relisted {
            let answered = self.wire.answered();
            self.model.list(&list, &answered);
        }
        self.model.event(&marker, false);
    }

    fn relist(&mut self) -> List {
        let has_expired = self.random.bool();
        let mut list = List::default();
        for key in KEYS {
            let known = self.model.held.get(key).cloned();
            match (self.random.u32(..4), known) {
                (0, _) => {}
                (1, _) | (_, None) => list.items.push(Item {
                    key,
                    ..self.draw_item()
                }),
                (_, Some(known)) => list.items.push(known),
            }
        }
        // A server that was restored from a backup answers with an earlier state.
        list.version = if has_expired && self.random.bool() {
            self.random.u64(1..=self.revision)
        } else {
            self.next_version()
        };
        self.wire.relist(list.clone(), has_expired);
        list
    }

    fn next_version(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    /// Draws a version of an object: mostly the next one, else one that came before.
    fn draw_item(&mut self) -> Item {
        let key = self.random.choice(KEYS).unwrap();
        let version = if self.random.u32(..3) > 0 {
            self.next_version()
        } else {
            let first = self.revision.saturating_sub(8).max(1);
            self.random.u64(first..=self.revision)
        };
        let forms = [Form::Sound, Form::Sound, Form::Undecodable, Form::Refused];
        let form = self.random.choice(forms).unwrap();
        Item { key, version, form }
    }

    /// Sends a change of the marker, waits until it is applied, and returns it.
    async fn catch_up(&mut self) -> Item {
        let version = self.next_version();
        let marker = Item {
            key: MARKER,
            version,
            form: Form::Sound,
        };
        self.wire.send(marker.event("MODIFIED"));
        let version = ResourceVersion::new(version.to_string());
        let caught_up = self.informer.wait_until(&version, LIMIT).await;
        caught_up.unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
        marker
    }

    /// Compares the cache, its account and the notifications with the model.
    fn check(&mut self, step: u32) {
        let at = format!("seed {}, step {step}", self.seed);
        assert_eq!(self.account(), self.model.account(), "{at}");
        let texts = self.model.texts();
        let objects = self.informer.store().list();
        let held = objects.iter().map(|object| text_of(object.get()));
        assert_eq!(held.collect::<Texts>(), texts, "{at}");
        let indexer = self.informer.indexer();
        let keys = indexer.index_keys(NAMESPACE_INDEX, "default").unwrap();
        let names: Vec<&str> = keys.iter().map(ObjectKey::name).collect();
        assert!(texts.keys().eq(&names), "{at}, by namespace: {names:?}");
        self.hear(&at);
        assert_eq!(self.notified, texts, "{at}, as told");
        let undecodable = self.informer.undecodable();
        let versions = undecodable.iter().map(|error| {
            let name = error.key.name().to_owned();
            (name, error.resource_version.to_string())
        });
        let refused = self.model.refused_versions();
        assert_eq!(versions.collect::<Texts>(), refused, "{at}, undecodable");
    }

    /// Returns the account of the informer.
    fn account(&self) -> Account {
        let metrics = self.informer.metrics();
        Account {
            objects: metrics.objects,
            undecodable: metrics.undecodable,
            stale_versions: metrics.stale_versions,
            gone_back_versions: metrics.gone_back_versions,
            transform_failures: metrics.transform_failures,
            replacements: metrics.replacements,
            went_back: self.observer.0.load(Ordering::Relaxed),
        }
    }

    /// Reads the notifications: each object is added, then updated from its last state, then deleted.
    fn hear(&mut self, at: &str) {
        while let Some(Some(notified)) = self.notifications.next().now_or_never() {
            let (before, after) = match notified {
                Notification::Add { object, .. } => (None, Some(text_of(object.get()))),
                Notification::Update { old, new, .. } => {
                    (Some(text_of(old.get()).1), Some(text_of(new.get())))
                }
                Notification::Delete { deleted, .. } => {
                    let name = deleted.key().name().to_owned();
                    assert!(
                        self.notified.remove(&name).is_some(),
                        "{at}: {name} was not told of"
                    );
                    continue;
                }
            };
            let (name, text) = after.unwrap();
            assert_eq!(self.notified.insert(name, text), before, "{at}");
        }
    }
}

fn bookmark(version: u64, annotations: &Value) -> String {
    let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    format!("{}\n", json!({"type": "BOOKMARK", "object": object}))
}

/// Marks a config map as transformed. Refuses what has no text.
fn mark_once(object: &mut ConfigMap) -> Result<(), &'static str> {
    let data = object.data.as_mut().ok_or("no data")?;
    data.get_mut("text").ok_or("no text")?.push('!');
    Ok(())
}

/// Returns the name of a config map and its text.
fn text_of(object: &ConfigMap) -> (String, String) {
    let name = object.metadata.name.clone().unwrap();
    (name, object.data.as_ref().unwrap()["text"].clone())
}

#[test]
fn events_out_of_order_count_as_documented() {
    for seed in 0..SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut run = Run::begin(seed).await;
            for step in 0..STEPS {
                run.step().await;
                run.check(step);
            }
            run.informer.shutdown().await;
        });
    }
}
