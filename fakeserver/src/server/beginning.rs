//! What a server begins with, and is reset to.

use super::{
    error::BuildError,
    objects::{identity, refused},
};
use crate::{handlers, state::Server};

/// Puts in what the server is to begin with.
pub(super) fn fill(server: &Server) -> Result<(), BuildError> {
    if let Some((snapshot, restart)) = &server.beginning.snapshot {
        handlers::restore(&server.core, snapshot, *restart);
    }
    for object in &server.beginning.objects {
        handlers::load_object(server, object.clone())
            .map_err(|status| BuildError::Object(refused(&identity(object), &status)))?;
    }
    Ok(())
}

/// Makes it the server that it was when it was built.
pub(super) fn reset(server: &Server) {
    server.core.reset();
    fill(server).expect("the same objects were taken when the server was built");
}
