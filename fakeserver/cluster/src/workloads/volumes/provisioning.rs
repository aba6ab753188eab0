//! Volumes as a provisioner makes them, and as a resizer lets them grow.

use fakeserver_kinds::formats::is_driver_name;
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::binding::PROVISIONED_BY;
use crate::workloads::volume_rules::is_large_enough;

/// The provisioner of the default class. CSI drivers may have this name.
pub(super) const STANDARD_PROVISIONER: &str = "volumes.fakeserver";
/// The folder of volumes whose provisioner is no CSI driver.
const FOLDER: &str = "/var/lib/fakeserver/volumes";

/// The annotations by which a claim names its provisioner.
const PROVISIONERS: [&str; 2] = [
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
];

/// Returns the name of the volume that is made for a claim.
pub(super) fn name_of(claim: &Value) -> String {
    format!("pvc-{}", text(&claim["metadata"]["uid"]))
}

/// Returns a reference to a claim, as its volume has it.
pub(super) fn reference(claim: &Value) -> Value {
    let metadata = &claim["metadata"];
    json!({
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    })
}

/// Returns the volume of a class that is made for a claim.
pub(super) fn provisioned(claim: &Value, class: &Value) -> Value {
    let name = name_of(claim);
    let (spec, provisioner) = (&claim["spec"], &class["provisioner"]);
    let mut volume = json!({
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": spec["accessModes"],
            "claimRef": reference(claim),
            "persistentVolumeReclaimPolicy": class["reclaimPolicy"],
            "storageClassName": class["metadata"]["name"],
        },
    });
    // Names with a slash are those of provisioners without a driver, which mostly make folders.
    if is_driver_name(text(provisioner)) {
        volume["spec"]["csi"] = json!({"driver": provisioner, "volumeHandle": name});
    } else {
        let path = format!("{FOLDER}/{name}");
        volume["spec"]["hostPath"] = json!({"path": path, "type": "DirectoryOrCreate"});
    }
    let optional = [
        ("volumeMode", &spec["volumeMode"]),
        (
            "volumeAttributesClassName",
            &spec["volumeAttributesClassName"],
        ),
        ("mountOptions", &class["mountOptions"]),
    ];
    for (field, value) in optional {
        if !value.is_null() {
            volume["spec"][field] = value.clone();
        }
    }
    volume
}

/// Says in a claim who is to make its volume.
pub(super) fn ask(claim: &mut Value, class: &Value) {
    for annotation in PROVISIONERS {
        claim["metadata"]["annotations"][annotation] = class["provisioner"].clone();
    }
}

/// Returns the size that a bound claim's volume is to get, if it is larger than the one it has.
pub(super) fn wanted_size<'a>(claim: &'a Value, volume: &Value) -> Option<&'a Value> {
    let wanted = &claim["spec"]["resources"]["requests"]["storage"];
    let given = &claim["status"]["capacity"]["storage"];
    // A volume may be larger than the request; a claim with a request above its capacity wants an expansion.
    let grows = !is_large_enough(volume, claim) && !given.is_null();
    grows.then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_follows_its_claim_and_class() {
        let claim = json!({
            "metadata": {"namespace": "n", "name": "c", "uid": "1-2"},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block",
                "resources": {"requests": {"storage": "3Gi"}}},
        });
        let class = json!({"metadata": {"name": "fast"}, "provisioner": "disks.example.com",
            "reclaimPolicy": "Retain", "mountOptions": ["ro"]});
        let volume = provisioned(&claim, &class);
        assert_eq!(volume["metadata"]["name"], "pvc-1-2");
        assert_eq!(volume["spec"]["capacity"], json!({"storage": "3Gi"}));
        assert_eq!(volume["spec"]["claimRef"]["uid"], "1-2");
        assert_eq!(volume["spec"]["csi"]["driver"], "disks.example.com");
        assert_eq!(volume["spec"]["persistentVolumeReclaimPolicy"], "Retain");
        assert_eq!(volume["spec"]["volumeMode"], "Block");
        assert_eq!(volume["spec"]["mountOptions"], json!(["ro"]));
    }

    #[test]
    fn a_provisioner_that_can_be_no_driver_makes_folders() {
        assert!(is_driver_name(STANDARD_PROVISIONER));
        let claim = json!({"metadata": {"namespace": "n", "name": "c", "uid": "1-2"}});
        let class = json!({"metadata": {"name": "local"}, "provisioner": "rancher.io/local-path"});
        let volume = provisioned(&claim, &class);
        let path = "/var/lib/fakeserver/volumes/pvc-1-2";
        let folder = json!({"path": path, "type": "DirectoryOrCreate"});
        assert_eq!(volume["spec"]["hostPath"], folder);
        assert_eq!(volume["spec"]["csi"], Value::Null);
    }

    #[test]
    fn a_volume_grows_when_its_claim_wants_more() {
        let volume = json!({"spec": {"capacity": {"storage": "2Gi"}}});
        let claim = |wanted: &str| {
            json!({"spec": {"resources": {"requests": {"storage": wanted}}},
                "status": {"capacity": {"storage": "2Gi"}}})
        };
        assert_eq!(wanted_size(&claim("1Gi"), &volume), None);
        assert_eq!(wanted_size(&claim("2048Mi"), &volume), None);
        assert_eq!(wanted_size(&claim("3Gi"), &volume), Some(&json!("3Gi")));
    }
}
