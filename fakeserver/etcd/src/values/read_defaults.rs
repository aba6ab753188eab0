//! Defaults that stored objects do not have, since servers set the fields that these depend on after the defaults of a new object.

use fakeserver_value::resource::GroupResource;
use serde_json::Value;

/// Phases, by resources of the core group.
const PHASES: [(&str, &str); 3] = [
    ("namespaces", "Active"),
    ("persistentvolumeclaims", "Pending"),
    ("persistentvolumes", "Pending"),
];

/// Sets them, as a server does when it reads the object.
pub(super) fn set(resource: &GroupResource, object: &mut Value) {
    match (resource.group(), resource.resource()) {
        ("batch", "jobs") => set_labels(object),
        ("", resource) => {
            let phase = PHASES.iter().find(|(name, _)| *name == resource);
            if let (Some((_, phase)), Some(Value::Object(status))) =
                (phase, object.get_mut("status"))
            {
                status.entry("phase").or_insert_with(|| (*phase).into());
            }
        }
        _ => {}
    }
}

/// Gives a job without labels those of its template.
fn set_labels(job: &mut Value) {
    let labels = &job["spec"]["template"]["metadata"]["labels"];
    if job["metadata"]["labels"].is_null() && labels.is_object() {
        job["metadata"]["labels"] = labels.clone();
    }
}
