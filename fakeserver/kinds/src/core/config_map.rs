//! Config maps.

use fakeserver_value::{field::Field, findings::Findings};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    core::data::{DATA_MAX_BYTES, check_frozen, decoded_len, entries},
    formats::check_data_key,
    table::cell::{Cells, age, name},
};

/// Config maps.
pub static KIND: Kind = Kind::new("", "configmaps")
    .habits(Habits {
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

pub fn check(map: &Field<'_>, found: &mut Findings) {
    let (texts, binary) = (map.at("data"), map.at("binaryData"));
    let mut bytes = 0;
    for (key, value) in texts.entries() {
        check_data_key(&value, key, found);
        if binary.get(key).is_string() {
            found.invalid_as(
                &value,
                &json!(key),
                "duplicate of key present in binaryData",
            );
        }
        bytes += value.text().len();
    }
    for (key, value) in binary.entries() {
        check_data_key(&value, key, found);
        bytes += decoded_len(value.value());
    }
    if bytes > DATA_MAX_BYTES {
        found.too_long(&Field::root(map.value()), DATA_MAX_BYTES);
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_frozen(old, new, &["data", "binaryData"], found);
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let entries = entries(&object["data"]) + entries(&object["binaryData"]);
    vec![json!(name(object)), json!(entries), json!(age(object, now))]
}
