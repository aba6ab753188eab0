//! Downloads of documents of aggregated servers, as a system user.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use fakeserver_kinds::apiregistration::remote::RemoteApi;
use http::{HeaderMap, HeaderName, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use tokio::time::timeout;

use super::{
    connection::UpstreamConnection,
    service_endpoints::{Address, ServiceEndpoints},
};
use crate::write::{Backend, webhook::Trust};

/// The size limit of a document.
const DOCUMENT_MAX_BYTES: usize = 16 << 20;
/// The user of discovery requests, and its group.
const AGGREGATOR: (&str, &str) = ("system:kube-aggregator", "system:masters");

/// A document, or the answer in its place.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) code: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The server of an API, with its current addresses.
pub(super) struct Source<'a> {
    api: &'a RemoteApi,
    addresses: Vec<Address>,
    limit: Duration,
}

// === impl Source ===

impl<'a> Source<'a> {
    /// Finds the server of an API. A request of it may take `limit`.
    ///
    /// # Errors
    ///
    /// It has no address, for this reason.
    pub(super) fn find(
        backend: &Backend,
        api: &'a RemoteApi,
        endpoints: &ServiceEndpoints,
        limit: Duration,
    ) -> Result<Self, String> {
        let addresses = endpoints.addresses(backend, api)?;
        Ok(Self {
            api,
            addresses,
            limit,
        })
    }

    /// Returns the URL of a path, as errors name it.
    pub(super) fn url(&self, path: &str) -> String {
        let first = self.addresses.first();
        let authority = first.map(|address| address.authority(&self.api.service));
        let scheme = match first {
            Some(Address::Socket { is_tls: false, .. }) => "http",
            _ => "https",
        };
        format!("{scheme}://{}{path}", authority.unwrap_or_default())
    }

    /// Downloads a document. The certificate is not verified, as in kube-aggregator's availability checks.
    ///
    /// # Errors
    ///
    /// No answer came in time, or it is too large.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the connection is closed.
    pub(super) async fn get(
        &self,
        path: &str,
        headers: &[(HeaderName, &str)],
    ) -> Result<Document, String> {
        let getting = self.exchange(path, headers);
        let got = timeout(self.limit, getting).await;
        got.unwrap_or_else(|_| {
            Err(
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
                    .to_owned(),
            )
        })
    }

    async fn exchange(
        &self,
        path: &str,
        headers: &[(HeaderName, &str)],
    ) -> Result<Document, String> {
        let opened =
            UpstreamConnection::open(self.api, &self.addresses, Trust::Anyone, self.limit).await;
        let (connection, mut driver) = opened?;
        let mut request = Request::get(path)
            .header(header::USER_AGENT, "kube-apiserver")
            .header("x-remote-user", AGGREGATOR.0)
            .header("x-remote-group", AGGREGATOR.1);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(Body::empty());
        let request = request.map_err(|error| error.to_string())?;
        let reading = async {
            let (head, body) = connection.send(request).await?.into_parts();
            let body = Limited::new(body, DOCUMENT_MAX_BYTES).collect().await;
            let body = body.map_err(|error| error.to_string())?;
            Ok(Document {
                code: head.status,
                headers: head.headers,
                body: body.to_bytes(),
            })
        };
        tokio::pin!(reading);
        // The connection is driven here, so that it ends with the call.
        tokio::select! {
            biased;
            document = &mut reading => document,
            () = &mut driver => reading.await,
        }
    }
}
