//! Paths of resources.

/// The path of a collection, an object or a subresource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath {
    pub group: String,
    pub version: String,
    pub namespace: Option<String>,
    pub resource: String,
    pub name: Option<String>,
    pub subresource: Option<String>,
    /// True if it is one of the deprecated paths below `/watch/`.
    pub is_watch: bool,
}
