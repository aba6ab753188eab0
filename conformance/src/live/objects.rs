//! The parts of a real server's answers that runs read.

use std::collections::BTreeMap;

use axum::Router;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::LiveError;
use crate::{
    call,
    plan::{LABEL, NAMESPACES, Resource, SPOILED},
    trace::{Key, Side, State},
};

/// A list.
#[derive(Debug, Default, Deserialize)]
pub(super) struct List {
    #[serde(default)]
    pub(super) metadata: Metadata,
    #[serde(default)]
    pub(super) items: Vec<Object>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Object {
    #[serde(default)]
    pub(super) metadata: Metadata,
    /// The code of a status.
    pub(super) code: Option<u16>,
    /// The message of a status.
    pub(super) message: Option<Value>,
}

/// An event of a watch.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) r#type: String,
    pub(super) object: Object,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) uid: String,
    #[serde(default)]
    pub(super) resource_version: String,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) finalizers: Vec<String>,
}

// === impl Metadata ===

impl Metadata {
    pub(super) fn revision(&self) -> u64 {
        self.resource_version.parse().unwrap_or(0)
    }

    pub(super) fn key(&self) -> Key {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name).into(),
            None => self.name.as_str().into(),
        }
    }

    pub(super) fn state(&self) -> State {
        State::new(self.uid.as_str(), self.revision())
    }

    pub(super) fn side(&self) -> Side {
        Side {
            uid: self.uid.as_str().into(),
            label: self.labels.get(LABEL).map(|value| value.as_str().into()),
            is_spoiled: self.labels.contains_key(SPOILED),
        }
    }

    /// Returns true for names that plans use.
    pub(super) fn is_of_a_plan(&self, resource: Resource) -> bool {
        let prefix = resource.kind().to_lowercase();
        let number = self.name.strip_prefix(&prefix);
        let number = number.and_then(|rest| rest.strip_prefix('-'));
        let is_numbered = number.is_some_and(|number| number.parse::<u8>().is_ok());
        let namespace = self.namespace.as_deref();
        is_numbered && namespace.is_none_or(|namespace| NAMESPACES.contains(&namespace))
    }
}

/// Reads the body of a successful GET.
pub(super) async fn ask<T: DeserializeOwned>(router: &Router, path: &str) -> Result<T, LiveError> {
    let answer = send(router, "GET", path, None).await;
    if answer.status != 200 {
        return Err(refused(format!("GET {path}"), &answer));
    }
    serde_json::from_slice(&answer.body).map_err(|error| LiveError::Refused {
        what: format!("GET {path}"),
        status: answer.status,
        message: error.to_string(),
    })
}

/// Sends a request and reads its answer to the end.
pub(super) async fn send(
    router: &Router,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> call::Answer {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let headers = [("accept", "application/json"), ("content-type", kind)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    call::read(call::open(router, method, path, &headers, body).await).await
}

/// Builds the error of a request that did not do `what`.
pub(super) fn refused(what: String, answer: &call::Answer) -> LiveError {
    let status: Option<Object> = serde_json::from_slice(&answer.body).ok();
    let message = status.and_then(|status| Some(status.message?.as_str()?.to_owned()));
    LiveError::Refused {
        what,
        status: answer.status,
        message: message.unwrap_or_default(),
    }
}

/// Returns the path of all objects of a resource.
pub(super) fn all(resource: Resource) -> String {
    format!("/api/v1/{}", resource.plural())
}
