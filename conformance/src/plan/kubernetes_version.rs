//! Versions of Kubernetes in plans, by their names.

use fakeserver::KubernetesVersion;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(super) fn serialize<S: Serializer>(
    version: &KubernetesVersion,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(version.name())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<KubernetesVersion, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(D::Error::custom)
}
