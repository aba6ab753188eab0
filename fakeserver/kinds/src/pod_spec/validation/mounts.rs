//! Validation of mounts and devices.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};

use crate::pod_spec::validation::{containers::Pod, volumes::check_descending};

pub(super) fn check_mounts(pod: &Pod<'_>, container: &Field<'_>, found: &mut Findings) {
    let mounts = container.at("volumeMounts");
    let devices = container.at("volumeDevices");
    let mut places = BTreeSet::new();
    for mount in mounts.items() {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        if !name.has_text() {
            found.required(&name, "");
        }
        if !pod.volumes.iter().any(|volume| volume.name == name.text()) {
            found.not_found(&name);
        }
        if !path.has_text() {
            found.required(&path, "");
        }
        if !places.insert(path.text()) {
            found.invalid(&path, "must be unique");
        }
        if devices
            .items()
            .any(|device| device.get("name") == name.value())
        {
            found.invalid(&name, "must not already exist in volumeDevices");
        }
        if devices
            .items()
            .any(|device| device.get("devicePath") == path.value())
        {
            found.invalid(&path, "must not already exist as a path in volumeDevices");
        }
        let (below, computed) = (mount.at("subPath"), mount.at("subPathExpr"));
        check_descending(&below.called_within(&mounts, "subPath"), found);
        if below.has_text() && computed.has_text() {
            found.invalid(&computed, "subPathExpr and subPath are mutually exclusive");
        }
        check_descending(&computed.called_within(&mounts, "subPathExpr"), found);
        check_propagation(container, &mount.at("mountPropagation"), found);
        check_recursion(&mounts, &mount, found);
    }
}

fn check_propagation(container: &Field<'_>, propagation: &Field<'_>, found: &mut Findings) {
    if !propagation.is_set() {
        return;
    }
    let field = propagation.called_within(&container.at("volumeMounts"), "mountPropagation");
    let supported = ["Bidirectional", "HostToContainer", "None"];
    if !supported.contains(&field.text()) {
        found.not_supported(&field, &supported);
    }
    let context = container.at("securityContext");
    if field.text() == "Bidirectional" && !context.at("privileged").is_true() {
        found.forbidden(
            &field,
            "Bidirectional mount propagation is available only to privileged containers",
        );
    }
}

fn check_recursion(mounts: &Field<'_>, mount: &Field<'_>, found: &mut Findings) {
    let field = mount.at("recursiveReadOnly");
    if !field.is_set() {
        return;
    }
    let field = field.called_within(mounts, "recursiveReadOnly");
    match field.text() {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.at("readOnly").is_true() {
                found.forbidden(&field, "may only be specified when readOnly is true");
            }
            if !matches!(mount.at("mountPropagation").text(), "" | "None") {
                found.forbidden(
                    &field,
                    "may only be specified when mountPropagation is None or not specified",
                );
            }
        }
        _ => found.not_supported(&field, &["Disabled", "Enabled", "IfPossible"]),
    }
}

pub(super) fn check_devices(pod: &Pod<'_>, container: &Field<'_>, found: &mut Findings) {
    let mounts = container.at("volumeMounts");
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for device in container.at("volumeDevices").items() {
        let (name, path) = (device.at("name"), device.at("devicePath"));
        if !name.has_text() {
            found.required(&name, "");
        } else if !names.insert(name.text()) {
            found.invalid(&name, "must be unique");
        }
        match pod.volumes.iter().find(|volume| volume.name == name.text()) {
            None => found.not_found(&name),
            Some(volume) if !volume.is_claim => found.invalid(
                &name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            ),
            Some(_) => {}
        }
        if !path.has_text() {
            found.required(&path, "");
        }
        if !paths.insert(path.text()) {
            found.invalid(&path, "must be unique");
        }
        if path.text().split('/').any(|part| part == "..") {
            found.invalid(&path, "can not contain backsteps ('..')");
        }
        if mounts
            .items()
            .any(|mount| mount.get("name") == name.value())
        {
            found.invalid(&name, "must not already exist in volumeMounts");
        }
        if mounts
            .items()
            .any(|mount| mount.get("mountPath") == path.value())
        {
            found.invalid(&path, "must not already exist as a path in volumeMounts");
        }
    }
}
