//! Logs, and streams to and from containers. A real server asks the node; here no node has anything to say.

use crate::{
    handlers::Call,
    status::{Named, Status},
    storage::{GroupResource, ObjectKey},
};

/// Why there is no answer: the reason of a real server as far as it goes.
pub(super) fn refuse(call: &Call<'_>) -> Status {
    let key = call.key(call.name());
    let storage = &call.server.core.storage;
    let Some(object) = storage.view(|view| view.get(&key).cloned()) else {
        return Status::not_found(call.named(call.name()));
    };
    if call.strategy().is_pod() {
        let pod = object.to_value();
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        if node.is_empty() {
            return Status::bad_request(format!(
                "pod {} does not have a host assigned",
                call.name()
            ));
        }
        let key = ObjectKey::new(GroupResource::new("", "nodes"), None, node);
        if storage.view(|view| view.get(&key).is_none()) {
            return Status::not_found(Named {
                resource: "nodes",
                group: "",
                name: node,
            });
        }
    }
    Status::internal(&format!(
        "this server runs no containers: {}/{} has no answer",
        call.resource.plural,
        call.subresource(),
    ))
}
