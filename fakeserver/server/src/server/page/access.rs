//! Access to the live page.

use std::sync::Arc;

use http::{HeaderMap, Uri, header};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    FakeServerBuilder,
    server::origins::{host, is_fixed, is_of_other_site},
};

/// The maximum number of open pages.
const PAGES_MAX: usize = 16;

/// The live page of a server, with the digest of its token.
#[derive(Debug)]
pub(in crate::server) struct Page {
    /// Only the digest, so that the duration of a comparison reveals nothing about the token.
    digest: [u8; 32],
    /// A permit for each page that can still be opened.
    free: Arc<Semaphore>,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Serves a live page of the server at `/_control/page#token=TOKEN`, under the access rules of `/_control`.
    ///
    /// The page shows objects that its user may list, and sends commands that its user may post to `/_control`. It is
    /// served only at an IP address or localhost, to at most 16 browsers at a time. Browsers do not send the fragment
    /// of a URL, so the token is in no log. Open pages reconnect to a server that restarts with the same token. By
    /// default there is no page.
    ///
    /// # Panics
    ///
    /// If the token is empty.
    pub fn with_page(mut self, token: impl Into<String>) -> Self {
        let token = token.into();
        assert!(!token.is_empty(), "the token of the page is empty");
        self.page_token = Some(token);
        self
    }
}

// === impl Page ===

impl Page {
    pub(in crate::server) fn new(token: &str) -> Self {
        Self {
            digest: Sha256::digest(token).into(),
            free: Arc::new(Semaphore::new(PAGES_MAX)),
        }
    }

    /// Counts a page as open until the permit is dropped. There is no permit if too many are open.
    pub(super) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Returns whether this is the token of the page.
    pub(super) fn is_token(&self, token: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(token)) == self.digest
    }
}

/// Returns the reason why a request does not get the page, or its socket if `is_socket`, if there is one.
pub(super) fn refusal(uri: &Uri, headers: &HeaderMap, is_socket: bool) -> Option<&'static str> {
    if host(uri, headers).is_none_or(|host| !is_fixed(&host)) {
        return Some("the page is reached by an IP address or as localhost, not by other names");
    }
    if !headers.contains_key(header::ORIGIN) {
        return is_socket.then_some("the socket is for the page, which tells its origin");
    }
    is_of_other_site(uri, headers).then_some("the page answers no other site")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the refusal of a request for the socket with this host and origin.
    fn refused(host: &str, origin: Option<&str>) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        refusal(&Uri::from_static("/"), &headers, true)
    }

    #[test]
    fn only_the_page_itself_gets_the_socket() {
        assert_eq!(
            refused("127.0.0.1:8001", Some("http://127.0.0.1:8001")),
            None
        );
        assert_eq!(refused("[::1]:80", Some("http://[::1]:80")), None);
        assert_eq!(refused("localhost:1", Some("https://LOCALHOST:1")), None);
        let why = refused("evil.example:8001", Some("http://evil.example:8001")).unwrap();
        assert!(why.contains("localhost"), "{why}");
        for origin in ["http://evil.example", "null", "http://127.0.0.1:8002", ""] {
            let why = refused("127.0.0.1:8001", Some(origin)).unwrap();
            assert!(why.contains("other site"), "{origin}: {why}");
        }
        let why = refused("127.0.0.1:8001", None).unwrap();
        assert!(why.contains("origin"), "{why}");
    }

    #[test]
    fn the_file_of_the_page_needs_no_origin() {
        let mut headers = HeaderMap::new();
        let uri = Uri::from_static("/");
        assert!(refusal(&uri, &headers, false).is_some());
        headers.insert(header::HOST, "127.0.0.1:8001".parse().unwrap());
        assert_eq!(refusal(&uri, &headers, false), None);
    }

    #[test]
    fn a_token_is_compared_whole() {
        let page = Page::new("secret");
        assert!(page.is_token("secret"));
        for token in ["", "secre", "secrets", "Secret"] {
            assert!(!page.is_token(token), "{token}");
        }
    }

    #[test]
    fn a_page_that_is_closed_leaves_room_for_another() {
        let page = Page::new("secret");
        let mut open: Vec<_> = (0..PAGES_MAX).map(|_| page.enter()).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(page.enter().is_none());
        open.pop();
        assert!(page.enter().is_some());
    }
}
