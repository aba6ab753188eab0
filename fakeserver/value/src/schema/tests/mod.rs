//! Reading, printing and rejecting, against the answers of a real API server.

mod values;
mod tables;
mod reading;
mod properties;

use serde_json::Value;

use super::{decode, type_meta, type_of_kind};

/// A body read as the kind it names; errors as they are answered.
fn read(body: &str) -> Result<(Value, Vec<String>), String> {
    let meta = type_meta(body.as_bytes()).map_err(|error| error.to_string())?;
    let (group, version) = meta
        .api_version
        .split_once('/')
        .unwrap_or(("", &meta.api_version));
    let id = type_of_kind(group, version, &meta.kind).expect("a built-in kind");
    let decoded = decode(id, body.as_bytes()).map_err(|error| error.to_string())?;
    let strict = decoded.strict.iter().map(ToString::to_string).collect();
    Ok((decoded.value, strict))
}
