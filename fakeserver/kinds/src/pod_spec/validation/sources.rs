//! Validation of the sources that volumes of pods and persistent volumes share: disks, networks and drivers.

use std::sync::LazyLock;

use fakeserver_value::{field::Field, findings::Findings};
use regex::Regex;
use serde_json::json;

use super::volumes::{check_host_path, check_no_backsteps};
use crate::formats::{check_driver_name, check_label, check_subdomain};

const LUN: &str = "must be between 0 and 255, inclusive";
const PARTITION: &str = "must be between 1 and 255, inclusive";

const TENANT_MAX_BYTES: usize = 64;
pub(super) const ISCSI_NAME_MAX_BYTES: usize = 64;
pub(super) const ISCSI_NAME: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
    iscsi.initiatorName is specified.";

const CACHING_MODES: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];
const MANAGED_DISK: &str = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK: &str =
    "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/// The secrets of a CSI volume.
const CSI_SECRETS: [&str; 4] = [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
];

/// The holder of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder<'a> {
    /// A volume of a pod.
    Pod,
    /// A persistent volume of this name.
    Persistent(&'a str),
}

/// Checks a source of a kind. Sources of other kinds have no findings.
pub fn check_source_of(kind: &str, source: &Field<'_>, holder: Holder<'_>, found: &mut Findings) {
    let is_persistent = matches!(holder, Holder::Persistent(_));
    require(kind, source, found);
    match kind {
        "hostPath" => check_host_path(source, found),
        "local" => check_no_backsteps(&source.at("path"), found),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = source.at("partition");
            if !(0..=255).contains(&partition.number()) {
                found.invalid(&partition, PARTITION);
            }
        }
        "nfs" if !source.at("path").text().starts_with('/') => {
            found.invalid_text(&source.at("path"), "must be an absolute path");
        }
        "quobyte" => check_quobyte(source, found),
        "glusterfs" if is_persistent => check_glusterfs(source, found),
        "flocker" => check_flocker(source, found),
        "iscsi" => check_iscsi(source, holder, found),
        "fc" => check_fibre_channel(source, found),
        "flexVolume" => check_flex_options(source, found),
        "azureFile" => {
            let namespace = source.at("secretNamespace");
            if is_persistent && namespace.is_set() && !namespace.has_text() {
                found.required(&namespace, "");
            }
        }
        "azureDisk" => check_azure_disk(source, found),
        "storageos" => {
            check_storageos(source, found);
            check_secret(&source.at("secretRef"), is_persistent, found);
        }
        "cinder" => check_secret(&source.at("secretRef"), is_persistent, found),
        "csi" => check_csi(source, is_persistent, found),
        _ => {}
    }
}

/// Returns the place that findings name for a source.
pub fn place_of<'a>(kind: &'static str, spec: &Field<'a>) -> Field<'a> {
    let source = spec.at(kind);
    if kind == "gcePersistentDisk" {
        source.called_within(spec, "persistentDisk")
    } else {
        source
    }
}

/// Returns the place that findings name for a source that is one too many.
pub fn second_place<'a>(kind: &'static str, spec: &Field<'a>) -> Field<'a> {
    let called = match kind {
        "cephfs" => "cephFS",
        "downwardAPI" => "downwarAPI",
        kind => kind,
    };
    spec.at(kind).called_within(spec, called)
}

/// Checks that the fields are there that a kind of source needs.
fn require(kind: &str, source: &Field<'_>, found: &mut Findings) {
    let names: &[&'static str] = match kind {
        "gcePersistentDisk" => &["pdName"],
        "awsElasticBlockStore" | "cinder" | "portworxVolume" => &["volumeID"],
        "glusterfs" => &["endpoints", "path"],
        "nfs" => &["server", "path"],
        "rbd" => &["monitors", "image"],
        "cephfs" => &["monitors"],
        "flexVolume" => &["driver"],
        "azureFile" => &["secretName", "shareName"],
        "azureDisk" => &["diskName", "diskURI"],
        "vsphereVolume" => &["volumePath"],
        "photonPersistentDisk" => &["pdID"],
        "scaleIO" => &["gateway", "system", "volumeName"],
        "local" => &["path"],
        _ => &[],
    };
    for name in names {
        let field = source.at(name);
        if !field.has_text() && field.is_empty() {
            found.required(&field, "");
        }
    }
}

