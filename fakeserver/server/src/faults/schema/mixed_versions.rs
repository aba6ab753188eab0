//! A control plane of two servers whose versions of Kubernetes differ.

use std::collections::BTreeMap;

use fakeserver_versions::KubernetesVersion;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
    definition::pick, fault_rule::Effect,
};

/// The maximum number of clients whose turns are remembered.
const CLIENTS_MAX: usize = 1_024;

/// The parameters of [`Fault::MixedVersions`](crate::faults::Fault::MixedVersions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MixedVersions {
    /// Version of the other server, such as `1.35`; the next one by default, or the one before the newest.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    #[serde(with = "name", skip_serializing_if = "Option::is_none")]
    pub version: Option<KubernetesVersion>,
}

impl Definition for MixedVersions {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F37",
        fault: "mixed_versions",
        parameters: &["version"],
        effect: "Answers each second request of a client as a server of another `version` of Kubernetes does with the same store, \
                 discovery and OpenAPI included: what it does not serve is not found, and the fields that it does not know are \
                 left out of what it reads and writes. A watch stays with its server.",
        models: "a rolling upgrade of a control plane of two servers behind a load balancer",
        suffered: "clients that keep discovery for ever, and those whose fields an older server loses with the next write",
        target: Target::Requests,
        recovery: Recovery::Unaffected,
        properties: &[
            Property::ServerOnly("only the server has another version to answer by"),
            Property::NotDrawn("informers of kinds that both versions serve do not notice it"),
        ],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
        Self {
            version: Some(pick(rng, &all)),
        }
    }

    fn effect(self) -> Box<dyn Effect> {
        Box::new(Turns {
            version: self.version,
            answered: BTreeMap::new(),
        })
    }
}

/// The server whose turn it is, for each client.
#[derive(Debug)]
struct Turns {
    version: Option<KubernetesVersion>,
    /// The clients whose last request was answered by the other server, or not.
    answered: BTreeMap<String, bool>,
}

impl Effect for Turns {
    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        None
    }

    fn served_by(
        &mut self,
        request: &RequestFacts,
        own: KubernetesVersion,
    ) -> Option<KubernetesVersion> {
        if self.answered.len() == CLIENTS_MAX && !self.answered.contains_key(&request.client) {
            // The first request of a client that comes back goes to this server, as that of a new one.
            self.answered.pop_first();
        }
        let by_other = self.answered.entry(request.client.clone()).or_insert(true);
        *by_other = !*by_other;
        by_other.then(|| self.version.unwrap_or_else(|| own.adjacent()))
    }
}

/// The version by its name, such as `1.35`.
mod name {
    use fakeserver_versions::KubernetesVersion;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks so"
    )]
    pub(super) fn serialize<S: Serializer>(
        version: &Option<KubernetesVersion>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match version {
            Some(version) => serializer.serialize_str(version.name()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<KubernetesVersion>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        let version = name.map(|name| name.parse().map_err(D::Error::custom));
        version.transpose()
    }
}
