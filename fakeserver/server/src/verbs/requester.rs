//! The requester and its permissions.

use std::sync::Arc;

use axum::response::Response;
use fakeserver_kinds::rbac::policy::{self, Access, Attributes, ResourceAttributes};
use fakeserver_value::{
    status::{NamedObject, Status},
    user::UserInfo,
};
use http::{HeaderMap, HeaderValue, header};

use crate::{edge::response::refusal, write::Target};

/// The user behind a request, with the rules of the moment at which it came.
#[derive(Clone, Debug)]
pub struct Requester {
    pub user: Arc<UserInfo>,
    pub access: Access,
    /// The user who impersonates this one, if any.
    pub impersonator: Option<Arc<UserInfo>>,
    denial: Option<Box<Status>>,
}

// === impl Requester ===

impl Requester {
    pub fn new(user: Arc<UserInfo>, access: Access) -> Self {
        Self {
            user,
            access,
            impersonator: None,
            denial: None,
        }
    }

    /// The server itself.
    pub fn internal() -> Self {
        Self::new(Arc::new(UserInfo::administrator()), Access::All)
    }

    /// Authorizes the user for `attributes`, and remembers the decision.
    #[must_use]
    pub fn wanting(mut self, attributes: &Attributes) -> Self {
        if let Err(status) = self.check(attributes) {
            self.denial = Some(Box::new(status));
        }
        self
    }

    /// Returns the rejection if the user lacks the permission.
    pub fn is_denied(&self) -> bool {
        self.denial.is_some()
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
            policy::Target::Path(_) => NamedObject {
                resource: "",
                group: "",
                name: "",
            },
            policy::Target::Resource(resource) => NamedObject {
                resource: &resource.resource,
                group: &resource.group,
                name: &resource.name,
            },
        };
        Err(Status::denied(object, &why))
    }

    /// Refuses the creation of the object of `target` by another verb than `create`, unless the user may create it.
    pub fn check_create(&self, target: &Target) -> Result<(), Status> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let path = &target.path;
        let resource = ResourceAttributes {
            group: path.group.clone(),
            version: path.version.clone(),
            resource: path.resource.clone(),
            subresource: text(&path.subresource),
            namespace: text(&path.namespace),
            name: target.name().to_owned(),
        };
        self.check(&Attributes::resource("create", resource))
    }

    /// The answer to a request that is not allowed.
    pub fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let denial = self.denial.as_deref()?;
        let mut response = refusal(headers, denial.clone());
        response.headers_mut().insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        Some(response)
    }
}
