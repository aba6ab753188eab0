//! Changes to a valid object, each of one thing.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::{
    metadata,
    odd::{self, pick},
    schema::Schema,
    value,
    value_position::{ValuePosition, at, at_mut, places, remove},
};

/// The kinds of changes and their weights.
const CHANGES: [(Change, u32); 15] = [
    (Change::Text, 22),
    (Change::Field, 16),
    (Change::Value, 12),
    (Change::Drop, 11),
    (Change::Number, 9),
    (Change::Type, 7),
    (Change::Metadata, 9),
    (Change::Unknown, 4),
    (Change::Empty, 4),
    (Change::Null, 4),
    (Change::Repeat, 5),
    (Change::Key, 3),
    (Change::Enum, 5),
    (Change::Swap, 2),
    (Change::Item, 3),
];
/// The number of draws until one can be applied.
const ATTEMPT_COUNT_MAX: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Another text.
    Text,
    /// One more field, which the schema has.
    Field,
    /// Another value by the schema.
    Value,
    /// One field or item less.
    Drop,
    /// Another number.
    Number,
    /// A value of another type.
    Type,
    /// Something in the metadata.
    Metadata,
    /// A field that the schema has not.
    Unknown,
    /// An empty value.
    Empty,
    /// A null.
    Null,
    /// An item twice.
    Repeat,
    /// Another key.
    Key,
    /// Another of the allowed values.
    Enum,
    /// Two items in the other order.
    Swap,
    /// One more item, by the schema.
    Item,
}

/// Changes one thing of an object, and returns a note about it.
pub(super) fn mutate(
    rng: &mut ChaCha8Rng,
    object: &mut Value,
    schema: Option<Schema<'_>>,
) -> String {
    for _ in 0..ATTEMPT_COUNT_MAX {
        let change = CHANGES.choose_weighted(rng, |(_, weight)| *weight);
        let change = change.map_or(Change::Text, |(change, _)| *change);
        if let Some(note) = apply(rng, change, object, schema) {
            return note;
        }
    }
    String::new()
}

fn apply(
    rng: &mut ChaCha8Rng,
    change: Change,
    object: &mut Value,
    schema: Option<Schema<'_>>,
) -> Option<String> {
    if change == Change::Metadata {
        return Some(format!("metadata {}", metadata::mutate(rng, object)));
    }
    let mut places = places(object, schema);
    let root = ValuePosition {
        path: Vec::new(),
        schema,
    };
    if matches!(change, Change::Field | Change::Unknown) {
        places.push(root);
    }
    places.retain(|place| {
        at(object, &place.path).is_some_and(|value| change.fits(value, place.schema))
    });
    let place = places.choose(rng)?;
    let detail = perform(rng, change, object, place)?;
    let path = place.path.join(".");
    Some(format!("{} {path}{detail}", change.name()))
}

/// Performs a change at a place that it fits, and returns more about it.
fn perform(
    rng: &mut ChaCha8Rng,
    change: Change,
    object: &mut Value,
    place: &ValuePosition<'_>,
) -> Option<String> {
    let path = &place.path;
    match change {
        Change::Drop => drop(remove(object, path)?),
        Change::Key => {
            let value = remove(object, path)?;
            let key = odd::text(rng, path.last()?);
            let above = at_mut(object, &path[..path.len() - 1])?;
            above.as_object_mut()?.insert(key, value);
        }
        _ => {
            let value = at_mut(object, path)?;
            let name = path.last().map_or("", String::as_str);
            return replace(rng, change, value, (place.schema, name));
        }
    }
    Some(String::new())
}

