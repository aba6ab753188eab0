//! Watches as WebSockets: one message an event.
//!
//! The stream of a watch does not depend on its transport: its answer is made as for any client, and its body is
//! forwarded message by message. Only a whole connection can become a WebSocket, so there are none in process or over
//! HTTP/2.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::{Buf, Bytes};
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{io::copy_bidirectional, time::timeout};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message, Utf8Bytes,
        handshake::derive_accept_key,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};
use tracing::debug;

use super::{
    assembly::Server,
    logging::LoggedRequest,
    page,
    session::{PendingSession, Session},
};
use crate::{
    edge::{authentication::spoken_protocols, response::EventStream},
    faults::{Breakage, Connection},
};

/// The time limit for the client to take the answer, a message, or the end.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// The maximum length of a client's message, which carries no data.
const MESSAGE_MAX_BYTES: usize = 64 << 10;
/// The size limit of a message from a client of a container.
const SESSION_MESSAGE_MAX_BYTES: usize = 8 << 20;
/// The length that stands before an event in protobuf. A message has its own.
const LENGTH_PREFIX_BYTES: usize = 4;

/// A request to make its connection a WebSocket.
pub(super) struct Handshake {
    upgrade: OnUpgrade,
    headers: HeaderMap,
    connection: Connection,
}

/// The reason why a connection does not become a WebSocket.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The header `Origin` is missing.
    NoOrigin,
    NoKey,
    WrongVersion,
    /// More than one protocol is left to choose from.
    Ambiguous,
    /// The client speaks none of the protocols.
    NoProtocol,
}

/// Marks a request whose connection can become a WebSocket.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpgradeSupport;

/// An upgraded connection with an aggregated server, in the extensions of a response. It can be taken once.
#[derive(Clone)]
pub(super) struct Tunnel(Arc<Mutex<Option<OnUpgrade>>>);

/// A WebSocket of a client.
pub type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

// === impl Handshake ===

impl Handshake {
    /// Returns the handshake of a request, if it asks for a WebSocket and the connection can become one.
    pub(super) fn of(parts: &mut Parts) -> Option<Self> {
        let says = |name: header::HeaderName, word: &str| {
            let mut words = parts
                .headers
                .get_all(name)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .flat_map(|value| value.split(','));
            words.any(|token| token.trim().eq_ignore_ascii_case(word))
        };
        let is_asked = parts.method == Method::GET
            && says(header::UPGRADE, "websocket")
            && says(header::CONNECTION, "upgrade");
        if !is_asked {
            return None;
        }
        // Absent over HTTP/2 and in process, where no connection can be upgraded.
        let upgrade = parts.extensions.remove::<OnUpgrade>()?;
        parts.extensions.insert(UpgradeSupport);
        Some(Self {
            upgrade,
            headers: parts.headers.clone(),
            connection: parts.extensions.get().cloned().unwrap_or_default(),
        })
    }

    /// Sends the events of `response` as messages. A response without a stream of events is sent unchanged. Either is
    /// logged.
    pub(super) fn answer(
        self,
        server: &Arc<Server>,
        response: Response,
        logged: LoggedRequest,
    ) -> Response {
        if let Some(session) = response.extensions().get::<PendingSession>()
            && let Some(session) = session.take()
        {
            return self.begin(server, session, logged);
        }
        if let Some(tunnel) = response.extensions().get::<Tunnel>()
            && let Some(other) = tunnel.take()
        {
            let (response, open) = logged.switch(response);
            self.join(server, other, open);
            return response;
        }
        if let Some(page::LiveFeed(parts)) = response.extensions().get() {
            return logged.answer(self.feed(server, parts.clone()));
        }
        if response.extensions().get::<EventStream>().is_none() {
            return logged.answer(response);
        }
        let accepted = match self.accept() {
            Ok(accepted) => accepted,
            Err(refusal) => return logged.answer(refusal.into_response()),
        };
        let (accepted, open) = logged.switch(accepted);
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let is_text = content_type.is_some_and(|kind| kind == "application/json");
        let stop = server.api.tasks.stop_token().clone();
        let connection = self.connection.clone();
        let body = response.into_body();
        server.api.tasks.spawn(async move {
            let serving = async {
                if let Some(socket) = self.socket(MESSAGE_MAX_BYTES).await {
                    forward_frames(socket, &connection, body, is_text).await;
                }
            };
            stop.run_until_cancelled(serving).await;
            drop(open);
        });
        accepted
    }

