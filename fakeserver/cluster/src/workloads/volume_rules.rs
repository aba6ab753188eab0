//! Rules of claims and volumes that the scheduler and the controller of volumes share: which belong together, and when.
//!
//! Upstream: `k8s.io/component-helpers/storage/volume`.

use fakeserver_kinds::{
    core::persistent_volume_claim::request::{class_of, size_of},
    formats::quantity,
};
use fakeserver_value::{read::text, schema::Quantity};
use serde_json::Value;

/// The annotation of a claim that is bound completely.
pub(super) const BOUND: &str = "pv.kubernetes.io/bind-completed";
/// The annotation of claims and volumes that a controller, rather than a user, has bound.
pub(super) const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The annotation of a claim by which a scheduler names the node of its first pod.
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// The provisioner of classes whose volumes users make.
pub(super) const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The claim that a volume is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VolumeOwner {
    Unclaimed,
    /// The claim that was asked about.
    Claim,
    Another,
}

/// Returns whether a claim is bound completely. Its volume may be gone since.
pub(super) fn is_bound(claim: &Value) -> bool {
    !claim["metadata"]["annotations"][BOUND].is_null()
}

/// Returns whether claims of a class wait for a pod that uses them.
pub(super) fn delays_binding(class: &Value) -> bool {
    class["volumeBindingMode"] == "WaitForFirstConsumer"
}

/// Returns the node of a claim's first pod; empty while none was selected.
pub(super) fn selected_node(claim: &Value) -> &str {
    text(&claim["metadata"]["annotations"][SELECTED_NODE])
}

/// Returns the size of a volume; zero if it does not say.
pub(super) fn capacity(volume: &Value) -> Quantity {
    quantity(&volume["spec"]["capacity"]["storage"])
}

/// Returns whether a volume has the size that a claim asks for.
pub(super) fn is_large_enough(volume: &Value, claim: &Value) -> bool {
    capacity(volume) >= size_of(claim)
}

/// Returns whether a volume has the mode that a claim asks for, file system or block.
pub(super) fn is_of_mode(volume: &Value, claim: &Value) -> bool {
    mode_of(volume) == mode_of(claim)
}

/// Returns whether a volume has the class of attributes that a claim asks for.
pub(super) fn is_of_attributes(volume: &Value, claim: &Value) -> bool {
    let field = "volumeAttributesClassName";
    text(&volume["spec"][field]) == text(&claim["spec"][field])
}

/// Returns whether a volume offers all the access modes that a claim asks for.
pub(super) fn has_access_modes(volume: &Value, claim: &Value) -> bool {
    access_modes(claim).all(|wanted| access_modes(volume).any(|offered| offered == wanted))
}

/// Returns the access modes of a claim or a volume.
pub(super) fn access_modes(object: &Value) -> impl Iterator<Item = &Value> {
    let modes = object["spec"]["accessModes"].as_array();
    modes.into_iter().flatten()
}

/// Returns why a volume does not serve a claim, in the words of an event; `None` if it does.
pub(super) fn mismatch(volume: &Value, claim: &Value) -> Option<&'static str> {
    if !is_large_enough(volume, claim) {
        Some("requested PV is too small")
    } else if class_of(volume) != class_of(claim) {
        Some("storageClassName does not match")
    } else if !is_of_attributes(volume, claim) {
        Some("volumeAttributesClassName does not match")
    } else if !is_of_mode(volume, claim) {
        Some("incompatible volumeMode")
    } else if !has_access_modes(volume, claim) {
        Some("incompatible accessMode")
    } else {
        None
    }
}

/// Returns whom a volume is for, as `claim` sees it. A volume may name its claim without a uid, or that of an older one of
/// the same name.
#[doc(alias = "IsVolumeBoundToClaim")]
pub(super) fn owner_of(volume: &Value, claim: &Value) -> VolumeOwner {
    let owner = &volume["spec"]["claimRef"];
    if owner.is_null() {
        return VolumeOwner::Unclaimed;
    }
    let metadata = &claim["metadata"];
    let is_named = owner["name"] == metadata["name"] && owner["namespace"] == metadata["namespace"];
    let uid = text(&owner["uid"]);
    if is_named && (uid.is_empty() || uid == text(&metadata["uid"])) {
        VolumeOwner::Claim
    } else {
        VolumeOwner::Another
    }
}

fn mode_of(object: &Value) -> &str {
    match text(&object["spec"]["volumeMode"]) {
        "" => "Filesystem",
        mode => mode,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_volume_serves_a_claim_that_asks_for_no_more_than_it_has() {
        let volume = json!({"spec": {
            "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
            "storageClassName": "fast", "volumeAttributesClassName": "gold",
        }});
        let claim = json!({"spec": {
            "resources": {"requests": {"storage": "2048Mi"}}, "accessModes": ["ReadOnlyMany"],
            "storageClassName": "fast", "volumeAttributesClassName": "gold",
            "volumeMode": "Filesystem",
        }});
        assert_eq!(mismatch(&volume, &claim), None);
        for (field, value, why) in [
            (
                "resources",
                json!({"requests": {"storage": "3Gi"}}),
                "requested PV is too small",
            ),
            (
                "storageClassName",
                json!("slow"),
                "storageClassName does not match",
            ),
            (
                "volumeAttributesClassName",
                Value::Null,
                "volumeAttributesClassName does not match",
            ),
            ("volumeMode", json!("Block"), "incompatible volumeMode"),
            (
                "accessModes",
                json!(["ReadOnlyMany", "ReadWriteMany"]),
                "incompatible accessMode",
            ),
        ] {
            let mut other = claim.clone();
            other["spec"][field] = value;
            assert_eq!(mismatch(&volume, &other), Some(why), "{field}");
        }
    }

    #[test]
    fn a_volume_is_for_the_claim_that_it_names_with_its_uid_if_it_has_one() {
        let claim = json!({"metadata": {"namespace": "n", "name": "c", "uid": "u"}});
        let mut volume = json!({"spec": {}});
        assert_eq!(owner_of(&volume, &claim), VolumeOwner::Unclaimed);
        for (name, uid, expected) in [
            ("c", "", VolumeOwner::Claim),
            ("c", "u", VolumeOwner::Claim),
            ("c", "older", VolumeOwner::Another),
            ("d", "u", VolumeOwner::Another),
        ] {
            volume["spec"]["claimRef"] = json!({"namespace": "n", "name": name, "uid": uid});
            assert_eq!(owner_of(&volume, &claim), expected, "{name} {uid}");
        }
    }
}
