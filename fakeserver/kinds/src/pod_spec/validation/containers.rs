//! Validation of containers.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::{Value, json};

use crate::{
    formats::{PROTOCOLS, check_label, check_port_number, port_name_problems},
    pod_spec::validation::{
        env::{check_env, check_env_from},
        mounts::{check_devices, check_mounts},
        probes::{check_lifecycle, check_probes},
        resources::{check_resize_policy, check_resources},
        security::check_context,
        volumes::Volume,
    },
};

const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

const RESTART_POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];

const RESTART_ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const RESTART_RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;

/// The fields that an ephemeral container cannot have.
const NOT_EPHEMERAL: [&str; 7] = [
    "ports",
    "resizePolicy",
    "restartPolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// The facts about a pod that its containers have to fit to.
pub struct Pod<'a> {
    pub(super) spec: &'a Field<'a>,
    pub(super) volumes: &'a [Volume<'a>],
    claim_names: BTreeSet<&'a str>,
}

impl<'a> Pod<'a> {
    pub(super) fn new(spec: &'a Field<'a>, volumes: &'a [Volume<'a>]) -> Self {
        let claims = spec.get("resourceClaims").as_array().into_iter().flatten();
        Self {
            spec,
            volumes,
            claim_names: claims.filter_map(|claim| claim["name"].as_str()).collect(),
        }
    }

    pub(super) fn restart_policy(&self) -> &'a str {
        self.spec.get("restartPolicy").as_str().unwrap_or_default()
    }

    pub(super) fn grace_seconds(&self) -> i64 {
        let seconds = self.spec.get("terminationGracePeriodSeconds");
        seconds.as_i64().unwrap_or_default()
    }

    /// Returns whether users inside are users of the host.
    pub(super) fn has_host_users(&self) -> bool {
        self.spec.get("hostUsers") != &Value::Bool(false)
    }

    pub(super) fn claim_names(&self) -> &BTreeSet<&'a str> {
        &self.claim_names
    }
}

pub fn check_all_containers(pod: &Pod<'_>, found: &mut Findings) {
    let containers = pod.spec.at("containers");
    if containers.is_empty() {
        found.required(&containers, "");
    }
    let mut names = BTreeSet::new();
    for container in containers.items() {
        check_common(pod, &container, found);
        check_unique(&container, &mut names, found);
        check_lifecycle(pod, &container, found);
        check_probes(pod, &container, found);
        check_restarts(&container, false, found);
    }
    check_host_ports(containers.items(), found);
    check_initial(pod, &mut names, found);
    check_ephemeral(pod, &names, found);
}

fn check_initial<'a>(pod: &Pod<'a>, names: &mut BTreeSet<&'a str>, found: &mut Findings) {
    for container in pod.spec.at("initContainers").items() {
        check_common(pod, &container, found);
        check_restarts(&container, true, found);
        let policy = container.at("restartPolicy");
        let runs_beside = policy.text() == "Always";
        check_unique(&container, names, found);
        check_host_ports(std::iter::once(container.clone()), found);
        if runs_beside {
            check_lifecycle(pod, &container, found);
            check_probes(pod, &container, found);
            continue;
        }
        for name in [
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
        ] {
            if container.at(name).is_set() {
                found.forbidden(
                    &container.at(name),
                    "may not be set for init containers without restartPolicy=Always",
                );
            }
        }
        let resize = container.at("resizePolicy");
        if !resize.is_empty() {
            found.invalid(&resize, "must not be set for init containers");
        }
    }
}

fn check_ephemeral<'a>(pod: &Pod<'a>, others: &BTreeSet<&'a str>, found: &mut Findings) {
    let mut names = others.clone();
    for container in pod.spec.at("ephemeralContainers").items() {
        check_common(pod, &container, found);
        check_trimmed(&container.at("image"), found);
        check_unique(&container, &mut names, found);
        let target = container.at("targetContainerName");
        if target.has_text() && !others.contains(target.text()) {
            found.not_found(&target);
        }
        let why = "cannot be set for an Ephemeral Container";
        for name in NOT_EPHEMERAL {
            if container.at(name).is_set() {
                found.forbidden(&container.at(name), why);
            }
        }
        if !container.at("resources").is_empty() {
            found.forbidden(&container.at("resources"), why);
        }
        for mount in container.at("volumeMounts").items() {
            for name in ["subPath", "subPathExpr"] {
                if mount.at(name).has_text() {
                    found.forbidden(&mount.at(name), why);
                }
            }
        }
    }
}