fn replace(
    rng: &mut ChaCha8Rng,
    change: Change,
    value: &mut Value,
    (schema, name): (Option<Schema<'_>>, &str),
) -> Option<String> {
    let new = match (change, &*value) {
        (Change::Text, Value::String(old)) => json!(odd::text(rng, old)),
        (Change::Number, Value::Number(old)) => odd::number(rng, old),
        (Change::Type, old) => odd::other_type(rng, old),
        (Change::Null, _) => Value::Null,
        (Change::Value, _) => value::odd_of(rng, schema?, name),
        (Change::Empty, Value::Object(_)) => json!({}),
        (Change::Empty, Value::Array(_)) => json!([]),
        (Change::Enum, _) => schema?.allowed().choose(rng)?.clone(),
        (Change::Unknown, Value::Object(_)) => {
            let name = pick(rng, &["bogus", "Spec", "x-y", "metaData", "$patch"]);
            let unknown = pick(
                rng,
                &[json!("a"), json!(1), json!({}), json!([]), json!({"a": 1})],
            );
            value.as_object_mut()?.insert(name.to_owned(), unknown);
            return Some(format!(" + {name}"));
        }
        (Change::Field, Value::Object(old)) => {
            let (name, field) = new_field(rng, old, schema?)?;
            let new = value::odd_of(rng, field, &name);
            value.as_object_mut()?.insert(name.clone(), new);
            return Some(format!(" + {name}"));
        }
        (Change::Repeat | Change::Swap | Change::Item, Value::Array(_)) => {
            change_items(rng, change, value.as_array_mut()?, schema)?;
            return Some(String::new());
        }
        _ => return None,
    };
    *value = new;
    Some(String::new())
}

/// Draws a field that an object has not.
fn new_field<'a>(
    rng: &mut ChaCha8Rng,
    old: &Map<String, Value>,
    schema: Schema<'a>,
) -> Option<(String, Schema<'a>)> {
    let skipped = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
    let fields: Vec<(&str, Schema<'a>)> = schema
        .fields()
        .filter(|(name, _)| !old.contains_key(*name) && !skipped(name))
        .collect();
    if let Some((name, field)) = fields.choose(rng) {
        return Some(((*name).to_owned(), *field));
    }
    let key = pick(
        rng,
        &["a", "Z", "example.com/b", "cpu", "requests.cpu", "x y"],
    );
    Some((key.to_owned(), schema.values()?))
}

fn change_items(
    rng: &mut ChaCha8Rng,
    change: Change,
    items: &mut Vec<Value>,
    schema: Option<Schema<'_>>,
) -> Option<()> {
    match change {
        Change::Repeat => {
            let item = items.choose(rng)?.clone();
            items.push(item);
        }
        Change::Swap => {
            let place = rng.random_range(0..items.len().checked_sub(1)?);
            items.swap(place, place + 1);
        }
        _ => {
            let schema = schema?.items()?;
            items.push(value::odd_of(rng, schema, ""));
        }
    }
    Some(())
}

// === impl Change ===

impl Change {
    fn fits(self, value: &Value, schema: Option<Schema<'_>>) -> bool {
        let has_schema = schema.is_some();
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Enum => schema.is_some_and(|schema| schema.allowed().len() > 1),
            Self::Empty => is_full(value),
            Self::Repeat => value.as_array().is_some_and(|items| !items.is_empty()),
            Self::Swap => value.as_array().is_some_and(|items| items.len() > 1),
            Self::Item => value.is_array() && has_schema,
            Self::Field => value.is_object() && has_schema,
            Self::Value => has_schema,
            Self::Unknown => value.is_object(),
            Self::Drop | Self::Type | Self::Null | Self::Key | Self::Metadata => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Field => "field",
            Self::Value => "value",
            Self::Drop => "drop",
            Self::Number => "number",
            Self::Type => "type",
            Self::Metadata => "metadata",
            Self::Unknown => "unknown",
            Self::Empty => "empty",
            Self::Null => "null",
            Self::Repeat => "repeat",
            Self::Key => "key",
            Self::Enum => "enum",
            Self::Swap => "swap",
            Self::Item => "item",
        }
    }
}

fn is_full(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}
