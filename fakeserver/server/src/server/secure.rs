//! TLS connections.

use std::{io, net::SocketAddr, time::Duration};

use axum::Extension;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};
use tokio_rustls::server::TlsStream;
use tracing::{debug, warn};

use super::{certificates::Certificates, listen::Connections, socket::Socket};
use crate::faults::Connection;

/// The time limit of a TLS handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// The answer to a client that does not speak TLS.
const PLAIN_HTTP: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

// === impl Connections ===

impl Connections {
    /// Serves a connection after the TLS handshake, as the user of its client certificate.
    pub(super) async fn secure(
        &self,
        certificates: &Certificates,
        stream: TcpStream,
        connection: Connection,
    ) {
        let client = stream.peer_addr().ok();
        let handshake = handshake(certificates, stream, connection.clone());
        let handshake = time::timeout(HANDSHAKE_LIMIT, handshake);
        let stream = match self.ending.run_until_cancelled(handshake).await {
            Some(Ok(Ok(Some(stream)))) => stream,
            Some(Ok(Err(error))) => return log_failure(&error, client),
            Some(Err(_)) => return debug!(?client, "TLS handshake took too long"),
            Some(Ok(Ok(None))) | None => return,
        };
        let (_, session) = stream.get_ref();
        let router = match certificates.peer(session.peer_certificates()) {
            Some(peer) => self.router.clone().layer(Extension(peer)),
            None => self.router.clone(),
        };
        self.serve_connection(stream, router, connection).await;
    }
}

/// Logs a handshake that has failed. Clients that only try whether the port is open are not worth a warning.
fn log_failure(error: &io::Error, client: Option<SocketAddr>) {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            debug!(%error, ?client, "TLS handshake ended by the client");
        }
        _ => warn!(%error, ?client, "TLS handshake failed"),
    }
}

/// Performs the TLS handshake. A client that sends plain HTTP receives an HTTP error and no connection.
async fn handshake(
    certificates: &Certificates,
    mut stream: TcpStream,
    connection: Connection,
) -> io::Result<Option<TlsStream<Socket>>> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    // Methods of HTTP begin with a capital letter, records of TLS with a small number.
    if first[0].is_ascii_uppercase() {
        // Closing a socket with unread bytes sends a reset, which can discard the response at the client: the rest is
        // read first.
        let size_bytes = stream.read(&mut [0; 4_096]).await?;
        debug!(size_bytes, "plain HTTP on a TLS port");
        stream.write_all(PLAIN_HTTP).await?;
        return Ok(None);
    }
    let socket = Socket::new(stream, connection);
    certificates.acceptor().accept(socket).await.map(Some)
}
