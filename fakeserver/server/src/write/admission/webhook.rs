//! A parsed webhook of a configuration.

use std::time::Duration;

use fakeserver_kinds::{
    admission::match_conditions::{Conditions, Match},
    client_config::ClientConfig,
};
use fakeserver_value::status::{NamedObject, Status};
use serde_json::Value;

use super::{Attributes, Criteria, Invocation, review::cel_request};

/// The default time limit of a webhook.
const TIMEOUT_DEFAULT_SECONDS: u64 = 10;

/// A webhook, with its match criteria.
#[derive(Debug)]
pub struct Webhook {
    pub(super) name: String,
    /// The name of the configuration that it is in.
    pub(super) configuration: String,
    pub(super) client: ClientConfig,
    pub(super) timeout: Duration,
    /// True if a write continues without the webhook's answer.
    pub(super) ignores_failure: bool,
    /// True if it may be called about a dry run.
    pub(super) takes_dry_runs: bool,
    /// True if it is to be called again when others have changed an object after it.
    pub(super) is_reinvoked: bool,
    /// The version of reviews that it reads, `v1` or `v1beta1`.
    pub(super) review_version: &'static str,
    criteria: Criteria,
    conditions: Conditions,
}

// === impl Webhook ===

impl Webhook {
    /// Reads an item of `webhooks` of a configuration that was validated when it was written.
    pub(super) fn parse(configuration: &str, webhook: &Value) -> Self {
        let versions = webhook["admissionReviewVersions"].as_array();
        let supported = |version: &Value| match version.as_str() {
            Some("v1") => Some("v1"),
            Some("v1beta1") => Some("v1beta1"),
            _ => None,
        };
        let seconds = webhook["timeoutSeconds"].as_u64();
        let side_effects = &webhook["sideEffects"];
        Self {
            name: webhook["name"].as_str().unwrap_or_default().to_owned(),
            configuration: configuration.to_owned(),
            client: ClientConfig::parse(&webhook["clientConfig"]),
            timeout: Duration::from_secs(seconds.unwrap_or(TIMEOUT_DEFAULT_SECONDS)),
            ignores_failure: webhook["failurePolicy"] == "Ignore",
            takes_dry_runs: side_effects == "None" || side_effects == "NoneOnDryRun",
            is_reinvoked: webhook["reinvocationPolicy"] == "IfNeeded",
            review_version: versions
                .and_then(|versions| versions.iter().find_map(supported))
                .unwrap_or("v1"),
            criteria: Criteria::of_webhook(webhook),
            conditions: Conditions::compile(&webhook["matchConditions"]),
        }
    }

    /// Returns the version and kind by which the rules match a write, if they do. `equivalents` are the other versions
    /// of the resource.
    pub(super) fn invocation(
        &self,
        attributes: &Attributes,
        equivalents: &[Invocation],
    ) -> Option<Invocation> {
        self.criteria.invocation(attributes, equivalents)
    }

    /// Returns whether its selectors and conditions match. `attributes` are in the version of `invocation`.
    ///
    /// # Errors
    ///
    /// It is unknown whether they match: the namespace does not exist, or a condition fails under the policy `Fail`.
    pub(super) fn wants(
        &self,
        attributes: &Attributes,
        invocation: &Invocation,
    ) -> Result<bool, Status> {
        if !self.criteria.selects_object(attributes)
            || !self.criteria.selects_namespace(attributes)?
        {
            return Ok(false);
        }
        let object = attributes.object.as_ref().unwrap_or(&Value::Null);
        let old = attributes.old_object.as_ref().unwrap_or(&Value::Null);
        let request = cel_request(attributes, invocation);
        let variables = [
            ("object", object),
            ("oldObject", old),
            ("request", &request),
        ];
        match self.conditions.judge(&variables) {
            Match::Yes => Ok(true),
            Match::No => Ok(false),
            Match::Unknown(_) if self.ignores_failure => Ok(false),
            Match::Unknown(why) => {
                let named = NamedObject {
                    resource: &attributes.resource.plural,
                    group: &attributes.resource.group,
                    name: &attributes.name,
                };
                Err(Status::forbidden(named, &why, Vec::new()))
            }
        }
    }
}
