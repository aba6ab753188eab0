//! Secrets.

use serde_json::{Value, json};

use super::{remove, set};
use crate::schema::encode_base64;

pub(super) fn set_defaults(secret: &mut Value) {
    // What is written as text is stored as data.
    let texts = secret.get("stringData").and_then(Value::as_object).cloned();
    for (key, text) in texts.into_iter().flatten() {
        let bytes = text.as_str().unwrap_or_default().as_bytes().to_vec();
        secret["data"][key] = json!(encode_base64(&bytes));
    }
    remove(secret, "stringData");
    set(secret, "type", json!("Opaque"));
}
