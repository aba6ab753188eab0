//! The values of nodes: keys of any scalar type, merged mappings, and aliases that are followed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{json::DEPTH_MAX, schema::print_double};

use super::{
    go_syntax,
    limits::Repeatable,
    nodes::{Content, Document, NodeId, Scalar, TOO_DEEP},
    scalar::{PREFIX, resolve},
};

/// The number of values up to which nearly all may come from aliases, and that from which on few may.
const ALIASES: (f64, f64) = (400_000.0, 4_000_000.0);

/// The error of a document whose aliases repeat too much.
const EXCESSIVE_ALIASING: &str = "yaml: document contains excessive aliasing";

/// A value of YAML.
#[derive(Debug, Clone)]
pub(super) enum YamlValue {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    List(Vec<YamlValue>),
    Map(BTreeMap<Key, YamlValue>),
}

/// A key of a mapping. A number and its text are different keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    /// The bits of a float.
    Float(u64),
    Text(String),
}

/// The value of a document, and the keys that are there twice.
pub(super) struct DecodedDocument {
    pub(super) value: YamlValue,
    /// A text for each, with its line.
    pub(super) repeated: Vec<String>,
}

struct Decoder<'a> {
    document: &'a Document,
    repeated: Vec<String>,
    /// The aliases that are being followed.
    followed: BTreeSet<NodeId>,
    decoded: u32,
    decoded_by_alias: u32,
    /// The bytes that aliases may still repeat.
    repeatable: Repeatable,
}

/// Returns the value of a document.
///
/// # Errors
///
/// A value is not what it has to be, in the words of a real server.
pub(super) fn decode(document: &Document) -> Result<DecodedDocument, String> {
    let mut decoder = Decoder {
        document,
        repeated: Vec::new(),
        followed: BTreeSet::new(),
        decoded: 0,
        decoded_by_alias: 0,
        repeatable: Repeatable::of(document.length),
    };
    let value = match document.root {
        Some(root) => decoder.value(root, 0)?,
        None => YamlValue::Null,
    };
    Ok(DecodedDocument {
        value,
        repeated: decoder.repeated,
    })
}

// === impl Decoder ===

impl Decoder<'_> {
    fn value(&mut self, id: NodeId, depth: usize) -> Result<YamlValue, String> {
        self.count(depth)?;
        match &self.document.node(id).content {
            Content::Scalar(scalar) => {
                if !self.followed.is_empty() && !self.repeatable.take(scalar.text.len()) {
                    return Err(EXCESSIVE_ALIASING.to_owned());
                }
                resolve(scalar)
            }
            Content::Alias(name, target) => {
                if !self.followed.insert(id) {
                    return Err(format!("yaml: anchor '{name}' value contains itself"));
                }
                let value = self.value(*target, depth + 1);
                self.followed.remove(&id);
                value
            }
            Content::Sequence(items) => {
                let items = items.iter().map(|item| self.value(*item, depth + 1));
                Ok(YamlValue::List(items.collect::<Result<_, _>>()?))
            }
            Content::Mapping(members) => {
                let mut map = BTreeMap::new();
                self.add_members(members, &mut map, depth)?;
                Ok(YamlValue::Map(map))
            }
        }
    }

    /// Counts a value, and refuses a document that has far more of them than nodes.
    fn count(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(TOO_DEEP.to_owned());
        }
        self.decoded += 1;
        if !self.followed.is_empty() {
            self.decoded_by_alias += 1;
        }
        let (decoded, by_alias) = (f64::from(self.decoded), f64::from(self.decoded_by_alias));
        let (low, high) = ALIASES;
        let allowed = 0.99 - 0.89 * ((decoded - low) / (high - low)).clamp(0.0, 1.0);
        if self.decoded_by_alias > 100 && self.decoded > 1_000 && by_alias / decoded > allowed {
            return Err(EXCESSIVE_ALIASING.to_owned());
        }
        Ok(())
    }

    fn add_members(
        &mut self,
        members: &[(NodeId, NodeId)],
        map: &mut BTreeMap<Key, YamlValue>,
        depth: usize,
    ) -> Result<(), String> {
        for (key, value) in members {
            if is_merge(&self.document.node(*key).content) {
                self.merge(*value, map, depth + 1)?;
                continue;
            }
            let key = Key::of(self.value(*key, depth + 1)?)?;
            let line = self.document.node(*value).line;
            let value = self.value(*value, depth + 1)?;
            if map.contains_key(&key) {
                let key = go_syntax::key(&key);
                let problem = format!("line {line}: key {key} already set in map");
                self.repeated.push(problem);
            }
            map.insert(key, value);
        }
        Ok(())
    }

    /// Adds the members of a mapping, or of several, of which the first counts.
    fn merge(
        &mut self,
        id: NodeId,
        map: &mut BTreeMap<Key, YamlValue>,
        depth: usize,
    ) -> Result<(), String> {
        match &self.document.node(id).content {
            Content::Sequence(items) => {
                let mut items = items.iter().rev();
                items.try_for_each(|item| self.merge_one(*item, map, depth))
            }
            _ => self.merge_one(id, map, depth),
        }
    }

    fn merge_one(
        &mut self,
        id: NodeId,
        map: &mut BTreeMap<Key, YamlValue>,
        depth: usize,
    ) -> Result<(), String> {
        self.count(depth)?;
        let content = &self.document.node(id).content;
        match content {
            Content::Mapping(members) => self.add_members(members, map, depth),
            Content::Alias(name, target) => {
                let Content::Mapping(members) = &self.document.node(*target).content else {
                    return Err(no_map());
                };
                if !self.followed.insert(id) {
                    return Err(format!("yaml: anchor '{name}' value contains itself"));
                }
                let added = self.add_members(members, map, depth + 1);
                self.followed.remove(&id);
                added
            }
            Content::Scalar(_) | Content::Sequence(_) => Err(no_map()),
        }
    }
}

