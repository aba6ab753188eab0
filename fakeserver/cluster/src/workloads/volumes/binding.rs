//! The decisions about claims and volumes: which belong together, and the phases that they are in.

use fakeserver_kinds::core::persistent_volume_claim::request::class_of;
use fakeserver_server::controllers::correlation;
use fakeserver_value::read::text;
use serde_json::Value;

use crate::workloads::volume_rules::{
    NO_PROVISIONER, VolumeOwner, capacity, delays_binding, has_access_modes, is_bound,
    is_large_enough, is_of_attributes, is_of_mode, mismatch, owner_of, selected_node,
};

/// The annotation of a volume that a provisioner has made.
pub(super) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// A volume that no claim is bound to, and whether the claim's selector selects it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) volume: &'a Value,
    pub(super) is_selected: bool,
}

/// The objects that a claim depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BindingContext<'a> {
    /// The volume that the claim names.
    pub(super) named: Option<&'a Value>,
    pub(super) free: &'a [Candidate<'a>],
    pub(super) class: Option<&'a Value>,
}

/// The reason and the message of an event about a claim or a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimEvent {
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) is_warning: bool,
}

/// The next step for a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClaimStep {
    Nothing,
    /// The claim has to wait.
    Wait(ClaimEvent),
    /// The claim is bound to this volume.
    Bind(String),
    /// A volume of its class is made.
    Provision,
    /// The volume of the claim is gone, or bound to another claim.
    Lose(ClaimEvent),
}

/// The next step for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VolumeStep {
    Nothing,
    /// The volume is available to any claim, or to the one that it names.
    Offer,
    /// The claim of the volume is bound to it.
    Confirm,
    /// The claim of the volume has another volume: this one is free again.
    Unbind,
    /// The claim of the volume is gone.
    Release,
    /// The storage of the volume is freed, and the volume deleted.
    Delete,
    /// The storage of the volume cannot be freed.
    Fail(ClaimEvent),
}

// === impl ClaimEvent ===

impl ClaimEvent {
    fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            is_warning: false,
        }
    }

    fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_warning: true,
            ..Self::new(reason, message)
        }
    }

    /// Returns it as an event that is counted.
    pub(super) fn as_event(&self) -> correlation::EventText<'_> {
        let Self {
            reason, message, ..
        } = self;
        if self.is_warning {
            correlation::EventText::warning(reason, message)
        } else {
            correlation::EventText::normal(reason, message)
        }
    }
}

/// Decides the next step for a claim.
pub(super) fn claim_step(claim: &Value, around: BindingContext<'_>) -> ClaimStep {
    let name = text(&claim["spec"]["volumeName"]);
    // Before the search: a claim that was bound gets no other volume, even if its own is gone.
    if is_bound(claim) {
        return bound_step(claim, name, around.named);
    }
    if name.is_empty() {
        return free_step(claim, around);
    }
    let Some(volume) = around.named else {
        return ClaimStep::Nothing;
    };
    match owner_of(volume, claim) {
        VolumeOwner::Unclaimed => match mismatch(volume, claim) {
            Some(why) => {
                let message = format!("Cannot bind to requested volume \"{name}\": {why}");
                ClaimStep::Wait(ClaimEvent::warning("VolumeMismatch", message))
            }
            None => ClaimStep::Bind(name.to_owned()),
        },
        VolumeOwner::Claim => ClaimStep::Bind(name.to_owned()),
        VolumeOwner::Another => {
            let message = format!("volume \"{name}\" already bound to a different claim.");
            ClaimStep::Wait(ClaimEvent::warning("FailedBinding", message))
        }
    }
}

