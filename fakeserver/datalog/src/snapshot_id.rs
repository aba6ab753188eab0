//! The snapshot that a log continues.

/// The facts by which a log knows its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: its content, its place in the log, and its predecessor"
)]
pub struct SnapshotId {
    /// A text that no other content has, such as a digest.
    pub mark: String,
    /// The number of the last commit in it.
    pub sequence: u64,
    /// The mark of the snapshot whose log it replaces.
    pub after: Option<String>,
}
