//! Writes to the streams of a client.

use std::time::Duration;

use fakeserver_server::server::websocket::{PATIENCE, Socket};
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{
    Message, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{channels::Protocol, terminal};

/// The size of the parts in which much is sent.
const PART_BYTES: usize = 32 << 10;
/// The time for which a client may close its side.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// The client has left, or takes no data in time.
#[derive(Debug)]
pub(super) struct Disconnection;

/// The streams to a client.
pub(super) struct Output {
    sender: SplitSink<Socket, Message>,
    protocol: Protocol,
    is_terminal: bool,
}

// === impl Output ===

impl Output {
    pub(super) fn new(
        sender: SplitSink<Socket, Message>,
        protocol: Protocol,
        is_terminal: bool,
    ) -> Self {
        Self {
            sender,
            protocol,
            is_terminal,
        }
    }

    /// Returns whether it is shown by a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes the output of a command, with the line ends of a terminal if there is one.
    pub(super) async fn show(&mut self, channel: u8, text: &[u8]) -> Result<(), Disconnection> {
        if self.is_terminal {
            // A terminal has one output.
            let text = terminal::with_returns(text);
            return self.write(super::channels::STDOUT, &text).await;
        }
        self.write(channel, text).await
    }

    /// Writes bytes to a channel. A message without bytes says that the channel is there.
    pub(super) async fn write(&mut self, channel: u8, bytes: &[u8]) -> Result<(), Disconnection> {
        if bytes.is_empty() {
            return self.send(channel, bytes).await;
        }
        for part in bytes.chunks(PART_BYTES) {
            self.send(channel, part).await?;
        }
        Ok(())
    }

    async fn send(&mut self, channel: u8, bytes: &[u8]) -> Result<(), Disconnection> {
        let message = self.protocol.encode(channel, bytes);
        match timeout(PATIENCE, self.sender.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Disconnection),
        }
    }

    /// Closes the connection, and waits for the client to do so.
    pub(super) async fn close(mut self, mut receiver: SplitStream<Socket>, code: CloseCode) {
        let close = Message::Close(Some(CloseFrame {
            code,
            reason: Utf8Bytes::default(),
        }));
        let closing = async {
            if self.sender.send(close).await.is_ok() {
                while let Some(Ok(_)) = receiver.next().await {}
            }
        };
        // A client that does not close is left alone.
        let _ = timeout(CLOSE_LIMIT, closing).await;
    }
}
