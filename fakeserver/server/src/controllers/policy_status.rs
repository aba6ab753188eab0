//! The status of validating admission policies: warnings about expressions that do not fit the types of the objects.
//!
//! A real server runs this within kube-controller-manager, so it works here beside the controllers of workloads. Expressions
//! are checked against every kind that the rules name without a wildcard.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use fakeserver_cel::{Objects, Type, names::unescape};
use fakeserver_kinds::{
    ResourceType, admission::validating_admission_policy, expression::DeclaredVariables,
    registry::Registry,
};
use fakeserver_value::{
    read::{items, text},
    schema::{Schema, SchemaType},
};
use serde_json::{Value, json};

use super::{
    cluster::Cluster,
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::store::ObjectKey;

/// The name of the controller, and of the manager of the status.
const NAME: &str = "validatingadmissionpolicy-status";
/// The number of kinds that a rule names at which no further ones are looked for.
const TYPES_MAX: usize = 10;

/// Returns the controller.
pub(super) fn controller() -> Box<dyn Controller> {
    Box::new(PolicyStatus)
}

#[derive(Debug)]
struct PolicyStatus;

/// The types of the fields of some kinds, by their schemas. The name of a type is that of its kind with the path to the field.
struct BySchema(Vec<Arc<ResourceType>>);

// === impl PolicyStatus ===

impl Controller for PolicyStatus {
    fn name(&self) -> &'static str {
        NAME
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&validating_admission_policy::KIND) && change.after.is_some() {
            due.add(change.key().clone(), Duration::ZERO);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _: &mut KeyQueue<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let policy = stored.to_value();
        let generation = policy["metadata"]["generation"]
            .as_i64()
            .unwrap_or_default();
        let observed = policy["status"]["observedGeneration"]
            .as_i64()
            .unwrap_or_default();
        if generation <= observed {
            return;
        }
        let warnings = warnings(&cluster.backend.registry(), &policy);
        let checked = if warnings.is_empty() {
            json!({})
        } else {
            json!({"expressionWarnings": warnings})
        };
        let status = json!({"observedGeneration": generation, "typeChecking": checked});
        cluster.apply_status(key, NAME, &status);
    }
}

/// Returns the warnings about the validations of a policy.
fn warnings(registry: &Registry, policy: &Value) -> Vec<Value> {
    let spec = &policy["spec"];
    let kinds = kinds(registry, spec);
    let params = param_kind(registry, &spec["paramKind"]);
    let mut warnings = Vec::new();
    for (index, validation) in items(&spec["validations"]).iter().enumerate() {
        for field in ["expression", "messageExpression"] {
            let expression = text(&validation[field]);
            if expression.is_empty() {
                continue;
            }
            let issues = kinds
                .iter()
                .filter_map(|kind| issue(kind, params.as_ref(), spec, expression));
            let issues: Vec<String> = issues.collect();
            if !issues.is_empty() {
                warnings.push(json!({
                    "fieldRef": format!("spec.validations[{index}].{field}"),
                    "warning": issues.join("\n"),
                }));
            }
        }
    }
    warnings
}

/// Returns what is wrong with an expression about objects of a kind.
fn issue(
    kind: &Arc<ResourceType>,
    params: Option<&Arc<ResourceType>>,
    spec: &Value,
    expression: &str,
) -> Option<String> {
    let types: Vec<Arc<ResourceType>> = [Some(kind), params]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let name = |of: &Arc<ResourceType>| Type::object(&of.kind);
    let of_params = spec["paramKind"]
        .is_object()
        .then(|| params.map_or(Type::Dyn, name));
    let mut declared = DeclaredVariables::typed(&name(kind), of_params, Arc::new(BySchema(types)))
        .with_variables();
    for variable in items(&spec["variables"]) {
        // Errors of a variable are reported for the expressions that read it. An invalid variable has the dynamic type.
        let _ = declared.add_variable(text(&variable["name"]), text(&variable["expression"]));
    }
    let issue = declared.issue(expression)?;
    Some(format!(
        "{}, Kind={}: {issue}\n",
        group_version(kind),
        kind.kind
    ))
}

