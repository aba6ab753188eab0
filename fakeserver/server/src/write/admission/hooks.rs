//! The webhooks of all configurations.

use std::sync::Arc;

use fakeserver_value::resource::GroupVersionKind;
use serde_json::Value;

use super::{Attributes, Invocation, Resource, Webhook};

/// The webhooks of a server, in the order of their calls.
#[derive(Debug, Default)]
pub struct Hooks {
    pub(super) mutating: Vec<Arc<Webhook>>,
    pub(super) validating: Vec<Arc<Webhook>>,
}

/// Which webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Mutating,
    Validating,
}

// === impl Hooks ===

impl Hooks {
    /// The webhooks of configurations that are in the order of their names.
    pub fn new(
        mutating: impl IntoIterator<Item = Value>,
        validating: impl IntoIterator<Item = Value>,
    ) -> Self {
        Self {
            mutating: webhooks_of(mutating),
            validating: webhooks_of(validating),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.mutating.is_empty() && self.validating.is_empty()
    }

    /// Returns whether the rules of any webhook match a write, before its objects are known. `versions` are those under
    /// which rules may name the resource, with the kind of the request in each.
    pub fn concern(
        &self,
        phase: Phase,
        attributes: &Attributes,
        versions: &[(Resource, GroupVersionKind)],
    ) -> bool {
        let webhooks = match phase {
            Phase::Mutating => &self.mutating,
            Phase::Validating => &self.validating,
        };
        let equivalents = equivalents(attributes, versions);
        webhooks
            .iter()
            .any(|webhook| webhook.invocation(attributes, &equivalents).is_some())
    }
}

/// The other versions under which rules may name what is written.
pub fn equivalents(
    attributes: &Attributes,
    versions: &[(Resource, GroupVersionKind)],
) -> Vec<Invocation> {
    let others = versions
        .iter()
        .filter(|(resource, _)| *resource != attributes.resource);
    others
        .map(|(resource, kind)| Invocation {
            resource: resource.clone(),
            kind: kind.clone(),
        })
        .collect()
}

fn webhooks_of(configurations: impl IntoIterator<Item = Value>) -> Vec<Arc<Webhook>> {
    let each = configurations.into_iter().flat_map(|configuration| {
        let name = configuration["metadata"]["name"]
            .as_str()
            .unwrap_or_default();
        let webhooks = configuration["webhooks"].as_array();
        let webhooks = webhooks.into_iter().flatten();
        webhooks
            .map(|webhook| Arc::new(Webhook::parse(name, webhook)))
            .collect::<Vec<_>>()
    });
    each.collect()
}
