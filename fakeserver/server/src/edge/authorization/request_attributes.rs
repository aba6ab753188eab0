//! Attributes of requests, as rules see them.

use fakeserver_kinds::rbac::policy::{Attributes, ResourceAttributes, Target};
use http::Method;
use percent_encoding::percent_decode_str;

use crate::edge::request::Query;

/// The attributes of a request, also of one that leads nowhere.
#[doc(alias = "RequestInfo")]
pub(crate) fn request_attributes(method: &Method, path: &str, query: &Query) -> Attributes {
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let segments: Vec<&str> = decoded.trim_matches('/').split('/').collect();
    let (group, version, parts) = match segments.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Attributes::path(method.as_str().to_lowercase(), &decoded),
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
    Attributes {
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

/// Returns the name that a list or a watch selects by `metadata.name`: a permission for one named object allows to
/// watch it.
fn selected_name(query: &Query) -> String {
    let requirements = query.get("fieldSelector").unwrap_or_default().split(',');
    let mut names = requirements.filter_map(|requirement| {
        let value = requirement.strip_prefix("metadata.name=")?;
        Some(value.strip_prefix('=').unwrap_or(value))
    });
    let is_segment = |name: &&str| !matches!(*name, "." | "..") && !name.contains(['/', '%']);
    names.next().filter(is_segment).unwrap_or_default().into()
}
