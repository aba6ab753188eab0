//! One call over a connection of its own.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Uri, header, uri::Scheme};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        self, CertificateError, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::{
    error::dial_problem,
    routes::{Answer, collect},
};

/// Where a call goes.
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
    /// What is asked at `asked`, sent to the scheme, host and port of `to`.
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

/// Posts `body`, and reads the answer.
pub(super) async fn post(
    address: &Address,
    ca_bundle: &[u8],
    body: Bytes,
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
        return exchange(stream, address, body).await;
    }
    let name = ServerName::try_from(address.name.clone()).map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(Arc::new(tls_config(ca_bundle)));
    let stream = connector.connect(name, stream).await;
    let stream = stream.map_err(|error| {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
        tls.map_or_else(
            || dial_problem(&shown, &error),
            |error| tls_problem(error, &address.name),
        )
    })?;
    exchange(stream, address, body).await
}

async fn exchange<S>(stream: S, address: &Address, body: Bytes) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = Request::post(&address.path_and_query)
        .header(header::HOST, &address.authority)
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, */*")
        .body(Full::new(body))
        .map_err(|error| error.to_string())?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| problem(&error))?;
    let answering = async {
        let response = sender.send_request(request).await;
        collect(response.map_err(|error| problem(&error))?).await
    };
    tokio::pin!(answering, connection);
    // The connection is driven here: nobody else would end it with the call.
    tokio::select! {
        biased;
        answer = &mut answering => answer,
        ended = &mut connection => match ended {
            Ok(()) => answering.await,
            Err(error) => Err(problem(&error)),
        },
    }
}

/// Trusts whom `ca_bundle` names, and nobody else.
fn tls_config(ca_bundle: &[u8]) -> rustls::ClientConfig {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(ca_bundle).filter_map(Result::ok);
    roots.add_parsable_certificates(certificates);
    rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS that are safe")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn tls_problem(error: &rustls::Error, name: &str) -> String {
    let why = match error {
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "x509: certificate signed by unknown authority".to_owned(),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("x509: certificate is not valid for {name}"),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "x509: certificate has expired or is not yet valid".to_owned(),
        other => return format!("tls: {other}"),
    };
    format!("tls: failed to verify certificate: {why}")
}

/// What went wrong in an exchange; one that just ended is told as Go tells it.
fn problem(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        "EOF".to_owned()
    } else {
        error.to_string()
    }
}