/// Decides the next step for a claim that was bound.
fn bound_step(claim: &Value, name: &str, volume: Option<&Value>) -> ClaimStep {
    let lost = |reason, message| ClaimStep::Lose(ClaimEvent::warning(reason, message));
    if name.is_empty() {
        let message =
            "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
        return lost("ClaimLost", message);
    }
    match volume.map(|volume| owner_of(volume, claim)) {
        None => {
            let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
            lost("ClaimLost", message)
        }
        Some(VolumeOwner::Another) => {
            let message = "Two claims are bound to the same volume, this one is bound incorrectly";
            lost("ClaimMisbound", message)
        }
        Some(VolumeOwner::Claim | VolumeOwner::Unclaimed) => ClaimStep::Bind(name.to_owned()),
    }
}

/// Decides the next step for a claim without a volume.
fn free_step(claim: &Value, around: BindingContext<'_>) -> ClaimStep {
    let is_delayed = is_delayed(claim, around.class);
    if let Some(volume) = choose(claim, around.free, is_delayed) {
        return ClaimStep::Bind(text(&volume["metadata"]["name"]).to_owned());
    }
    if is_delayed {
        let message = "waiting for first consumer to be created before binding";
        return ClaimStep::Wait(ClaimEvent::new("WaitForFirstConsumer", message));
    }
    let wanted = class_of(claim);
    if wanted.is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        return ClaimStep::Wait(ClaimEvent::new("FailedBinding", message));
    }
    match around.class {
        None => {
            let message = format!("storageclass.storage.k8s.io \"{wanted}\" not found");
            ClaimStep::Wait(ClaimEvent::warning("ProvisioningFailed", message))
        }
        Some(class) if class["provisioner"] == NO_PROVISIONER => {
            let message = format!("no volume plugin matched name: {NO_PROVISIONER}");
            ClaimStep::Wait(ClaimEvent::warning("ProvisioningFailed", message))
        }
        Some(_) => ClaimStep::Provision,
    }
}

/// Returns whether a claim waits for a pod that uses it, and for the node that the pod gets.
fn is_delayed(claim: &Value, class: Option<&Value>) -> bool {
    class.is_some_and(delays_binding) && selected_node(claim).is_empty()
}

/// Chooses the volume for a claim: the one that names it, or the smallest that is large enough.
fn choose<'a>(claim: &Value, free: &[Candidate<'a>], is_delayed: bool) -> Option<&'a Value> {
    let fitting = free.iter().filter(|candidate| {
        let volume = candidate.volume;
        volume["metadata"]["deletionTimestamp"].is_null()
            && is_large_enough(volume, claim)
            && is_of_mode(volume, claim)
            && is_of_attributes(volume, claim)
    });
    let fitting: Vec<&Candidate<'_>> = fitting.collect();
    // Before the wait for a consumer: a volume that names the claim is kept for it.
    let own = fitting
        .iter()
        .find(|candidate| owner_of(candidate.volume, claim) == VolumeOwner::Claim);
    if let Some(own) = own {
        return Some(own.volume);
    }
    if is_delayed {
        return None;
    }
    let fitting = fitting.into_iter().filter(|candidate| {
        let volume = candidate.volume;
        candidate.is_selected
            && owner_of(volume, claim) == VolumeOwner::Unclaimed
            && volume["status"]["phase"] == "Available"
            && class_of(volume) == class_of(claim)
            && has_access_modes(volume, claim)
    });
    let smallest = fitting.min_by(|a, b| capacity(a.volume).cmp(&capacity(b.volume)));
    smallest.map(|candidate| candidate.volume)
}

