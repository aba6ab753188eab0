use serde_json::{Value, json};

use super::{
    evaluation::evaluate,
    policy::{Level, LevelVersion, Policy, Version},
    shape::PodShape,
};

const BASELINE: Level = Level::Baseline;
const RESTRICTED: Level = Level::Restricted;

/// Returns what a pod violates, with details.
fn violations(level: Level, version: Version, pod: &Value) -> String {
    let policy = LevelVersion { level, version };
    let violations = evaluate(policy, &PodShape::new(pod));
    violations.map_or_else(String::new, |violations| violations.details())
}

/// Returns a pod of two containers that keeps to the restricted policy, with `change` merged into its spec.
fn pod_with(change: &Value) -> Value {
    let container = |name: &str| {
        json!({"name": name, "securityContext": {
            "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
        }})
    };
    let mut pod = json!({"metadata": {}, "spec": {
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container("a"), container("b")],
    }});
    json_patch::merge(&mut pod["spec"], change);
    pod
}

fn context(change: &Value) -> Value {
    let mut pod = pod_with(&json!({}));
    json_patch::merge(&mut pod["spec"]["containers"][1]["securityContext"], change);
    pod
}

#[test]
fn a_hardened_pod_violates_nothing() {
    let pod = pod_with(&json!({}));
    for minor in 0..40 {
        assert_eq!(violations(RESTRICTED, Version::Minor(minor), &pod), "");
    }
    assert_eq!(violations(RESTRICTED, Version::Latest, &pod), "");
}

#[test]
fn baseline_violations_are_in_the_order_of_the_checks() {
    let spec = json!({
        "hostNetwork": true, "hostIPC": true,
        "volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "emptyDir": {}}],
        "securityContext": {
            "appArmorProfile": {"type": "Unconfined"},
            "seLinuxOptions": {"type": "spc_t", "user": "u"},
            "sysctls": [{"name": "net.ipv4.tcp_rmem"}, {"name": "kernel.msgmax"}],
            "windowsOptions": {"hostProcess": true},
        },
    });
    let mut pod = pod_with(&spec);
    let container = &mut pod["spec"]["containers"][0];
    container["ports"] = json!([{"hostPort": 90}, {"hostPort": 8080}, {"containerPort": 1}]);
    container["livenessProbe"] = json!({"httpGet": {"host": "h"}});
    container["securityContext"] = json!({
        "privileged": true, "procMount": "Unmasked", "capabilities": {"add": ["SYS_TIME", "CHOWN", "BPF"]},
        "seccompProfile": {"type": "Unconfined"}, "seLinuxOptions": {"role": "r"},
    });
    let violations = violations(BASELINE, Version::Latest, &pod);
    assert_eq!(
        violations,
        "forbidden AppArmor profile (pod must not set AppArmor profile type to \"Unconfined\"), \
         non-default capabilities (container \"a\" must not include \"BPF\", \"SYS_TIME\" in \
         securityContext.capabilities.add), host namespaces (hostNetwork=true, hostIPC=true), \
         hostPath volumes (volume \"v\"), hostPort (container \"a\" uses hostPorts 8080, 90), \
         probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\"), \
         privileged (container \"a\" must not set securityContext.privileged=true), \
         procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\"), \
         seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: type \"spc_t\"; user may \
         not be set; role may not be set), seccompProfile (container \"a\" must not set \
         securityContext.seccompProfile.type to \"Unconfined\"), forbidden sysctls (kernel.msgmax), \
         hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)"
    );
}

#[test]
fn checks_differ_by_version() {
    let sysctl = pod_with(&json!({"securityContext": {"sysctls": [
        {"name": "net.ipv4.tcp_rmem"}, {"name": "net.ipv4.tcp_fin_timeout"},
    ]}}));
    let expected = |sysctls: &str| format!("forbidden sysctls ({sysctls})");
    let both = expected("net.ipv4.tcp_rmem, net.ipv4.tcp_fin_timeout");
    assert_eq!(violations(BASELINE, Version::Minor(28), &sysctl), both);
    let one = expected("net.ipv4.tcp_rmem");
    assert_eq!(violations(BASELINE, Version::Minor(31), &sysctl), one);
    assert_eq!(violations(BASELINE, Version::Minor(99), &sysctl), "");

    let unmasked = context(&json!({"procMount": "Unmasked"}));
    let violation =
        "procMount (container \"b\" must not set securityContext.procMount to \"Unmasked\")";
    let mut own_users = unmasked.clone();
    own_users["spec"]["hostUsers"] = json!(false);
    for (level, version, pod, expected) in [
        (BASELINE, 34, &own_users, violation),
        (BASELINE, 35, &own_users, ""),
        (BASELINE, 35, &unmasked, violation),
        (RESTRICTED, 34, &own_users, violation),
        (RESTRICTED, 35, &own_users, violation),
    ] {
        assert_eq!(violations(level, Version::Minor(version), pod), expected);
    }

    let mut annotated = pod_with(&json!({}));
    annotated["metadata"]["annotations"] = json!({
        "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
        "container.seccomp.security.alpha.kubernetes.io/a": "docker/default",
        "container.apparmor.security.beta.kubernetes.io/a": "unconfined",
    });
    let armor = "forbidden AppArmor profile (annotation must not set AppArmor profile type to \
                 \"container.apparmor.security.beta.kubernetes.io/a=\"unconfined\"\")";
    assert_eq!(
        violations(BASELINE, Version::Minor(18), &annotated),
        format!(
            "{armor}, seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")"
        )
    );
    assert_eq!(violations(BASELINE, Version::Minor(19), &annotated), armor);
}

