//! Objects that are accepted, as warnings look at them.

use fakeserver_value::field::Field;
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

/// An object that is accepted, for warnings.
pub struct AcceptedObject<'a> {
    /// The version of Kubernetes whose warnings count.
    pub kubernetes: KubernetesVersion,
    pub object: Field<'a>,
    /// The object that it replaces; absent if it is new.
    pub old: Field<'a>,
    pub is_new: bool,
    /// It is new, or its desired state has changed.
    pub is_next_generation: bool,
}

// === impl AcceptedObject ===

impl<'a> AcceptedObject<'a> {
    pub(super) fn new(
        kubernetes: KubernetesVersion,
        object: &'a Value,
        old: Option<&'a Value>,
    ) -> Self {
        let generation = |object: &Value| object["metadata"]["generation"].as_i64();
        Self {
            kubernetes,
            object: Field::root(object),
            old: Field::root(old.unwrap_or(&Value::Null)),
            is_new: old.is_none(),
            is_next_generation: old.is_none_or(|old| generation(old) != generation(object)),
        }
    }

    /// Returns true if the version has a feature on by default, or a change that came without a gate.
    pub fn is_on(&self, name: &str) -> bool {
        self.kubernetes.gates().is_on(name)
    }

    pub fn metadata(&self) -> Field<'a> {
        self.object.at("metadata")
    }
}
