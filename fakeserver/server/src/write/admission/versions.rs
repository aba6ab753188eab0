//! Writes in other versions of their kinds, for webhooks and policies whose rules name these versions.

use fakeserver_kinds::conversion::form_of;
use fakeserver_value::{resource::GroupVersionKind, status::Status};
use serde_json::{Value, json};

use super::{Attributes, Invocation};
use crate::write::Target;

/// Returns the write in the version of `invocation`.
pub fn in_version_of(
    target: &Target,
    invocation: &Invocation,
    attributes: &Attributes,
) -> Result<Attributes, Status> {
    let mut attributes = attributes.clone();
    if invocation.kind == attributes.kind {
        return Ok(attributes);
    }
    for side in [&mut attributes.object, &mut attributes.old_object] {
        if let Some(object) = side.take() {
            let converted = convert(target, object, &invocation.kind);
            *side = Some(converted.map_err(|why| Status::internal(&why))?);
        }
    }
    Ok(attributes)
}

/// Converts the object to another version of its kind.
pub fn convert(target: &Target, mut object: Value, to: &GroupVersionKind) -> Result<Value, String> {
    if target.rules().has_conversion_webhook() {
        return Err(format!(
            "conversion to {}, Kind={} by a webhook is not done for admission",
            to.api_version(),
            to.kind
        ));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let from = form_of(&text(&object["apiVersion"]), &text(&object["kind"]));
    let wanted = form_of(&to.api_version(), &to.kind);
    if let Some(wanted) = wanted.filter(|wanted| from.is_some_and(|from| from != *wanted)) {
        object = wanted.convert(object);
    }
    object["kind"] = json!(&*to.kind);
    object["apiVersion"] = json!(to.api_version());
    Ok(object)
}