    /// Accepts the connection of a session with a container, and serves it in a task of the server.
    fn begin(
        self,
        server: &Arc<Server>,
        session: Box<dyn Session>,
        logged: LoggedRequest,
    ) -> Response {
        let key = match self.key() {
            Ok(key) => key,
            Err(refusal) => return logged.answer(refusal.into_response()),
        };
        let offered: Vec<&str> = self.protocols().collect();
        let Some((protocol, conversation)) = session.accept(&offered) else {
            return logged.answer(Refusal::NoProtocol.into_response());
        };
        let (accepted, open) = logged.switch(switching(key, protocol));
        let stop = server.api.tasks.stop_token().clone();
        server.api.tasks.spawn(async move {
            let serving = async {
                if let Some(socket) = self.socket(SESSION_MESSAGE_MAX_BYTES).await {
                    conversation(socket).await;
                }
            };
            stop.run_until_cancelled(serving).await;
            drop(open);
        });
        accepted
    }

    /// Joins the connection with that of another server, which has accepted the WebSocket, until one of them ends. `open` is
    /// dropped then.
    fn join(self, server: &Arc<Server>, other: OnUpgrade, open: Body) {
        let stop = server.api.tasks.stop_token().clone();
        server.api.tasks.spawn(async move {
            let serving = async {
                let both = async { tokio::try_join!(self.upgrade, other) };
                if let Ok(Ok((client, other))) = timeout(PATIENCE, both).await {
                    let (mut client, mut other) = (TokioIo::new(client), TokioIo::new(other));
                    // An error of either side ends the session, and is no failure of this server.
                    let _ = copy_bidirectional(&mut client, &mut other).await;
                }
            };
            stop.run_until_cancelled(serving).await;
            drop(open);
        });
    }

    /// Opens the socket of the live page that the request upgrades to.
    fn feed(self, server: &Arc<Server>, parts: Box<Parts>) -> Response {
        let accepted = match self.accept() {
            Ok(accepted) => accepted,
            Err(refusal) => return refusal.into_response(),
        };
        let stop = server.api.tasks.stop_token().clone();
        // An open page must not keep a dropped server alive.
        let weak = Arc::downgrade(server);
        server.api.tasks.spawn(async move {
            let serving = async {
                if let Some(socket) = self.socket(MESSAGE_MAX_BYTES).await {
                    page::run(socket, weak, parts).await;
                }
            };
            stop.run_until_cancelled(serving).await;
        });
        accepted
    }

    /// Returns the answer that accepts a watch.
    fn accept(&self) -> Result<Response, Refusal> {
        let key = self.key()?;
        // As golang.org/x/net/websocket, which watches use upstream; streams with containers have no such check.
        if self.text("origin").is_none_or(str::is_empty) {
            return Err(Refusal::NoOrigin);
        }
        let mut protocols = self.protocols();
        let protocol = protocols.next();
        if protocols.next().is_some() {
            return Err(Refusal::Ambiguous);
        }
        Ok(switching(key, protocol))
    }

