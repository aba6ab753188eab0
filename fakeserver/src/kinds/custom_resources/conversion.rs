//! Conversion by webhooks: objects of a definition in another version than the one in which they are stored.
//!
//! Objects are stored in the version that the definition says at the time. A definition that stores another version from
//! now on has to have its objects written anew, since what is stored does not say which version it is.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    entropy::Entropy,
    kinds::client_config::{ClientConfig, client_config_errors},
    value::{
        resource::api_version,
        status::{FieldError, Status},
    },
    write::webhook::Webhooks,
};

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "ConversionReview";
/// The time limit of a webhook.
const LIMIT: Duration = Duration::from_secs(30);
/// The metadata that a webhook may not change; of the rest only labels and annotations are taken from it.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];

/// The webhook that converts objects of a definition, and between which versions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    client: ClientConfig,
    review_version: &'static str,
    kind: String,
    /// The version of this type, with its group.
    own: String,
    /// The version in which objects are stored, with its group.
    stored: String,
}

// === impl Conversion ===

impl Conversion {
    /// Returns the conversion of objects of `crd` to `version`; `None` if they are stored so, or no webhook is needed.
    pub(super) fn of(crd: &Value, version: &Value) -> Option<Arc<Self>> {
        let spec = &crd["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if spec["conversion"]["strategy"] != "Webhook" {
            return None;
        }
        let mut versions = spec["versions"].as_array().into_iter().flatten();
        let stored = versions.find(|version| version["storage"] == true)?;
        let group = text(&spec["group"]);
        let named = |version: &Value| api_version(&group, &text(&version["name"]));
        let (own, stored) = (named(version), named(stored));
        let webhook = &spec["conversion"]["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array();
        let is_new = versions.is_none_or(|versions| versions.iter().any(|known| known == "v1"));
        (own != stored).then(|| {
            Arc::new(Self {
                client: ClientConfig::parse(&webhook["clientConfig"]).without_timeout(),
                review_version: if is_new { "v1" } else { "v1beta1" },
                kind: text(&spec["names"]["kind"]),
                own,
                stored,
            })
        })
    }

    /// Converts stored objects to the version of the type.
    ///
    /// # Errors
    ///
    /// The webhook gives no answer, or not the objects that it was asked for.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(crate) async fn show(
        &self,
        webhooks: &Webhooks,
        entropy: &Entropy,
        objects: Vec<Value>,
    ) -> Result<Vec<Value>, Status> {
        let (from, to) = (&self.stored, &self.own);
        self.convert(webhooks, entropy, objects, from, to).await
    }

    /// An object in the version of the type, as it is stored. Cancel safety and errors are those of [`show`](Self::show).
    pub(crate) async fn store(
        &self,
        webhooks: &Webhooks,
        entropy: &Entropy,
        object: Value,
    ) -> Result<Value, Status> {
        let (from, to) = (&self.own, &self.stored);
        let converted = self
            .convert(webhooks, entropy, vec![object], from, to)
            .await?;
        Ok(converted.into_iter().next().unwrap_or_default())
    }

    async fn convert(
        &self,
        webhooks: &Webhooks,
        entropy: &Entropy,
        mut objects: Vec<Value>,
        from: &str,
        to: &str,
    ) -> Result<Vec<Value>, Status> {
        if objects.is_empty() {
            return Ok(objects);
        }
        for object in &mut objects {
            object["kind"] = json!(self.kind);
            object["apiVersion"] = json!(from);
        }
        let uid = entropy.audit_id().to_string();
        let question = self.question(&uid, &objects, to);
        let called = format!("conversion webhook for {from}, Kind={}", self.kind);
        let answer = webhooks.ask(&self.client, LIMIT, &question).await;
        let answer =
            answer.map_err(|error| Status::unclassified(format!("{called} failed: {error}")))?;
        let converted = self
            .read(&uid, &answer)
            .map_err(|why| Status::unclassified(format!("{called} failed: {why}")))?;
        if converted.len() != objects.len() {
            return Err(Status::unclassified(format!(
                "{called} returned {} objects, expected {}",
                converted.len(),
                objects.len()
            )));
        }
        let pairs = objects.into_iter().zip(converted).enumerate();
        pairs
            .map(|(index, (original, converted))| {
                self.checked(&original, converted, to).map_err(|why| {
                    Status::unclassified(format!(
                        "{called} returned invalid converted object at index {index}: {why}"
                    ))
                })
            })
            .collect()
    }

