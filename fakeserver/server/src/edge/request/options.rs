//! Options of lists and watches.

use std::time::Duration;

use fakeserver_value::status::{FieldError, Status};
use serde_json::json;

use super::{Features, Query};

const VERSION_MATCH: &str = "resourceVersionMatch";

/// The options of a list or a watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) shard_selector: String,
    pub(crate) is_watch: bool,
    pub(crate) allow_bookmarks: bool,
    pub(crate) resource_version: String,
    pub(crate) version_match: String,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    /// More than nothing, if there is a limit.
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: String,
}

// === impl ListOptions ===

impl ListOptions {
    /// Reads the parameters and refuses those that do not go together.
    pub(crate) fn parse(query: &Query) -> Result<Self, Status> {
        let limit = query.integer("limit")?.unwrap_or_default();
        let timeout = query.integer("timeoutSeconds")?.unwrap_or_default();
        let options = Self {
            label_selector: query.text("labelSelector"),
            field_selector: query.text("fieldSelector"),
            shard_selector: query.text("shardSelector"),
            is_watch: query.bool("watch").unwrap_or_default(),
            allow_bookmarks: query.bool("allowWatchBookmarks").unwrap_or_default(),
            resource_version: query.text("resourceVersion"),
            version_match: query.text(VERSION_MATCH),
            send_initial_events: query.bool("sendInitialEvents"),
            timeout: u64::try_from(timeout)
                .ok()
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            limit: usize::try_from(limit).ok().filter(|limit| *limit > 0),
            continue_token: query.text("continue"),
        };
        Ok(options)
    }

    /// Refuses what does not go together.
    pub(crate) fn validate(&self, features: Features) -> Result<(), Status> {
        let errors = if self.is_watch {
            self.watch_errors(features)
        } else {
            self.list_errors()
        };
        checked("ListOptions", &errors)
    }

    fn list_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let matching = self.version_match.as_str();
        if !matching.is_empty() {
            if self.resource_version.is_empty() {
                errors.push(forbidden_match(
                    "is forbidden unless resourceVersion is provided",
                ));
            }
            if !self.continue_token.is_empty() {
                errors.push(forbidden_match("is forbidden when continue is provided"));
            }
            if !matches!(matching, "Exact" | "NotOlderThan") {
                let supported = ["Exact", "NotOlderThan", ""];
                errors.push(FieldError::not_supported(
                    VERSION_MATCH,
                    &json!(matching),
                    &supported,
                ));
            }
            if matching == "Exact" && self.resource_version == "0" {
                errors.push(forbidden_match(
                    "\"exact\" is forbidden for resourceVersion \"0\"",
                ));
            }
        }
        if self.send_initial_events.is_some() {
            errors.push(FieldError::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        errors
    }

    fn watch_errors(&self, features: Features) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let matching = self.version_match.as_str();
        if self.send_initial_events.is_some() && matching != "NotOlderThan" {
            errors.push(FieldError::forbidden(
                VERSION_MATCH,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if self.send_initial_events.is_some() && !features.has_watch_lists {
            errors.push(FieldError::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
            ));
        }
        // A watch from no version counts as one that asks for the state first.
        let is_legacy = features.has_watch_lists
            && matching.is_empty()
            && self.send_initial_events.is_none()
            && matches!(self.resource_version.as_str(), "" | "0");
        if !matching.is_empty() {
            if self.send_initial_events.is_none() {
                errors.push(forbidden_match(
                    "is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if matching != "NotOlderThan" {
                errors.push(FieldError::not_supported(
                    VERSION_MATCH,
                    &json!(matching),
                    &["NotOlderThan"],
                ));
            }
        }
        if (is_legacy || !matching.is_empty()) && !self.continue_token.is_empty() {
            errors.push(forbidden_match("is forbidden when continue is provided"));
        }
        errors
    }
}

fn forbidden_match(why: &str) -> FieldError {
    FieldError::forbidden(VERSION_MATCH, &format!("{VERSION_MATCH} {why}"))
}

/// Refuses options with errors.
pub(super) fn checked(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid_options(kind, errors))
}
