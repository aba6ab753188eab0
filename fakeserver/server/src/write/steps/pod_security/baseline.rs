//! The checks of the level `baseline`: known ways to gain privileges.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    super::items,
    evaluation::{Check, Violation, named, plural, quoted, setters, uses},
    shape::{PodShape, name},
};

/// All checks, in the order of violations in messages.
pub(super) const CHECKS: &[Check] = &[
    inherited(&[(0, app_armor_profile)]),
    Check {
        versions: &[(0, capabilities)],
        replaced_since: Some(22),
    },
    inherited(&[(0, host_namespaces)]),
    Check {
        versions: &[(0, host_path_volumes)],
        replaced_since: Some(0),
    },
    inherited(&[(0, host_ports)]),
    inherited(&[(34, hosts_of_probes)]),
    inherited(&[(0, privileged)]),
    Check {
        versions: &[(0, proc_mount), (35, proc_mount_of_own_users)],
        replaced_since: Some(35),
    },
    inherited(&[(0, selinux_options), (31, selinux_options_1_31)]),
    Check {
        versions: &[(0, seccomp_annotations), (19, seccomp_profile)],
        replaced_since: Some(19),
    },
    inherited(&[
        (0, sysctls),
        (27, sysctls_1_27),
        (29, sysctls_1_29),
        (32, sysctls_1_32),
    ]),
    inherited(&[(0, windows_host_process)]),
];

const APP_ARMOR_ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_ANNOTATION_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATION: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// The capabilities that containers may add.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// The types of `SELinux` that may be set. The last one is allowed since 1.31.
const SELINUX_TYPES: [&str; 5] = [
    "",
    "container_t",
    "container_init_t",
    "container_kvm_t",
    "container_engine_t",
];
/// The sysctls that may be set: those of 1.0, and from the fifth, sixth and tenth on those of 1.27, 1.29 and 1.32.
const SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];

/// Makes a check that the restricted level has too.
const fn inherited(versions: &'static [(u64, super::evaluation::CheckFn)]) -> Check {
    Check {
        versions,
        replaced_since: None,
    }
}

fn app_armor_profile(pod: &PodShape<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let mut is_bad = |context: &Value| {
        let profile = &context["appArmorProfile"];
        let kind = profile["type"].as_str().unwrap_or_default();
        let is_bad = !profile.is_null() && !["RuntimeDefault", "Localhost"].contains(&kind);
        is_bad && {
            values.insert(kind.to_owned());
            true
        }
    };
    let is_pod = is_bad(pod.context());
    let containers = pod.containers_with(is_bad);
    let is_allowed =
        |value: &str| matches!(value, "" | "runtime/default") || value.starts_with("localhost/");
    let annotations = pod.annotations();
    let annotations: BTreeSet<String> = annotations
        .filter(|(key, value)| key.starts_with(APP_ARMOR_ANNOTATION) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    let annotated = (!annotations.is_empty()).then(|| plural("annotation", annotations.len()));
    let setters: Vec<String> = setters(is_pod, &containers)
        .into_iter()
        .chain(annotated)
        .collect();
    let values: Vec<String> = values.into_iter().chain(annotations).collect();
    (!setters.is_empty()).then(|| Violation {
        reason: if values.len() == 1 {
            "forbidden AppArmor profile"
        } else {
            "forbidden AppArmor profiles"
        },
        detail: format!(
            "{} must not set AppArmor profile type to {}",
            setters.join(" and "),
            quoted(&values)
        ),
    })
}

fn capabilities(pod: &PodShape<'_>) -> Option<Violation> {
    let mut added = BTreeSet::new();
    let containers = pod.containers_with(|context| {
        let others: Vec<&str> = items(&context["capabilities"]["add"])
            .filter_map(Value::as_str)
            .filter(|capability| !CAPABILITIES.contains(capability))
            .collect();
        added.extend(others.iter().copied());
        !others.is_empty()
    });
    let added: Vec<&str> = added.into_iter().collect();
    (!containers.is_empty()).then(|| Violation {
        reason: "non-default capabilities",
        detail: format!(
            "{} must not include {} in securityContext.capabilities.add",
            named("container", &containers),
            quoted(&added)
        ),
    })
}

fn host_namespaces(pod: &PodShape<'_>) -> Option<Violation> {
    let shared: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|field| pod.spec()[field] == true)
        .map(|field| format!("{field}=true"))
        .collect();
    (!shared.is_empty()).then(|| Violation {
        reason: "host namespaces",
        detail: shared.join(", "),
    })
}

