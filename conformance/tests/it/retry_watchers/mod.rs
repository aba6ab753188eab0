//! Watches without a list, waits for conditions, and streams for kube-runtime's controllers: what they tell, what they ask the
//! server for and when, and how they end, each with random answers and compared with a model of the documented rule.

mod model;
mod retry_watcher;
mod waits;
mod limits;
mod random_changes;
mod kube_runtime_streams;

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use informer::{
    Deleted, Object, ResourceVersion,
    http::HttpListWatch,
    list_watch::{ArrivedObject, WatchEvent},
    watch::{ObjectState, Selection, WatchOptions},
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::by_hand::Call;

/// The longest wait for a request: longer than any delay that can be drawn.
const LIMIT: Duration = Duration::from_mins(10);
const DAYS: Duration = Duration::from_hours(1000);
/// The time after which nothing is left to do before the clock moves on; timers are as exact.
const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_mins(3);
const SEEDS: u64 = 60;
/// The number of requests of each seed.
const STEPS: usize = 20;
const NAMES: [&str; 3] = ["a", "b", "c"];

type Maps = HttpListWatch<ConfigMap>;
type Log = RefCell<Vec<String>>;

/// An object of the server.
#[derive(Clone, Copy, PartialEq)]
struct HeldObject {
    version: u32,
    uid: u32,
    is_readable: bool,
}

// === impl Call ===

impl Call {
    fn refuse_as(self, code: u16, reason: &str, retry_after: Duration) {
        let body = status(code, reason, Duration::ZERO).to_string();
        self.refuse_with(code, body, retry_after);
    }

    fn give_objects(self, version: u32, objects: &BTreeMap<&str, HeldObject>) {
        let items: Vec<Value> = objects.iter().map(|(name, held)| held.item(name)).collect();
        let metadata = json!({"resourceVersion": version.to_string()});
        let list =
            json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items});
        self.answer(&list.to_string());
    }
}

// === impl HeldObject ===

impl HeldObject {
    fn item(self, name: &str) -> Value {
        let version = self.version.to_string();
        let metadata = json!({"name": name, "namespace": "n", "uid": self.uid.to_string(), "resourceVersion": version});
        let data = if self.is_readable {
            json!({})
        } else {
            json!(5)
        };
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    }
}

fn status(code: u16, reason: &str, retry_after: Duration) -> Value {
    let details = json!({"retryAfterSeconds": retry_after.as_secs()});
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "details": details})
}

/// Returns options without jitter.
fn steady(seed: u64) -> WatchOptions {
    let mut options = WatchOptions::default();
    options.backoff = options.backoff.with_jitter(0.0);
    options.seed = seed;
    options
}

/// Returns an object that can be decoded.
fn held(version: u32) -> HeldObject {
    HeldObject {
        version,
        uid: 1,
        is_readable: true,
    }
}

fn short(object: &Object<ConfigMap>) -> String {
    format!("{object:?}").replace("n/", "")
}

fn selection_text(
    objects: impl Iterator<Item = String>,
    undecodable: impl Iterator<Item = String>,
) -> String {
    let [objects, undecodable] = [objects.collect(), undecodable.collect::<Vec<_>>()];
    format!("{}, not {}", objects.join(" "), undecodable.join(" "))
}

fn text_of_selection(selection: &Selection<ConfigMap>) -> String {
    let undecodable = selection.undecodable();
    let undecodable =
        undecodable.map(|error| format!("{}@{}", error.key.name(), error.resource_version));
    selection_text(selection.iter().map(short), undecodable)
}

fn missed(last: Option<HeldObject>, reason: &str) -> String {
    let last = last.map_or(String::new(), |last| format!("a@{}", last.version));
    format!("!{last} {reason}")
}

fn text_of_state(state: &ObjectState<ConfigMap>) -> String {
    match state {
        ObjectState::Absent => "absent".to_owned(),
        ObjectState::Present(object) => short(object),
        ObjectState::Deleted(Deleted::Object(object)) => format!("-{}", short(object)),
        ObjectState::Deleted(Deleted::Tombstone(tombstone)) => {
            let last = tombstone.last_known.as_ref().map_or(String::new(), short);
            format!("!{last} {:?}", tombstone.reason)
        }
    }
}

fn text_of_change(change: &WatchEvent<ConfigMap>) -> (String, ResourceVersion) {
    let (sign, arrived): (_, &ArrivedObject<ConfigMap>) = match change {
        WatchEvent::Added(arrived) => ("+", arrived),
        WatchEvent::Modified(arrived) => ("~", arrived),
        WatchEvent::Deleted(arrived) => ("-", arrived),
        other => panic!("{other:?}"),
    };
    match arrived {
        Ok(object) => (
            format!("{sign}{}", short(object)),
            object.resource_version().clone(),
        ),
        Err(error) => {
            let version = error.resource_version.clone();
            (format!("{sign}?{}@{version}", error.key.name()), version)
        }
    }
}
