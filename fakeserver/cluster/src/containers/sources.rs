//! The interface to objects and tokens that the containers of a pod need.

use std::collections::BTreeMap;

use serde_json::Value;

/// The entries of a config map or a secret, decoded.
pub(crate) type Entries = BTreeMap<String, Vec<u8>>;

/// The objects near a pod, and the tokens of its service account.
pub(crate) trait PodSources {
    /// Returns the entries of a config map of the pod's namespace.
    fn config_map(&self, name: &str) -> Option<Entries>;

    /// Returns the entries of a secret of the pod's namespace.
    fn secret(&self, name: &str) -> Option<Entries>;

    /// Returns the services that containers know by variables: those of the namespace with an address, and `kubernetes`.
    fn services(&self) -> Vec<Value>;

    /// Returns a token of the pod's service account, for the server itself if the audience is empty.
    fn token(&self, audience: &str, seconds: i64) -> Option<String>;
}