fn check_quobyte(source: &Field<'_>, found: &mut Findings) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.at("registry"), source.at("tenant"));
    if !registry.has_text() {
        found.required(&registry, PAIRS);
    } else if tenant.text().len() > TENANT_MAX_BYTES {
        found.required(
            &tenant,
            "must be a UUID and may not exceed a length of 64 characters",
        );
    } else {
        for pair in registry.text().split(',') {
            if !is_host_and_port(pair) {
                found.invalid(&registry, PAIRS);
            }
        }
    }
    if !source.at("volume").has_text() {
        found.required(&source.at("volume"), "");
    }
}

/// Returns whether a text is a host and a port, neither of which has to be of any form.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let inner = match host.strip_prefix('[') {
        Some(rest) => match rest.strip_suffix(']') {
            Some(address) => address,
            None => return false,
        },
        None if host.contains(':') => return false,
        None => host,
    };
    !inner.contains(['[', ']']) && !port.contains(['[', ']'])
}

fn check_glusterfs(source: &Field<'_>, found: &mut Findings) {
    let namespace = source.at("endpointsNamespace");
    if !namespace.is_set() {
        return;
    }
    if namespace.has_text() {
        check_label(&namespace, found);
    } else {
        found.invalid(
            &namespace,
            "if the endpointnamespace is set, it must be a valid namespace name",
        );
    }
}

fn check_flocker(source: &Field<'_>, found: &mut Findings) {
    let (name, id) = (source.at("datasetName"), source.at("datasetUUID"));
    match (name.has_text(), id.has_text()) {
        (false, false) => found.required(source, "one of datasetName and datasetUUID is required"),
        (true, true) => found.invalid_as(
            source,
            &json!("resource"),
            "datasetName and datasetUUID can not be specified simultaneously",
        ),
        _ => {}
    }
    if name.text().contains('/') {
        found.invalid(&name, "must not contain '/'");
    }
}

fn check_iscsi(source: &Field<'_>, holder: Holder<'_>, found: &mut Findings) {
    let (portal, target) = (source.at("targetPortal"), source.at("iqn"));
    let (initiator, lun) = (source.at("initiatorName"), source.at("lun"));
    if !portal.has_text() {
        found.required(&portal, "");
    }
    if let Holder::Persistent(name) = holder
        && initiator.is_set()
        && name.len() + 1 + portal.text().len() > ISCSI_NAME_MAX_BYTES
    {
        found.invalid_text(&portal.called_within(source, "targetportal"), ISCSI_NAME);
    }
    if target.has_text() {
        check_iscsi_name(&target, holder, found);
    } else {
        found.required(&target, "");
    }
    if !(0..=255).contains(&lun.number()) {
        found.invalid(&lun, LUN);
    }
    let secret = source.at("secretRef");
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"]
        .iter()
        .any(|field| source.at(field).is_true());
    if authenticates && !secret.is_set() {
        found.required(&secret, "");
    }
    if holder != Holder::Pod {
        check_secret(&secret, false, found);
    }
    if initiator.is_set() {
        let place = initiator.called_within(source, "initiatorname");
        check_iscsi_name(&place, holder, found);
    }
}

fn check_iscsi_name(name: &Field<'_>, holder: Holder<'_>, found: &mut Findings) {
    static NAMES: LazyLock<[(&str, Option<Regex>); 3]> = LazyLock::new(|| {
        [
            ("iqn", r"iqn\.\d{4}-\d{2}\.([[:alnum:].-]+)(:[^,;*&$|\s]+)$"),
            ("eui", r"^eui.[[:alnum:]]{16}$"),
            ("naa", r"^naa.[[:alnum:]]{32}$"),
        ]
        .map(|(prefix, form)| (prefix, Regex::new(form).ok()))
    });
    let text = name.text();
    let mut names = NAMES.iter();
    let Some((_, form)) = names.find(|(prefix, _)| text.starts_with(prefix)) else {
        let why = match holder {
            Holder::Pod => "must be valid format starting with iqn, eui, or naa",
            Holder::Persistent(_) => "must be valid format",
        };
        found.invalid_text(name, why);
        return;
    };
    if !form.as_ref().is_some_and(|form| form.is_match(text)) {
        found.invalid(name, "must be valid format");
    }
}

fn check_fibre_channel(source: &Field<'_>, found: &mut Findings) {
    let (names, ids) = (source.at("targetWWNs"), source.at("wwids"));
    match (names.is_empty(), ids.is_empty()) {
        (true, true) => found.required(
            &names,
            "must specify either targetWWNs or wwids, but not both",
        ),
        (false, false) => found.invalid(
            &names,
            "targetWWNs and wwids can not be specified simultaneously",
        ),
        _ => {}
    }
    let lun = source.at("lun");
    if names.is_empty() {
        return;
    }
    if !lun.is_set() {
        found.required(&lun, "lun is required if targetWWNs is specified");
    } else if !(0..=255).contains(&lun.number()) {
        found.invalid(&lun, LUN);
    }
}

