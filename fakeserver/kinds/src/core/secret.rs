//! Secrets.

use fakeserver_value::{
    edit::{remove, set},
    field::Field,
    findings::Findings,
    read::text,
    schema::{decode_base64, encode_base64},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, SelectableField, SelectableFields, Validation,
    core::data::{DATA_MAX_BYTES, check_frozen, decoded_len, entries},
    formats::check_data_key,
    table::cell::{Cells, age, name},
};

/// The type of secrets with a token of a service account.
pub const ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";
/// The annotation of such a secret that names the account.
pub const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// The annotation of such a secret with the uid of the account.
pub const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";
/// The issuer of tokens in secrets.
pub const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

const REDACTED: &str = "<secret contents redacted>";

/// Secrets.
pub static KIND: Kind = Kind::new("", "secrets")
    .habits(Habits {
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::new("type", &["type"])]);

// === Defaults ===

pub fn set_defaults(secret: &mut Value) {
    // What is written as text is stored as data.
    let texts = secret.get("stringData").and_then(Value::as_object).cloned();
    for (key, value) in texts.into_iter().flatten() {
        let bytes = text(&value).as_bytes().to_vec();
        secret["data"][key] = json!(encode_base64(&bytes));
    }
    remove(secret, "stringData");
    set(secret, "type", json!("Opaque"));
}

// === Validation ===

pub fn check(secret: &Field<'_>, found: &mut Findings) {
    let data = secret.at("data");
    let mut bytes = 0;
    for (key, value) in data.entries() {
        check_data_key(&value, key, found);
        bytes += decoded_len(value.value());
    }
    if bytes > DATA_MAX_BYTES {
        found.too_long(&data, DATA_MAX_BYTES);
    }
    let mut require = |keys: &[&str]| {
        for key in keys {
            if !data.get(key).is_string() {
                found.required(&data.key(key), "");
            }
        }
    };
    match secret.at("type").text() {
        ACCOUNT_TOKEN => {
            let account = secret.at("metadata").at("annotations").key(ACCOUNT_NAME);
            if !account.has_text() {
                found.required(&account, "");
            }
        }
        "kubernetes.io/dockercfg" => {
            require(&[".dockercfg"]);
            check_json(&data.key(".dockercfg"), found);
        }
        "kubernetes.io/dockerconfigjson" => {
            require(&[".dockerconfigjson"]);
            check_json(&data.key(".dockerconfigjson"), found);
        }
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            if keys.iter().all(|key| !data.get(key).is_string()) {
                require(&keys);
            }
        }
        "kubernetes.io/ssh-auth" if !data.key("ssh-privatekey").has_text() => {
            found.required(&data.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => require(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable(&new.at("type"), &old.at("type"));
    check_frozen(old, new, &["data"], found);
    check(new, found);
}

fn check_json(value: &Field<'_>, found: &mut Findings) {
    if !value.is_set() {
        return;
    }
    let bytes = decode_base64(value.text()).unwrap_or_default();
    let Err(error) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) else {
        return;
    };
    let why = if error.is_eof() {
        "unexpected end of JSON input".to_owned()
    } else {
        let first = bytes.first().copied().unwrap_or_default();
        format!(
            "invalid character '{}' looking for beginning of value",
            char::from(first)
        )
    };
    found.invalid_as(value, &json!(REDACTED), &why);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    vec![
        json!(name(object)),
        json!(text(&object["type"])),
        json!(entries(&object["data"])),
        json!(age(object, now)),
    ]
}
