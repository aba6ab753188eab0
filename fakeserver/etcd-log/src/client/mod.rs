//! A client of etcd: the few calls that a commit log needs.
//!
//! The messages are written out here rather than generated: code from `.proto` files would ask for `protoc` of everybody who builds
//! the program.

mod messages;

use std::{fmt, time::Duration};

use http::{Uri, uri::PathAndQuery};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Request, Status, Streaming,
    client::Grpc,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};
use tonic_prost::ProstCodec;

pub(crate) use self::messages::{
    CompactionRequest, CompactionResponse, Compare, DeleteRangeRequest, Event, KeyValue,
    LeaseGrantRequest, LeaseGrantResponse, Operation, OperationResult, PutRequest, RangeRequest,
    RangeResponse, TxnRequest, TxnResponse, WatchAction, WatchCreateRequest, WatchRequest,
    WatchResponse,
};

/// The time for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The time for a call. etcd itself gives up after about 7 s if it has no leader.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(10);
/// The interval at which a connection is asked for a sign of life, and the time for one.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const KEEP_ALIVE_LIMIT: Duration = Duration::from_secs(5);
/// The largest response: a page of objects, or the events of a revision.
const RESPONSE_MAX_BYTES: usize = 256 << 20;

/// The files with which a client proves itself, and proves servers, as PEM.
#[derive(Clone, Default)]
pub(crate) struct TlsFiles {
    pub(crate) authority: Option<Vec<u8>>,
    /// The certificate and its key.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// A client of the servers of one etcd. Clones share its connections.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    channel: Channel,
}

/// The error of a call.
#[derive(Debug, thiserror::Error)]
#[error("etcd: {}", describe(.0))]
pub(crate) struct ClientError(Status);

fn describe(status: &Status) -> String {
    match status.message() {
        "" => status.code().to_string(),
        message => message.to_owned(),
    }
}

// === impl Client ===

impl Client {
    /// Creates a client of the servers at `urls`. It connects with the first call, and again after each failure.
    ///
    /// To be called in a runtime.
    ///
    /// # Errors
    ///
    /// A URL is none, or certificates cannot be used; the message names it.
    pub(crate) fn new(urls: &[String], tls: &TlsFiles) -> Result<Self, String> {
        let endpoints = urls.iter().map(|url| endpoint(url, tls));
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_, _>>()?;
        let channel = match endpoints.as_slice() {
            [] => return Err("etcd has no URL".to_owned()),
            [endpoint] => endpoint.connect_lazy(),
            _ => Channel::balance_list(endpoints.into_iter()),
        };
        Ok(Self { channel })
    }

    /// Reads keys, at least as recent as the call.
    pub(crate) async fn range(&self, request: RangeRequest) -> Result<RangeResponse, ClientError> {
        self.call("/etcdserverpb.KV/Range", request).await
    }

    pub(crate) async fn txn(&self, request: TxnRequest) -> Result<TxnResponse, ClientError> {
        self.call("/etcdserverpb.KV/Txn", request).await
    }

    /// Forgets the states before a revision.
    pub(crate) async fn compact(&self, revision: i64) -> Result<(), ClientError> {
        let request = CompactionRequest { revision };
        let response = self.call("/etcdserverpb.KV/Compact", request).await;
        response.map(|CompactionResponse {}| ())
    }

    /// Grants a lease, and returns its number.
    pub(crate) async fn grant_lease(&self, ttl_seconds: i64) -> Result<i64, ClientError> {
        let request = LeaseGrantRequest { ttl_seconds };
        let response = self.call("/etcdserverpb.Lease/LeaseGrant", request).await;
        response.map(|LeaseGrantResponse { id }| id)
    }

    /// Watches keys. The watch ends when the responses are dropped.
    pub(crate) async fn watch(&self, request: WatchCreateRequest) -> Result<Watch, ClientError> {
        let (requests, receiver) = mpsc::channel(1);
        let create = WatchRequest {
            request: Some(WatchAction::Create(request)),
        };
        // There is room, since nothing was sent yet.
        drop(requests.try_send(create));
        let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
        let calling = async {
            let mut grpc = self.ready().await?;
            let stream = Request::new(ReceiverStream::new(receiver));
            let codec = ProstCodec::<WatchRequest, WatchResponse>::default();
            grpc.streaming(stream, path, codec).await
        };
        let responses = limited(calling).await?.into_inner();
        Ok(Watch {
            responses,
            _requests: requests,
        })
    }

    async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, ClientError>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let calling = async {
            let mut grpc = self.ready().await?;
            let path = PathAndQuery::from_static(path);
            let codec = ProstCodec::<Q, A>::default();
            grpc.unary(Request::new(request), path, codec).await
        };
        Ok(limited(calling).await?.into_inner())
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc =
            Grpc::new(self.channel.clone()).max_decoding_message_size(RESPONSE_MAX_BYTES);
        let ready = grpc.ready().await;
        ready.map_err(|error| Status::unavailable(with_sources(&error)))?;
        Ok(grpc)
    }
}

/// Waits for a call, but not for ever.
async fn limited<T>(calling: impl Future<Output = Result<T, Status>>) -> Result<T, ClientError> {
    let done = tokio::time::timeout(CALL_LIMIT, calling).await;
    let late = |_| {
        Err(Status::deadline_exceeded(format!(
            "no answer within {CALL_LIMIT:?}"
        )))
    };
    done.unwrap_or_else(late).map_err(ClientError)
}

fn endpoint(url: &str, tls: &TlsFiles) -> Result<Endpoint, String> {
    let why = |problem: &dyn fmt::Display| format!("{url}: {problem}");
    let uri: Uri = url.parse().map_err(|error| why(&error))?;
    let scheme = uri.scheme_str();
    if uri.authority().is_none() || !matches!(scheme, Some("http" | "https")) {
        return Err(why(&"a URL such as http://127.0.0.1:2379 is needed"));
    }
    let is_secure = scheme == Some("https");
    let mut endpoint = Endpoint::from(uri)
        .connect_timeout(CONNECT_LIMIT)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_LIMIT)
        .keep_alive_while_idle(true)
        // Values of objects are large, and many calls share the connection.
        .http2_adaptive_window(true);
    if is_secure {
        let mut config = ClientTlsConfig::new();
        if let Some(pem) = &tls.authority {
            config = config.ca_certificate(Certificate::from_pem(pem));
        }
        if let Some((certificate, key)) = &tls.identity {
            config = config.identity(Identity::from_pem(certificate, key));
        }
        endpoint = (endpoint.tls_config(config)).map_err(|error| why(&with_sources(&error)))?;
    }
    Ok(endpoint)
}

/// Formats an error with its sources, of which each says more than the one before.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        line = format!("{line}: {error}");
        source = error.source();
    }
    line
}

/// A watch of keys.
pub(crate) struct Watch {
    responses: Streaming<WatchResponse>,
    /// The watch is canceled when it ends.
    _requests: mpsc::Sender<WatchRequest>,
}

// === impl Watch ===

impl Watch {
    /// Returns the next response; `None` if the server has ended the watch.
    ///
    /// # Cancel safety
    ///
    /// No response is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Option<WatchResponse>, ClientError> {
        self.responses.message().await.map_err(ClientError)
    }
}
