//! A call over its own connection.

use http::{HeaderValue, Uri, header, uri::Scheme};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{
    call::Call,
    error::dial_problem,
    routes::{Answer, collect},
    tls,
    trust::Trust,
};

/// The address of a call.
#[derive(Debug)]
pub(super) struct Address {
    /// The host of the configuration, which the certificate has to name.
    name: String,
    /// The value of the header `Host`.
    authority: String,
    path_and_query: String,
    is_tls: bool,
    host: String,
    port: u16,
}

// === impl Address ===

impl Address {
    /// Creates the address of `uri`, reached at the scheme, host and port of `to`.
    pub(super) fn new(uri: &Uri, to: &Uri) -> Self {
        let is_tls = to.scheme() != Some(&Scheme::HTTP);
        let bare = |host: Option<&str>| {
            let host = host.unwrap_or_default();
            host.trim_matches(['[', ']']).to_owned()
        };
        Self {
            name: bare(uri.host()),
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path_and_query: uri
                .path_and_query()
                .map_or_else(|| "/".to_owned(), ToString::to_string),
            is_tls,
            host: bare(to.host()),
            port: to.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
        }
    }
}

/// Sends the request of `call`, and reads the answer.
pub(super) async fn send(
    address: &Address,
    ca_bundle: &[u8],
    call: &Call,
) -> Result<Answer, String> {
    let host_and_port = format!("{}:{}", address.host, address.port);
    let mut found = tokio::net::lookup_host((address.host.as_str(), address.port))
        .await
        .map_err(|_| format!("dial tcp: lookup {}: no such host", address.host))?;
    // Only the first address is tried; Go's dialer would try the others, too.
    let first = found
        .next()
        .ok_or_else(|| format!("dial tcp: lookup {}: no such host", address.host))?;
    let stream = TcpStream::connect(first).await;
    let stream = stream.map_err(|error| dial_problem(&first.to_string(), &error))?;
    if !address.is_tls {
        return exchange(stream, address, call).await;
    }
    let stream = tls::connect(
        stream,
        &address.name,
        Trust::Bundle(ca_bundle),
        &host_and_port,
    )
    .await?;
    exchange(stream, address, call).await
}

async fn exchange<S>(stream: S, address: &Address, call: &Call) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = call.request(&address.path_and_query)?.map(Full::new);
    let authority = HeaderValue::try_from(&address.authority);
    let authority = authority.map_err(|error| error.to_string())?;
    request.headers_mut().insert(header::HOST, authority);
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| problem(&error))?;
    let answering = async {
        let response = sender.send_request(request).await;
        collect(response.map_err(|error| problem(&error))?).await
    };
    tokio::pin!(answering, connection);
    // The connection is driven here, so that it ends with the call.
    tokio::select! {
        biased;
        // Biased: the response may be complete when the connection ends.
        answer = &mut answering => answer,
        ended = &mut connection => match ended {
            // The connection can end before the task that reads the body is polled.
            Ok(()) => answering.await,
            Err(error) => Err(problem(&error)),
        },
    }
}

/// Returns the problem of an exchange in Go's words.
fn problem(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        "EOF".to_owned()
    } else {
        error.to_string()
    }
}
