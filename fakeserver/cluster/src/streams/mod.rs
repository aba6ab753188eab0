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

use std::time::Duration;

use fakeserver_server::{
    Clock,
    server::session::{self, Conversation},
};

use self::channels::Protocol;
use crate::containers::{LogFollower, Session, SessionWork};

/// The time for which a client may say nothing, as kubelets have it.
const IDLE_LIMIT: Duration = Duration::from_hours(4);
/// The protocol of ports by which streams of SPDY go through a WebSocket.
const TUNNEL: &str = "SPDY/3.1+portforward.k8s.io";

/// The protocol of a connection.
#[derive(Clone, Copy, Debug)]
enum StreamProtocol {
    Channels(Protocol),
    Tunnel,
}

/// A session that waits for its connection, and the clock of the server.
pub(crate) struct WaitingSession {
    pub(crate) session: Session,
    pub(crate) clock: Clock,
}

// === impl WaitingSession ===

impl session::Session for WaitingSession {
    fn accept(self: Box<Self>, offered: &[&str]) -> Option<(Option<&'static str>, Conversation)> {
        let Self { session, clock } = *self;
        let spoken = choose(offered, &session.work)?;
        let name = match spoken {
            StreamProtocol::Channels(protocol) => protocol.name(),
            StreamProtocol::Tunnel => Some(TUNNEL),
        };
        let conversation: Conversation = Box::new(move |socket| {
            Box::pin(async move {
                match (session.work, spoken) {
                    (SessionWork::Forward(target), StreamProtocol::Channels(protocol)) => {
                        forward::serve(socket, protocol, target, session.life).await;
                    }
                    (SessionWork::Forward(target), StreamProtocol::Tunnel) => {
                        spdy::forward(socket, target, session.life).await;
                    }
                    (SessionWork::Command(command), StreamProtocol::Channels(protocol)) => {
                        command::serve(socket, protocol, command, session.life, clock).await;
                    }
                    (_, StreamProtocol::Tunnel) => {}
                }
            })
        });
        Some((name, conversation))
    }
}

/// Returns the protocol to speak with a client.
fn choose(offered: &[&str], work: &SessionWork) -> Option<StreamProtocol> {
    let is_forward = matches!(work, SessionWork::Forward(_));
    if is_forward && offered.contains(&TUNNEL) {
        return Some(StreamProtocol::Tunnel);
    }
    let protocol = if is_forward {
        Protocol::choose_of_ports(offered.iter().copied())
    } else {
        Protocol::choose_of_commands(offered.iter().copied())
    };
    protocol.map(StreamProtocol::Channels)
}

/// Waits for the end of a container, and returns whether its clients are to leave for another reason.
async fn ended(life: Option<LogFollower>) -> bool {
    let Some(mut life) = life else {
        return std::future::pending().await;
    };
    life.ended().await;
    life.is_leaving()
}