    fn question(&self, uid: &str, objects: &[Value], to: &str) -> Value {
        json!({
            "kind": KIND,
            "apiVersion": format!("{GROUP}/{}", self.review_version),
            "request": {"uid": uid, "desiredAPIVersion": to, "objects": objects},
        })
    }

    /// The objects of an answer.
    fn read(&self, uid: &str, review: &Value) -> Result<Vec<Value>, String> {
        let response = &review["response"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if response.is_null() {
            return Err("no response provided".to_owned());
        }
        if self.review_version == "v1" {
            let said = text(&response["uid"]);
            if said != uid {
                return Err(format!("expected response.uid={uid:?}, got {said:?}"));
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

    /// A converted object with the metadata that it had, but for its labels and annotations.
    fn checked(&self, original: &Value, mut converted: Value, to: &str) -> Result<Value, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found = text(&converted["apiVersion"]);
        if found != to {
            return Err(format!(
                "invalid groupVersion (expected {to}, received {found})"
            ));
        }
        let kind = text(&converted["kind"]);
        if kind != self.kind {
            return Err(format!(
                "invalid kind (expected {}, received {kind})",
                self.kind
            ));
        }
        if !converted["metadata"].is_object() {
            return Err("missing metadata in converted object".to_owned());
        }
        let mut metadata = original["metadata"].clone();
        for field in IDENTITY {
            let (before, after) = (&metadata[field], &converted["metadata"][field]);
            if before != after {
                return Err(format!(
                    "must have the same {field}: {} != {}",
                    text(before),
                    text(after)
                ));
            }
        }
        for field in ["labels", "annotations"] {
            let given = converted["metadata"][field].take();
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
}

/// Fills in what `spec.conversion` leaves out.
pub(super) fn set_conversion_defaults(conversion: &mut Value) {
    let service = conversion.pointer_mut("/webhook/clientConfig/service");
    if let Some(service) = service.filter(|service| service.is_object())
        && service["port"].is_null()
    {
        service["port"] = json!(443);
    }
}

/// Returns the errors of `spec.conversion`. The fields are named as in the API's internal form of definitions.
pub(super) fn conversion_errors(conversion: &Value) -> Vec<FieldError> {
    const PATH: &str = "spec.conversion";
    let config_path = format!("{PATH}.webhookClientConfig");
    let versions_path = format!("{PATH}.conversionReviewVersions");
    let webhook = &conversion["webhook"];
    let (config, versions) = (
        &webhook["clientConfig"],
        &webhook["conversionReviewVersions"],
    );
    let count = versions.as_array().map_or(0, Vec::len);
    match conversion["strategy"].as_str().unwrap_or_default() {
        // Without any it has its default by now.
        "" if conversion.is_null() => Vec::new(),
        "" => vec![FieldError::required(format!("{PATH}.strategy"), "")],
        "None" => {
            let detail = "should not be set when strategy is not set to Webhook";
            let set = [(config_path, !config.is_null()), (versions_path, count > 0)];
            set.into_iter()
                .filter(|(_, is_set)| *is_set)
                .map(|(path, _)| FieldError::forbidden(path, detail))
                .collect()
        }
        "Webhook" => {
            let mut errors = if config.is_null() {
                let detail = "required when strategy is set to Webhook";
                vec![FieldError::required(config_path, detail)]
            } else {
                client_config_errors(&config_path, config)
            };
            let mut known = versions.as_array().into_iter().flatten();
            if count == 0 {
                errors.push(FieldError::required(versions_path, ""));
            } else if !known.any(|version| version == "v1" || version == "v1beta1") {
                errors.push(FieldError::invalid(
                    versions_path,
                    versions,
                    "must include at least one of v1, v1beta1",
                ));
            }
            errors
        }
        other => vec![FieldError::not_supported(
            format!("{PATH}.strategy"),
            &json!(other),
            &["None", "Webhook"],
        )],
    }
}