    fn text(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name)?;
        value.to_str().ok().map(str::trim)
    }

    /// Returns the key to which the answer has to fit.
    pub(super) fn key(&self) -> Result<&str, Refusal> {
        if self.text("sec-websocket-version") != Some("13") {
            return Err(Refusal::WrongVersion);
        }
        let key = self.text("sec-websocket-key");
        key.filter(|key| !key.is_empty()).ok_or(Refusal::NoKey)
    }

    /// Returns the protocols that the client speaks.
    pub(super) fn protocols(&self) -> impl Iterator<Item = &str> {
        spoken_protocols(&self.headers)
    }

    /// Waits for the socket, whose messages have at most `message_max_bytes` bytes.
    pub(super) async fn socket(self, message_max_bytes: usize) -> Option<Socket> {
        let Ok(Ok(upgraded)) = timeout(PATIENCE, self.upgrade).await else {
            debug!("connection did not become a websocket");
            return None;
        };
        let config = WebSocketConfig::default()
            .max_message_size(Some(message_max_bytes))
            .max_frame_size(Some(message_max_bytes));
        let upgraded = TokioIo::new(upgraded);
        Some(WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await)
    }
}

// === impl Tunnel ===

impl Tunnel {
    /// Takes over the connection of an answer of another server that has accepted a WebSocket.
    pub(super) fn of(answer: &mut Response) -> Self {
        Self(Arc::new(Mutex::new(Some(hyper::upgrade::on(answer)))))
    }

    /// Returns the connection, once.
    fn take(&self) -> Option<OnUpgrade> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the answer that accepts a WebSocket.
pub(super) fn switching(key: &str, protocol: Option<&str>) -> Response {
    let mut response = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    let mut put = |name, text: &str| {
        let value = HeaderValue::from_str(text).expect("it is base64, or was a header");
        headers.insert(name, value);
    };
    put(
        header::SEC_WEBSOCKET_ACCEPT,
        &derive_accept_key(key.as_bytes()),
    );
    if let Some(protocol) = protocol {
        put(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    response
}

// === impl Refusal ===

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::NoOrigin | Self::NoProtocol => StatusCode::FORBIDDEN.into_response(),
            Self::NoKey => (StatusCode::BAD_REQUEST, "mismatch challenge/response").into_response(),
            Self::WrongVersion => (
                StatusCode::BAD_REQUEST,
                [(header::SEC_WEBSOCKET_VERSION, "13")],
                "missing or bad WebSocket Version",
            )
                .into_response(),
            Self::Ambiguous => StatusCode::BAD_REQUEST.into_response(),
        }
    }
}

/// Forwards the frames of the watch until it ends or the client disconnects.
async fn forward_frames(socket: Socket, connection: &Connection, mut body: Body, is_text: bool) {
    let (mut sender, mut receiver) = socket.split();
    loop {
        // The end of the connection goes first; other messages of the client are ignored.
        let frame = tokio::select! {
            biased;
            incoming = receiver.next() => match incoming {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(_)) => continue,
            },
            frame = body.frame() => frame,
        };
        let message = match frame {
            None => break,
            // A connection that breaks has no last word.
            Some(Err(error)) => match Breakage::of(&error) {
                Some(Breakage::HalfOpen) => {
                    connection.silence();
                    while let Some(Ok(_)) = receiver.next().await {}
                    return;
                }
                _ => return connection.reset(),
            },
            Some(Ok(frame)) => frame.into_data().ok().map(|data| message(data, is_text)),
        };
        if let Some(message) = message
            // A client that does not read must not hold the task, and the watch, for ever.
            && !matches!(timeout(PATIENCE, sender.send(message)).await, Ok(Ok(())))
        {
            return;
        }
    }
    let close = Message::Close(Some(CloseFrame {
        code: CloseCode::Normal,
        reason: Utf8Bytes::default(),
    }));
    let ending = async {
        if sender.send(close).await.is_ok() {
            // The client answers with its own.
            while let Some(Ok(_)) = receiver.next().await {}
        }
    };
    if timeout(PATIENCE, ending).await.is_err() {
        debug!("websocket closed without its client");
    }
}

/// Converts an event to a message.
fn message(mut event: Bytes, is_text: bool) -> Message {
    if !is_text {
        event.advance(LENGTH_PREFIX_BYTES.min(event.len()));
        return Message::Binary(event);
    }
    match Utf8Bytes::try_from(event.clone()) {
        Ok(text) => Message::Text(text),
        // A fault has cut it.
        Err(_) => Message::text(String::from_utf8_lossy(&event).into_owned()),
    }
}
