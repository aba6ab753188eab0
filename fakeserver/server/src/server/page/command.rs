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
    /// Shows objects of a resource from now on, or no longer.
    View(Option<View>),
    /// Shows one object from now on, or no longer.
    Object(Option<Shown>),
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
    /// All namespaces if there is none.
    pub(super) namespace: Option<String>,
    /// The path from which on objects are shown, `namespace/name` or `name`.
    #[serde(default)]
    pub(super) start: String,
    /// The maximum number of objects.
    pub(super) limit: usize,
}

/// The object that a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
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
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: String,
}

// === impl Control ===

impl Control {
    /// Returns the request that it stands for.
    pub(super) fn asked(self) -> Asked {
        let action = match self {
            Self::Compact => "compact",
            Self::Expire => "expire",
            Self::Disconnect => "disconnect",
            Self::Reset => "reset",
            Self::Snapshot => "snapshot",
        };
        Asked::post(action, String::new())
    }
}

// === impl Asked ===

impl Asked {
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
