//! The checks that the level `restricted` adds: hardened pods only.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    super::items,
    baseline::{is_seccomp_profile, proc_mount, seccomp_profile},
    evaluation::{Check, Violation, named, quoted, setters, uses},
    shape::{PodShape, name},
};

/// All checks, in the order of violations in messages.
pub(super) const CHECKS: &[Check] = &[
    check(&[(8, privilege_escalation), (25, privilege_escalation_1_25)]),
    check(&[(22, capabilities), (25, capabilities_1_25)]),
    check(&[(35, proc_mount)]),
    check(&[(0, volumes)]),
    check(&[(0, run_as_non_root), (35, run_as_non_root_1_35)]),
    check(&[(23, run_as_user), (35, run_as_user_1_35)]),
    check(&[(19, seccomp), (25, seccomp_1_25)]),
];

/// The types of volumes that are allowed.
const ALLOWED_VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];
/// The types of volumes that are not allowed.
const FORBIDDEN_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

const fn check(versions: &'static [(u64, super::evaluation::CheckFn)]) -> Check {
    Check {
        versions,
        replaced_since: None,
    }
}

fn privilege_escalation(pod: &PodShape<'_>) -> Option<Violation> {
    let containers = pod.containers_with(|context| context["allowPrivilegeEscalation"] != false);
    (!containers.is_empty()).then(|| Violation {
        reason: "allowPrivilegeEscalation != false",
        detail: format!(
            "{} must set securityContext.allowPrivilegeEscalation=false",
            named("container", &containers)
        ),
    })
}

fn privilege_escalation_1_25(pod: &PodShape<'_>) -> Option<Violation> {
    unless(pod.is_for_windows(), pod, privilege_escalation)
}

fn capabilities(pod: &PodShape<'_>) -> Option<Violation> {
    let keeping = pod.containers_with(|context| {
        let mut dropped = items(&context["capabilities"]["drop"]);
        !dropped.any(|capability| capability == "ALL")
    });
    let mut added = BTreeSet::new();
    let adding = pod.containers_with(|context| {
        let others: Vec<&str> = items(&context["capabilities"]["add"])
            .filter_map(Value::as_str)
            .filter(|capability| *capability != "NET_BIND_SERVICE")
            .collect();
        added.extend(others.iter().copied());
        !others.is_empty()
    });
    let added: Vec<&str> = added.into_iter().collect();
    let keeping = (!keeping.is_empty()).then(|| {
        let containers = named("container", &keeping);
        format!("{containers} must set securityContext.capabilities.drop=[\"ALL\"]")
    });
    let adding = (!adding.is_empty()).then(|| {
        format!(
            "{} must not include {} in securityContext.capabilities.add",
            named("container", &adding),
            quoted(&added)
        )
    });
    let details: Vec<String> = keeping.into_iter().chain(adding).collect();
    (!details.is_empty()).then(|| Violation {
        reason: "unrestricted capabilities",
        detail: details.join("; "),
    })
}

fn capabilities_1_25(pod: &PodShape<'_>) -> Option<Violation> {
    unless(pod.is_for_windows(), pod, capabilities)
}

fn volumes(pod: &PodShape<'_>) -> Option<Violation> {
    let has_one = |volume: &Value, types: &[&'static str]| {
        let mut types = types.iter().copied();
        types.find(|field| !volume[field].is_null())
    };
    let volumes = pod.volumes();
    let bad: Vec<&Value> = volumes
        .filter(|volume| has_one(volume, &ALLOWED_VOLUMES).is_none())
        .collect();
    let types: BTreeSet<&str> = bad
        .iter()
        .map(|volume| has_one(volume, &FORBIDDEN_VOLUMES).unwrap_or("unknown"))
        .collect();
    let names: Vec<&str> = bad.iter().map(|volume| name(volume)).collect();
    let types: Vec<&str> = types.into_iter().collect();
    (!names.is_empty()).then(|| Violation {
        reason: "restricted volume types",
        detail: format!(
            "{} {} {}",
            named("volume", &names),
            uses(names.len()),
            named("restricted volume type", &types)
        ),
    })
}

fn run_as_non_root(pod: &PodShape<'_>) -> Option<Violation> {
    let of_pod = &pod.context()["runAsNonRoot"];
    let bad = pod.containers_with(|context| context["runAsNonRoot"] == false);
    let detail = if let Some(setters) = setters(*of_pod == false, &bad) {
        format!("{setters} must not set securityContext.runAsNonRoot=false")
    } else {
        let silent = pod.containers_with(|context| context["runAsNonRoot"].is_null());
        if *of_pod == true || silent.is_empty() {
            return None;
        }
        let containers = named("container", &silent);
        format!("pod or {containers} must set securityContext.runAsNonRoot=true")
    };
    Some(Violation {
        reason: "runAsNonRoot != true",
        detail,
    })
}

fn run_as_non_root_1_35(pod: &PodShape<'_>) -> Option<Violation> {
    unless(pod.has_own_users(), pod, run_as_non_root)
}

fn run_as_user(pod: &PodShape<'_>) -> Option<Violation> {
    let is_root = |context: &Value| context["runAsUser"] == 0;
    let setters = setters(is_root(pod.context()), &pod.containers_with(is_root))?;
    Some(Violation {
        reason: "runAsUser=0",
        detail: format!("{setters} must not set runAsUser=0"),
    })
}

fn run_as_user_1_35(pod: &PodShape<'_>) -> Option<Violation> {
    unless(pod.has_own_users(), pod, run_as_user)
}

fn seccomp(pod: &PodShape<'_>) -> Option<Violation> {
    if let Some(violation) = seccomp_profile(pod) {
        return Some(violation);
    }
    let silent = pod.containers_with(|context| context["seccompProfile"].is_null());
    if is_seccomp_profile(&pod.context()["seccompProfile"]) || silent.is_empty() {
        return None;
    }
    Some(Violation {
        reason: "seccompProfile",
        detail: format!(
            "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"",
            named("container", &silent)
        ),
    })
}

fn seccomp_1_25(pod: &PodShape<'_>) -> Option<Violation> {
    unless(pod.is_for_windows(), pod, seccomp)
}

fn unless(
    is_exempt: bool,
    pod: &PodShape<'_>,
    find: super::evaluation::CheckFn,
) -> Option<Violation> {
    if is_exempt { None } else { find(pod) }
}
