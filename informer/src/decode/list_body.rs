//! Turns the body of a list into one page, item by item.

use std::fmt;

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
    },
};
use serde_json::value::RawValue;

use super::{
    Decoder, malformed,
    peek::{self, PeekList, Text},
    protocol, status,
};
use crate::{
    known::Known,
    list_watch::{Arrived, ListPage, ListWatchError},
    object::ResourceVersion,
};

impl Decoder {
    /// Decodes the body of a list, whose fields may come in any order.
    ///
    /// # Errors
    ///
    /// The body is not a list of the type that was asked for, has no version, or is only the beginning of a list
    /// ([`ListWatchError::Transport`]). A `Status` in place of a list is that status.
    pub fn list_body<K: DeserializeOwned>(
        &self,
        body: &[u8],
        known: &dyn Known<K>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let mut failure = None;
        let walk = Walk {
            decoder: self,
            known,
            failure: &mut failure,
        };
        let mut json = serde_json::Deserializer::from_slice(body);
        let walked = json
            .deserialize_map(walk)
            .and_then(|list| json.end().map(|()| list));
        let list = match (walked, failure) {
            (_, Some(failure)) => return Err(failure),
            (Err(error), None) => return Err(malformed("a body that is not a list", error)),
            (Ok(list), None) => list,
        };
        if peek::is_status(&list.api_version, &list.kind) {
            return Err(status::parse(body).map_or_else(
                || protocol("a malformed status where a list was asked for"),
                ListWatchError::from,
            ));
        }
        self.page(list)
    }

    fn page<K>(&self, list: WireList<'_, K>) -> Result<ListPage<K>, ListWatchError> {
        if peek::is_table(&list.api_version, &list.kind) {
            return Err(protocol("a table where a list was asked for"));
        }
        if peek::is_partial(&list.api_version, &list.kind) && !self.is_metadata_only {
            return Err(protocol("only metadata where whole objects were asked for"));
        }
        let Some(items) = list.items else {
            return Err(protocol("a list without items"));
        };
        if list.metadata.resource_version.is_empty() {
            return Err(protocol("a list without a version"));
        }
        let token = list.metadata.continue_token;
        Ok(ListPage {
            items,
            resource_version: ResourceVersion::new(&*list.metadata.resource_version),
            continue_token: (!token.is_empty()).then(|| token.to_string()),
        })
    }
}

/// The fields of a list, the items already decoded.
struct WireList<'a, K> {
    api_version: Text<'a>,
    kind: Text<'a>,
    metadata: PeekList<'a>,
    items: Option<Vec<Arrived<K>>>,
}

/// Walks the list's fields. What is wrong with an item beyond its own content ends the walk and is put into `failure`,
/// since serde's errors cannot carry it.
struct Walk<'w, K> {
    decoder: &'w Decoder,
    known: &'w dyn Known<K>,
    failure: &'w mut Option<ListWatchError>,
}

struct WalkItems<'w, 'f, K>(&'f mut Walk<'w, K>);

// === impl Walk ===

impl<'de, K: DeserializeOwned> Visitor<'de> for Walk<'_, K> {
    type Value = WireList<'de, K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut list = WireList {
            api_version: Text::default(),
            kind: Text::default(),
            metadata: PeekList::default(),
            items: None,
        };
        while let Some(field) = map.next_key::<Text<'de>>()? {
            match &*field {
                "apiVersion" => list.api_version = map.next_value()?,
                "kind" => list.kind = map.next_value()?,
                "metadata" => list.metadata = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "items" => list.items = Some(map.next_value_seed(WalkItems(&mut self))?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(list)
    }
}

// === impl WalkItems ===

impl<'de, K: DeserializeOwned> DeserializeSeed<'de> for WalkItems<'_, '_, K> {
    type Value = Vec<Arrived<K>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, K: DeserializeOwned> Visitor<'de> for WalkItems<'_, '_, K> {
    type Value = Vec<Arrived<K>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let walk = self.0;
        let mut arrived = Vec::new();
        while let Some(raw) = items.next_element::<&'de RawValue>()? {
            match walk.decoder.object(raw, Some(walk.known)) {
                Ok(item) => arrived.push(item),
                Err(failure) => {
                    *walk.failure = Some(failure);
                    return Err(A::Error::custom("an item cannot be used"));
                }
            }
        }
        Ok(arrived)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
}