/// Checks the policy for a container that ends, and the rules for its exit codes.
fn check_restarts(container: &Field<'_>, is_initial: bool, found: &mut Findings) {
    let (policy, rules) = (
        container.at("restartPolicy"),
        container.at("restartPolicyRules"),
    );
    if !found.is_on("ContainerRestartRules") {
        if is_initial {
            found.optional_one_of(&policy, &["Always"]);
        } else if policy.is_set() {
            found.forbidden(&policy, "may not be set for non-init containers");
        }
        return;
    }
    if !policy.is_set() && !rules.is_empty() {
        found.required(
            &policy,
            "must specify restartPolicy when restart rules are used",
        );
    }
    found.optional_one_of(&policy, &RESTART_POLICIES);
    let counts_items = found.is_on("RestartRulesCounted");
    let check_count =
        |list: &Field<'_>, items_max: usize, found: &mut Findings| match list.len() > items_max {
            true if counts_items => found.too_many(list, items_max),
            true => found.too_long(list, items_max),
            false => {}
        };
    check_count(&rules, RESTART_RULES_MAX, found);
    let actions = if found.is_on("RestartAllContainersOnContainerExits") {
        &RESTART_ACTIONS[..]
    } else {
        &RESTART_ACTIONS[..1]
    };
    for rule in rules.items() {
        let (action, codes) = (rule.at("action"), rule.at("exitCodes"));
        if !actions.contains(&action.text()) {
            found.not_supported(&action, actions);
        }
        if !codes.is_set() {
            found.required(&codes, "must be specified");
            continue;
        }
        let (operator, values) = (codes.at("operator"), codes.at("values"));
        if !["In", "NotIn"].contains(&operator.text()) {
            found.not_supported(&operator, &["In", "NotIn"]);
        }
        check_count(&values, EXIT_CODES_MAX, found);
    }
}

fn check_unique<'a>(container: &Field<'a>, names: &mut BTreeSet<&'a str>, found: &mut Findings) {
    let name = container.at("name");
    if !names.insert(name.text()) {
        found.duplicate_as(&name, &json!(name.text()));
    }
}

/// Checks the fields of every container.
fn check_common(pod: &Pod<'_>, container: &Field<'_>, found: &mut Findings) {
    let name = container.at("name");
    if name.has_text() {
        check_label(&name, found);
    } else {
        found.required(&name, "");
    }
    if !container.at("image").has_text() {
        found.required(&container.at("image"), "");
    }
    found.one_of(&container.at("terminationMessagePolicy"), &MESSAGE_POLICIES);
    check_ports(&container.at("ports"), found);
    check_env(&container.at("env"), found);
    check_env_from(&container.at("envFrom"), found);
    check_mounts(pod, container, found);
    check_devices(pod, container, found);
    found.one_of(&container.at("imagePullPolicy"), &PULL_POLICIES);
    check_resources(pod.claim_names(), &container.at("resources"), found);
    check_resize_policy(pod, &container.at("resizePolicy"), found);
    check_context(pod, &container.at("securityContext"), found);
}

fn check_ports(ports: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if name.has_text() {
            let problems = port_name_problems(name.text());
            if problems.is_empty() && !names.insert(name.text()) {
                found.duplicate(&name);
            }
            found.problems(&name, problems);
        }
        if port.at("containerPort").number() == 0 {
            found.required(&port.at("containerPort"), "");
        } else {
            check_port_number(&port.at("containerPort"), found);
        }
        if port.at("hostPort").number() != 0 {
            check_port_number(&port.at("hostPort"), found);
        }
        found.one_of(&port.at("protocol"), &PROTOCOLS);
    }
}

/// A port of the host is open for one container only.
fn check_host_ports<'a>(containers: impl Iterator<Item = Field<'a>>, found: &mut Findings) {
    let mut taken = BTreeSet::new();
    for container in containers {
        for port in container.at("ports").items() {
            let number = port.at("hostPort");
            if number.number() == 0 {
                continue;
            }
            let what = format!(
                "{}/{}/{}",
                port.at("protocol").text(),
                port.at("hostIP").text(),
                number.number(),
            );
            if !taken.insert(what.clone()) {
                found.duplicate_as(&number, &json!(what));
            }
        }
    }
}

/// The image of a pod, unlike that of a template, has no spaces around it.
pub fn check_trimmed(image: &Field<'_>, found: &mut Findings) {
    if image.text().trim() != image.text() {
        found.invalid(image, "must not have leading or trailing whitespace");
    }
}
