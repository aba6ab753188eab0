//! Validation of environment variables.

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use serde_json::json;

use crate::{
    formats::{check_label, check_subdomain, config_key_problems, env_name_problems, quantity},
    pod_spec::validation::volumes::check_no_backsteps,
};

/// Fields of a pod that environment variables may refer to.
const POD_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Fields of a pod that exist in the version of the API that the paths are of, apart from annotations and labels.
const KNOWN_FIELDS: [&str; 5] = [
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.hostNetwork",
    "status.phase",
    "status.nominatedNodeName",
];

/// Resources of a container that environment variables may refer to.
const RESOURCE_FIELDS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const DIVISORS: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

const SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];

pub(super) fn check_env(env: &Field<'_>, found: &mut Findings) {
    for variable in env.items() {
        let name = variable.at("name");
        if name.has_text() {
            found.problems(&name, env_name_problems(name.text()));
        } else {
            found.required(&name, "");
        }
        if variable.at("valueFrom").is_set() {
            check_source(&variable, found);
        }
    }
}

fn check_source(variable: &Field<'_>, found: &mut Findings) {
    let source = variable.at("valueFrom");
    if source.at("fieldRef").is_set() {
        check_pod_field(&source.at("fieldRef"), &POD_FIELDS, found);
    }
    if source.at("resourceFieldRef").is_set() {
        check_resource_field(&source.at("resourceFieldRef"), false, found);
    }
    for name in ["configMapKeyRef", "secretKeyRef"] {
        if source.at(name).is_set() {
            check_key(&source.at(name), found);
        }
    }
    if source.at("fileKeyRef").is_set() {
        check_file(&source.at("fileKeyRef"), found);
    }
    let given = SOURCES
        .iter()
        .filter(|name| source.at(name).is_set())
        .count();
    let nothing = json!("");
    if given == 0 {
        let one = if found.is_on("EnvFiles") {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        } else {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        };
        found.invalid_as(&source, &nothing, one);
    } else if variable.at("value").has_text() {
        found.invalid_as(
            &source,
            &nothing,
            "may not be specified when `value` is not empty",
        );
    } else if given > 1 {
        found.invalid_as(
            &source,
            &nothing,
            "may not have more than one field specified at a time",
        );
    }
}

/// Checks the source of a variable that is a line of a file.
fn check_file(file: &Field<'_>, found: &mut Findings) {
    let (key, volume, path) = (file.at("key"), file.at("volumeName"), file.at("path"));
    for needed in [&key, &volume, &path] {
        if !needed.has_text() {
            found.required(needed, "");
        }
    }
    found.problems(&key, env_name_problems(key.text()));
    if volume.has_text() {
        check_label(&volume, found);
    }
    check_no_backsteps(&path, found);
}

