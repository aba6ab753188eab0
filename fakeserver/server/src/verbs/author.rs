//! The author of a write.

use super::{Request, facts::client};
use crate::write::{Author, WriteOptions, manager};

/// Returns the author of a write with these options.
pub(super) fn author<'a>(request: &'a Request<'_>, options: &'a WriteOptions) -> Author<'a> {
    Author {
        manager: manager(options, client(request.headers)),
        ..deleter(request)
    }
}

/// Returns the author of a deletion.
pub(super) fn deleter<'a>(request: &'a Request<'_>) -> Author<'a> {
    Author {
        user: &request.requester.user,
        access: &request.requester.access,
        manager: "",
        audit: &request.audit,
    }
}
