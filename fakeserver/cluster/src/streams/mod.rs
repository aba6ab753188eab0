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
use crate::containers::{LogFollower, Session, Work};

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
            Spoken::Channels(protocol) => protocol.name(),
            Spoken::Tunnel => Some(TUNNEL),
        };
        let conversation: Conversation = Box::new(move |socket| {
            Box::pin(async move {
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
            })
        });
        Some((name, conversation))
    }
}

/// Returns the protocol to speak with a client.
fn choose(offered: &[&str], work: &Work) -> Option<Spoken> {
    let is_forward = matches!(work, Work::Forward(_));
    if is_forward && offered.contains(&TUNNEL) {
        return Some(Spoken::Tunnel);
    }
    let protocol = if is_forward {
        Protocol::choose_of_ports(offered.iter().copied())
    } else {
        Protocol::choose_of_commands(offered.iter().copied())
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
