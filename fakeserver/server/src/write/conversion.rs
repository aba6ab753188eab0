//! Conversion of custom objects by webhooks: the review, the answer and its checks.

use std::{sync::Arc, time::Duration};

use fakeserver_kinds::custom_resources::{self, Conversion, CustomType};
use fakeserver_value::{go_text::type_name, status::Status};
use serde_json::{Value, json};

use super::webhook::Webhooks;
use crate::{entropy::Entropy, store::StoredObject};

const GROUP: &str = custom_resources::GROUP;
const KIND: &str = "ConversionReview";
/// The time limit of a webhook.
const LIMIT: Duration = Duration::from_secs(30);
/// The metadata that a webhook may not change; of the rest only labels and annotations are taken from it.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];

/// Converts objects by webhooks.
#[derive(Clone, Copy, Debug)]
pub struct Converter<'a> {
    webhooks: &'a Webhooks,
    entropy: &'a Entropy,
}

// === impl Converter ===

impl<'a> Converter<'a> {
    pub fn new(webhooks: &'a Webhooks, entropy: &'a Entropy) -> Self {
        Self { webhooks, entropy }
    }

    /// Converts stored objects to the version of a custom type, by its webhook if it has one.
    ///
    /// # Errors
    ///
    /// The webhook gives no answer, or not the requested objects, or an object is stored in a version that its definition
    /// does not have any more.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn present(
        self,
        custom: &CustomType,
        stored: Vec<Arc<StoredObject>>,
    ) -> Result<Vec<Arc<StoredObject>>, Status> {
        for object in &stored {
            let checked = custom.check_stored(object.stored_version());
            checked.map_err(Status::unclassified)?;
        }
        let Some(conversion) = custom.conversion() else {
            return Ok(stored);
        };
        let typed = |object: &Arc<StoredObject>| {
            conversion.typed(object.to_value(), object.stored_version())
        };
        let values = stored.iter().map(typed).collect();
        let converted = self.convert(conversion, values, &conversion.own).await?;
        let pairs = stored.iter().zip(converted);
        Ok(pairs
            .map(|(stored, converted)| Arc::new(stored.with_value(custom.complete(converted))))
            .collect())
    }

    /// Converts objects, each of which has its version, to the version `to`, by at most one call of the webhook. Errors and
    /// cancel safety are those of [`present`](Self::present).
    pub(super) async fn convert(
        self,
        conversion: &Conversion,
        mut objects: Vec<Value>,
        to: &str,
    ) -> Result<Vec<Value>, Status> {
        let is_foreign = |object: &Value| object["apiVersion"] != to;
        let foreign: Vec<Value> = objects
            .iter()
            .filter(|object| is_foreign(object))
            .cloned()
            .collect();
        let Some(first) = foreign.first() else {
            return Ok(objects);
        };
        let from = first["apiVersion"].as_str().unwrap_or_default();
        let uid = self.entropy.audit_id().to_string();
        let review = review(conversion, &uid, &foreign, to);
        let failed = |why: &str| {
            Status::unclassified(format!(
                "conversion webhook for {from}, Kind={} {why}",
                conversion.kind
            ))
        };
        let answer = self.webhooks.ask(&conversion.client, LIMIT, &review).await;
        let answer = answer.map_err(|error| failed(&format!("failed: {error}")))?;
        let converted = converted_objects(conversion, &uid, &answer)
            .map_err(|why| failed(&format!("failed: {why}")))?;
        if converted.len() != foreign.len() {
            return Err(failed(&format!(
                "returned {} objects, expected {}",
                converted.len(),
                foreign.len()
            )));
        }
        let mut answers = foreign.iter().zip(converted);
        for object in objects.iter_mut().filter(|object| is_foreign(object)) {
            if let Some((original, converted)) = answers.next() {
                let converted = checked(conversion, original, converted, to);
                *object = converted.map_err(|why| failed(&format!("returned invalid {why}")))?;
            }
        }
        Ok(objects)
    }
}

