//! Conversion by webhooks: objects of a definition in another version than the stored one.
//!
//! Objects are stored in the storage version of their definition at the time of the write. If that version changes
//! later, the objects have to be written again, since a stored object does not have its version.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    kinds::client_config::{ClientConfig, client_config_errors},
    value::{resource::api_version, status::FieldError},
};

/// The webhook that converts objects of a definition, and between which versions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) client: ClientConfig,
    /// The version of reviews: `v1` or `v1beta1`.
    pub(crate) review_version: &'static str,
    pub(crate) kind: String,
    /// The version of this type, with its group.
    pub(crate) own: String,
    /// The version in which objects are stored, with its group.
    pub(crate) stored: String,
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
