//! The files of definitions, and the versions in them that cannot be tried.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    kinds::ObjectRef,
    workload::{Action, Workload},
};

/// The files that folders have for kustomize, and that hold no objects.
const OF_KUSTOMIZE: [&str; 3] = [
    "kustomization.yaml",
    "kustomization.yml",
    "kustomizeconfig.yaml",
];

/// Returns the files that paths name: themselves, or of a folder and those in it the files of YAML and JSON, in the order of their
/// names, but for those of kustomize.
///
/// # Errors
///
/// A folder cannot be read.
pub fn definition_files(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let failed = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot read {}: {error}", path.display()),
            )
        };
        let entries = fs::read_dir(path).map_err(failed)?;
        let inside: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut inside = inside.map_err(failed)?;
        inside.sort();
        inside.retain(|path| path.is_dir() || is_manifest(path));
        files.extend(definition_files(&inside)?);
    }
    Ok(files)
}

fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml" | "json")) && !OF_KUSTOMIZE.iter().any(|of| name == *of)
}

/// Fails if a step names an object in a version that a webhook has to convert: steps are taken behind the API, where none is asked.
pub(super) fn check_conversion(
    workload: &Workload,
    definitions: &[Value],
    paths: &[PathBuf],
) -> Result<(), String> {
    for (place, step) in workload.steps.iter().enumerate() {
        let objects: Vec<ObjectRef> = match &step.action {
            Action::Apply(objects) => objects.iter().map(ObjectRef::to).collect(),
            action => action.object().into_iter().cloned().collect(),
        };
        for object in objects {
            let mut found = definitions.iter();
            let Some(definition) = found.find(|it| is_converted(it, &object)) else {
                continue;
            };
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            let file = file_of(name, paths)
                .map_or(String::new(), |file| format!(" in {}", file.display()));
            return Err(format!(
                "{}: {} is in a version that the webhook of the CustomResourceDefinition {name}{file} has to convert, and a \
                 step asks none: give the step in the storage version, or the definition `conversion: {{strategy: None}}`",
                workload.step_named(place),
                object
            ));
        }
    }
    Ok(())
}

/// Returns whether an object is of a definition with a webhook, and in another version than the stored one.
fn is_converted(definition: &Value, object: &ObjectRef) -> bool {
    let spec = &definition["spec"];
    let Some((group, version)) = object.api_version.split_once('/') else {
        return false;
    };
    let versions = spec["versions"].as_array().into_iter().flatten();
    let mut stored = versions.filter(|it| it["storage"] == true);
    spec["conversion"]["strategy"] == "Webhook"
        && spec["group"] == group
        && spec["names"]["kind"] == object.kind.as_str()
        && stored.any(|it| it["name"] != version)
}

/// Returns the first file that says the name of a definition.
fn file_of(name: &str, paths: &[PathBuf]) -> Option<PathBuf> {
    let files = definition_files(paths).unwrap_or_default();
    let says = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(name));
    files.into_iter().find(says)
}
