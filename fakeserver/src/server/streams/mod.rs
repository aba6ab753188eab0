//! Connections with containers over WebSockets: several streams, of which each message names one.

mod channels;
mod terminal;
mod input;
mod output;
mod status;
mod command;

use std::{sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};

use self::channels::Protocol;
use super::{
    assembly::Server,
    websocket::{Handshake, Refusal, switching},
};
use crate::containers::{LogFollower, Session, Work};

/// The size limit of a message from a client.
const MESSAGE_MAX_BYTES: usize = 8 << 20;

/// The time for which a client may say nothing, as kubelets have it.
const IDLE_LIMIT: Duration = Duration::from_hours(4);

/// Accepts the connection of a session, and serves it in a task of the server.
pub(super) fn begin(handshake: Handshake, server: &Arc<Server>, session: Session) -> Response {
    let key = match handshake.key() {
        Ok(key) => key,
        Err(refusal) => return refusal.into_response(),
    };
    let Some(protocol) = Protocol::choose_of_commands(handshake.protocols()) else {
        return Refusal::NoProtocol.into_response();
    };
    let accepted = switching(key, protocol.name());
    let stop = server.api.tasks.stop_token().clone();
    let clock = server.backend().clock;
    server.api.tasks.spawn(async move {
        let Work::Command(command) = session.work;
        let serving = async {
            if let Some(socket) = handshake.socket(MESSAGE_MAX_BYTES).await {
                command::serve(socket, protocol, command, session.life, clock).await;
            }
        };
        stop.run_until_cancelled(serving).await;
    });
    accepted
}

/// Waits for the end of a container, and returns whether its clients are to leave for another reason.
async fn ended(life: Option<LogFollower>) -> bool {
    let Some(mut life) = life else {
        return std::future::pending().await;
    };
    life.ended().await;
    life.is_leaving()
}
