//! Who makes a request, and what he may.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;

use crate::{
    authentication::UserInfo,
    authorization::{Access, Attributes, Target},
    resource::ResourceType,
    response::refusal,
    status::{Named, Status},
};

/// The user behind a request, with the rules of the moment at which it came.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    pub(crate) user: Arc<UserInfo>,
    pub(crate) access: Access,
    denial: Option<Box<Status>>,
}

// === impl Requester ===

impl Requester {
    pub(crate) fn new(user: Arc<UserInfo>, access: Access) -> Self {
        Self {
            user,
            access,
            denial: None,
        }
    }

    /// The server itself.
    pub(crate) fn internal() -> Self {
        Self::new(Arc::new(UserInfo::administrator()), Access::All)
    }

    /// Remembers whether the user may do what he wants.
    #[must_use]
    pub(crate) fn wanting(mut self, attributes: &Attributes) -> Self {
        if let Err(status) = self.check(attributes) {
            self.denial = Some(Box::new(status));
        }
        self
    }

    /// Refuses what the user may not do.
    pub(super) fn check(&self, attributes: &Attributes) -> Result<(), Status> {
        let decision = self.access.decide(&self.user, attributes);
        if decision.is_allowed {
            return Ok(());
        }
        let mut why = attributes.denial(&self.user);
        if !decision.reason.is_empty() {
            why.push_str(": ");
            why.push_str(&decision.reason);
        }
        let object = match &attributes.target {
            Target::Path(_) => Named {
                resource: "",
                group: "",
                name: "",
            },
            Target::Resource(resource) => Named {
                resource: &resource.resource,
                group: &resource.group,
                name: &resource.name,
            },
        };
        Err(Status::denied(object, &why))
    }

    /// Writes into a request for a certificate who makes it, whatever it says itself.
    pub(super) fn sign(&self, resource: &ResourceType, object: &mut Value) {
        let resource = (&*resource.group, &*resource.plural);
        if resource != ("certificates.k8s.io", "certificatesigningrequests") {
            return;
        }
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
            return;
        };
        for field in ["username", "uid", "groups", "extra"] {
            spec.remove(field);
        }
        if let Value::Object(user) = self.user.to_json() {
            spec.extend(user);
        }
    }

    /// The answer to a request that is not allowed.
    pub(crate) fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let denial = self.denial.as_deref()?;
        let mut response = refusal(headers, denial.clone());
        response.headers_mut().insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        Some(response)
    }
}
