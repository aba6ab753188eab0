//! The versions of a definition, and what belongs to all of them.

use std::collections::BTreeSet;

use fakeserver_value::{read::text, status::FieldError};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    internal_spec::{InternalSpec, VersionedPart},
    invalid, label_problem, printed,
    schema::{self, SchemaCheck},
    selectable::selectable_errors,
};
use crate::custom_resources::{deprecation::warning_errors, printer_column::column_errors};

/// A spec that is checked, and the one that it replaces.
#[derive(Debug)]
pub(super) struct CheckedSpec<'a> {
    kubernetes: KubernetesVersion,
    spec: &'a InternalSpec<'a>,
    old: Option<&'a InternalSpec<'a>>,
}

// === impl CheckedSpec ===

impl<'a> CheckedSpec<'a> {
    pub(super) fn new(
        kubernetes: KubernetesVersion,
        spec: &'a InternalSpec<'a>,
        old: Option<&'a InternalSpec<'a>>,
    ) -> Self {
        Self {
            kubernetes,
            spec,
            old,
        }
    }

    /// Checks what each version has of its own, and what names them.
    pub(super) fn check_versions(&self, errors: &mut Vec<FieldError>) {
        let spec = self.spec;
        self.check_schemas_exist(errors);
        let mut has_defaults = false;
        for schema in spec.schemas() {
            schema::walk(schema, &mut |schema| has_defaults |= has_default(schema));
        }
        if has_defaults && spec.preserves_unknown_fields() {
            errors.push(FieldError::invalid(
                "spec.preserveUnknownFields",
                &json!(true),
                "must be false in order to use defaults in the schema",
            ));
        }
        for (index, version) in spec.versions.iter().enumerate() {
            let path = format!("spec.versions[{index}]");
            if let Some(problem) = label_problem(text(&version["name"])) {
                let name = json!(text(&version["name"]));
                errors.push(invalid(&format!("{path}.name"), &name, &problem));
            }
            self.check_version(index, &path, errors);
        }
        self.check_names(errors);
    }

    /// Checks what all versions share.
    pub(super) fn check_common(&self, errors: &mut Vec<FieldError>) {
        let spec = self.spec;
        let versions = 0..spec.versions.len();
        let has_status = |index: usize| !spec.subresources(index)["status"].is_null();
        let validation = spec.common(VersionedPart::Schema);
        let first = spec
            .versions
            .first()
            .map_or(&Value::Null, |first| &first["name"]);
        let check = SchemaCheck {
            kubernetes: self.kubernetes,
            has_status: versions.into_iter().any(has_status),
            suppresses_cost: self.has_same_schema(first),
        };
        schema::check_validation(validation, "spec.validation", check, errors);
        check_subresources(
            spec.common(VersionedPart::Subresources),
            "spec.subresources",
            errors,
        );
        errors.extend(column_errors(
            spec.common(VersionedPart::Columns),
            "spec.additionalPrinterColumns",
        ));
        let selectable = spec.common(VersionedPart::SelectableFields);
        if !is_empty_list(selectable) {
            if validation.is_null() {
                errors.push(FieldError::invalid(
                    "spec.selectableFields",
                    &json!(""),
                    "may only be set when validations.schema is included",
                ));
            } else {
                let schema = &validation["openAPIV3Schema"];
                errors.extend(selectable_errors(
                    selectable,
                    schema,
                    "spec.selectableFields",
                ));
            }
        }
    }

    fn check_version(&self, index: usize, path: &str, errors: &mut Vec<FieldError>) {
        let (spec, version) = (self.spec, &self.spec.versions[index]);
        errors.extend(warning_errors(version, path));
        let validation = spec.own(index, VersionedPart::Schema);
        let check = SchemaCheck {
            kubernetes: self.kubernetes,
            has_status: !spec.subresources(index)["status"].is_null(),
            suppresses_cost: self.has_same_schema(&version["name"]),
        };
        schema::check_validation(validation, &format!("{path}.schema"), check, errors);
        let subresources = spec.own(index, VersionedPart::Subresources);
        check_subresources(subresources, &format!("{path}.subresources"), errors);
        errors.extend(column_errors(
            spec.own(index, VersionedPart::Columns),
            &format!("{path}.additionalPrinterColumns"),
        ));
        let selectable = spec.own(index, VersionedPart::SelectableFields);
        if is_empty_list(selectable) {
            return;
        }
        let schema = &validation["openAPIV3Schema"];
        let path = format!("{path}.selectableFields");
        if schema.is_null() {
            errors.push(FieldError::invalid(
                path,
                &json!(""),
                "may only be set when `version.schema.openAPIV3Schema` is not included",
            ));
        } else {
            errors.extend(selectable_errors(selectable, schema, &path));
        }
    }

