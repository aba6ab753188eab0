//! The size limit of stored objects, which is that of requests to etcd.

use fakeserver_value::{protobuf::encode_object_in, status::Status};

use super::Target;
use crate::store::StoredObject;

/// The size limit of a request in etcd.
const REQUEST_MAX_BYTES: usize = 1_536 * 1_024;
/// The size limit of a message of etcd's client.
const MESSAGE_MAX_BYTES: usize = 2 * 1_024 * 1_024;

/// Refuses an object that etcd would not take, in its words.
pub(super) fn check_size(target: &Target, stored: &StoredObject) -> Result<(), Status> {
    if stored.json_length() <= REQUEST_MAX_BYTES {
        return Ok(());
    }
    // A real server stores custom objects as JSON, and others as protobuf.
    let is_custom = target.rules().as_custom().is_some();
    let encoded = (!is_custom)
        .then(|| encode_object_in(target.resource.kubernetes, &target.api_object(stored)));
    let size = match encoded {
        Some(Ok(encoded)) => encoded.len(),
        _ => stored.json_length(),
    };
    if size > MESSAGE_MAX_BYTES {
        return Err(Status::unclassified(format!(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({size} vs. \
             {MESSAGE_MAX_BYTES})"
        )));
    }
    if size > REQUEST_MAX_BYTES {
        return Err(Status::unclassified("etcdserver: request is too large"));
    }
    Ok(())
}
