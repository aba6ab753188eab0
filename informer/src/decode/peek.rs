//! Reads the metadata of an object or a list and skips the rest.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use super::{
    intern::Interner,
    outline::{MetadataOutline, outline},
    protocol,
};
use crate::{
    list_watch::ListWatchError,
    object::{Metadata, ObjectKey, OwnerReference, ResourceVersion},
    serde_layer::Lengths,
};

/// An object's type and metadata, borrowed from its JSON. Managed fields, annotations and the content are not built.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Peek<'a> {
    #[serde(borrow)]
    pub(super) api_version: Text<'a>,
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    metadata: PeekMetadata<'a>,
    /// The lengths of its arrays, if they were measured.
    #[serde(skip)]
    pub(super) lengths: Lengths,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PeekMetadata<'a> {
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow)]
    labels: Texts<'a>,
    #[serde(borrow)]
    owner_references: Option<Vec<PeekOwner<'a>>>,
    deletion_timestamp: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PeekOwner<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    controller: Option<bool>,
}

/// The content of a bookmark.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PeekBookmark<'a> {
    #[serde(borrow)]
    pub(super) metadata: PeekBookmarkMetadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PeekBookmarkMetadata<'a> {
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow)]
    pub(super) annotations: Texts<'a>,
}

/// The metadata of a list.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PeekList<'a> {
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow, rename = "continue")]
    pub(super) continue_token: Text<'a>,
    #[serde(borrow)]
    pub(super) shard_info: Option<PeekShardInfo<'a>>,
}

/// The shard that a list is of.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PeekShardInfo<'a> {
    #[serde(borrow)]
    pub(super) selector: Text<'a>,
}

/// A string, borrowed where it has no escapes. Null is the empty one, as for the server.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(Cow<'a, str>);

/// A map of strings. Null is the empty one.
#[derive(Debug, Default)]
pub(super) struct Texts<'a>(Vec<(Text<'a>, Text<'a>)>);

/// The API version and the kind of an object that is reduced to its metadata.
pub(super) const PARTIAL: (&str, &str) = ("meta.k8s.io/v1", "PartialObjectMetadata");

/// Returns true for the names of the server's `Table` form of a list or an object.
pub(super) fn is_table(api_version: &str, kind: &str) -> bool {
    kind == "Table" && api_version.starts_with("meta.k8s.io/")
}

/// Returns true for the names of an object, or a list of them, reduced to metadata.
pub(super) fn is_partial(api_version: &str, kind: &str) -> bool {
    matches!(kind, "PartialObjectMetadata" | "PartialObjectMetadataList")
        && api_version.starts_with("meta.k8s.io/")
}

/// Returns true for the names of a `Status`.
pub(super) fn is_status(api_version: &str, kind: &str) -> bool {
    kind == "Status" && matches!(api_version, "v1" | "")
}

// === impl Peek ===

impl<'a> Peek<'a> {
    /// Reads `json`, of which the rest may be no JSON.
    pub(super) fn of(json: &'a str) -> serde_json::Result<Self> {
        let Some(outline) = outline(json) else {
            return serde_json::from_str(json);
        };
        Ok(Self {
            api_version: part(outline.api_version)?,
            kind: part(outline.kind)?,
            metadata: PeekMetadata::of(&outline.metadata)?,
            lengths: outline.lengths,
        })
    }

    /// The same, with all of it checked.
    pub(super) fn whole(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Sets the type, which stands outside of the object.
    #[cfg(feature = "protobuf")]
    pub(super) fn set_type(&mut self, api_version: &'a str, kind: &'a str) {
        self.api_version = Text(api_version.into());
        self.kind = Text(kind.into());
    }

    /// Converts into owned metadata; equal parts are shared with other objects.
    ///
    /// # Errors
    ///
    /// If the object has no name or version: it could not be stored, nor distinguished from another version of itself.
    pub(super) fn into_metadata(self, interner: &mut Interner) -> Result<Metadata, ListWatchError> {
        let meta = self.metadata;
        if meta.name.is_empty() {
            return Err(protocol("an object without a name"));
        }
        if meta.resource_version.is_empty() {
            return Err(protocol("an object without a version"));
        }
        let labels = meta.labels.0.iter().map(|(key, value)| (&**key, &**value));
        let owners = meta.owner_references.iter().flatten();
        let owners: Vec<_> = owners.map(PeekOwner::to_reference).collect();
        Ok(Metadata {
            key: ObjectKey::new(interner.text(&meta.namespace), &*meta.name),
            uid: (&*meta.uid).into(),
            resource_version: ResourceVersion::new(&*meta.resource_version),
            labels: interner.labels(&labels),
            owners: interner.owners(&owners),
            is_terminating: meta.deletion_timestamp.is_some(),
        })
    }
}

// === impl PeekMetadata ===

impl<'a> PeekMetadata<'a> {
    fn of(outline: &MetadataOutline<'a>) -> serde_json::Result<Self> {
        Ok(Self {
            namespace: part(outline.namespace)?,
            name: part(outline.name)?,
            uid: part(outline.uid)?,
            resource_version: part(outline.resource_version)?,
            labels: part(outline.labels)?,
            owner_references: part(outline.owner_references)?,
            deletion_timestamp: part(outline.deletion_timestamp)?,
        })
    }
}

fn part<'a, T: Default + Deserialize<'a>>(json: Option<&'a str>) -> serde_json::Result<T> {
    json.map_or_else(|| Ok(T::default()), serde_json::from_str)
}

// === impl PeekOwner ===

impl PeekOwner<'_> {
    fn to_reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: (&*self.api_version).into(),
            kind: (&*self.kind).into(),
            name: (&*self.name).into(),
            uid: (&*self.uid).into(),
            is_controller: self.controller == Some(true),
        }
    }
}

// === impl Text ===

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or null")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

// === impl Texts ===

impl Texts<'_> {
    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;

        impl<'de> Visitor<'de> for TextsVisitor {
            type Value = Texts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings or null")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::with_capacity(map.size_hint().unwrap_or_default());
                while let Some(entry) = map.next_entry()? {
                    texts.push(entry);
                }
                Ok(Texts(texts))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Texts::default())
            }
        }

        deserializer.deserialize_any(TextsVisitor)
    }
}
