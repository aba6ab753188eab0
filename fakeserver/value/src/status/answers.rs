//! Constructors of the error answers that were recorded from a real server.

use std::collections::BTreeSet;

use http::StatusCode;

use super::{Cause, Details, FieldError, Status};

/// The resource that an answer names: its plural and group.
#[derive(Clone, Copy, Debug)]
pub struct NamedObject<'a> {
    pub resource: &'a str,
    pub group: &'a str,
    pub name: &'a str,
}

// === impl Status ===

impl Status {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: None,
            continue_token: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the same status with warnings in front of its own.
    pub fn after(mut self, warnings: &[String]) -> Self {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "ServiceUnavailable",
            message,
        )
    }

    /// Creates an internal error without a reason.
    /// A request that was refused, without effect, because the log of the store does not advance.
    pub fn log_stalled(effect: &str, reason: &str) -> Self {
        let details = Details {
            retry_after_seconds: 1,
            ..Details::default()
        };
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "ServiceUnavailable",
            format!("{reason}; {effect}, so try again when there is room"),
        )
        .with_details(details)
    }

    /// A write that has taken effect in memory, and may not be there after a crash.
    pub fn outcome_unknown(reason: &str) -> Self {
        Self::internal(&format!(
            "{reason}; the outcome of this request is unknown, so read the object before trying again"
        ))
    }

    pub fn unclassified(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    pub fn internal(message: &str) -> Self {
        let details = Details {
            causes: vec![Cause::new("", message)],
            ..Details::default()
        };
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            format!("Internal error occurred: {message}"),
        )
        .with_details(details)
    }

    pub fn not_found(object: NamedObject<'_>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            format!("{object} not found"),
        )
        .with_details(object.into())
    }

    /// No such resource, version or subresource in a group that is served.
    pub fn unknown_resource() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with_details(Details::default())
    }

    pub fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details(Details::default())
    }

    /// The handler of a custom resource does not know `verb`, which is empty for methods without one.
    pub fn verb_not_supported(verb: &str, collection: NamedObject<'_>) -> Self {
        let NamedObject {
            resource, group, ..
        } = collection;
        let message =
            format!("{verb} is not supported on resources of kind \"{resource}.{group}\"");
        Self {
            message,
            ..Self::method_not_allowed()
        }
        .with_details(collection.into())
    }

    /// The definition of a custom resource is going away, and takes no `verb` any more.
    pub fn definition_terminating(verb: &str) -> Self {
        Self {
            message: format!("{verb} not allowed while custom resource definition is terminating"),
            ..Self::method_not_allowed()
        }
    }

    /// A server whose cache is not ready: it names a time after which to try again unless that is 0.
    pub fn storage_initializing(retry_after_seconds: u32) -> Self {
        let status = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "storage is (re)initializing",
        );
        if retry_after_seconds == 0 {
            return status;
        }
        status.with_details(Details {
            retry_after_seconds,
            ..Details::default()
        })
    }

    pub fn already_exists(object: NamedObject<'_>, is_terminating: bool) -> Self {
        let prefix = if is_terminating {
            "object is being deleted: "
        } else {
            ""
        };
        Self::new(
            StatusCode::CONFLICT,
            "AlreadyExists",
            format!("{prefix}{object} already exists"),
        )
        .with_details(object.into())
    }

    /// Answers that the name of an object with a prefix for generated names is taken, as every generated one was.
    pub fn name_not_generated(object: NamedObject<'_>, is_terminating: bool) -> Self {
        let mut status = Self::already_exists(object, is_terminating);
        status
            .message
            .push_str(", the server was not able to generate a unique name for the object");
        if let Some(details) = &mut status.details {
            details.retry_after_seconds = 1;
        }
        status
    }

    pub fn conflict(object: NamedObject<'_>, why: &str) -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "Conflict",
            format!("Operation cannot be fulfilled on {object}: {why}"),
        )
        .with_details(object.into())
    }

    /// The version that a write was based on is not the present one.
    pub fn stale(object: NamedObject<'_>) -> Self {
        Self::conflict(
            object,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// Creates a conflict: other managers own fields that a configuration would change.
    pub fn apply_conflict(message: String, causes: Vec<Cause>) -> Self {
        let details = Details {
            causes,
            ..Details::default()
        };
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(details)
    }

    pub fn forbidden(object: NamedObject<'_>, why: &str, causes: Vec<Cause>) -> Self {
        let details = Details {
            causes,
            ..object.into()
        };
        Self::new(
            StatusCode::FORBIDDEN,
            "Forbidden",
            format!("{object} is forbidden: {why}"),
        )
        .with_details(details)
    }

    /// Credentials that do not count, or none where some are needed.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// A user lacks a right. Without a resource it is one to a path, without a name one to a collection.
    pub fn denied(object: NamedObject<'_>, why: &str) -> Self {
        let subject = match (object.resource, object.name) {
            ("", _) => String::new(),
            (resource, "") => format!("{} is ", qualified(resource, object.group)),
            _ => format!("{object} is "),
        };
        let message = format!("{subject}forbidden: {why}");
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).with_details(object.into())
    }

    /// A validation failed. `kind` and `group` are those of the object, not of the resource.
    pub fn invalid(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        let messages: Vec<String> = distinct(errors);
        let messages = match messages.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let qualified = qualified(kind, group);
        let details = Details {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes: errors
                .iter()
                .map(|error| Cause {
                    reason: error.reason.into(),
                    message: error.detail.clone(),
                    field: error.field.clone(),
                })
                .collect(),
            ..Details::default()
        };
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid",
            format!("{qualified} {name:?} is invalid: {messages}"),
        )
        .with_details(details)
    }

    /// The options of a request do not go together. `kind` is as in `ListOptions`.
    pub fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid(kind, "meta.k8s.io", "", errors)
    }

    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
            .with_details(Details::default())
    }

    /// Returns whether it refuses all media types that a client accepts, before a handler is asked.
    pub fn is_unrouted(&self) -> bool {
        self.code == StatusCode::NOT_ACCEPTABLE && self.details.is_some()
    }

    /// Creates the status for a supported format in which the requested kind is not available.
    pub fn not_representable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
        .with_details(Details::default())
    }

    pub fn body_too_large(limit_bytes: usize) -> Self {
        Self::too_large(&format!("limit is {limit_bytes}"))
    }

    /// A request asks for more than one request may.
    pub fn too_large(why: &str) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            format!("Request entity too large: {why}"),
        )
        .with_details(Details::default())
    }

    /// A pod's disruption budget does not let it go.
    pub fn disruption_forbidden(why: String, retry_after_seconds: u32) -> Self {
        let details = Details {
            causes: vec![Cause::new("DisruptionBudget", why)],
            retry_after_seconds,
            ..Details::default()
        };
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
        )
        .with_details(details)
    }

    /// A patch that cannot be applied to this object.
    pub fn unprocessable() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid",
            "the server rejected our request due to an error in our request",
        )
        .with_details(Details::default())
    }

    /// A list's version is no longer in the history.
    pub fn list_expired() -> Self {
        Self::new(
            StatusCode::GONE,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        )
    }

    /// Creates the error of a continue token whose version was compacted; `token` continues without it.
    pub fn continue_expired(token: String) -> Self {
        let mut status = Self::new(
            StatusCode::GONE,
            "Expired",
            "The provided continue parameter is too old to display a consistent list result. \
             You can start a new list without the continue parameter, or use the continue token in this response \
             to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent \
             list - objects that were created, modified, or deleted between the time the first chunk was returned \
             and now may show up in the list.",
        );
        status.continue_token = Some(token);
        status
    }

    /// A watch's version is no longer in the history; `oldest` is the first one after which a watch can begin.
    pub fn watch_expired(version: u64, oldest: u64) -> Self {
        Self::new(
            StatusCode::GONE,
            "Expired",
            format!("too old resource version: {version} ({oldest})"),
        )
    }

    /// A list of the latest state, `version`, that a cache at `current` cannot serve in time.
    pub fn cache_behind(version: u64, current: u64) -> Self {
        let late = Self::version_too_large(version, current);
        let status = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            late.message,
        );
        status.with_details(Details {
            retry_after_seconds: 1,
            ..Details::default()
        })
    }

    /// A version that this server has not reached.
    pub fn version_too_large(version: u64, current: u64) -> Self {
        let details = Details {
            causes: vec![Cause::new(
                "ResourceVersionTooLarge",
                "Too large resource version",
            )],
            retry_after_seconds: 1,
            ..Details::default()
        };
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            "Timeout",
            format!("Timeout: Too large resource version: {version}, current: {current}"),
        )
        .with_details(details)
    }
}

/// The findings as messages, each once: metadata is validated twice on update, and a real server shows it once.
fn distinct(errors: &[FieldError]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let messages = errors.iter().map(ToString::to_string);
    messages
        .filter(|message| seen.insert(message.clone()))
        .collect()
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

// === impl NamedObject ===

impl std::fmt::Display for NamedObject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {:?}",
            qualified(self.resource, self.group),
            self.name
        )
    }
}

impl From<NamedObject<'_>> for Details {
    fn from(object: NamedObject<'_>) -> Self {
        Self {
            name: object.name.into(),
            group: object.group.into(),
            kind: object.resource.into(),
            ..Self::default()
        }
    }
}
