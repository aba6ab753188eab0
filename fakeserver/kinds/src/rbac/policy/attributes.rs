//! The attributes of a request that rules match.

use fakeserver_value::user::UserInfo;

/// A verb and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    pub verb: String,
    pub target: Target,
}

/// The target of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A path that is no resource.
    Path(String),
    Resource(ResourceAttributes),
}

/// A resource, in whole or in part. Empty fields are unspecified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceAttributes {
    pub group: String,
    pub version: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
}

// === impl Attributes ===

impl Attributes {
    /// A verb on a path that is no resource.
    pub fn path(verb: impl Into<String>, path: &str) -> Self {
        Self {
            verb: verb.into(),
            target: Target::Path(path.to_owned()),
        }
    }

    pub fn resource(verb: impl Into<String>, resource: ResourceAttributes) -> Self {
        Self {
            verb: verb.into(),
            target: Target::Resource(resource),
        }
    }

    /// The namespace whose bindings count; empty for those of the cluster alone.
    pub fn namespace(&self) -> &str {
        match &self.target {
            Target::Path(_) => "",
            Target::Resource(resource) => &resource.namespace,
        }
    }

    /// Returns the API's message that `user` may not do this.
    pub fn denial(&self, user: &UserInfo) -> String {
        let (user, verb) = (user.name(), &self.verb);
        let message = match &self.target {
            Target::Path(path) => format!("User {user:?} cannot {verb} path {path:?}"),
            Target::Resource(resource) => format!(
                "User {user:?} cannot {verb} resource {:?} in API group {:?} {}",
                resource.combined(),
                resource.group,
                match resource.namespace.as_str() {
                    "" => "at the cluster scope".to_owned(),
                    namespace => format!("in the namespace {namespace:?}"),
                }
            ),
        };
        // The answer may be shown by a browser.
        let message = message.replace('&', "&amp;").replace('<', "&lt;");
        message.replace('>', "&gt;")
    }
}

// === impl ResourceAttributes ===

impl ResourceAttributes {
    /// Returns the resource as rules name it: `pods/log`.
    pub fn combined(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}
