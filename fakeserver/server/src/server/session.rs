//! Connections with containers, from the answer of a request to the upgraded connection.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;

use super::websocket::Socket;

/// A conversation over an upgraded connection.
pub type Conversation = Box<dyn FnOnce(Socket) -> BoxFuture<'static, ()> + Send>;

/// A connection with a container, before the client's connection is upgraded.
pub trait Session: Send {
    /// Chooses one of the protocols that the client offers, and returns its name, if it has one, with the conversation.
    /// Returns `None` if the session can speak none of them.
    fn accept(self: Box<Self>, offered: &[&str]) -> Option<(Option<&'static str>, Conversation)>;
}

/// A session in the extensions of a response. It can be taken once.
#[derive(Clone)]
pub struct PendingSession(Arc<Mutex<Option<Box<dyn Session>>>>);

// === impl PendingSession ===

impl PendingSession {
    /// Creates the extension that carries a session.
    pub fn new(session: impl Session + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(session)))))
    }

    /// Returns the session, once.
    pub(crate) fn take(&self) -> Option<Box<dyn Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for PendingSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingSession").finish_non_exhaustive()
    }
}