fn host_path_volumes(pod: &PodShape<'_>) -> Option<Violation> {
    let volumes = pod.volumes();
    let volumes: Vec<&str> = volumes
        .filter(|volume| !volume["hostPath"].is_null())
        .map(name)
        .collect();
    (!volumes.is_empty()).then(|| Violation {
        reason: "hostPath volumes",
        detail: named("volume", &volumes),
    })
}

fn host_ports(pod: &PodShape<'_>) -> Option<Violation> {
    let mut ports = BTreeSet::new();
    let mut containers = Vec::new();
    for container in pod.containers() {
        let taken: Vec<String> = items(&container["ports"])
            .filter_map(|port| port["hostPort"].as_i64())
            .filter(|port| *port != 0)
            .map(|port| port.to_string())
            .collect();
        if !taken.is_empty() {
            containers.push(name(container));
            ports.extend(taken);
        }
    }
    let ports: Vec<String> = ports.into_iter().collect();
    (!containers.is_empty()).then(|| Violation {
        reason: "hostPort",
        detail: format!(
            "{} {} {} {}",
            named("container", &containers),
            uses(containers.len()),
            plural("hostPort", ports.len()),
            ports.join(", ")
        ),
    })
}

fn hosts_of_probes(pod: &PodShape<'_>) -> Option<Violation> {
    let mut hosts = BTreeSet::new();
    let mut containers = BTreeSet::new();
    for container in pod.containers() {
        let lifecycle = &container["lifecycle"];
        for handler in [
            &container["livenessProbe"],
            &container["readinessProbe"],
            &container["startupProbe"],
            &lifecycle["postStart"],
            &lifecycle["preStop"],
        ] {
            for action in ["httpGet", "tcpSocket"] {
                let host = handler[action]["host"].as_str().unwrap_or_default();
                if !host.is_empty() {
                    hosts.insert(host);
                    containers.insert(name(container));
                }
            }
        }
    }
    let hosts: Vec<&str> = hosts.into_iter().collect();
    let containers: Vec<&str> = containers.into_iter().collect();
    (!containers.is_empty()).then(|| Violation {
        reason: "probe or lifecycle host",
        detail: format!(
            "{} {} {}",
            named("container", &containers),
            uses(containers.len()),
            named("probe or lifecycle host", &hosts)
        ),
    })
}

fn privileged(pod: &PodShape<'_>) -> Option<Violation> {
    let containers = pod.containers_with(|context| context["privileged"] == true);
    (!containers.is_empty()).then(|| Violation {
        reason: "privileged",
        detail: format!(
            "{} must not set securityContext.privileged=true",
            named("container", &containers)
        ),
    })
}

/// Finds containers that see more of `/proc` than usual.
pub(super) fn proc_mount(pod: &PodShape<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let containers = pod.containers_with(|context| {
        let mount = context["procMount"].as_str();
        let other = mount.filter(|mount| *mount != "Default");
        values.extend(other);
        other.is_some()
    });
    let values: Vec<&str> = values.into_iter().collect();
    (!containers.is_empty()).then(|| Violation {
        reason: "procMount",
        detail: format!(
            "{} must not set securityContext.procMount to {}",
            named("container", &containers),
            quoted(&values)
        ),
    })
}

fn proc_mount_of_own_users(pod: &PodShape<'_>) -> Option<Violation> {
    if pod.has_own_users() {
        return None;
    }
    proc_mount(pod)
}

fn selinux_options(pod: &PodShape<'_>) -> Option<Violation> {
    selinux_options_but(pod, &SELINUX_TYPES[..4])
}

fn selinux_options_1_31(pod: &PodShape<'_>) -> Option<Violation> {
    selinux_options_but(pod, &SELINUX_TYPES)
}