/// Checks that the files of variables are in volumes that begin empty.
pub(super) fn check_files(spec: &Field<'_>, found: &mut Findings) {
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let containers = spec.at(list).items();
        for variable in containers.flat_map(|container| container.at("env").items()) {
            let file = variable.at("valueFrom").at("fileKeyRef");
            if !file.is_set() {
                continue;
            }
            let name = file.at("volumeName");
            let mut volumes = spec.at("volumes").items();
            match volumes.find(|volume| volume.at("name").text() == name.text()) {
                None => found.not_found(&name),
                Some(volume) if !volume.at("emptyDir").is_set() => {
                    found.invalid_text(&name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    }
}

fn check_key(reference: &Field<'_>, found: &mut Findings) {
    check_subdomain(&reference.at("name"), found);
    let key = reference.at("key");
    if key.has_text() {
        found.problems(&key, config_key_problems(key.text()));
    } else {
        found.required(&key, "");
    }
}

pub(super) fn check_env_from(sources: &Field<'_>, found: &mut Findings) {
    for source in sources.items() {
        let prefix = source.at("prefix");
        if prefix.has_text() {
            found.problems(&prefix, env_name_problems(prefix.text()));
        }
        let of = ["configMapRef", "secretRef"];
        for name in of {
            let reference = source.at(name);
            let called = reference.at("name");
            if reference.is_set() && !called.has_text() {
                found.required(&called, "");
            } else if reference.is_set() {
                check_subdomain(&called, found);
            }
        }
        let given = of.iter().filter(|name| source.at(name).is_set()).count();
        match given {
            0 => found.invalid_as(
                sources,
                &json!(""),
                "must specify one of: `configMapRef` or `secretRef`",
            ),
            2 => found.invalid_as(
                sources,
                &json!(""),
                "may not have more than one field specified at a time",
            ),
            _ => {}
        }
    }
}

/// A field of a pod, by its path.
pub(super) fn check_pod_field(reference: &Field<'_>, supported: &[&str], found: &mut Findings) {
    for name in ["apiVersion", "fieldPath"] {
        if !reference.at(name).has_text() {
            found.required(&reference.at(name), "");
            return;
        }
    }
    let field = reference.at("fieldPath");
    let version = reference.at("apiVersion").text();
    if version != "v1" {
        let why = format!("error converting fieldPath: unsupported pod version: {version}");
        return found.invalid(&field, &why);
    }
    let path = field.text();
    let subscript = path
        .split_once("['")
        .and_then(|(path, rest)| Some((path, rest.strip_suffix("']")?)));
    match subscript {
        Some(("metadata.annotations", key)) => {
            found.problems(reference, qualified_name_problems(&key.to_lowercase()));
        }
        Some(("metadata.labels", key)) => {
            found.problems(reference, qualified_name_problems(key));
        }
        Some(_) => found.invalid(
            &field,
            &format!("error converting fieldPath: field label does not support subscript: {path}"),
        ),
        None if supported.contains(&path) => {}
        None if is_field(path) => found.not_supported(&field, supported),
        None => found.invalid(
            &field,
            &format!("error converting fieldPath: field label not supported: {path}"),
        ),
    }
}

fn is_field(path: &str) -> bool {
    POD_FIELDS.contains(&path)
        || KNOWN_FIELDS.contains(&path)
        || matches!(path, "metadata.annotations" | "metadata.labels")
}

/// Checks a reference to a container's requests or limits, in units of a divisor.
pub(super) fn check_resource_field(reference: &Field<'_>, is_file: bool, found: &mut Findings) {
    let (container, resource) = (reference.at("containerName"), reference.at("resource"));
    let of_pages = |text: &str| {
        text.starts_with("limits.hugepages-") || text.starts_with("requests.hugepages-")
    };
    if is_file && !container.has_text() {
        found.required(&container, "");
    } else if !resource.has_text() {
        found.required(&resource, "");
    } else if !RESOURCE_FIELDS.contains(&resource.text()) && !of_pages(resource.text()) {
        found.not_supported(&resource, &RESOURCE_FIELDS);
    }
    let divisor = quantity(reference.get("divisor"));
    if divisor.is_zero() {
        return;
    }
    let printed = divisor.to_string();
    let all = DIVISORS.join(", ");
    let (is_good, allowed, what) = match resource.text() {
        "limits.cpu" | "requests.cpu" => (matches!(&*printed, "1m" | "1"), "1m and 1", "cpu"),
        "limits.memory" | "requests.memory" => {
            (DIVISORS.contains(&&*printed), all.as_str(), "memory")
        }
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (
            DIVISORS.contains(&&*printed),
            all.as_str(),
            "local ephemeral storage",
        ),
        text if of_pages(text) => (DIVISORS.contains(&&*printed), all.as_str(), "hugepages"),
        _ => return,
    };
    if !is_good {
        found.invalid_as(
            &reference.at("divisor"),
            resource.value(),
            &format!("only divisor's values {allowed} are supported with the {what} resource"),
        );
    }
}
