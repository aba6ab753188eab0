//! Who writes roles and bindings gives no more than he has.

use serde_json::Value;

use super::{Call, write::remove};
use crate::{
    authorization::{
        self, Access, Attributes, Policy, PolicyRule, ResourceAttributes, RoleRef, missing_rights,
    },
    status::{Named, Status},
};

/// Refuses `new`, which replaces `old`, if it gives rights that the one who writes it lacks.
pub(super) fn check(call: &Call<'_>, old: Option<&Value>, new: &Value) -> Result<(), Status> {
    if &*call.resource.group != authorization::GROUP || call.requester.user.is_master() {
        return Ok(());
    }
    let Access::Rules(policy) = &call.requester.access else {
        return Ok(());
    };
    // Whoever deletes must be able to let go of it.
    if old.is_some_and(|old| is_same(old, new)) {
        return Ok(());
    }
    match &*call.resource.plural {
        "roles" | "clusterroles" => check_role(call, policy, new),
        _ => check_binding(call, policy, new),
    }
}

/// Refuses a write that comes to a creation if the one who writes may only do what the method says.
pub(super) fn check_create(call: &Call<'_>) -> Result<(), Status> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let resource = ResourceAttributes {
        group: call.path.group.clone(),
        version: call.path.version.clone(),
        resource: call.path.resource.clone(),
        subresource: text(&call.path.subresource),
        namespace: text(&call.path.namespace),
        name: call.name().to_owned(),
    };
    let attributes = Attributes::resource("create", resource);
    call.requester.check(&attributes)
}

fn check_role(call: &Call<'_>, policy: &Policy, role: &Value) -> Result<(), Status> {
    if may(call, policy, "escalate", &call.resource.plural, call.name()) {
        return Ok(());
    }
    let rules: Vec<PolicyRule> = serde_json::from_value(role["rules"].clone()).unwrap_or_default();
    confirm(call, policy, role, &rules)?;
    if role["aggregationRule"].is_null() {
        return Ok(());
    }
    // It can gather any right.
    confirm(call, policy, role, &PolicyRule::everything()).map_err(|_| {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        forbidden(call, role, why)
    })
}

fn check_binding(call: &Call<'_>, policy: &Policy, binding: &Value) -> Result<(), Status> {
    let role: RoleRef = serde_json::from_value(binding["roleRef"].clone()).unwrap_or_default();
    let plural = match role.kind.as_str() {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        // It does not pass validation.
        _ => return Ok(()),
    };
    if may(call, policy, "bind", plural, &role.name) {
        return Ok(());
    }
    let rules = policy.rules_of(&role, namespace(call)).map_err(|_| {
        Status::not_found(Named {
            resource: plural,
            group: authorization::GROUP,
            name: &role.name,
        })
    })?;
    confirm(call, policy, binding, rules)
}

fn confirm(
    call: &Call<'_>,
    policy: &Policy,
    object: &Value,
    rules: &[PolicyRule],
) -> Result<(), Status> {
    let user = &call.requester.user;
    let (held, errors) = policy.rules_for(user, namespace(call));
    let Some(mut why) = missing_rights(user, &held, rules) else {
        return Ok(());
    };
    if !errors.is_empty() {
        why = format!("{why}; resolution errors: [{}]", errors.join(" "));
    }
    Err(forbidden(call, object, &why))
}

fn forbidden(call: &Call<'_>, object: &Value, why: &str) -> Status {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let named = Named {
        resource: &call.resource.plural,
        group: &call.resource.group,
        name,
    };
    Status::forbidden(named, why, Vec::new())
}

fn may(call: &Call<'_>, policy: &Policy, verb: &str, plural: &str, name: &str) -> bool {
    let resource = ResourceAttributes {
        group: authorization::GROUP.to_owned(),
        resource: plural.to_owned(),
        namespace: namespace(call).to_owned(),
        name: name.to_owned(),
        ..ResourceAttributes::default()
    };
    let attributes = Attributes::resource(verb, resource);
    policy.decide(&call.requester.user, &attributes).is_allowed
}

fn namespace<'a>(call: &'a Call<'_>) -> &'a str {
    call.path.namespace.as_deref().unwrap_or_default()
}

/// Whether nothing has changed but what stands in the way of a deletion.
fn is_same(old: &Value, new: &Value) -> bool {
    let without = |object: &Value| {
        let mut object = object.clone();
        for field in [
            "ownerReferences",
            "finalizers",
            "managedFields",
            "resourceVersion",
        ] {
            remove(&mut object["metadata"], field);
        }
        object
    };
    without(old) == without(new)
}