/// Decides the next step for a volume. `claim` is the one of the name that the volume gives, if there is one.
pub(super) fn volume_step(volume: &Value, claim: Option<&Value>) -> VolumeStep {
    let owner = &volume["spec"]["claimRef"];
    if text(&owner["uid"]).is_empty() {
        return VolumeStep::Offer;
    }
    // By the uid: a claim that was made again under the name must not get the data of the one before it.
    let Some(claim) = claim.filter(|claim| claim["metadata"]["uid"] == owner["uid"]) else {
        return match text(&volume["status"]["phase"]) {
            "Released" => reclaim_step(volume),
            "Failed" => VolumeStep::Nothing,
            _ => VolumeStep::Release,
        };
    };
    let is_ours =
        |object: &Value, annotation| !object["metadata"]["annotations"][annotation].is_null();
    match text(&claim["spec"]["volumeName"]) {
        // The claim's own step binds it.
        "" => VolumeStep::Nothing,
        name if name == text(&volume["metadata"]["name"]) => VolumeStep::Confirm,
        _ if is_ours(volume, PROVISIONED_BY) && is_deleted_in_the_end(volume) => {
            match text(&volume["status"]["phase"]) {
                "Released" => VolumeStep::Delete,
                _ => VolumeStep::Release,
            }
        }
        _ => VolumeStep::Unbind,
    }
}

fn is_deleted_in_the_end(volume: &Value) -> bool {
    volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
}