#[test]
fn restricted_violations_name_pods_and_containers() {
    let mut plain = json!({"metadata": {}, "spec": {
        "initContainers": [{"name": "i"}], "containers": [{"name": "c"}],
        "volumes": [{"name": "n", "nfs": {}}, {"name": "h", "hostPath": {}}, {"name": "s", "secret": {}}],
    }});
    assert_eq!(
        violations(RESTRICTED, Version::Latest, &plain),
        "allowPrivilegeEscalation != false (containers \"i\", \"c\" must set \
         securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers \"i\", \"c\" must set \
         securityContext.capabilities.drop=[\"ALL\"]), restricted volume types (volumes \"n\", \"h\" use restricted \
         volume types \"hostPath\", \"nfs\"), runAsNonRoot != true (pod or containers \"i\", \"c\" must set \
         securityContext.runAsNonRoot=true), seccompProfile (pod or containers \"i\", \"c\" must set \
         securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
    );
    // The first versions have fewer checks.
    plain["spec"]["volumes"] = json!([]);
    let first = violations(RESTRICTED, Version::Minor(7), &plain);
    assert!(first.starts_with("runAsNonRoot"), "{first}");
    plain["spec"]["os"] = json!({"name": "windows"});
    let windows = violations(RESTRICTED, Version::Latest, &plain);
    assert!(windows.starts_with("runAsNonRoot"), "{windows}");
    plain["spec"]["hostUsers"] = json!(false);
    assert_eq!(violations(RESTRICTED, Version::Latest, &plain), "");

    let root = context(&json!({
        "runAsNonRoot": false, "runAsUser": 0, "capabilities": {"add": ["NET_BIND_SERVICE", "CHOWN"]},
    }));
    assert_eq!(
        violations(RESTRICTED, Version::Latest, &root),
        "unrestricted capabilities (container \"b\" must not include \"CHOWN\" in securityContext.capabilities.add), \
         runAsNonRoot != true (container \"b\" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container \
         \"b\" must not set runAsUser=0)"
    );
}

#[test]
fn policies_are_read_from_labels() {
    let of = |labels: &[(&str, &str)]| {
        let labels = labels
            .iter()
            .map(|(name, value)| (format!("pod-security.kubernetes.io/{name}"), json!(value)));
        let labels = Value::Object(labels.collect());
        let (policy, errors) = Policy::of_labels(&labels);
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let levels = [policy.enforce, policy.audit, policy.warn].map(|each| each.to_string());
        (levels.join(" "), errors)
    };
    let plain = "privileged:latest privileged:latest privileged:latest";
    assert_eq!(of(&[]), (plain.into(), vec![]));
    // The warning level defaults to the enforced one.
    let enforced = of(&[("enforce", "baseline"), ("enforce-version", "v1.20")]).0;
    assert_eq!(enforced, "baseline:v1.20 privileged:latest baseline:v1.20");
    let both = of(&[
        ("enforce", "baseline"),
        ("warn", "privileged"),
        ("warn-version", "v1.9"),
    ])
    .0;
    assert_eq!(both, "baseline:latest privileged:latest privileged:v1.9");
    let (policy, errors) = of(&[("enforce", "x"), ("audit", "y"), ("warn-version", "v1.01")]);
    assert_eq!(
        policy,
        "restricted:latest privileged:latest privileged:latest"
    );
    assert_eq!(errors.len(), 3);
    assert_eq!(
        errors[2],
        "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"v1.01\": must be \"latest\" or \
         \"v1.x\""
    );
}