fn check_flex_options(source: &Field<'_>, found: &mut Findings) {
    for (key, option) in source.at("options").entries() {
        let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        let reserved = [".kubernetes.io", ".k8s.io"];
        if reserved.iter().any(|end| domain.ends_with(end)) {
            found.invalid_as(
                &option,
                &json!(key),
                "kubernetes.io and k8s.io namespaces are reserved",
            );
        }
    }
}

fn check_azure_disk(source: &Field<'_>, found: &mut Findings) {
    let (kind, uri) = (source.at("kind"), source.at("diskURI"));
    found.optional_one_of(&source.at("cachingMode"), &CACHING_MODES);
    found.optional_one_of(&kind, &DISK_KINDS);
    if !kind.is_set() {
        return;
    }
    let (start, form) = if kind.text() == "Managed" {
        ("/subscriptions/", MANAGED_DISK)
    } else {
        ("https://", BLOB_DISK)
    };
    if !uri.text().starts_with(start) {
        found.not_supported(&uri, &[form]);
    }
}

fn check_storageos(source: &Field<'_>, found: &mut Findings) {
    let (name, namespace) = (source.at("volumeName"), source.at("volumeNamespace"));
    if name.has_text() {
        check_label(&name, found);
    } else {
        found.required(&name, "");
    }
    if namespace.has_text() {
        check_label(&namespace, found);
    }
}

/// Checks that a secret has a name, and a namespace where one is needed.
fn check_secret(secret: &Field<'_>, with_namespace: bool, found: &mut Findings) {
    if !secret.is_set() {
        return;
    }
    if !secret.at("name").has_text() {
        found.required(&secret.at("name"), "");
    }
    if with_namespace && !secret.at("namespace").has_text() {
        found.required(&secret.at("namespace"), "");
    }
}

fn check_csi(source: &Field<'_>, is_persistent: bool, found: &mut Findings) {
    check_driver_name(&source.at("driver"), found);
    if !is_persistent {
        let name = source.at("nodePublishSecretRef").at("name");
        if name.has_text() {
            check_subdomain(&name.called_within(source, "name"), found);
        } else if source.at("nodePublishSecretRef").is_set() {
            found.required(&name, "");
        }
        return;
    }
    if !source.at("volumeHandle").has_text() {
        found.required(&source.at("volumeHandle"), "");
    }
    for secret in CSI_SECRETS {
        let secret = source.at(secret);
        let (name, namespace) = (secret.at("name"), secret.at("namespace"));
        check_secret(&secret, true, found);
        if name.has_text() {
            check_subdomain(&name, found);
        }
        if namespace.has_text() {
            check_label(&namespace, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use fakeserver_value::{field::Field, findings::Findings};
    use serde_json::{Value, json};

    use super::{Holder, check_source_of, is_host_and_port};

    fn findings(kind: &str, source: &Value, holder: Holder<'_>) -> Vec<String> {
        let mut found = Findings::default();
        check_source_of(kind, &Field::root(source), holder, &mut found);
        let errors = found.into_errors();
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn hosts_have_ports() {
        for good in ["a:1", ":", "[::1]:2", "a:b"] {
            assert!(is_host_and_port(good), "{good}");
        }
        for bad in ["", "a", "::1", "[::1]", "a:[1]"] {
            assert!(!is_host_and_port(bad), "{bad}");
        }
    }

    #[test]
    fn sources_of_persistent_volumes_have_more_fields() {
        let secret = json!({"volumeID": "v", "secretRef": {"name": "s"}});
        assert_eq!(findings("cinder", &secret, Holder::Pod), [""; 0]);
        assert_eq!(
            findings("cinder", &secret, Holder::Persistent("pv")),
            ["secretRef.namespace: Required value"]
        );
        let disk = json!({
            "targetPortal": "p", "iqn": "iqn.2020-01.com.example:a", "initiatorName": "x", "lun": 256,
        });
        assert_eq!(
            findings("iscsi", &disk, Holder::Persistent("pv")),
            [
                "lun: Invalid value: 256: must be between 0 and 255, inclusive",
                "initiatorname: Invalid value: \"x\": must be valid format",
            ]
        );
    }
}
