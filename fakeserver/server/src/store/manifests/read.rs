//! Reads the objects of paths.

use std::{
    fs,
    path::{Path, PathBuf},
};

use fakeserver_value::yaml;
use serde_json::Value;

use super::{FileError, FileList, Manifest, ManifestError, Origin};

/// The number of files that are read.
const FILES_MAX: usize = 1_000_000;

/// Reads the manifests at `paths`: files of any name, and files in directories with a suffix of YAML or JSON.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Manifest>, ManifestError> {
    let mut files = FileList::new(FILES_MAX);
    for path in paths {
        files.add(path);
    }
    if let Some(error) = files.errors.into_iter().next() {
        return Err(error.into());
    }
    let mut manifests = Vec::new();
    for file in &files.files {
        read_file(file, &mut manifests)?;
    }
    manifests.sort_by_key(Manifest::precedence);
    Ok(manifests)
}

fn read_file(file: &Path, manifests: &mut Vec<Manifest>) -> Result<(), ManifestError> {
    let bytes = fs::read(file).map_err(|source| FileError::NotRead {
        path: file.to_owned(),
        source,
    })?;
    let documents = documents(file, &bytes).map_err(|reason| ManifestError::Syntax {
        file: file.to_owned(),
        reason,
    })?;
    for (index, document) in documents.into_iter().enumerate() {
        let origin = Origin {
            file: file.to_owned(),
            document: index + 1,
            item: None,
        };
        unfold(origin, document, manifests)?;
    }
    Ok(())
}

/// The documents of a file, without the empty ones.
pub(super) fn documents(file: &Path, bytes: &[u8]) -> Result<Vec<Value>, String> {
    let is_json = file.extension().is_some_and(|it| it == "json");
    if is_json || bytes.trim_ascii_start().starts_with(b"{") {
        let documents = serde_json::Deserializer::from_slice(bytes).into_iter();
        match documents.collect::<Result<Vec<Value>, _>>() {
            Ok(documents) => return Ok(documents),
            Err(error) if is_json => return Err(error.to_string()),
            // A mapping of YAML in flow style begins as JSON does.
            Err(_) => {}
        }
    }
    let documents = yaml::documents(bytes)?;
    Ok(documents.into_iter().map(|it| it.value).collect())
}

/// Adds the objects of a document: itself, or the items of a list.
fn unfold(
    origin: Origin,
    document: Value,
    manifests: &mut Vec<Manifest>,
) -> Result<(), ManifestError> {
    let Value::Object(mut fields) = document else {
        return Err(ManifestError::NoObject {
            origin,
            reason: "this is no object with kind and apiVersion".to_owned(),
        });
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (kind, api_version) = (text(fields.get("kind")), text(fields.get("apiVersion")));
    let is_list = kind.ends_with("List")
        && fields
            .get("metadata")
            .is_none_or(|m| m.get("name").is_none());
    if !is_list {
        manifests.push(Manifest {
            origin: Some(origin),
            object: Value::Object(fields),
        });
        return Ok(());
    }
    let items = match fields.remove("items") {
        Some(Value::Array(items)) => items,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => {
            let reason = format!("the items of this {kind} are no list");
            return Err(ManifestError::NoObject { origin, reason });
        }
    };
    // The items of a typed list may lack kind and apiVersion.
    let item_kind = kind.strip_suffix("List").unwrap_or_default();
    for (index, mut item) in items.into_iter().enumerate() {
        if let Some(fields) = item.as_object_mut()
            && !item_kind.is_empty()
        {
            fields.entry("kind").or_insert_with(|| item_kind.into());
            let version = || api_version.as_str().into();
            fields.entry("apiVersion").or_insert_with(version);
        }
        let origin = Origin {
            item: Some(index + 1),
            ..origin.clone()
        };
        if !item.is_object() {
            return Err(ManifestError::NoObject {
                origin,
                reason: "this is no object with kind and apiVersion".to_owned(),
            });
        }
        manifests.push(Manifest {
            origin: Some(origin),
            object: item,
        });
    }
    Ok(())
}
