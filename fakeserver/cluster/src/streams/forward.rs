//! Ports of a pod, each by two channels: one of data, one of errors.

use bytes::Bytes;
use fakeserver_server::server::websocket::Socket;
use futures::{StreamExt as _, future::join_all, stream::SplitStream};
use tokio::{sync::mpsc, time::timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{
    IDLE_LIMIT,
    channels::{ClientMessage, Protocol},
    output::{Disconnection, Output},
    pipe::{self, StreamChunk, StreamPair},
};
use crate::containers::{ForwardTarget, LogFollower};

/// Forwards the ports of a session until all their connections are closed, the client leaves, or the pod ends.
pub(super) async fn serve(
    socket: Socket,
    protocol: Protocol,
    target: ForwardTarget,
    life: Option<LogFollower>,
) {
    let (sender, mut receiver) = socket.split();
    let mut output = Output::new(sender, protocol, false);
    if announce(&mut output, &target.ports).await.is_err() {
        return;
    }
    let (parts_sender, parts) = mpsc::channel(pipe::QUEUE);
    let mut inputs = Vec::new();
    let mut pipes = Vec::new();
    for ((data, error), port) in channels().zip(&target.ports) {
        let (input_sender, input) = mpsc::channel(pipe::QUEUE);
        inputs.push(input_sender);
        let streams = StreamPair {
            data: data.into(),
            error: error.into(),
        };
        let sender = parts_sender.clone();
        pipes.push(pipe::forward(&target, *port, streams, input, sender));
    }
    drop(parts_sender);
    let forwarding = async { tokio::join!(write(parts, &mut output), join_all(pipes)).0 };
    let code = tokio::select! {
        biased;
        () = hear(&mut receiver, protocol, &inputs) => return,
        _ = super::ended(life) => CloseCode::Away,
        written = forwarding => match written {
            Ok(()) => CloseCode::Normal,
            Err(Disconnection) => return,
        },
    };
    output.close(receiver, code).await;
}

/// Returns the channels of the ports, in their order.
fn channels() -> impl Iterator<Item = (u8, u8)> {
    (0..u8::MAX).step_by(2).map(|data| (data, data + 1))
}

/// Says on each channel which port it is of.
async fn announce(output: &mut Output, ports: &[u16]) -> Result<(), Disconnection> {
    for ((data, error), port) in channels().zip(ports) {
        for channel in [data, error] {
            output.write(channel, &port.to_le_bytes()).await?;
        }
    }
    Ok(())
}

/// Sends the parts of all streams until there are no more.
async fn write(
    mut parts: mpsc::Receiver<StreamChunk>,
    output: &mut Output,
) -> Result<(), Disconnection> {
    while let Some(StreamChunk { stream, bytes, .. }) = parts.recv().await {
        let channel = u8::try_from(stream).unwrap_or_default();
        if !bytes.is_empty() {
            output.write(channel, &bytes).await?;
        }
    }
    Ok(())
}

/// Reads the client's messages until it leaves, and forwards their data.
async fn hear(
    receiver: &mut SplitStream<Socket>,
    protocol: Protocol,
    inputs: &[mpsc::Sender<Bytes>],
) {
    loop {
        let Ok(Some(Ok(message))) = timeout(IDLE_LIMIT, receiver.next()).await else {
            return;
        };
        match protocol.decode(message) {
            ClientMessage::Leave => return,
            ClientMessage::Data(channel, bytes) if channel % 2 == 0 => {
                if let Some(input) = inputs.get(usize::from(channel / 2)) {
                    // A pod may close one connection while others continue. A connection that takes no data within the limit counts as closed.
                    if timeout(IDLE_LIMIT, input.send(bytes)).await.is_err() {
                        return;
                    }
                }
            }
            ClientMessage::Data(..) | ClientMessage::End(_) | ClientMessage::Nothing => {}
        }
    }
}
