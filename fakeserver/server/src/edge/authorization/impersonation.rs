//! Impersonation: the user that headers name, and the rights that this needs.

use std::collections::BTreeMap;

use fakeserver_kinds::rbac::policy::{Attributes, ResourceAttributes};
use fakeserver_value::user::{AUTHENTICATED, UNAUTHENTICATED, UserInfo};
use http::HeaderMap;
use percent_encoding::percent_decode_str;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// A request to act as another user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Impersonation {
    /// The user that the request is made as.
    pub(crate) user: UserInfo,
    /// The permissions that the requester needs, all of them.
    pub(crate) needs: Vec<Attributes>,
}

/// Parses the impersonation headers of a request. The error explains an inconsistency.
pub(crate) fn impersonation(headers: &HeaderMap) -> Result<Option<Impersonation>, String> {
    let all = |name: &str| -> Vec<&str> {
        let values = headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok()).collect()
    };
    let name = all(USER).first().copied().unwrap_or_default();
    let groups = all(GROUP);
    let uid = all(UID).first().copied().unwrap_or_default();
    let extra: Vec<(String, &str)> = headers
        .iter()
        .filter_map(|(header, value)| {
            let key = header.as_str().strip_prefix(EXTRA)?;
            let key = percent_decode_str(key).decode_utf8_lossy();
            Some((key.into_owned(), value.to_str().ok()?))
        })
        .collect();
    if name.is_empty() {
        return without_user(&groups, uid, &extra);
    }

    let account = UserInfo::split_service_account(name);
    let mut needs = vec![match account {
        Some((namespace, name)) => need("", "serviceaccounts", "", namespace, name),
        None => need("", "users", "", "", name),
    }];
    needs.extend(groups.iter().map(|group| need("", "groups", "", "", group)));
    if !uid.is_empty() {
        needs.push(need(AUTHENTICATION, "uids", "", "", uid));
    }
    for (key, value) in &extra {
        needs.push(need(AUTHENTICATION, "userextras", key, "", value));
    }

    let mut user = match account {
        Some((namespace, name)) if groups.is_empty() => UserInfo::service_account(namespace, name),
        _ => UserInfo::new(name).with_groups(groups.iter().copied()),
    };
    user = if !user.is_anonymous() {
        user.authenticated()
    } else if user.is_in(UNAUTHENTICATED) {
        user
    } else {
        user.with_groups([UNAUTHENTICATED])
    };
    debug_assert!(user.is_in(AUTHENTICATED) || user.is_in(UNAUTHENTICATED));
    user = user.with_uid(uid);
    for (key, value) in extra {
        user = user.with_extra(key, value);
    }
    Ok(Some(Impersonation { user, needs }))
}

/// Groups, uid and extra fields belong to an impersonated user, and are invalid without one.
fn without_user(
    groups: &[&str],
    uid: &str,
    extra: &[(String, &str)],
) -> Result<Option<Impersonation>, String> {
    if groups.is_empty() && uid.is_empty() && extra.is_empty() {
        return Ok(None);
    }
    let list = |values: &[&str]| {
        let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        format!("[]string{{{}}}", values.join(", "))
    };
    let groups = match groups {
        [] => "[]string(nil)".to_owned(),
        groups => list(groups),
    };
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, value) in extra {
        values.entry(key).or_default().push(value);
    }
    let values: Vec<String> = values
        .iter()
        .map(|(key, values)| format!("{key:?}:{}", list(values)))
        .collect();
    let extra = match values.as_slice() {
        [] => "map[string][]string(nil)".to_owned(),
        values => format!("map[string][]string{{{}}}", values.join(", ")),
    };
    Err(format!(
        "requested &user.DefaultInfo{{Name:\"\", UID:{uid:?}, Groups:{groups}, Extra:{extra}}} without impersonating a user \
         name"
    ))
}

fn need(group: &str, resource: &str, subresource: &str, namespace: &str, name: &str) -> Attributes {
    let version = if group.is_empty() { "" } else { "v1" };
    let resource = ResourceAttributes {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    Attributes::resource("impersonate", resource)
}
