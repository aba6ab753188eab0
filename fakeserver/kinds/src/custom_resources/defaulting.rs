//! Defaults that a schema gives.

use fakeserver_value::schema::Schema;
use serde_json::{Map, Value};

/// Gives every property that is absent, or null where null is no value, its default; from the outside in, so that a
/// default is completed by the defaults of its own fields.
pub(super) fn set_defaults(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => {
            for (name, property) in schema.properties() {
                let Some(default) = property.default() else {
                    continue;
                };
                let is_absent = match fields.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !property.is_nullable(),
                };
                if is_absent {
                    fields.insert(name.to_owned(), default.clone());
                }
            }
            for (name, value) in fields {
                if let Some(schema) = schema.field(name) {
                    replace_null(value, schema);
                    set_defaults(value, schema);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for item in items {
                replace_null(item, schema);
                set_defaults(item, schema);
            }
        }
        _ => {}
    }
}

/// Gives a value of a map or an item of a list that is null its default, where null is no value.
fn replace_null(value: &mut Value, schema: Schema<'_>) {
    if let Some(default) = schema
        .default()
        .filter(|_| value.is_null() && !schema.is_nullable())
    {
        *value = default.clone();
    }
}

/// Takes out null where it is no value and nothing takes its place.
pub(super) fn drop_nulls(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => drop_nulls_in(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for item in items {
                drop_nulls(item, schema);
            }
        }
        _ => {}
    }
}

fn drop_nulls_in(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    fields.retain(|name, value| {
        let Some(property) = schema.field(name) else {
            return true;
        };
        !value.is_null() || property.is_nullable() || property.default().is_some()
    });
    for (name, value) in fields {
        if let Some(schema) = schema.field(name) {
            drop_nulls(value, schema);
        }
    }
}
