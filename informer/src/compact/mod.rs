//! Objects held as compressed bytes, in a small fraction of the memory of decoded ones, and decoded when they are read.
//!
//! An informer of [`Compact<K>`](Compact) holds objects in this form; [`Object::decode`](crate::Object#method.decode) reads
//! one. An informer of `K` holds them decoded, and [`Object::get`](crate::Object::get) cannot fail.
//!
//! An object arrives encoded and stays uncompressed in the *young area*, since what changes often is replaced before it is
//! worth compressing. When that area is full, its older half is compressed in one batch by a dictionary that was
//! trained on the resource's own objects: on a runtime with several threads in the background, otherwise immediately,
//! so that a simulation remains the same from run to run.
//!
//! Readers of one object share the decoded form while any of them holds it; the last few that were decoded are kept.
//!
//! # When to choose it
//!
//! | objects are held | choose it when | what it costs |
//! |---|---|---|
//! | typed (the default) | they are few, or read all the time | 67 KB for a pod of 7.9 KB JSON, 32 KB without its managed fields |
//! | compact | they are many, and read by key now and then | 1.4 KB for such a pod; a read of one that no reader holds decodes it, some tens of microseconds |
//! | metadata only (`PartialObjectMeta<K>`) | only names, labels, owners and annotations are needed | the server sends nothing else; as compact as the objects' metadata |
//!
//! Indices and filters over metadata cost nothing more in a compact store, those over fields unpack the object but do not
//! build it, and those over the object itself decode each version that arrives: there the typed store is the better choice.
//! `benches/README.md` has the figures.
//!
//! # What differs
//!
//! - The syntax and the metadata are checked when an object arrives. An object that its type does not accept fails at the first
//!   read, with a [`DecodeError`](crate::DecodeError), and is not in the list of undecodable objects.
//! - A transform, set by
//!   [`with_decode_transform`](crate::SharedInformerBuilder::with_decode_transform), changes an object
//!   whenever it is decoded; the parts that it drops still take (compressed) memory. If it fails, the read fails.
//! - Indices and filters over the object itself are made by [`IndexFn::fallible`](crate::IndexFn::fallible) and
//!   [`Filter::fallible`](crate::Filter::fallible), from the handle.

mod options;
mod dictionary;
mod samples;
mod young;
mod live;
mod object;
mod packer;
#[cfg(feature = "_shuttle")]
mod store;
#[cfg(test)]
mod tests;

#[cfg(feature = "_shuttle")]
pub use self::store::CompactStore;
pub(crate) use self::{object::Change, packer::Packer};
pub use self::{object::Compact, options::CompactOptions};
