//! Connections with the servers of APIs: one for each request.

use std::{convert::Infallible, io, time::Duration};

use axum::{Router, body::Body, response::Response};
use fakeserver_kinds::apiregistration::remote::RemoteApi;
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderValue, Request, header};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tower::ServiceExt as _;

use super::service_endpoints::Address;
use crate::write::webhook::{Trust, connect_tls, dial_problem};

/// A connection for one request to an aggregated server.
pub(super) struct UpstreamConnection {
    authority: String,
    kind: Transport,
}

enum Transport {
    InProcess(Router),
    Socket(SendRequest<Body>),
}

/// The future that drives a connection. It ends after the response was read or dropped.
pub(super) type ConnectionDriver = BoxFuture<'static, ()>;

// === impl UpstreamConnection ===

impl UpstreamConnection {
    /// Connects with the first of `addresses` that can be reached within `limit`.
    ///
    /// # Errors
    ///
    /// None can be reached: the reason of the last one, in Go's words.
    ///
    /// # Cancel safety
    ///
    /// If dropped, there is no connection.
    pub(super) async fn open(
        api: &RemoteApi,
        addresses: &[Address],
        trust: Trust<'_>,
        limit: Duration,
    ) -> Result<(Self, ConnectionDriver), String> {
        let mut why = "no address".to_owned();
        for address in addresses {
            match Self::to(api, address, trust, limit).await {
                Ok(opened) => return Ok(opened),
                Err(problem) => why = problem,
            }
        }
        Err(why)
    }

    async fn to(
        api: &RemoteApi,
        address: &Address,
        trust: Trust<'_>,
        limit: Duration,
    ) -> Result<(Self, ConnectionDriver), String> {
        let authority = address.authority(&api.service);
        let (host, port, is_tls) = match address {
            Address::InProcess(router) => {
                let kind = Transport::InProcess(router.clone());
                return Ok((Self { authority, kind }, std::future::ready(()).boxed()));
            }
            Address::Socket { host, port, is_tls } => (host, *port, *is_tls),
        };
        let connecting = async {
            let stream = TcpStream::connect((host.as_str(), port)).await;
            let stream = stream.map_err(|error| problem_of(&authority, host, &error))?;
            if !is_tls {
                return begin(stream).await;
            }
            let name = api.service.host();
            begin(connect_tls(stream, &name, trust, &authority).await?).await
        };
        let connected = timeout(limit, connecting).await;
        let (sender, driver) =
            connected.map_err(|_| format!("dial tcp {authority}: i/o timeout"))??;
        let kind = Transport::Socket(sender);
        Ok((Self { authority, kind }, driver))
    }

    /// Sends a request, and returns the response with its streamed body. The caller polls the connection driver
    /// meanwhile.
    pub(super) async fn send(self, mut request: Request<Body>) -> Result<Response, String> {
        let host = HeaderValue::try_from(&self.authority).map_err(|error| error.to_string())?;
        request.headers_mut().insert(header::HOST, host);
        match self.kind {
            Transport::InProcess(router) => {
                let answer: Result<Response, Infallible> = router.oneshot(request).await;
                let Ok(answer) = answer;
                Ok(answer)
            }
            Transport::Socket(mut sender) => {
                let answer = sender.send_request(request).await;
                answer
                    .map(|answer| answer.map(Body::new))
                    .map_err(|error| problem(&error))
            }
        }
    }
}

/// Begins to speak HTTP/1.1.
async fn begin<S>(stream: S) -> Result<(SendRequest<Body>, ConnectionDriver), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|error| problem(&error))?;
    // Its errors are those of the request.
    let driver = connection.with_upgrades().map(drop).boxed();
    Ok((sender, driver))
}

/// Returns the problem of an address in Go's words.
fn problem_of(authority: &str, host: &str, error: &io::Error) -> String {
    if error.raw_os_error().is_none() && error.kind() != io::ErrorKind::ConnectionRefused {
        return format!("dial tcp: lookup {host}: no such host");
    }
    dial_problem(authority, error)
}

/// Returns the problem of an exchange in Go's words.
fn problem(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        "EOF".to_owned()
    } else {
        error.to_string()
    }
}