fn selinux_options_but(pod: &PodShape<'_>, allowed: &[&str]) -> Option<Violation> {
    let mut types = BTreeSet::new();
    let (mut has_user, mut has_role) = (false, false);
    let mut is_bad = |context: &Value| {
        let options = &context["seLinuxOptions"];
        let text = |field: &str| options[field].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        let (sets_user, sets_role) = (!text("user").is_empty(), !text("role").is_empty());
        has_user |= sets_user;
        has_role |= sets_role;
        let is_allowed = allowed.contains(&kind.as_str());
        if !is_allowed {
            types.insert(kind);
        }
        !is_allowed || sets_user || sets_role
    };
    let is_pod = is_bad(pod.context());
    let containers = pod.containers_with(is_bad);
    let setters = setters(is_pod, &containers)?;
    let types: Vec<String> = types.into_iter().collect();
    let types = (!types.is_empty()).then(|| named("type", &types));
    let user = has_user.then(|| "user may not be set".to_owned());
    let role = has_role.then(|| "role may not be set".to_owned());
    let bad: Vec<String> = [types, user, role].into_iter().flatten().collect();
    Some(Violation {
        reason: "seLinuxOptions",
        detail: format!(
            "{setters} set forbidden securityContext.seLinuxOptions: {}",
            bad.join("; ")
        ),
    })
}

fn seccomp_annotations(pod: &PodShape<'_>) -> Option<Violation> {
    let of_pod = SECCOMP_ANNOTATION_OF_POD.to_owned();
    let of_containers = pod
        .containers()
        .map(|container| format!("{SECCOMP_ANNOTATION}{}", name(container)));
    let is_allowed = |value: &str| {
        matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/")
    };
    let forbidden: BTreeSet<String> = std::iter::once(of_pod)
        .chain(of_containers)
        .filter_map(|key| {
            let value = pod.annotation(&key).filter(|value| !is_allowed(value))?;
            Some(format!("{key}={value:?}"))
        })
        .collect();
    let forbidden: Vec<String> = forbidden.into_iter().collect();
    (!forbidden.is_empty()).then(|| Violation {
        reason: "seccompProfile",
        detail: format!(
            "forbidden {} {}",
            plural("annotation", forbidden.len()),
            forbidden.join(", ")
        ),
    })
}

/// Finds profiles of seccomp that do not protect.
pub(super) fn seccomp_profile(pod: &PodShape<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let mut is_bad = |context: &Value| {
        let profile = &context["seccompProfile"];
        let is_bad = !profile.is_null() && !is_seccomp_profile(profile);
        if is_bad {
            values.insert(profile["type"].as_str().unwrap_or_default().to_owned());
        }
        is_bad
    };
    let is_pod = is_bad(pod.context());
    let containers = pod.containers_with(is_bad);
    let setters = setters(is_pod, &containers)?;
    let values: Vec<String> = values.into_iter().collect();
    Some(Violation {
        reason: "seccompProfile",
        detail: format!(
            "{setters} must not set securityContext.seccompProfile.type to {}",
            quoted(&values)
        ),
    })
}

/// Returns whether a profile of seccomp protects.
pub(super) fn is_seccomp_profile(profile: &Value) -> bool {
    profile["type"] == "RuntimeDefault" || profile["type"] == "Localhost"
}

fn sysctls(pod: &PodShape<'_>) -> Option<Violation> {
    sysctls_but(pod, &SYSCTLS[..5])
}

fn sysctls_1_27(pod: &PodShape<'_>) -> Option<Violation> {
    sysctls_but(pod, &SYSCTLS[..6])
}

fn sysctls_1_29(pod: &PodShape<'_>) -> Option<Violation> {
    sysctls_but(pod, &SYSCTLS[..10])
}

fn sysctls_1_32(pod: &PodShape<'_>) -> Option<Violation> {
    sysctls_but(pod, &SYSCTLS)
}

fn sysctls_but(pod: &PodShape<'_>, allowed: &[&str]) -> Option<Violation> {
    let set = items(&pod.context()["sysctls"]).map(name);
    let forbidden: Vec<&str> = set.filter(|sysctl| !allowed.contains(sysctl)).collect();
    (!forbidden.is_empty()).then(|| Violation {
        reason: "forbidden sysctls",
        detail: forbidden.join(", "),
    })
}

fn windows_host_process(pod: &PodShape<'_>) -> Option<Violation> {
    let is_bad = |context: &Value| context["windowsOptions"]["hostProcess"] == true;
    let setters = setters(is_bad(pod.context()), &pod.containers_with(is_bad))?;
    Some(Violation {
        reason: "hostProcess",
        detail: format!("{setters} must not set securityContext.windowsOptions.hostProcess=true"),
    })
}
