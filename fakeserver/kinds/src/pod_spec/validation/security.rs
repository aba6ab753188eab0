//! Validation of security contexts.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings, status::FieldError};
use serde_json::Value;

use crate::pod_spec::validation::containers::Pod;

/// The finding about a privileged container.
const PRIVILEGED: &str = "disallowed by cluster policy";

const ID_RANGE: &str = "must be between 0 and 2147483647, inclusive";

const PROFILE_TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

const PROFILE_MAX_BYTES: usize = 4_095;

const SYSCTL_MAX_BYTES: usize = 253;

/// The fields that only Linux has, at a pod and at its containers.
const LINUX_OF_PODS: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

const LINUX_OF_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

pub fn check_pod_context(spec: &Field<'_>, found: &mut Findings) {
    let context = spec.at("securityContext");
    if !context.is_set() {
        return;
    }
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        check_id(&context.at(name), found);
    }
    for group in context.at("supplementalGroups").items() {
        check_id(&group, found);
    }
    let shared = spec.at("shareProcessNamespace");
    if shared.is_true() && spec.at("hostPID").is_true() {
        found.invalid(
            &shared.called_within(&context, "shareProcessNamespace"),
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
    check_sysctls(spec, &context.at("sysctls"), found);
    found.optional_one_of(
        &context.at("fsGroupChangePolicy"),
        &["Always", "OnRootMismatch"],
    );
    check_seccomp(&context.at("seccompProfile"), found);
    check_app_armor(&context.at("appArmorProfile"), found);
    found.optional_one_of(
        &context.at("supplementalGroupsPolicy"),
        &["Merge", "Strict"],
    );
    found.optional_one_of(&context.at("seLinuxChangePolicy"), &["Recursive"]);
}

fn check_id(id: &Field<'_>, found: &mut Findings) {
    if id.is_set() && !(0..=i64::from(i32::MAX)).contains(&id.number()) {
        found.invalid(id, ID_RANGE);
    }
}

fn check_sysctls(spec: &Field<'_>, sysctls: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for sysctl in sysctls.items() {
        let name = sysctl.at("name");
        if !name.has_text() {
            found.required(&name, "");
        } else if !is_sysctl(name.text()) {
            let segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
            found.invalid(
                &name,
                &format!(
                    "must have at most {SYSCTL_MAX_BYTES} characters and match regex ^({segment}[\\./])*{segment}$"
                ),
            );
        } else if !names.insert(name.text()) {
            found.duplicate(&name);
        }
        let is_of = |prefixes: &[&str]| {
            let dotted = name.text().replace('/', ".");
            prefixes.iter().any(|prefix| dotted.starts_with(prefix))
        };
        if spec.at("hostNetwork").is_true() && is_of(&["net."]) {
            found.invalid(&name, "may not be specified when 'hostNetwork' is true");
        } else if spec.at("hostIPC").is_true()
            && is_of(&["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."])
        {
            found.invalid(&name, "may not be specified when 'hostIPC' is true");
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        bytes.first().is_some_and(is_end)
            && bytes.last().is_some_and(is_end)
            && bytes
                .iter()
                .all(|byte| is_end(byte) || b"-_".contains(byte))
    };
    name.len() <= SYSCTL_MAX_BYTES && name.split(['.', '/']).all(is_segment)
}

/// Returns whether a finding is about a privileged container, which a server may allow.
pub fn is_about_privileges(error: &FieldError) -> bool {
    error.field.ends_with(".securityContext.privileged") && error.detail.ends_with(PRIVILEGED)
}

/// Checks a container's security context.
pub fn check_context(pod: &Pod<'_>, context: &Field<'_>, found: &mut Findings) {
    if !context.is_set() {
        return;
    }
    if context.at("privileged").is_true() {
        found.forbidden(&context.at("privileged"), PRIVILEGED);
    }
    check_id(&context.at("runAsUser"), found);
    check_id(&context.at("runAsGroup"), found);
    let mount = context.at("procMount");
    found.optional_one_of(&mount, &["Default", "Unmasked"]);
    if mount.text() == "Unmasked" && pod.has_host_users() {
        found.invalid(&mount, "`hostUsers` must be false to use `Unmasked`");
    }
    check_seccomp(&context.at("seccompProfile"), found);
    let definition = "io.k8s.api.core.v1.SecurityContext";
    if context.at("allowPrivilegeEscalation").value() == &Value::Bool(false) {
        if context.at("privileged").is_true() {
            found.invalid_struct(
                context,
                definition,
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            );
        }
        let added = context.at("capabilities").at("add");
        if added
            .items()
            .any(|capability| capability.text() == "CAP_SYS_ADMIN")
        {
            found.invalid_struct(
                context,
                definition,
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
            );
        }
    }
    check_app_armor(&context.at("appArmorProfile"), found);
}

fn check_seccomp(profile: &Field<'_>, found: &mut Findings) {
    if !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.at("type"), profile.at("localhostProfile"));
    if !kind.has_text() {
        found.required(&kind, "type is required when seccompProfile is set");
    } else if !PROFILE_TYPES.contains(&kind.text()) {
        found.not_supported(&kind, &PROFILE_TYPES);
    }
    match (kind.text() == "Localhost", local.is_set()) {
        (true, false) => found.required(&local, "must be set when seccomp type is Localhost"),
        (true, true) => super::volumes::check_descending(&local, found),
        (false, true) => found.invalid_struct(
            &profile.called_at(&local),
            "io.k8s.api.core.v1.SeccompProfile",
            "can only be set when seccomp type is Localhost",
        ),
        (false, false) => {}
    }
}

