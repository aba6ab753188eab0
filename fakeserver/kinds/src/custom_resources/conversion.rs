//! Conversion by webhooks: objects of a definition in another version than the stored one.
//!
//! Objects are stored in the storage version of their definition at the time of the write, which the store keeps with
//! each. If the definition has another one later, they are converted from theirs until they are written again.

use std::sync::Arc;

use fakeserver_value::{names::service_name_problems, resource::api_version, status::FieldError};
use serde_json::{Value, json};

use crate::client_config::{ClientConfig, client_config_errors};

/// The webhook that converts objects of a definition, and between which versions.
#[derive(Debug, PartialEq, Eq)]
pub struct Conversion {
    pub client: ClientConfig,
    /// The version of reviews: `v1` or `v1beta1`.
    pub review_version: &'static str,
    pub kind: String,
    /// The version of this type, with its group.
    pub own: String,
    /// The version in which objects are stored from now on, with its group.
    pub stored: String,
}

// === impl Conversion ===

impl Conversion {
    /// Returns the conversion of objects of `crd` to `version`; `None` if no webhook converts them.
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
        let review_versions = webhook["conversionReviewVersions"].as_array();
        let mut review_versions = review_versions.into_iter().flatten();
        // The first that the server has, in the order of the webhook's preference.
        let review_version =
            review_versions.find(|version| *version == "v1" || *version == "v1beta1");
        let is_old = review_version.is_some_and(|version| version == "v1beta1");
        Some(Arc::new(Self {
            client: ClientConfig::parse(&webhook["clientConfig"]).without_timeout(),
            review_version: if is_old { "v1beta1" } else { "v1" },
            kind: text(&spec["names"]["kind"]),
            own,
            stored,
        }))
    }

    /// Returns `object` as a webhook sees it: with its kind and `version`, which is that of new objects if it is empty.
    pub fn typed(&self, mut object: Value, version: &str) -> Value {
        let version = if version.is_empty() {
            &self.stored
        } else {
            version
        };
        object["kind"] = json!(self.kind);
        object["apiVersion"] = json!(version);
        object
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
    if conversion.is_null() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    let strategy_path = format!("{PATH}.strategy");
    match strategy {
        "None" | "Webhook" => {}
        "" => errors.push(FieldError::required(strategy_path, "")),
        other => errors.push(FieldError::not_supported(
            strategy_path,
            &json!(other),
            &["None", "Webhook"],
        )),
    }
    if strategy == "Webhook" {
        if config.is_null() {
            let detail = "required when strategy is set to Webhook";
            errors.push(FieldError::required(config_path, detail));
        } else {
            errors.extend(client_config_errors(&config_path, config));
        }
        check_review_versions(versions, &versions_path, &mut errors);
        return errors;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if !config.is_null() {
        errors.push(FieldError::forbidden(config_path, detail));
    }
    if count > 0 {
        errors.push(FieldError::forbidden(versions_path, detail));
    }
    errors
}

/// Checks the versions of the reviews that a webhook takes.
fn check_review_versions(versions: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let given = versions.as_array().map(Vec::as_slice).unwrap_or_default();
    if given.is_empty() {
        return errors.push(FieldError::required(path, ""));
    }
    for (index, version) in given.iter().enumerate() {
        let path = format!("{path}[{index}]");
        if given[..index].contains(version) {
            errors.push(FieldError::invalid(path, version, "duplicate version"));
            continue;
        }
        for problem in service_name_problems(version.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(path.as_str(), version, &problem));
        }
    }
    if !given.iter().any(|one| one == "v1" || one == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, versions, detail));
    }
}
