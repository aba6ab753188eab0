//! Connections with containers over WebSockets: several streams, of which each message names one.

mod channels;
mod terminal;
mod input;
mod output;
mod status;
mod command;
mod pipe;
mod forward;
mod spdy;

use std::{sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};

use self::channels::Protocol;
use super::{
    assembly::Server,
    logging::Logged,
    websocket::{Handshake, Refusal, switching},
};
use crate::containers::{LogFollower, Session, Work};

/// The size limit of a message from a client.
const MESSAGE_MAX_BYTES: usize = 8 << 20;

/// The time for which a client may say nothing, as kubelets have it.
const IDLE_LIMIT: Duration = Duration::from_hours(4);
/// The protocol of ports by which streams of SPDY go through a WebSocket.
const TUNNEL: &str = "SPDY/3.1+portforward.k8s.io";

/// The protocol of a connection.
#[derive(Clone, Copy, Debug)]
enum Spoken {
    Channels(Protocol),
    Tunnel,
}

/// Accepts the connection of a session, and serves it in a task of the server.
pub(super) fn begin(
    handshake: Handshake,
    server: &Arc<Server>,
    session: Session,
    logged: Logged,
) -> Response {
    let key = match handshake.key() {
        Ok(key) => key,
        Err(refusal) => return logged.answer(refusal.into_response()),
    };
    let Some(spoken) = choose(&handshake, &session.work) else {
        return logged.answer(Refusal::NoProtocol.into_response());
    };
    let name = match spoken {
        Spoken::Channels(protocol) => protocol.name(),
        Spoken::Tunnel => Some(TUNNEL),
    };
    let (accepted, open) = logged.switch(switching(key, name));
    let stop = server.api.tasks.stop_token().clone();
    let clock = server.backend().clock;
    server.api.tasks.spawn(async move {
        let serving = async {
            let Some(socket) = handshake.socket(MESSAGE_MAX_BYTES).await else {
                return;
            };
            match (session.work, spoken) {
                (Work::Forward(target), Spoken::Channels(protocol)) => {
                    forward::serve(socket, protocol, target, session.life).await;
                }
                (Work::Forward(target), Spoken::Tunnel) => {
                    spdy::forward(socket, target, session.life).await;
                }
                (Work::Command(command), Spoken::Channels(protocol)) => {
                    command::serve(socket, protocol, command, session.life, clock).await;
                }
                (_, Spoken::Tunnel) => {}
            }
        };
        stop.run_until_cancelled(serving).await;
        drop(open);
    });
    accepted
}

/// Returns the protocol to speak with a client.
fn choose(handshake: &Handshake, work: &Work) -> Option<Spoken> {
    let is_forward = matches!(work, Work::Forward(_));
    if is_forward && handshake.protocols().any(|protocol| protocol == TUNNEL) {
        return Some(Spoken::Tunnel);
    }
    let protocol = if is_forward {
        Protocol::choose_of_ports(handshake.protocols())
    } else {
        Protocol::choose_of_commands(handshake.protocols())
    };
    protocol.map(Spoken::Channels)
}

/// Waits for the end of a container, and returns whether its clients are to leave for another reason.
async fn ended(life: Option<LogFollower>) -> bool {
    let Some(mut life) = life else {
        return std::future::pending().await;
    };
    life.ended().await;
    life.is_leaving()
}
