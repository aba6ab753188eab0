//! Order, ownership, refusals, and properties of every history of applies.

mod order;
mod ownership;
mod refusals;
mod histories;

use serde_json::{Map, Value, json};

use super::{Applier, ApplyError};
use crate::{
    managed_fields::{Manager, described},
    schema::{canonical, type_of_kind, types},
};

pub(super) const NOW: &str = "2026-01-01T00:00:00Z";
pub(super) const LATER: &str = "2026-01-01T00:01:00Z";

/// An object to which configurations are applied.
#[derive(Clone, Debug, Default)]
pub(super) struct AppliedObject {
    pub(super) object: Option<Value>,
}

/// The options of an apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplyOptions<'a> {
    pub(super) manager: &'a str,
    pub(super) subresource: &'a str,
    pub(super) is_forced: bool,
    pub(super) now: &'a str,
}

pub(super) fn by(manager: &str) -> ApplyOptions<'_> {
    ApplyOptions {
        manager,
        subresource: "",
        is_forced: false,
        now: NOW,
    }
}

pub(super) fn by_force(manager: &str) -> ApplyOptions<'_> {
    ApplyOptions {
        is_forced: true,
        ..by(manager)
    }
}

// === impl AppliedObject ===

impl AppliedObject {
    pub(super) fn apply(
        &mut self,
        how: ApplyOptions<'_>,
        config: &Value,
    ) -> Result<&Value, ApplyError> {
        let text = |field: &str| config[field].as_str().unwrap_or_default();
        let described = described(text("apiVersion"), text("kind"));
        let applier = Applier {
            manager: Manager {
                name: how.manager,
                api_version: text("apiVersion"),
                subresource: how.subresource,
            },
            is_forced: how.is_forced,
            described,
            now: how.now,
        };
        applier.check(config, text("kind"))?;
        let object = applier.apply(self.object.as_ref(), config)?;
        let (group, version) = text("apiVersion")
            .split_once('/')
            .unwrap_or(("", text("apiVersion")));
        let object = match type_of_kind(group, version, text("kind")) {
            Some(id) => canonical(types(), id, object),
            None => object,
        };
        Ok(self.object.insert(object))
    }

    /// Returns the fields by owner: managers by their names, those that update with a star.
    pub(super) fn owners(&self) -> Value {
        let entries = self.object.as_ref().unwrap()["metadata"]["managedFields"].as_array();
        let owners = entries.into_iter().flatten().map(|entry| {
            let star = if entry["operation"] == "Update" {
                "*"
            } else {
                ""
            };
            let name = format!("{}{star}", entry["manager"].as_str().unwrap());
            (name, entry["fieldsV1"].clone())
        });
        owners.collect::<Map<_, _>>().into()
    }
}

pub(super) fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

/// A deployment with these containers.
pub(super) fn deployment(containers: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": containers}}},
    })
}

pub(super) fn containers(object: &Value) -> &Value {
    &object["spec"]["template"]["spec"]["containers"]
}