/// Returns the review for a conversion of objects to the version `to`.
fn review(conversion: &Conversion, uid: &str, objects: &[Value], to: &str) -> Value {
    json!({
        "kind": KIND,
        "apiVersion": format!("{GROUP}/{}", conversion.review_version),
        "request": {"uid": uid, "desiredAPIVersion": to, "objects": objects},
    })
}

/// Returns the objects of an answer.
fn converted_objects(
    conversion: &Conversion,
    uid: &str,
    review: &Value,
) -> Result<Vec<Value>, String> {
    let response = &review["response"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if response.is_null() {
        return Err("no response provided".to_owned());
    }
    // The uid is part of the review since v1.
    if conversion.review_version == "v1" {
        let response_uid = text(&response["uid"]);
        if response_uid != uid {
            return Err(format!(
                "expected response.uid={uid:?}, got {response_uid:?}"
            ));
        }
        let is_review = review["kind"] == KIND && review["apiVersion"] == format!("{GROUP}/v1");
        if !is_review {
            return Err(format!(
                "expected webhook response of {GROUP}/v1, Kind={KIND}, got {}, Kind={}",
                text(&review["apiVersion"]),
                text(&review["kind"])
            ));
        }
    }
    let result = &response["result"];
    if result["status"] != "Success" {
        let message = text(&result["message"]);
        return Err(if message.is_empty() {
            format!(
                "response.result.status was '{}', not 'Success'",
                text(&result["status"])
            )
        } else {
            message
        });
    }
    Ok(response["convertedObjects"]
        .as_array()
        .cloned()
        .unwrap_or_default())
}

/// Returns a converted object with the metadata of the original, except for labels and annotations.
///
/// Upstream converts each object of a list when it is read from etcd, so that its place is always the first.
fn checked(
    conversion: &Conversion,
    original: &Value,
    mut converted: Value,
    to: &str,
) -> Result<Value, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = text(&converted["apiVersion"]);
    if found != to {
        return Err(format!(
            "object at index 0: invalid groupVersion (expected {to}, received {found})"
        ));
    }
    let kind = text(&converted["kind"]);
    if kind != conversion.kind {
        return Err(format!(
            "object at index 0: invalid kind (expected {}, received {kind})",
            conversion.kind
        ));
    }
    let mut metadata = original["metadata"].clone();
    if metadata.is_null() {
        // A part of an object that an apply has to convert.
        metadata = json!({});
    }
    for field in IDENTITY {
        let (before, after) = (&metadata[field], &converted["metadata"][field]);
        if before != after {
            return Err(format!(
                "object: must have the same {}: {} != {}",
                if field == "uid" { "UID" } else { field },
                text(before),
                text(after)
            ));
        }
    }
    for field in ["labels", "annotations"] {
        let given = converted["metadata"][field].take();
        check_texts(field, &given).map_err(|why| format!("metadata: {why}"))?;
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.remove(field);
            if given.as_object().is_some_and(|given| !given.is_empty()) {
                metadata.insert(field.to_owned(), given);
            }
        }
    }
    if let Some(metadata) = metadata.as_object_mut() {
        // Looking at what is not there puts a null in its place.
        metadata.retain(|_, value| !value.is_null());
    }
    converted["metadata"] = metadata;
    Ok(converted)
}

/// Refuses labels or annotations that are no map of texts.
fn check_texts(field: &str, given: &Value) -> Result<(), String> {
    let pairs = match given {
        Value::Null => return Ok(()),
        Value::Object(pairs) => pairs,
        other => {
            let found = type_name(other);
            return Err(format!(
                "invalid metadata.{field} of type {found} in converted object"
            ));
        }
    };
    match pairs.iter().find(|(_, value)| !value.is_string()) {
        None => Ok(()),
        Some((name, other)) => Err(format!(
            "metadata.{field}[{name}] must be a string, but is {} in converted object",
            type_name(other)
        )),
    }
}
