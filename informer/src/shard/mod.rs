//! Shards: parts of a resource's objects, so that several copies of a program can share the work.
//!
//! A [`Shard`] is one of several parts into which all objects fall by the hash of their uids or of their namespaces. An informer
//! [of a shard](crate::http::HttpListWatch::with_shard) asks the server for that part alone (`shardSelector`, KEP-5866, alpha in
//! Kubernetes 1.36), and holds nothing else, whatever the server sends.
//!
//! # Servers that do not select
//!
//! A server that does not know the parameter, or has its feature gate off, sends everything. The informer drops what is
//! outside of its shard as soon as it has read the metadata, so that the cache is the same, and reports it: once in the log, in
//! [`SharedInformer::shard_status`](crate::SharedInformer::shard_status), and in metrics. The cost is the server's and the
//! network's: each of `n` shards transfers all objects and all events, and scans them, where it would transfer one `n`-th. Memory
//! and handlers are spared.
//!
//! A list of whole objects of a server that does select is marked; the informer verifies it, and rejects a list of another
//! part. Lists of metadata, of custom resources, and streaming lists do not say it; then nothing is known unless something
//! had to be dropped.
//!
//! # Which objects belong together
//!
//! By uid, objects of one kind are spread evenly, but an object and those that it owns are in different shards. By namespace,
//! all objects of a namespace are in one shard, and some shards may have much more to do. Both never change during an object's
//! life. An object that is deleted and made again has another uid.
//!
//! # Examples
//!
//! ```
//! use informer::{Scope, SharedInformer, http::HttpListWatch, shard::{Shard, ShardField}};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! # fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let second_of_four = Shard::new(ShardField::Uid, 1, 4)?;
//! let pods = HttpListWatch::<Pod>::new(client, Scope::All).with_shard(second_of_four);
//! let informer = SharedInformer::builder(pods).build()?;
//! # Ok(())
//! # }
//! ```

mod filter;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::filter::{ShardFilter, ShardStatus, WhoSelects};
use crate::{entropy::fnv1a, object::Metadata};

/// The number of hashes.
const HASH_COUNT: u128 = 1 << 64;

/// One of several parts of a resource's objects. Printed as in `shard 1 of 4 by uid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    field: ShardField,
    index: u32,
    count: u32,
}

/// The field whose hash decides in which shard an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the API has these two"
)]
pub enum ShardField {
    /// `metadata.uid`: objects are spread evenly.
    #[default]
    Uid,
    /// `metadata.namespace`: the objects of a namespace stay together.
    Namespace,
}

/// A shard that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no shard {index} of {count}: shards are counted from zero")]
#[non_exhaustive]
pub struct NoSuchShard {
    /// The index.
    pub index: u32,
    /// The number of shards.
    pub count: u32,
}

// === impl Shard ===

impl Shard {
    /// Returns the shard `index`, counted from zero, of `count`.
    ///
    /// # Errors
    ///
    /// `index` is not less than `count`.
    pub fn new(field: ShardField, index: u32, count: u32) -> Result<Self, NoSuchShard> {
        if index < count {
            Ok(Self {
                field,
                index,
                count,
            })
        } else {
            Err(NoSuchShard { index, count })
        }
    }

    /// Returns all shards of `count`, in order: together they are everything, and no two of them have an object in common.
    pub fn all(field: ShardField, count: u32) -> impl Iterator<Item = Self> {
        (0..count).map(move |index| Self {
            field,
            index,
            count,
        })
    }

    /// Returns the field whose hash decides.
    pub fn field(&self) -> ShardField {
        self.field
    }

    /// Returns the number of this shard, counted from zero.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the number of shards.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns true if an object is in the shard.
    pub fn contains(&self, metadata: &Metadata) -> bool {
        self.contains_value(match self.field {
            ShardField::Uid => &metadata.uid,
            ShardField::Namespace => metadata.key.namespace(),
        })
    }

    /// Returns true if objects whose field has this value are in the shard.
    pub fn contains_value(&self, value: &str) -> bool {
        // The server's hash, too.
        let hash = u128::from(fnv1a(value));
        self.start() <= hash && hash < self.end()
    }

    /// Returns the selector by which a server selects the shard.
    pub fn selector(&self) -> String {
        let field = match self.field {
            ShardField::Uid => "uid",
            ShardField::Namespace => "namespace",
        };
        let (start, end) = (self.start(), self.end());
        format!("shardRange(object.metadata.{field}, '{start:#018x}', '{end:#018x}')")
    }

    /// Returns the first hash.
    fn start(&self) -> u128 {
        HASH_COUNT * u128::from(self.index) / u128::from(self.count)
    }

    /// Returns the first hash that follows the shard.
    fn end(&self) -> u128 {
        HASH_COUNT * (u128::from(self.index) + 1) / u128::from(self.count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            index,
            count,
        } = self;
        write!(f, "shard {index} of {count} by {field}")
    }
}

// === impl ShardField ===

impl fmt::Display for ShardField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uid => "uid",
            Self::Namespace => "namespace",
        })
    }
}
