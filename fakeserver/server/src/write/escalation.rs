//! RBAC privilege-escalation check: a user who writes roles and bindings grants no more rights than the user has.
//!
//! Upstream checks this in the storage of these kinds, after mutating admission and before the kind's own validation.

use fakeserver_kinds::rbac::policy::{
    Access, Attributes, GROUP, Policy, PolicyRule, ResourceAttributes, RoleRef, missing_rights,
};
use fakeserver_value::{
    edit::remove,
    status::{NamedObject, Status},
};
use serde_json::Value;

use super::{Author, Write};

/// The check of one write.
struct Check<'a> {
    write: &'a Write<'a>,
    author: Author<'a>,
    policy: &'a Policy,
    namespace: &'a str,
}

/// Refuses a role or binding that gives rights that its author lacks.
pub(super) fn check(write: &Write<'_>) -> Result<(), Status> {
    let (target, author) = (write.target, write.author);
    if &*target.resource.group != GROUP || author.user.is_master() {
        return Ok(());
    }
    let Access::Rules(policy) = author.access else {
        return Ok(());
    };
    // The garbage collector may remove owners and finalizers without having the rights.
    if is_same(&write.old, &write.new) {
        return Ok(());
    }
    let check = Check {
        write,
        author,
        policy,
        namespace: target.path.namespace.as_deref().unwrap_or_default(),
    };
    match &*target.resource.plural {
        "roles" | "clusterroles" => check.role(&write.new),
        _ => check.binding(&write.new),
    }
}

// === impl Check ===

impl Check<'_> {
    fn role(&self, role: &Value) -> Result<(), Status> {
        let target = self.write.target;
        if self.may("escalate", &target.resource.plural, target.name()) {
            return Ok(());
        }
        let rules: Vec<PolicyRule> =
            serde_json::from_value(role["rules"].clone()).unwrap_or_default();
        self.confirm(&rules)?;
        if role["aggregationRule"].is_null() {
            return Ok(());
        }
        // An aggregated role can gather any right.
        self.confirm(&PolicyRule::everything()).map_err(|_| {
            self.forbidden("must have cluster-admin privileges to use the aggregationRule")
        })
    }

    fn binding(&self, binding: &Value) -> Result<(), Status> {
        let role: RoleRef = serde_json::from_value(binding["roleRef"].clone()).unwrap_or_default();
        let plural = match role.kind.as_str() {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            // The binding fails validation later.
            _ => return Ok(()),
        };
        if self.may("bind", plural, &role.name) {
            return Ok(());
        }
        let rules = self.policy.rules_of(&role, self.namespace).map_err(|_| {
            Status::not_found(NamedObject {
                resource: plural,
                group: GROUP,
                name: &role.name,
            })
        })?;
        self.confirm(rules)
    }

    /// Refuses rules of which the author lacks some.
    fn confirm(&self, rules: &[PolicyRule]) -> Result<(), Status> {
        let user = self.author.user;
        let (held, errors) = self.policy.rules_for(user, self.namespace);
        let Some(mut why) = missing_rights(user, &held, rules) else {
            return Ok(());
        };
        if !errors.is_empty() {
            why = format!("{why}; resolution errors: [{}]", errors.join(" "));
        }
        Err(self.forbidden(&why))
    }

    fn forbidden(&self, why: &str) -> Status {
        let named = self.write.target.named(self.write.new_name());
        Status::forbidden(named, why, Vec::new())
    }

    fn may(&self, verb: &str, plural: &str, name: &str) -> bool {
        let resource = ResourceAttributes {
            group: GROUP.to_owned(),
            resource: plural.to_owned(),
            namespace: self.namespace.to_owned(),
            name: name.to_owned(),
            ..ResourceAttributes::default()
        };
        let attributes = Attributes::resource(verb, resource);
        self.policy.decide(self.author.user, &attributes).is_allowed
    }
}

/// Returns whether two objects differ only in fields that the garbage collector writes.
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
    !old.is_null() && without(old) == without(new)
}
