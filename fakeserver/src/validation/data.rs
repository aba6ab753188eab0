//! Config maps and secrets.

use serde_json::{Value, json};

use super::{field::Field, findings::Findings, formats::check_data_key};
use crate::schema::decode_base64;

/// How many bytes all values together may have.
const DATA_MAX_BYTES: usize = 1 << 20;
const FROZEN: &str = "field is immutable when `immutable` is set";
const ACCOUNT: &str = "kubernetes.io/service-account.name";
const REDACTED: &str = "<secret contents redacted>";

pub(super) fn check_config_map(map: &Field<'_>, found: &mut Findings) {
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

pub(super) fn update_config_map(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_frozen(old, new, &["data", "binaryData"], found);
    check_config_map(new, found);
}

pub(super) fn check_secret(secret: &Field<'_>, found: &mut Findings) {
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
        "kubernetes.io/service-account-token" => {
            let account = secret.at("metadata").at("annotations").key(ACCOUNT);
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

pub(super) fn update_secret(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable(&new.at("type"), &old.at("type"));
    check_frozen(old, new, &["data"], found);
    check_secret(new, found);
}

/// What says that it does not change does not change.
fn check_frozen(old: &Field<'_>, new: &Field<'_>, fields: &[&'static str], found: &mut Findings) {
    if !old.at("immutable").is_true() {
        return;
    }
    if !new.at("immutable").is_true() {
        found.forbidden(&new.at("immutable"), FROZEN);
    }
    for field in fields {
        if old.get(field) != new.get(field) {
            found.forbidden(&new.at(field), FROZEN);
        }
    }
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

fn decoded_len(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default();
    text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count()
}
