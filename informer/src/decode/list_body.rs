//! Takes the body of a list apart, item by item.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    DecodedItem, Decoder, ItemContext, malformed,
    peek::{self, PeekList, Text},
    protocol, status,
};
use crate::{
    held_objects::HeldObjects,
    list_watch::{ArrivedObject, ListPage, ListWatchError, Status},
    object::ResourceVersion,
    shard::ShardFilter,
};

/// The body of a list, its items found but not yet decoded.
///
/// Decoding a large list takes long: a caller on a runtime's thread decodes item by item, and yields in between.
#[derive(Debug)]
pub struct ListBody<'a> {
    decoder: &'a Decoder,
    items: std::vec::IntoIter<&'a RawValue>,
    end: ListEnd,
}

/// The rest of a list, without its items.
#[derive(Debug)]
pub(crate) struct ListEnd {
    pub(crate) resource_version: ResourceVersion,
    pub(crate) continue_token: Option<String>,
    /// The shard that the list says it is of.
    shard: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireList<'a> {
    #[serde(borrow, default)]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow)]
    metadata: Option<PeekList<'a>>,
    /// Null stands for no items; `None` for a missing field.
    #[serde(borrow, default, deserialize_with = "items_or_null")]
    items: Option<Vec<&'a RawValue>>,
}

fn items_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<&'de RawValue>>, D::Error> {
    let items = Option::<Vec<&RawValue>>::deserialize(deserializer)?;
    Ok(Some(items.unwrap_or_default()))
}

// === impl Decoder ===

impl Decoder {
    /// Finds the items in the body of a list, whose fields may come in any order.
    ///
    /// # Errors
    ///
    /// The body is not a list of the type that was asked for, has no version, or is only the beginning of a list
    /// ([`ListWatchError::Transport`]). A `Status` in place of a list is that status.
    pub fn list_body<'a>(&'a self, body: &'a [u8]) -> Result<ListBody<'a>, ListWatchError> {
        let list: WireList<'a> = serde_json::from_slice(body)
            .map_err(|error| malformed("a body that is not a list", error))?;
        if peek::is_status(&list.api_version, &list.kind) {
            return Err(status_or_malformed(status::parse(body)));
        }
        self.check_list_type(&list.api_version, &list.kind)?;
        let Some(items) = list.items else {
            return Err(protocol("a list without items"));
        };
        let end = ListEnd::new(&list.metadata.unwrap_or_default())?;
        Ok(ListBody {
            decoder: self,
            items: items.into_iter(),
            end,
        })
    }

    /// Refuses other forms of lists than the one that was asked for.
    pub(super) fn check_list_type(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<(), ListWatchError> {
        if peek::is_table(api_version, kind) {
            return Err(protocol("a table where a list was asked for"));
        }
        if peek::is_partial(api_version, kind) && !self.is_metadata_only {
            return Err(protocol("only metadata where whole objects were asked for"));
        }
        Ok(())
    }
}

// === impl ListEnd ===

impl ListEnd {
    /// Reads the metadata of a list.
    ///
    /// # Errors
    ///
    /// The list has no version.
    pub(super) fn new(metadata: &PeekList<'_>) -> Result<Self, ListWatchError> {
        if metadata.resource_version.is_empty() {
            return Err(protocol("a list without a version"));
        }
        let token = &metadata.continue_token;
        Ok(Self {
            resource_version: ResourceVersion::new(&*metadata.resource_version),
            continue_token: (!token.is_empty()).then(|| token.to_string()),
            shard: metadata
                .shard_info
                .as_ref()
                .map(|info| info.selector.to_string()),
        })
    }

    /// Notes whether the list says that it is of the shard.
    ///
    /// # Errors
    ///
    /// The list says that it is of another shard: objects of the wanted one may be missing.
    pub(crate) fn check_shard(&self, filter: &ShardFilter) -> Result<(), ListWatchError> {
        match &self.shard {
            Some(shard) if !filter.note_echo(shard) => {
                let wanted = filter.selector();
                Err(protocol(format!(
                    "a list of {shard:?} where {wanted:?} was asked for"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the page with these items.
    pub(crate) fn into_page<K>(self, items: Vec<ArrivedObject<K>>) -> ListPage<K> {
        ListPage {
            items,
            resource_version: self.resource_version,
            continue_token: self.continue_token,
        }
    }
}

/// Returns the error of an answer that is a status in place of a list.
pub(super) fn status_or_malformed(status: Option<Status>) -> ListWatchError {
    status.map_or_else(
        || protocol("a malformed status where a list was asked for"),
        ListWatchError::from,
    )
}

// === impl ListBody ===

impl<'a> ListBody<'a> {
    /// Decodes the next item, or takes it from what is held; `None` after the last.
    ///
    /// # Errors
    ///
    /// An item that has no name or version, or is not of the type that was asked for: the whole list is of no use then.
    pub fn next_item<K: DeserializeOwned>(
        &mut self,
        held: &dyn HeldObjects<K>,
    ) -> Option<Result<ArrivedObject<K>, ListWatchError>> {
        let json = self.next_json()?;
        let object = self.decoder.object(json, &ItemContext::typed(Some(held)));
        object.map(DecodedItem::arrived).transpose()
    }

    /// The JSON of the next item; `None` after the last.
    pub(crate) fn next_json(&mut self) -> Option<&'a str> {
        self.items.next().map(RawValue::get)
    }

    /// Returns the token of the next page; `None` on the last.
    pub(crate) fn continue_token(&self) -> Option<&str> {
        self.end.continue_token.as_deref()
    }

    /// Returns the bytes outside of items.
    pub(crate) fn into_end(self) -> ListEnd {
        self.end
    }

    /// Returns the number of items that are left.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if no items are left.
    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }

    /// The page with these items.
    pub fn into_page<K>(self, items: Vec<ArrivedObject<K>>) -> ListPage<K> {
        self.end.into_page(items)
    }
}
