//! Operations on the cluster: creates, updates, label changes, deletions, by a client that no fault hits.

use std::collections::BTreeMap;

use fakeserver::FakeServer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    call::{self, Answer},
    plan::{Action, Content, LABEL, NAMESPACES, Operation, Resource, SLOT, SPOILED, Tier},
    trace::{Observation, Recorder},
};

/// The user agent of the workload.
pub const CLIENT: &str = "workload";

/// The slot of the first object after the end of faults; plans use lower ones.
const LAST_SLOT: u8 = 250;

/// The finalizer that delays deletions.
const FINALIZER: &str = "conformance.example/hold";

/// Performs operations and records the answers.
#[derive(Debug)]
pub struct Workload {
    router: axum::Router,
    recorder: Recorder,
    operation_count: u64,
    last_revision: Option<u64>,
    contents: Vec<Content>,
    /// References to the namespaces, which own some of the objects: a real server deletes objects of owners that it does not have.
    owners: Vec<Value>,
}

/// One request.
struct Step {
    method: &'static str,
    path: String,
    body: Option<Value>,
}

// === impl Workload ===

impl Workload {
    /// Creates a workload on the server behind `router`.
    pub fn new(router: axum::Router, recorder: Recorder) -> Self {
        Self {
            router,
            recorder,
            operation_count: 0,
            last_revision: None,
            contents: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// Puts content of these kinds into objects, in turn.
    #[must_use]
    pub fn with_contents(mut self, contents: Vec<Content>) -> Self {
        self.contents = contents;
        self
    }

    /// Continues with another server.
    pub fn go_on_with(&mut self, server: &FakeServer) {
        self.router = server.router();
    }

    /// Creates the namespaces that operations need.
    ///
    /// # Cancel safety
    ///
    /// Some of them may have been created.
    pub async fn set_up(&mut self) {
        for name in NAMESPACES {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            let text = format!("create namespace {name}");
            let step = Step::new("POST", "/api/v1/namespaces".to_owned(), Some(namespace));
            let made = self.perform_step(&text, step).await;
            if let Some(uid) = uid(&made.body) {
                let is_controller = self.owners.is_empty();
                self.owners.push(json!({
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "name": name,
                    "uid": uid,
                    "controller": is_controller,
                }));
            }
        }
    }

    /// Returns the version of the last object that the server answered with.
    pub fn last_revision(&self) -> Option<u64> {
        self.last_revision
    }

    /// Performs `operation` and records the answer.
    ///
    /// # Cancel safety
    ///
    /// The operation may have been done in part: a recreation may have become a deletion.
    pub async fn perform(&mut self, operation: &Operation) {
        let Operation {
            resource,
            slot,
            action,
            ..
        } = *operation;
        self.operation_count += 1;
        let text = format!("{action:?} {}", path(resource, slot));
        let metadata =
            |field: &str, value: Value| patch(resource, slot, json!({"metadata": {field: value}}));
        let step = match action {
            Action::Create(tier) => self.create(resource, slot, tier),
            Action::Relabel(tier) => metadata("labels", json!({LABEL: tier.value()})),
            Action::Hold => metadata("finalizers", json!([FINALIZER])),
            Action::Release => metadata("finalizers", Value::Null),
            Action::Spoil => metadata("labels", json!({SPOILED: "true"})),
            Action::Heal => metadata("labels", json!({SPOILED: null})),
            Action::Delete => delete(resource, slot),
            Action::Recreate(tier) => {
                self.perform_step(&text, delete(resource, slot)).await;
                self.create(resource, slot, tier)
            }
            Action::Update => return self.update(&text, resource, slot).await,
        };
        self.perform_step(&text, step).await;
    }

    /// Writes a last object to each namespace of each resource, and returns the version of each resource's last one. A
    /// stream that has stopped without an error misses these objects.
    ///
    /// # Cancel safety
    ///
    /// Some of it may have been written.
    pub async fn write_last(&mut self) -> BTreeMap<Resource, u64> {
        let mut last = BTreeMap::new();
        for resource in Resource::ALL {
            let places = if resource.is_namespaced() {
                NAMESPACES.len()
            } else {
                1
            };
            for slot in (LAST_SLOT..).take(places) {
                let action = Action::Create(Tier::Web);
                self.perform(&Operation::new(0, resource, slot, action))
                    .await;
            }
            last.extend(self.last_revision.map(|at| (resource, at)));
        }
        last
    }

    fn create(&self, resource: Resource, slot: u8, tier: Tier) -> Step {
        let mut step = create(resource, slot, tier);
        if let Some(object) = &mut step.body {
            let owner_count = usize::from(slot % 3).min(self.owners.len());
            if owner_count > 0 {
                object["metadata"]["ownerReferences"] = json!(self.owners[..owner_count]);
            }
            if let Some(content) = self.content() {
                content.put_into(resource, object);
            }
        }
        step
    }

    /// Returns the content of the present operation, if there is any.
    fn content(&self) -> Option<Content> {
        let count = self.contents.len() as u64;
        let place = usize::try_from(self.operation_count.checked_rem(count)?).ok()?;
        self.contents.get(place).copied()
    }

    /// Reads an object and writes it back with a change, as controllers do.
    async fn update(&mut self, text: &str, resource: Resource, slot: u8) {
        let read = Step::new("GET", path(resource, slot), None);
        let answer = self.perform_step(text, read).await;
        if answer.status != 200 {
            return;
        }
        let Ok(mut object) = serde_json::from_slice::<Value>(&answer.body) else {
            return;
        };
        object["metadata"]["annotations"]["operation"] = json!(self.operation_count.to_string());
        if let Some(content) = self.content() {
            object["metadata"]["annotations"]["content"] = json!(content.text());
        }
        let write = Step::new("PUT", path(resource, slot), Some(object));
        self.perform_step(text, write).await;
    }

    async fn perform_step(&mut self, text: &str, step: Step) -> Answer {
        let mut headers = vec![
            ("user-agent".to_owned(), CLIENT.to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        if step.body.is_some() {
            let kind = match step.method {
                "PATCH" => "application/merge-patch+json",
                _ => "application/json",
            };
            headers.push(("content-type".to_owned(), kind.to_owned()));
        }
        let body = step
            .body
            .map(|body| serde_json::to_vec(&body).expect("JSON has string keys only"));
        let body = body.unwrap_or_default();
        let response = call::open(&self.router, step.method, &step.path, &headers, body).await;
        let answer = call::read(response).await;
        let revision = revision(&answer.body);
        self.last_revision = revision.or(self.last_revision);
        self.recorder.record(Observation::Operation {
            text: format!("{text}: {}", step.method),
            status: answer.status,
            revision,
        });
        answer
    }
}

// === impl Step ===

impl Step {
    fn new(method: &'static str, path: String, body: Option<Value>) -> Self {
        Self { method, path, body }
    }
}

fn path(resource: Resource, slot: u8) -> String {
    format!("{}/{}", resource.collection(slot), resource.name(slot))
}

fn create(resource: Resource, slot: u8, tier: Tier) -> Step {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": resource.kind(),
        "metadata": {"name": resource.name(slot)},
    });
    if let Some(namespace) = resource.namespace(slot) {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object["metadata"]["labels"] = json!({SLOT: slot.to_string()});
    if let Some(value) = tier.value() {
        object["metadata"]["labels"][LABEL] = json!(value);
    }
    match resource {
        Resource::Pods => {
            object["spec"] =
                json!({"containers": [{"name": "main", "image": "example.com/app:1"}]});
        }
        Resource::ConfigMaps => object["data"] = json!({"key": "value"}),
        Resource::Nodes => object["spec"] = json!({"podCIDR": format!("10.0.{slot}.0/24")}),
    }
    Step::new("POST", resource.collection(slot), Some(object))
}

fn patch(resource: Resource, slot: u8, patch: Value) -> Step {
    Step::new("PATCH", path(resource, slot), Some(patch))
}

fn delete(resource: Resource, slot: u8) -> Step {
    // No grace period: there is no kubelet to end a pod.
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
    Step::new("DELETE", path(resource, slot), Some(options))
}

/// The relevant part of an answer that is an object.
#[derive(Deserialize)]
struct AnsweredObject<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    uid: Option<&'a str>,
    resource_version: &'a str,
}

/// Returns the uid of an answer that is an object.
fn uid(body: &[u8]) -> Option<&str> {
    let answered: AnsweredObject<'_> = serde_json::from_slice(body).ok()?;
    answered.metadata.uid
}

/// Returns the version of an answer that is an object.
fn revision(body: &[u8]) -> Option<u64> {
    let answered: AnsweredObject<'_> = serde_json::from_slice(body).ok()?;
    answered.metadata.resource_version.parse().ok()
}