    /// Returns whether the version with a name has the schema that it had.
    fn has_same_schema(&self, name: &Value) -> bool {
        let old = self.old.and_then(|old| old.schema_of(name));
        old.is_some() && old == self.spec.schema_of(name)
    }

    fn check_schemas_exist(&self, errors: &mut Vec<FieldError>) {
        if !self.spec.common(VersionedPart::Schema)["openAPIV3Schema"].is_null() {
            return;
        }
        for index in 0..self.spec.versions.len() {
            if self.spec.own(index, VersionedPart::Schema)["openAPIV3Schema"].is_null() {
                let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
                errors.push(FieldError::required(path, ""));
            }
        }
    }

    fn check_names(&self, errors: &mut Vec<FieldError>) {
        let versions = self.spec.versions;
        let mut refuse = |why: &str| {
            errors.push(FieldError::invalid_printed(
                "spec.versions",
                &printed::versions(self.spec),
                why,
            ));
        };
        let names: BTreeSet<&str> = versions.iter().map(|one| text(&one["name"])).collect();
        if names.len() < versions.len() {
            refuse("must contain unique version names");
        }
        let stored = versions.iter().filter(|one| one["storage"] == true);
        if stored.count() != 1 {
            refuse("must have exactly one version marked as storage version");
        }
        // The internal form has the name of the first version a second time.
        let first = versions.first().map_or("", |first| text(&first["name"]));
        if !first.is_empty()
            && let Some(problem) = label_problem(first)
        {
            errors.push(invalid("spec.version", &json!(first), &problem));
        }
    }
}

fn has_default(schema: &Value) -> bool {
    schema
        .get("default")
        .is_some_and(|default| !default.is_null())
}

fn is_empty_list(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

fn check_subresources(subresources: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let scale = &subresources["scale"];
    if scale.is_null() {
        return;
    }
    for (field, part) in [
        ("specReplicasPath", ".spec"),
        ("statusReplicasPath", ".status"),
    ] {
        let given = text(&scale[field]);
        let path = format!("{path}.scale.{field}");
        if given.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if !given.starts_with('.') {
            errors.push(not_simple(&path, given));
        } else if !given.starts_with(&format!("{part}.")) {
            let detail = format!("should be a json path under {part}");
            errors.push(invalid(&path, &json!(given), &detail));
        }
    }
    let given = text(&scale["labelSelectorPath"]);
    let path = format!("{path}.scale.labelSelectorPath");
    if given.is_empty() {
    } else if !given.starts_with('.') {
        errors.push(not_simple(&path, given));
    } else if !given.starts_with(".spec.") && !given.starts_with(".status.") {
        let detail = "should be a json path under either .spec or .status";
        errors.push(invalid(&path, &json!(given), detail));
    }
}

fn not_simple(path: &str, given: &str) -> FieldError {
    let detail = "must be a simple json path starting with .";
    invalid(path, &json!(given), detail)
}

/// Returns the errors of the versions in which objects may be stored.
pub(super) fn stored_version_errors(crd: &Value) -> Vec<FieldError> {
    const PATH: &str = "status.storedVersions";
    let stored = &crd["status"]["storedVersions"];
    let names = stored.as_array().map(Vec::as_slice).unwrap_or_default();
    if names.is_empty() {
        let detail = "must have at least one stored version";
        return vec![FieldError::invalid(PATH, &Value::Null, detail)];
    }
    let versions = crd["spec"]["versions"].as_array();
    let versions = versions.map(Vec::as_slice).unwrap_or_default();
    let mut errors = Vec::new();
    // Each name serves one version; remaining names belong to no version.
    let mut left: Vec<(usize, &Value)> = names.iter().enumerate().collect();
    for version in versions {
        let found = left.iter().position(|(_, name)| **name == version["name"]);
        if let Some(found) = found {
            left.remove(found);
        } else if version["storage"] == true {
            let detail = format!("must have the storage version {}", text(&version["name"]));
            errors.push(FieldError::invalid(PATH, stored, &detail));
        }
    }
    for (index, name) in left {
        let detail = format!(
            "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until \
             a storage migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions",
            text(name)
        );
        errors.push(invalid(&format!("{PATH}[{index}]"), name, &detail));
    }
    errors
}
