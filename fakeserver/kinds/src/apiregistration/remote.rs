//! APIs of other servers: API services that name a service of the cluster.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::api_service::PORT;
use crate::conditions;

/// The group that describes the others: no service takes it over.
const OWN_GROUP: &str = "apiregistration.k8s.io";
/// The condition that says whether an API is available.
pub const AVAILABLE: &str = "Available";

/// A version of a group that another server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteApi {
    /// The name of the API service: version and group.
    pub name: String,
    pub group: String,
    pub version: String,
    pub service: ServiceReference,
    /// The certificates that may sign that of the service, in PEM.
    pub ca_bundle: Vec<u8>,
    /// True if any certificate is accepted.
    pub skips_verification: bool,
    pub priorities: Priorities,
}

/// A port of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReference {
    pub namespace: String,
    pub name: String,
    pub port: u16,
}

/// The place of a version in discovery: the highest number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priorities {
    pub group: i64,
    pub version: i64,
}

// === impl RemoteApi ===

impl RemoteApi {
    /// Reads a stored API service; `None` for one that is local.
    #[doc(alias = "APIService")]
    pub fn parse(service: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &service["spec"];
        let reference = spec["service"].as_object()?;
        let port = reference.get("port").and_then(Value::as_u64);
        Some(Self {
            name: text(&service["metadata"]["name"]),
            group: text(&spec["group"]),
            version: text(&spec["version"]),
            service: ServiceReference {
                namespace: text(&spec["service"]["namespace"]),
                name: text(&spec["service"]["name"]),
                port: port
                    .and_then(|port| u16::try_from(port).ok())
                    .unwrap_or(PORT),
            },
            ca_bundle: STANDARD.decode(text(&spec["caBundle"])).unwrap_or_default(),
            skips_verification: spec["insecureSkipTLSVerify"] == true,
            priorities: Priorities::of(service),
        })
    }

    /// Returns the version as objects name it.
    pub fn group_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Returns the path of the version, below which the other server answers.
    pub fn path(&self) -> String {
        let root = if self.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        format!("{root}/{}", self.group_version())
    }

    /// Returns whether requests for a path go to the other server. The legacy group has its list of versions there, too.
    pub fn serves(&self, path: &str) -> bool {
        if self.group == OWN_GROUP {
            return false;
        }
        let root = if self.group.is_empty() {
            "/api".to_owned()
        } else {
            self.path()
        };
        let rest = path.strip_prefix(root.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

// === impl ServiceReference ===

impl ServiceReference {
    /// Returns the name of the service in the cluster, which its certificate has to name.
    pub fn host(&self) -> String {
        format!("{}.{}.svc", self.name, self.namespace)
    }
}

// === impl Priorities ===

impl Priorities {
    /// Reads those of a stored API service.
    pub fn of(service: &Value) -> Self {
        let spec = &service["spec"];
        Self {
            group: spec["groupPriorityMinimum"].as_i64().unwrap_or_default(),
            version: spec["versionPriority"].as_i64().unwrap_or_default(),
        }
    }
}

/// Returns whether an API service may name a service, without parsing it: most are those that the server makes.
pub fn may_be_remote(json: &[u8]) -> bool {
    memchr::memmem::find(json, b"\"service\"").is_some()
}

/// Returns whether a stored API service has the condition of one that is available.
pub fn is_available(service: &Value) -> bool {
    let available = conditions::find(&service["status"], AVAILABLE);
    available.is_some_and(|available| available["status"] == "True")
}
