//! Connections that are to become streams: by which protocol, and who may have them.

use axum::response::{IntoResponse, Response};
use fakeserver_server::{
    edge::authentication::spoken_protocols,
    server::session::PendingSession,
    verbs::{Api, Request},
};
use fakeserver_value::status::Status;
use http::{StatusCode, header};

use crate::{
    containers::{CommandSession, CommandWork, Session, SessionWork},
    streams::WaitingSession,
};

/// The version of the protocol of streams whose errors travel in the streams themselves.
const V5: &str = "v5.channel.k8s.io";

/// The beginning of protocols that are SPDY within a WebSocket.
const TUNNEL: &str = "SPDY/3.1+";

/// A WebSocket that a client asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upgrade {
    is_v5: bool,
    is_tunnel: bool,
}

// === impl Upgrade ===

impl Upgrade {
    /// Returns the upgrade that a request asks for, if its requester may have the streams.
    pub(super) fn of(request: &Request<'_>) -> Result<Self, Status> {
        let wanted = request.headers.get(header::UPGRADE);
        let wanted = wanted
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if wanted.to_ascii_lowercase().starts_with("spdy/") {
            return Err(Status::bad_request(
                "this server speaks WebSockets and no SPDY, which kubectl before 1.31 needs, and programs that use only \
                 NewSPDYExecutor of client-go: take a newer one, or NewWebSocketExecutor",
            ));
        }
        if !wanted.eq_ignore_ascii_case("websocket") {
            return Err(Status::bad_request("Upgrade request required"));
        }
        // A WebSocket begins with a GET. Without this check a user with the right to read could run commands.
        request.requester.check_create(&request.target)?;
        let protocols = spoken_protocols(request.headers);
        let mut upgrade = Self {
            is_v5: false,
            is_tunnel: false,
        };
        for protocol in protocols {
            upgrade.is_v5 |= protocol == V5;
            upgrade.is_tunnel |= protocol.starts_with(TUNNEL);
        }
        Ok(upgrade)
    }

    /// Returns whether the streams are those of SPDY.
    pub(super) fn is_tunnel(self) -> bool {
        self.is_tunnel
    }

    /// Refuses a stream, as the protocol has it: by an error on the stream, or in place of it.
    pub(super) fn refuse(self, api: &Api, why: String) -> Response {
        if !self.is_v5 {
            let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            return (StatusCode::INTERNAL_SERVER_ERROR, content_type, why).into_response();
        }
        let session = Session {
            work: SessionWork::Command(CommandSession {
                work: CommandWork::Fail(format!("unable to upgrade connection: {why}")),
                has_stdin: false,
                is_terminal: false,
            }),
            life: None,
        };
        pending(api, session)
    }
}

/// Returns the answer to a request whose connection becomes a session. It is one for connections that cannot, too.
pub(super) fn pending(api: &Api, session: Session) -> Response {
    let mut response = Status::bad_request("Upgrade request required").into_response();
    let session = WaitingSession {
        session,
        clock: api.backend.clock,
    };
    response
        .extensions_mut()
        .insert(PendingSession::new(session));
    response
}
