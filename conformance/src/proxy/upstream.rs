//! The server behind the proxy.

use std::time::Duration;

use bytes::Bytes;
use fakeserver::faults::Answer;
use http::{Request, Response, StatusCode, header, request::Parts};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder},
};
use tokio::time::timeout;

use super::{ProxyError, request};
use crate::call::whole;

/// The time limit of the upstream's answer. A server answers most requests within a minute, or with a timeout.
const ANSWER_LIMIT: Duration = Duration::from_secs(75);

/// A client of the upstream: with the credentials of a kubeconfig, or without any.
#[derive(Clone)]
pub(super) struct Upstream {
    client: Client,
    /// True if all requests are made as the user of a kubeconfig, regardless of who sent them.
    has_identity: bool,
}

// === impl Upstream ===

impl Upstream {
    pub(super) fn new(mut config: Config) -> Result<Self, ProxyError> {
        // What goes wrong is the client's to see, and to try again.
        config.default_retry = false;
        config.disable_compression = true;
        let auth = &config.auth_info;
        let has_identity = auth.token.is_some()
            || auth.token_file.is_some()
            || auth.username.is_some()
            || auth.exec.is_some()
            || auth.auth_provider.is_some();
        let builder = ClientBuilder::try_from(config);
        let builder = builder.map_err(|error| ProxyError::Upstream(Box::new(error)))?;
        Ok(Self {
            client: builder.build(),
            has_identity,
        })
    }

    /// Sends a request on, and gives the answer as soon as its headers are there. If none comes, a Status says why.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the answer is lost; the request may have been served.
    pub(super) async fn send(
        &self,
        mut parts: Parts,
        body: Bytes,
    ) -> Result<Response<Body>, Answer> {
        if self.has_identity {
            parts.headers.remove(header::AUTHORIZATION);
        }
        // Both follow from where it goes, and from the body.
        parts.headers.remove(header::HOST);
        parts.headers.remove(header::CONTENT_LENGTH);
        parts.version = http::Version::HTTP_11;
        parts.extensions = http::Extensions::new();
        let request = Request::from_parts(parts, Body::from(body));
        match timeout(ANSWER_LIMIT, self.client.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Answer::status(
                StatusCode::BAD_GATEWAY,
                Some("BadGateway"),
                &format!("the proxy cannot reach the upstream: {}", whole(&error)),
            )),
            Err(_) => Err(Answer::status(
                StatusCode::GATEWAY_TIMEOUT,
                Some("Timeout"),
                &format!("the upstream has not answered the proxy within {ANSWER_LIMIT:?}"),
            )),
        }
    }

    /// The same without what is about one connection only.
    pub(super) async fn forward(
        &self,
        mut parts: Parts,
        body: Bytes,
    ) -> Result<Response<Body>, Answer> {
        request::strip(&mut parts.headers);
        let mut response = self.send(parts, body).await?;
        request::strip(response.headers_mut());
        Ok(response)
    }
}
