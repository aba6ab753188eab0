//! Objects held as compressed bytes: a small fraction of what decoded ones take, decoded when they are looked into.
//!
//! An object arrives as JSON and stays as it is in the *young area*, since what changes often is replaced before it is worth
//! compressing. When that area is full, its older half is compressed in one batch by a dictionary that was trained on the
//! resource's own objects: on a runtime with several threads beside what goes on, else at once, so that a simulation remains
//! the same from run to run.
//!
//! Whoever reads an object shares the decoded one with everybody who still holds it; the last few that were decoded are kept.
//!
//! # When to choose it
//!
//! | objects are held | choose it when | what it costs |
//! |---|---|---|
//! | typed (the default) | they are few, or read all the time | 67 KB for a pod of 7.9 KB JSON, 32 KB without its managed fields |
//! | compact | they are many, and read by key now and then | 1.4 KB for such a pod; a read of one that nobody holds decodes it, some tens of microseconds |
//! | metadata only (`PartialObjectMeta<K>`) | only names, labels, owners and annotations are needed | the server sends nothing else; as compact as the objects' metadata |
//!
//! Indices and filters over metadata cost nothing more in a compact store, those over fields unpack the object but do not
//! build it, and those over the object itself decode each version that arrives: there the typed store is the better choice.
//! `benches/README.md` has the figures.
//!
//! # What differs
//!
//! - That an object is JSON, and has sound metadata, is checked when it arrives. What its type refuses is found at the first
//!   read, as a [`DecodeError`](crate::object::DecodeError) with its key, and not in the list of undecodable objects.
//! - A transform changes what is read, when it is decoded, and is called again for each time it is decoded anew; what it drops
//!   takes (compressed) memory all the same. One that fails is found at the first read, too.

mod options;
mod dictionary;
mod samples;
mod young;
mod live;
mod cell;
mod packer;
#[cfg(test)]
mod tests;

pub use self::options::CompactOptions;
pub(crate) use self::{
    cell::{Cell, Change},
    packer::Packer,
};
