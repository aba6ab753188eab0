//! Defaults of pod specs.

use std::sync::LazyLock;

use fakeserver_value::{
    edit::{each, is_unset, set, set_absent, within},
    read::text,
};
use regex::Regex;
use serde_json::{Value, json};

use crate::{
    claim_spec,
    resource_names::{round_amounts, round_resources},
};

/// The mode of files that volumes are made of: 0644.
const FILE_MODE: u32 = 0o644;

/// The form of the name of an image with its registry.
const IMAGE: &str = "^(?<name>(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\
    (?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?\
    (?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)\
    (?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?\
    (?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$";
const IMAGE_NAME_MAX_BYTES: usize = 255;
/// The number of digits of an image's identifier, which cannot be its name.
const IDENTIFIER_DIGITS: usize = 64;

const TOKEN_SECONDS: u32 = 3_600;

/// The parts of a volume that are no source.
const VOLUME_NAME: &str = "name";

pub fn set_defaults(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    set(spec, "dnsPolicy", json!("ClusterFirst"));
    set(spec, "restartPolicy", json!("Always"));
    set(spec, "schedulerName", json!("default-scheduler"));
    set(spec, "securityContext", json!({}));
    set(spec, "terminationGracePeriodSeconds", json!(30));
    // An account has two names, of which the older is deprecated.
    let account = spec.get("serviceAccountName").cloned().unwrap_or_default();
    let deprecated = spec.get("serviceAccount").cloned().unwrap_or_default();
    if !is_unset(&account) {
        spec["serviceAccount"] = account;
    } else if !is_unset(&deprecated) {
        spec["serviceAccountName"] = deprecated;
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in each(spec, list) {
            set_container_defaults(container);
        }
    }
    for volume in each(spec, "volumes") {
        set_volume_defaults(volume);
    }
    if let Some(overhead) = within(spec, "overhead") {
        round_amounts(overhead);
    }
    if let Some(resources) = within(spec, "resources") {
        round_resources(resources);
    }
}

fn set_container_defaults(container: &mut Value) {
    let policy = pull_policy(text(&container["image"]));
    set(container, "imagePullPolicy", json!(policy));
    set(
        container,
        "terminationMessagePath",
        json!("/dev/termination-log"),
    );
    set(container, "terminationMessagePolicy", json!("File"));
    if let Some(resources) = within(container, "resources") {
        round_resources(resources);
    }
    for port in each(container, "ports") {
        set(port, "protocol", json!("TCP"));
    }
    for variable in each(container, "env") {
        let source = within(variable, "valueFrom");
        if let Some(field) = source.and_then(|source| within(source, "fieldRef")) {
            set(field, "apiVersion", json!("v1"));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = within(container, probe) {
            set_probe_defaults(probe);
        }
    }
    if let Some(lifecycle) = within(container, "lifecycle") {
        for hook in ["postStart", "preStop"] {
            let request = within(lifecycle, hook).and_then(|hook| within(hook, "httpGet"));
            if let Some(request) = request {
                set_request_defaults(request);
            }
        }
    }
}

fn pull_policy(image: &str) -> &'static str {
    if pulls_always(image) {
        "Always"
    } else {
        "IfNotPresent"
    }
}

/// Returns whether an image is always pulled: it has the tag `latest`, or neither tag nor digest. A text that is no
/// name of an image is not pulled.
fn pulls_always(image: &str) -> bool {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(IMAGE).ok());
    let (_, name) = image.rsplit_once('/').unwrap_or(("", image));
    // A quick test for other tags and invalid names, which avoids the regular expression.
    if name.contains(':') && !name.contains('@') && !name.ends_with(":latest") {
        return false;
    }
    let has_domain = image.split_once('/').is_some_and(|(first, _)| {
        first.contains(['.', ':'])
            || first == "localhost"
            || first.bytes().any(|byte| byte.is_ascii_uppercase())
    });
    let full = if has_domain {
        image.to_owned()
    } else {
        format!("docker.io/{image}")
    };
    let is_identifier =
        image.len() == IDENTIFIER_DIGITS && image.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = FORM.as_ref().and_then(|form| form.captures(&full));
    let Some(parts) = parts.filter(|_| !is_identifier) else {
        return false;
    };
    let (name, tag, digest) = (parts.name("name"), parts.name("tag"), parts.name("digest"));
    name.is_some_and(|name| name.len() <= IMAGE_NAME_MAX_BYTES)
        && tag.map_or(digest.is_none(), |tag| tag.as_str() == "latest")
}

fn set_probe_defaults(probe: &mut Value) {
    for (field, default) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        // These are plain numbers in Go, in which 0 and absence are the same.
        if probe[field].as_i64().unwrap_or_default() == 0 {
            probe[field] = json!(default);
        }
    }
    if let Some(request) = within(probe, "httpGet") {
        set_request_defaults(request);
    }
    if let Some(request) = within(probe, "grpc")
        && request.get("service").is_none_or(Value::is_null)
    {
        request["service"] = json!("");
    }
}

fn set_request_defaults(request: &mut Value) {
    set(request, "path", json!("/"));
    set(request, "scheme", json!("HTTP"));
}

fn set_volume_defaults(volume: &mut Value) {
    let has_source = volume.as_object().is_some_and(|fields| {
        fields
            .iter()
            .any(|(field, value)| field != VOLUME_NAME && !value.is_null())
    });
    if !has_source {
        volume["emptyDir"] = json!({});
    }
    if let Some(image) = within(volume, "image") {
        let policy = pull_policy(text(&image["reference"]));
        set(image, "pullPolicy", json!(policy));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(files) = within(volume, source) {
            set(files, "defaultMode", json!(FILE_MODE));
        }
    }
    if let Some(files) = within(volume, "downwardAPI") {
        set_file_defaults(files);
    }
    set_source_defaults(volume);
    if let Some(projected) = within(volume, "projected") {
        for source in each(projected, "sources") {
            if let Some(token) = within(source, "serviceAccountToken") {
                set(token, "expirationSeconds", json!(TOKEN_SECONDS));
            }
            if let Some(files) = within(source, "downwardAPI") {
                set_file_defaults(files);
            }
        }
    }
    let claim = within(volume, "ephemeral").and_then(|claim| within(claim, "volumeClaimTemplate"));
    if let Some(spec) = claim.and_then(|claim| within(claim, "spec")) {
        claim_spec::set_defaults(spec);
    }
}

/// Sets the defaults of the sources that volumes of pods and persistent volumes share.
pub fn set_source_defaults(volume: &mut Value) {
    if let Some(path) = within(volume, "hostPath") {
        set_absent(path, "type", json!(""));
    }
    if let Some(disk) = within(volume, "iscsi") {
        set(disk, "iscsiInterface", json!("default"));
    }
    if let Some(image) = within(volume, "rbd") {
        set(image, "pool", json!("rbd"));
        set(image, "user", json!("admin"));
        set(image, "keyring", json!("/etc/ceph/keyring"));
    }
    if let Some(disk) = within(volume, "azureDisk") {
        set_absent(disk, "cachingMode", json!("ReadWrite"));
        set_absent(disk, "fsType", json!("ext4"));
        set_absent(disk, "readOnly", json!(false));
        set_absent(disk, "kind", json!("Shared"));
    }
    if let Some(disk) = within(volume, "scaleIO") {
        set(disk, "storageMode", json!("ThinProvisioned"));
        set(disk, "fsType", json!("xfs"));
    }
}

fn set_file_defaults(files: &mut Value) {
    for item in each(files, "items") {
        if let Some(field) = within(item, "fieldRef") {
            set(field, "apiVersion", json!("v1"));
        }
    }
}
