//! What a request is about, as far as rules are concerned.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::{authentication::UserInfo, request::Query};

/// A verb and what it is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) verb: String,
    pub(crate) target: Target,
}

/// What a verb is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A path that is no resource.
    Path(String),
    Resource(ResourceAttributes),
}

/// A resource, in whole or in part. What is empty is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourceAttributes {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

// === impl Attributes ===

impl Attributes {
    /// The attributes of a request, also of one that leads nowhere.
    #[doc(alias = "RequestInfo")]
    pub(crate) fn of_request(method: &Method, path: &str, query: &Query) -> Self {
        let decoded = percent_decode_str(path).decode_utf8_lossy();
        let segments: Vec<&str> = decoded.trim_matches('/').split('/').collect();
        let (group, version, parts) = match segments.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
            ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
            _ => return Self::path(method.as_str().to_lowercase(), &decoded),
        };
        let (mut verb, parts) = match parts {
            ["proxy", rest @ ..] if !rest.is_empty() => ("proxy", rest),
            ["watch", rest @ ..] if !rest.is_empty() => match verb_of(method) {
                "get" => ("watch", rest),
                verb => (verb, rest),
            },
            parts => (verb_of(method), parts),
        };
        let (namespace, parts) = match parts {
            ["namespaces", namespace, rest @ ..] => match rest.first() {
                None | Some(&("status" | "finalize")) => (*namespace, parts),
                Some(_) => (*namespace, rest),
            },
            parts => ("", parts),
        };
        let part = |index: usize| parts.get(index).copied().unwrap_or_default();
        let mut name = part(1).to_owned();
        if name.is_empty() {
            match verb {
                "get" => {
                    let is_watch = query.bool("watch") == Some(true);
                    verb = if is_watch { "watch" } else { "list" };
                    name = selected_name(query);
                }
                "delete" => verb = "deletecollection",
                _ => {}
            }
        }
        Self {
            verb: verb.to_owned(),
            target: Target::Resource(ResourceAttributes {
                group: group.to_owned(),
                version: version.to_owned(),
                resource: part(0).to_owned(),
                subresource: part(2).to_owned(),
                namespace: namespace.to_owned(),
                name,
            }),
        }
    }

    /// A verb on a path that is no resource.
    pub(crate) fn path(verb: impl Into<String>, path: &str) -> Self {
        Self {
            verb: verb.into(),
            target: Target::Path(path.to_owned()),
        }
    }

    pub(crate) fn resource(verb: impl Into<String>, resource: ResourceAttributes) -> Self {
        Self {
            verb: verb.into(),
            target: Target::Resource(resource),
        }
    }

    /// The namespace whose bindings count; empty for those of the cluster alone.
    pub(crate) fn namespace(&self) -> &str {
        match &self.target {
            Target::Path(_) => "",
            Target::Resource(resource) => &resource.namespace,
        }
    }

    /// That `user` may not do this, as the API words it.
    pub(crate) fn denial(&self, user: &UserInfo) -> String {
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
    /// As rules name it: `pods/log`.
    pub(crate) fn combined(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

fn verb_of(method: &Method) -> &'static str {
    match method.as_str() {
        "POST" => "create",
        "GET" | "HEAD" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    }
}

/// The name that a list or a watch selects, if it selects one: who may see one object may also watch it.
fn selected_name(query: &Query) -> String {
    let requirements = query.get("fieldSelector").unwrap_or_default().split(',');
    let mut names = requirements.filter_map(|requirement| {
        let value = requirement.strip_prefix("metadata.name=")?;
        Some(value.strip_prefix('=').unwrap_or(value))
    });
    let is_segment = |name: &&str| !matches!(*name, "." | "..") && !name.contains(['/', '%']);
    names.next().filter(is_segment).unwrap_or_default().into()
}
