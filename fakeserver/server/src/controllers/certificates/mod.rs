//! Certificate signing requests: those of kubelets are approved, approved ones are signed, old ones are deleted.
//!
//! A real server deletes old requests once an hour; here each goes when its time has come.

mod decision;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_kinds::{
    certificates::{
        authority::{Authority, Terms},
        certificate_signing_request::{KIND, settle_conditions},
        request::CertificateRequest,
    },
    rbac::{
        self,
        policy::{Access, Attributes, Policy, ResourceAttributes},
    },
};
use fakeserver_value::user::UserInfo;
use serde_json::{Value, json};
use tracing::{debug, error};

use self::decision::{Decision, Right, Step, decide};
use super::{
    EnabledControllers,
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::{store::ObjectKey, write::deletion::DeletionParameters};

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The time after which the rights of a kubelet are looked at again. It doubles with each denial, up to the maximum.
const AFTER_DENIAL: Duration = Duration::from_millis(200);
const AFTER_DENIAL_MAX: Duration = Duration::from_secs(1_000);

/// The controller of certificate signing requests.
struct Certificates {
    /// Created when something is signed first, if none was given.
    authority: Option<Authority>,
    has_rules: bool,
    /// The number of denials of each request that waits for a right.
    denials: BTreeMap<ObjectKey, u32>,
}

/// Returns the controller.
#[expect(
    clippy::unnecessary_wraps,
    reason = "there is none without the feature `tls`"
)]
pub(super) fn controller(options: &EnabledControllers) -> Option<Box<dyn Controller>> {
    Some(Box::new(Certificates {
        authority: options.authority.clone(),
        has_rules: options.has_rules,
        denials: BTreeMap::new(),
    }))
}

// === impl Certificates ===

impl Certificates {
    /// Signs a request, and returns the certificate in PEM. A request whose signature does not match its key is never
    /// signed.
    fn sign(
        &mut self,
        cluster: &Cluster<'_, '_>,
        key: &ObjectKey,
        request: &CertificateRequest,
        terms: &Terms,
    ) -> Option<String> {
        if self.authority.is_none() {
            match Authority::new() {
                Ok(authority) => self.authority = Some(authority),
                Err(error) => error!(%error, "no authority to sign certificates"),
            }
        }
        let serial = cluster.backend.entropy.uid().as_u128();
        match self.authority.as_ref()?.sign(request, terms, serial) {
            Ok(certificate) => Some(certificate),
            Err(error) => {
                debug!(key = %key, error, "a certificate cannot be signed");
                None
            }
        }
    }

    /// Returns the retry delay of a request whose requester lacks a permission.
    fn pause(&mut self, key: &ObjectKey) -> Duration {
        let denials = self.denials.entry(key.clone()).or_default();
        let factor = 2_u32.saturating_pow(*denials);
        *denials += 1;
        AFTER_DENIAL.saturating_mul(factor).min(AFTER_DENIAL_MAX)
    }
}

impl Controller for Certificates {
    fn name(&self) -> &'static str {
        "certificates"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        if !change.is_of(&KIND) {
            return;
        }
        if change.after.is_some() {
            due.add(change.key().clone(), Duration::ZERO);
        } else {
            self.denials.remove(change.key());
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let object = stored.to_value();
        let (now, has_rules) = (cluster.now(), self.has_rules);
        let may = |right: Right| may(&access(cluster, has_rules), &object["spec"], right);
        let Decision { step, again } = decide(&object, now, may);
        if let Some(again) = again {
            due.add(key.clone(), again);
        }
        match step {
            Step::Nothing => {}
            Step::Postpone => due.add(key.clone(), self.pause(key)),
            Step::Delete => {
                cluster.delete(key, DeletionParameters::default());
            }
            Step::Approve(message) => {
                let (ty, reason) = ("Approved", "AutoApproved");
                add_condition(cluster, key, "approval", [ty, reason, message]);
            }
            Step::Fail(message) => {
                let (ty, reason) = ("Failed", "SignerValidationFailure");
                add_condition(cluster, key, "status", [ty, reason, &message]);
            }
            Step::Sign(request, terms) => {
                if let Some(certificate) = self.sign(cluster, key, &request, &terms) {
                    let certificate = STANDARD.encode(certificate);
                    cluster.update(key, ACTOR.of_status(), |object| {
                        object["status"]["certificate"] = json!(certificate);
                    });
                }
            }
        }
    }
}

/// Adds a condition through a subresource.
fn add_condition(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    subresource: &'static str,
    [ty, reason, message]: [&str; 3],
) {
    let actor = Actor {
        subresource,
        ..ACTOR
    };
    let now = cluster.now_text();
    let condition = json!({"type": ty, "status": "True", "reason": reason, "message": message});
    cluster.update(key, actor, |object| {
        let old = object.clone();
        match &mut object["status"]["conditions"] {
            Value::Array(conditions) => conditions.push(condition),
            conditions => *conditions = json!([condition]),
        }
        settle_conditions(subresource, &now, &old, object);
    });
}

/// Returns the rules of the moment.
fn access(cluster: &Cluster<'_, '_>, has_rules: bool) -> Access {
    if !has_rules {
        return Access::All;
    }
    let kinds = [
        &rbac::cluster_role::KIND,
        &rbac::cluster_role_binding::KIND,
        &rbac::role::KIND,
        &rbac::role_binding::KIND,
    ];
    let objects = kinds.into_iter().flat_map(|kind| {
        let objects = cluster.tx.list(kind.storage(), None).into_iter();
        objects.map(move |object| (kind, object.to_value()))
    });
    Access::Rules(Arc::new(Policy::new(objects)))
}

/// Decides whether the requester of a certificate has the right to it.
fn may(access: &Access, spec: &Value, right: Right) -> bool {
    let groups = spec["groups"].as_array().into_iter().flatten();
    let user = UserInfo::new(spec["username"].as_str().unwrap_or_default())
        .with_uid(spec["uid"].as_str().unwrap_or_default())
        .with_groups(groups.filter_map(Value::as_str));
    let resource = ResourceAttributes {
        group: "certificates.k8s.io".to_owned(),
        version: "*".to_owned(),
        resource: "certificatesigningrequests".to_owned(),
        subresource: right.subresource().to_owned(),
        ..ResourceAttributes::default()
    };
    let attributes = Attributes::resource("create", resource);
    access.decide(&user, &attributes).is_allowed
}
