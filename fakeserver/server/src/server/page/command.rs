//! The messages of the page.

use http::Method;
use serde::Deserialize;
use serde_json::Value;

/// The first message of a page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    pub(super) token: String,
}

/// Any other message of a page.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Command {
    /// Starts or stops showing the objects of a resource.
    View(Option<View>),
    /// Starts or stops showing an object.
    Object(Option<ObjectName>),
    /// Posts to `/_control`.
    Control(Control),
    /// Installs a fault, or several.
    Fault(Value),
    /// Removes the fault with this id.
    Remove(u64),
}

/// The part of a resource's objects that a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct View {
    pub(super) group: String,
    pub(super) resource: String,
    /// `None` means all namespaces.
    pub(super) namespace: Option<String>,
    /// The path of the first object, `namespace/name` or `name`.
    #[serde(default)]
    pub(super) start: String,
    /// The maximum number of objects.
    pub(super) limit: usize,
}

/// The object that a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectName {
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

/// An action of `/_control` that takes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Control {
    Compact,
    Expire,
    Disconnect,
    Reset,
    Snapshot,
}

/// A request to the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ControlRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: String,
}

// === impl Control ===

impl Control {
    /// Returns the request that it stands for.
    pub(super) fn request(self) -> ControlRequest {
        let action = match self {
            Self::Compact => "compact",
            Self::Expire => "expire",
            Self::Disconnect => "disconnect",
            Self::Reset => "reset",
            Self::Snapshot => "snapshot",
        };
        ControlRequest::post(action, String::new())
    }
}

// === impl ControlRequest ===

impl ControlRequest {
    fn post(action: &str, body: String) -> Self {
        Self {
            method: Method::POST,
            path: format!("/_control/{action}"),
            body,
        }
    }

    pub(super) fn install(spec: &Value) -> Self {
        Self::post("faults", spec.to_string())
    }

    pub(super) fn remove(id: u64) -> Self {
        Self {
            method: Method::DELETE,
            path: format!("/_control/faults/{id}"),
            body: String::new(),
        }
    }
}