fn no_map() -> String {
    "yaml: map merge requires map or sequence of maps as the value".to_owned()
}

fn is_merge(content: &Content) -> bool {
    matches!(
        content,
        Content::Scalar(Scalar { tag, text, is_plain }) if text == "<<" && (*is_plain || tag.strip_prefix(PREFIX) == Some("merge"))
    )
}

// === impl Key ===

impl Key {
    fn of(value: YamlValue) -> Result<Self, String> {
        Ok(match value {
            YamlValue::Null => Self::Null,
            YamlValue::Bool(value) => Self::Bool(value),
            YamlValue::Int(value) => Self::Int(value),
            YamlValue::Unsigned(value) => Self::Unsigned(value),
            YamlValue::Float(value) => Self::Float(value.to_bits()),
            YamlValue::Text(text) => Self::Text(text),
            YamlValue::List(_) | YamlValue::Map(_) => {
                let text = go_syntax::value(&value);
                return Err(format!("yaml: invalid map key: {text}"));
            }
        })
    }

    /// Returns the name of a member of JSON.
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Float(bits) => go_syntax::name(f64::from_bits(bits)),
            other => go_syntax::key(&other),
        }
    }
}

// === impl YamlValue ===

impl YamlValue {
    /// Converts a value to JSON.
    ///
    /// # Errors
    ///
    /// JSON does not have such a key or such a number, in the words of a real server.
    pub(super) fn into_json(self) -> Result<Value, String> {
        if let Some(error) = self.unsupported_key() {
            return Err(error);
        }
        self.convert()
    }

    /// Returns the error of the first key that does not become a text.
    fn unsupported_key(&self) -> Option<String> {
        match self {
            Self::List(items) => items.iter().find_map(Self::unsupported_key),
            Self::Map(members) => members.iter().find_map(|(key, value)| {
                let kind = match key {
                    Key::Null => "%!s(<nil>)",
                    Key::Unsigned(_) => "uint64",
                    _ => return value.unsupported_key(),
                };
                Some(format!(
                    "unsupported map key of type: {kind}, key: {}, value: {}",
                    go_syntax::key(key),
                    go_syntax::argument(value),
                ))
            }),
            _ => None,
        }
    }

    fn convert(self) -> Result<Value, String> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => json!(value),
            Self::Int(value) => json!(value),
            Self::Unsigned(value) => json!(value),
            Self::Text(text) => Value::String(text),
            Self::Float(value) if value.is_finite() => print_double(value),
            Self::Float(value) => {
                let text = go_syntax::float(value);
                return Err(format!("json: unsupported value: {text}"));
            }
            Self::List(items) => {
                let items = items.into_iter().map(Self::convert);
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Map(members) => {
                let members = members
                    .into_iter()
                    .map(|(key, value)| Ok((key.into_text(), value.convert()?)));
                Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
            }
        })
    }
}
