//! Shard selectors: ranges of hashes of an object's uid or namespace.

use std::fmt;

/// A union of ranges of hashes of one field. The one without ranges selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardSelector {
    field: ShardField,
    ranges: Vec<HashRange>,
}

/// The field whose hash decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardField {
    #[default]
    Uid,
    Namespace,
}

/// A range of hashes, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashRange {
    pub start: u128,
    pub end: u128,
}

// === impl ShardSelector ===

impl ShardSelector {
    /// Creates the selector of ranges of one field.
    pub fn new(field: ShardField, ranges: Vec<HashRange>) -> Self {
        Self { field, ranges }
    }

    /// Returns whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns whether an object is selected.
    pub fn matches(&self, uid: &str, namespace: Option<&str>) -> bool {
        if self.ranges.is_empty() {
            return true;
        }
        let hash = hash(match self.field {
            ShardField::Uid => uid,
            ShardField::Namespace => namespace.unwrap_or_default(),
        });
        self.ranges.iter().any(|range| range.contains(hash))
    }
}

impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.ranges.iter().enumerate() {
            let separator = if index > 0 { " || " } else { "" };
            let (field, HashRange { start, end }) = (self.field.path(), range);
            write!(
                f,
                "{separator}shardRange({field}, '{start:#018x}', '{end:#018x}')"
            )?;
        }
        Ok(())
    }
}

/// Returns the 64-bit FNV-1a hash of a text.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

// === impl ShardField ===

impl ShardField {
    /// Returns the path of the field, as selectors name it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

// === impl HashRange ===

impl HashRange {
    fn contains(self, hash: u64) -> bool {
        (self.start..self.end).contains(&u128::from(hash))
    }
}