fn group_version(kind: &ResourceType) -> String {
    format!("{}/{}", kind.group, kind.version)
}

/// Returns the kinds that the rules of a policy name without a wildcard, by group, version and name.
fn kinds(registry: &Registry, spec: &Value) -> Vec<Arc<ResourceType>> {
    let mut found = BTreeMap::new();
    for rule in items(&spec["matchConstraints"]["resourceRules"]) {
        let named = kinds_of_rule(registry, rule);
        let is_last = named.len() == TYPES_MAX;
        for resource in named {
            let [group, version, kind] =
                [&resource.group, &resource.version, &resource.kind].map(Arc::clone);
            found.insert((group, version, kind), resource);
        }
        if is_last {
            break;
        }
    }
    found.into_values().collect()
}

/// Returns the first kinds that a rule names, in the order of the names.
fn kinds_of_rule(registry: &Registry, rule: &Value) -> Vec<Arc<ResourceType>> {
    let names = |field: &str| -> BTreeSet<&str> { items(&rule[field]).iter().map(text).collect() };
    let (groups, versions) = (names("apiGroups"), names("apiVersions"));
    let mut all = groups.iter().chain(&versions);
    if all.any(|name| name.contains('*')) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for group in groups {
        for version in &versions {
            let served = registry.version(group, version);
            for name in names("resources") {
                let mut resources = served.into_iter().flat_map(|served| &served.resources);
                found.extend(
                    resources
                        .find(|resource| *resource.plural == *name)
                        .cloned(),
                );
            }
        }
    }
    found.truncate(TYPES_MAX);
    found
}

fn param_kind(registry: &Registry, kind: &Value) -> Option<Arc<ResourceType>> {
    let api_version = text(&kind["apiVersion"]);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let mut resources = registry.version(group, version)?.resources.iter();
    resources
        .find(|resource| kind["kind"] == *resource.kind)
        .cloned()
}

// === impl BySchema ===

impl Objects for BySchema {
    fn field(&self, name: &str, field: &str) -> Option<Type> {
        let mut path = name.split('.');
        let kind = path.next()?;
        let resource = self.0.iter().find(|resource| *resource.kind == *kind)?;
        let mut schema = resource.described().schema?;
        for segment in path {
            schema = match segment {
                "@idx" => schema.items()?,
                "@elem" => schema.additional()?,
                name => schema.field(name)?,
            };
        }
        let property = unescape(field)?;
        let found = schema.property(&property)?;
        Some(type_of(&format!("{name}.{property}"), found))
    }
}

/// Returns the type of the values that a schema describes. `name` is that of the type, if it is one of objects.
fn type_of(name: &str, schema: Schema<'_>) -> Type {
    match (schema.ty(), schema.format()) {
        (SchemaType::Any | SchemaType::IntOrString, _) => Type::Dyn,
        (SchemaType::String, Some("byte")) => Type::Bytes,
        (SchemaType::String, Some("date-time")) => Type::Timestamp,
        (SchemaType::String, Some("duration")) => Type::Duration,
        (SchemaType::String, _) => Type::String,
        (SchemaType::Integer, _) => Type::Int,
        (SchemaType::Number, _) => Type::Double,
        (SchemaType::Boolean, _) => Type::Bool,
        (SchemaType::Array, _) => {
            let items = schema.items();
            Type::list(items.map_or(Type::Dyn, |items| type_of(&format!("{name}.@idx"), items)))
        }
        (SchemaType::Object, _) => match schema.additional() {
            Some(value) => Type::map(Type::String, type_of(&format!("{name}.@elem"), value)),
            None if schema.properties().next().is_none() => Type::Dyn,
            None => Type::object(name),
        },
    }
}