/// Decides what becomes of a volume whose claim is gone.
fn reclaim_step(volume: &Value) -> VolumeStep {
    let is_provisioned = !volume["metadata"]["annotations"][PROVISIONED_BY].is_null();
    let has_driver = !volume["spec"]["csi"].is_null();
    match text(&volume["spec"]["persistentVolumeReclaimPolicy"]) {
        "Delete" if is_provisioned || has_driver => VolumeStep::Delete,
        "Delete" => {
            let name = text(&volume["metadata"]["name"]);
            let message = format!(
                "error getting deleter volume plugin for volume \"{name}\": no deletable volume plugin matched"
            );
            VolumeStep::Fail(ClaimEvent::warning("VolumeFailedDelete", message))
        }
        "Recycle" => {
            let message = "No recycler plugin found for the volume!";
            VolumeStep::Fail(ClaimEvent::warning("VolumeFailedRecycle", message))
        }
        _ => VolumeStep::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workloads::volume_rules::{BOUND, SELECTED_NODE};

    fn volume(name: &str, size: &str) -> Value {
        json!({
            "metadata": {"name": name},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "storageClassName": "", "persistentVolumeReclaimPolicy": "Retain"},
            "status": {"phase": "Available"},
        })
    }

    fn claim(size: &str) -> Value {
        json!({
            "metadata": {"name": "c", "namespace": "n", "uid": "u"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "",
                "resources": {"requests": {"storage": size}}},
        })
    }

    fn step(claim: &Value, volumes: &[&Value], class: Option<&Value>) -> ClaimStep {
        let free: Vec<Candidate<'_>> = volumes
            .iter()
            .map(|volume| Candidate {
                volume,
                is_selected: true,
            })
            .collect();
        let named = volumes
            .iter()
            .find(|volume| volume["metadata"]["name"] == claim["spec"]["volumeName"]);
        let around = BindingContext {
            named: named.copied(),
            free: &free,
            class,
        };
        claim_step(claim, around)
    }

    fn reason(step: ClaimStep) -> &'static str {
        match step {
            ClaimStep::Wait(event) | ClaimStep::Lose(event) => event.reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_claim_gets_the_smallest_volume_that_serves_it() {
        let (small, large, huge) = (volume("s", "1Gi"), volume("l", "5Gi"), volume("h", "50Gi"));
        let volumes = [&huge, &small, &large];
        assert_eq!(
            step(&claim("2Gi"), &volumes, None),
            ClaimStep::Bind("l".into())
        );
        assert_eq!(reason(step(&claim("1Ti"), &volumes, None)), "FailedBinding");
        let mut own = volume("own", "40Gi");
        own["spec"]["claimRef"] = json!({"name": "c", "namespace": "n"});
        own["spec"]["storageClassName"] = json!("another");
        let bound = step(&claim("2Gi"), &[&large, &own], None);
        assert_eq!(bound, ClaimStep::Bind("own".into()));
        for (field, value) in [
            ("volumeMode", json!("Block")),
            ("accessModes", json!(["ReadWriteMany"])),
            ("storageClassName", json!("fast")),
        ] {
            let mut other = claim("2Gi");
            other["spec"][field] = value;
            let step = step(&other, &[&large], None);
            assert!(matches!(step, ClaimStep::Wait(_)), "{field}: {step:?}");
        }
    }

    #[test]
    fn a_claim_of_a_class_gets_a_volume_of_its_own_when_it_may() {
        let mut wants = claim("2Gi");
        wants["spec"]["storageClassName"] = json!("fast");
        let mut class =
            json!({"provisioner": "example.com/disks", "volumeBindingMode": "Immediate"});
        assert_eq!(reason(step(&wants, &[], None)), "ProvisioningFailed");
        assert_eq!(step(&wants, &[], Some(&class)), ClaimStep::Provision);
        class["volumeBindingMode"] = json!("WaitForFirstConsumer");
        let mut free = volume("v", "9Gi");
        free["spec"]["storageClassName"] = json!("fast");
        assert_eq!(
            reason(step(&wants, &[&free], Some(&class))),
            "WaitForFirstConsumer"
        );
        wants["metadata"]["annotations"] = json!({SELECTED_NODE: "node-0"});
        assert_eq!(step(&wants, &[], Some(&class)), ClaimStep::Provision);
        class["provisioner"] = json!(NO_PROVISIONER);
        assert_eq!(
            reason(step(&wants, &[], Some(&class))),
            "ProvisioningFailed"
        );
    }

    #[test]
    fn a_claim_that_names_a_volume_gets_that_one_or_none() {
        let mut names = claim("2Gi");
        names["spec"]["volumeName"] = json!("v");
        let mut found = volume("v", "1Gi");
        assert_eq!(step(&names, &[], None), ClaimStep::Nothing);
        assert_eq!(reason(step(&names, &[&found], None)), "VolumeMismatch");
        found["spec"]["capacity"]["storage"] = json!("3Gi");
        assert_eq!(step(&names, &[&found], None), ClaimStep::Bind("v".into()));
        found["spec"]["claimRef"] = json!({"name": "other", "namespace": "n", "uid": "x"});
        assert_eq!(reason(step(&names, &[&found], None)), "FailedBinding");
        names["metadata"]["annotations"] = json!({BOUND: "yes"});
        assert_eq!(reason(step(&names, &[&found], None)), "ClaimMisbound");
        assert_eq!(reason(step(&names, &[], None)), "ClaimLost");
    }

    #[test]
    fn a_volume_follows_its_claim() {
        let mut volume = volume("v", "1Gi");
        assert_eq!(volume_step(&volume, None), VolumeStep::Offer);
        volume["spec"]["claimRef"] = json!({"name": "c", "namespace": "n", "uid": "u"});
        volume["status"]["phase"] = json!("Bound");
        let mut owner = claim("1Gi");
        assert_eq!(volume_step(&volume, Some(&owner)), VolumeStep::Nothing);
        owner["spec"]["volumeName"] = json!("v");
        assert_eq!(volume_step(&volume, Some(&owner)), VolumeStep::Confirm);
        owner["spec"]["volumeName"] = json!("w");
        assert_eq!(volume_step(&volume, Some(&owner)), VolumeStep::Unbind);
        assert_eq!(volume_step(&volume, None), VolumeStep::Release);
        volume["status"]["phase"] = json!("Released");
        assert_eq!(volume_step(&volume, None), VolumeStep::Nothing);
        volume["spec"]["persistentVolumeReclaimPolicy"] = json!("Delete");
        assert!(matches!(volume_step(&volume, None), VolumeStep::Fail(_)));
        volume["metadata"]["annotations"] = json!({PROVISIONED_BY: "example.com/disks"});
        assert_eq!(volume_step(&volume, None), VolumeStep::Delete);
    }
}
