//! A change of a selection, between the reflector that receives it and the cache that applies it.

use crate::object::{DecodeError, Object, ObjectKey, ResourceVersion};

/// One change of a selection.
///
/// The wire's words for a new and a changed object are one here: the cache decides by what it holds.
#[doc(alias = "DeltaType")]
#[derive(Debug)]
#[non_exhaustive]
pub enum Delta<K> {
    /// The object was added or modified on the server.
    #[doc(alias = "Added")]
    #[doc(alias = "Updated")]
    Upserted(Object<K>),
    /// The object left the selection, in this last state.
    Deleted(Object<K>),
    /// A version of the object cannot be decoded: what is held under its key is out of date.
    Undecodable(DecodeError),
    /// The object left the selection, and its last state cannot be decoded.
    DeletedUndecodable(DecodeError),
    /// The whole state, in one item: all other objects are deleted.
    ReplacedAll(Replacement<K>),
    /// All changes up to this version were written before.
    #[doc(alias = "ReflectorBookmarkStore")]
    #[doc(alias = "BookmarkInfo")]
    Bookmark(ResourceVersion),
}

/// The state of a selection at one version.
#[doc(alias = "ReplacedAllInfo")]
#[derive(Debug)]
#[non_exhaustive]
pub struct Replacement<K> {
    /// The objects, in no promised order.
    pub objects: Vec<Object<K>>,
    /// The objects that exist on the server but cannot be decoded.
    pub undecodable: Vec<DecodeError>,
    /// The version at which this is exact.
    pub resource_version: ResourceVersion,
    /// True if the server was asked for its most recent state, so that this holds even where versions went back (a server
    /// restored from a backup).
    pub is_authoritative: bool,
}

// === impl Delta ===

impl<K> Delta<K> {
    /// Returns the one key that the change is about; `None` for a change of the whole state.
    pub fn key(&self) -> Option<&ObjectKey> {
        match self {
            Self::Upserted(object) | Self::Deleted(object) => Some(object.key()),
            Self::Undecodable(error) | Self::DeletedUndecodable(error) => Some(&error.key),
            Self::ReplacedAll(_) | Self::Bookmark(_) => None,
        }
    }
}

// === impl Replacement ===

impl<K> Replacement<K> {
    /// Creates the state `objects` at `resource_version`, not authoritative.
    pub fn new(objects: Vec<Object<K>>, resource_version: ResourceVersion) -> Self {
        Self {
            objects,
            undecodable: Vec::new(),
            resource_version,
            is_authoritative: false,
        }
    }
}
