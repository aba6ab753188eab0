//! The part of a resource that is listed and watched.

/// The part of a resource that is listed and watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the API has these two"
)]
pub enum Scope {
    /// Everything: all namespaces, or the whole of a cluster-scoped resource.
    #[default]
    All,
    /// One namespace.
    Namespace(String),
}