fn check_app_armor(profile: &Field<'_>, found: &mut Findings) {
    if !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.at("type"), profile.at("localhostProfile"));
    match kind.text() {
        "Localhost" => {
            let (text, trimmed) = (local.text(), local.text().trim());
            if local.is_set() && text != trimmed {
                found.invalid(&local, "must not be padded with whitespace");
            } else if trimmed.is_empty() {
                found.required(&local, "must be set when AppArmor type is Localhost");
            }
            if text.len() > PROFILE_MAX_BYTES {
                found.too_long(&local, PROFILE_MAX_BYTES);
            }
        }
        "RuntimeDefault" | "Unconfined" if local.is_set() => {
            found.invalid(&local, "can only be set when AppArmor type is Localhost");
        }
        "RuntimeDefault" | "Unconfined" => {}
        "" => found.required(&kind, "type is required when appArmorProfile is set"),
        _ => found.not_supported(&kind, &PROFILE_TYPES),
    }
}

/// Checks that the fields of one operating system are not set for another.
pub fn check_operating_system(spec: &Field<'_>, found: &mut Findings) {
    let system = spec.at("os");
    if !system.is_set() {
        return;
    }
    let name = system.at("name");
    let contexts = || {
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|list| spec.at(list).items())
            .map(|container| container.at("securityContext"))
    };
    match name.text() {
        "" => found.required(&name, ""),
        "linux" => {
            let why = "windows options cannot be set for a linux pod";
            for context in std::iter::once(spec.at("securityContext")).chain(contexts()) {
                if context.at("windowsOptions").is_set() {
                    found.forbidden(&context.at("windowsOptions"), why);
                }
            }
        }
        "windows" => {
            let why = "cannot be set for a windows pod";
            for name in ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"] {
                let field = spec.at(name);
                if field.is_set() && (field.is_true() || name != "hostPID" && name != "hostIPC") {
                    found.forbidden(&field, why);
                }
            }
            let mut forbid = |context: &Field<'_>, names: &[&'static str]| {
                for name in names {
                    if context.at(name).is_set() {
                        found.forbidden(&context.at(name), why);
                    }
                }
            };
            forbid(&spec.at("securityContext"), &LINUX_OF_PODS);
            for context in contexts() {
                forbid(&context, &LINUX_OF_CONTAINERS);
            }
        }
        _ => found.not_supported(&name.called_at(&system), &["linux", "windows"]),
    }
}
