//! One call over a connection of its own.

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
    /// The host of the configuration: whom a certificate has to name.
    name: String,
    /// As the header `Host` has it.
    authority: String,
    path_and_query: String,
    is_tls: bool,
    host: String,
    port: u16,
}

// === impl Address ===

impl Address {
    /// Creates the request for `asked`, sent to the scheme, host and port of `to`.
    pub(super) fn new(asked: &Uri, to: &Uri) -> Self {
        let is_tls = to.scheme() != Some(&Scheme::HTTP);
        let bare = |host: Option<&str>| {
            let host = host.unwrap_or_default();
            host.trim_matches(['[', ']']).to_owned()
        };
        Self {
            name: bare(asked.host()),
            authority: asked
                .authority()
                .map(ToString::to_string)
                .unwrap_or_default(),
            path_and_query: asked
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
    let shown = format!("{}:{}", address.host, address.port);
    let mut found = tokio::net::lookup_host((address.host.as_str(), address.port))
        .await
        .map_err(|_| format!("dial tcp: lookup {}: no such host", address.host))?;
    let first = found
        .next()
        .ok_or_else(|| format!("dial tcp: lookup {}: no such host", address.host))?;
    let stream = TcpStream::connect(first).await;
    let stream = stream.map_err(|error| dial_problem(&first.to_string(), &error))?;
    if !address.is_tls {
        return exchange(stream, address, call).await;
    }
    let stream = tls::connect(stream, &address.name, Trust::Bundle(ca_bundle), &shown).await?;
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
        answer = &mut answering => answer,
        ended = &mut connection => match ended {
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
