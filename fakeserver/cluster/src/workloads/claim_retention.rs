//! The claims of a stateful set that go with it, or with its pods, by owners that the garbage collector knows.
//!
//! The rules are those of `persistentVolumeClaimRetentionPolicy`: a claim that is to go with the set has the set as its owner,
//! and one that is to go when the set is scaled down has the pod that is about to go.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use fakeserver_kinds::core;
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster},
        meta::release,
    },
    store::ObjectKey,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

/// The owner of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Unowned,
    Set,
    Pod,
}

/// Gives the claims of pods the owners with which they are to go. `wanted` are the numbers of the pods that stay.
pub(super) fn own_claims(
    cluster: &mut Cluster<'_, '_>,
    set: &Value,
    pods: &BTreeMap<i64, Arc<Pod>>,
    wanted: &Range<i64>,
) {
    let set_uid = text(&set["metadata"]["uid"]);
    let policy = &set["spec"]["persistentVolumeClaimRetentionPolicy"];
    let claims = core::persistent_volume_claim::KIND.storage();
    // A set whose policy has changed back gives up the claims that it owned.
    let mut owned = cluster.index.dependents(set_uid);
    let has_owned = owned.any(|(key, _)| key.resource() == claims);
    if !["whenDeleted", "whenScaled"]
        .iter()
        .any(|when| policy[*when] == "Delete")
        && !has_owned
    {
        return;
    }
    let namespace = set["metadata"]["namespace"].as_str();
    let name = text(&set["metadata"]["name"]);
    let templates = set["spec"]["volumeClaimTemplates"].as_array();
    for template in templates.into_iter().flatten() {
        let volume = text(&template["metadata"]["name"]);
        for (number, pod) in pods {
            let claim = format!("{volume}-{name}-{number}");
            let key = ObjectKey::new(claims.clone(), namespace, &claim);
            let reference = match owner(policy, wanted.contains(number)) {
                Owner::Unowned => None,
                Owner::Set => Some(reference("apps/v1", "StatefulSet", name, set_uid)),
                Owner::Pod => Some(reference("v1", "Pod", pod.name(), pod.stored.uid())),
            };
            let uids = [set_uid, pod.stored.uid()];
            cluster.update(&key, Actor::CONTROLLER_MANAGER, |claim| {
                set_owner(claim, &uids, reference);
            });
        }
    }
}

/// Returns the owner with which the claim of a pod is deleted. `stays` is true for pods that are not being scaled away.
fn owner(policy: &Value, stays: bool) -> Owner {
    let deletes = |when: &str| policy[when] == "Delete";
    if !stays && deletes("whenScaled") {
        Owner::Pod
    } else if deletes("whenDeleted") {
        Owner::Set
    } else {
        Owner::Unowned
    }
}

fn reference(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid})
}

/// Replaces the owners of these uids by one, or by none. A claim with the right owners stays unchanged.
fn set_owner(claim: &mut Value, uids: &[&str], reference: Option<Value>) {
    let owners = claim["metadata"]["ownerReferences"].as_array();
    let ours = owners.into_iter().flatten();
    let ours: Vec<&Value> = ours
        .filter(|owner| uids.iter().any(|uid| owner["uid"] == *uid))
        .collect();
    let is_right = match &reference {
        Some(wanted) => ours.len() == 1 && ours[0]["uid"] == wanted["uid"],
        None => ours.is_empty(),
    };
    if is_right {
        return;
    }
    release(claim, uids);
    if let Some(reference) = reference {
        match claim["metadata"]["ownerReferences"].as_array_mut() {
            Some(owners) => owners.push(reference),
            None => claim["metadata"]["ownerReferences"] = json!([reference]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_decides_the_owner_of_a_claim() {
        let policy =
            |deleted: &str, scaled: &str| json!({"whenDeleted": deleted, "whenScaled": scaled});
        for (deleted, scaled, stays, expected) in [
            ("Retain", "Retain", false, Owner::Unowned),
            ("Delete", "Retain", true, Owner::Set),
            ("Delete", "Retain", false, Owner::Set),
            ("Retain", "Delete", true, Owner::Unowned),
            ("Retain", "Delete", false, Owner::Pod),
            ("Delete", "Delete", true, Owner::Set),
            ("Delete", "Delete", false, Owner::Pod),
        ] {
            assert_eq!(
                owner(&policy(deleted, scaled), stays),
                expected,
                "{deleted} {scaled}"
            );
        }
        assert_eq!(owner(&Value::Null, false), Owner::Unowned);
    }

    #[test]
    fn one_owner_takes_the_place_of_the_other() {
        let mut claim = json!({"metadata": {"ownerReferences": [{"uid": "x"}, {"uid": "set"}]}});
        let pod = reference("v1", "Pod", "p", "pod");
        set_owner(&mut claim, &["set", "pod"], Some(pod.clone()));
        assert_eq!(
            claim["metadata"]["ownerReferences"],
            json!([{"uid": "x"}, pod])
        );
        set_owner(&mut claim, &["set", "pod"], None);
        assert_eq!(claim["metadata"]["ownerReferences"], json!([{"uid": "x"}]));
    }
}
