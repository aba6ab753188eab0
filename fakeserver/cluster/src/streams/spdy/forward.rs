//! Ports of a pod, each connection by two streams of SPDY, within the messages of a WebSocket.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use fakeserver_server::server::websocket::{PATIENCE, Socket};
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{FuturesUnordered, SplitSink, SplitStream},
};
use tokio::{sync::mpsc, time::timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::frame::{self, Frame, FrameError, FrameReader};
use crate::{
    containers::{ForwardTarget, LogFollower},
    streams::{
        IDLE_LIMIT, ended,
        output::Disconnection,
        pipe::{self, StreamChunk, StreamPair},
    },
};

/// The number of connections that one client has at a time. Further ones are refused.
const CONNECTIONS_MAX: usize = 256;

/// The streams of a client.
#[derive(Default)]
struct Streams {
    /// By the name of their request: the stream of errors comes first, then that of data.
    waiting: BTreeMap<String, StreamHalf>,
    /// By the stream of data.
    open: BTreeMap<u32, ForwardedConnection>,
    /// Bytes that are to be handed on, in order; `None` is the end of a stream.
    arrived: VecDeque<(u32, Option<Bytes>)>,
    has_replied: bool,
}

/// One of the two streams of a connection.
#[derive(Clone, Copy)]
struct StreamHalf {
    stream: u32,
    is_data: bool,
}

/// A connection that is forwarded.
struct ForwardedConnection {
    /// `None` when the client sends no more.
    input: Option<mpsc::Sender<Bytes>>,
    end: CancellationToken,
}

/// A connection that is to be made.
struct Connection {
    port: u16,
    streams: StreamPair,
    input: mpsc::Receiver<Bytes>,
    end: CancellationToken,
}

/// The effect of a frame.
#[derive(Default)]
struct Effect {
    reply: Vec<Bytes>,
    connection: Option<Connection>,
}

/// Forwards ports until the client leaves, or the pod ends.
pub(in super::super) async fn serve(
    socket: Socket,
    target: ForwardTarget,
    life: Option<LogFollower>,
) {
    let (mut sender, mut receiver) = socket.split();
    let forwarding = forward(&mut sender, &mut receiver, &target);
    tokio::select! {
        biased;
        _ = ended(life) => {}
        Disconnection = forwarding => return,
    }
    let closing = async {
        sender.send(Message::Close(None)).await.ok()?;
        while receiver.next().await?.is_ok() {}
        Some(())
    };
    if timeout(PATIENCE, closing).await.is_err() {
        debug!("websocket closed without its client");
    }
}

async fn forward(
    sender: &mut SplitSink<Socket, Message>,
    receiver: &mut SplitStream<Socket>,
    target: &ForwardTarget,
) -> Disconnection {
    let mut reader = FrameReader::new();
    let mut streams = Streams::default();
    let mut connections = FuturesUnordered::new();
    let (parts_sender, mut parts) = mpsc::channel(pipe::QUEUE);
    loop {
        let mut frames = Vec::new();
        tokio::select! {
            biased;
            Some(part) = parts.recv() => {
                let StreamChunk { stream, bytes, is_last } = part;
                frames.push(frame::data(stream, &bytes, is_last));
            }
            Some(stream) = connections.next() => {
                streams.open.remove(&stream);
            }
            handed = timeout(IDLE_LIMIT, hand_on(&mut streams)), if !streams.arrived.is_empty() => {
                // A port that takes nothing for so long has gone.
                if handed.is_err() {
                    return Disconnection;
                }
            }
            // A client is heard when all that it has said is handed on.
            message = timeout(IDLE_LIMIT, receiver.next()), if streams.arrived.is_empty() => {
                let Ok(Some(Ok(message))) = message else {
                    return Disconnection;
                };
                let Ok(effects) = hear(message, &mut reader, &mut streams) else {
                    return Disconnection;
                };
                for effect in effects {
                    frames.extend(effect.reply);
                    if let Some(connection) = effect.connection {
                        connections.push(connect(target, connection, parts_sender.clone()));
                    }
                }
            }
        }
        for frame in frames {
            let sent = timeout(PATIENCE, sender.send(Message::Binary(frame))).await;
            if !matches!(sent, Ok(Ok(()))) {
                return Disconnection;
            }
        }
    }
}

/// Forwards a connection to its end, and returns its stream.
async fn connect(
    target: &ForwardTarget,
    connection: Connection,
    parts: mpsc::Sender<StreamChunk>,
) -> u32 {
    let Connection {
        port,
        streams,
        input,
        end,
    } = connection;
    let forwarding = pipe::forward(target, port, streams, input, parts);
    end.run_until_cancelled(forwarding).await;
    streams.data
}

/// Forwards the first of the received bytes.
///
/// # Cancel safety
///
/// If dropped, nothing is handed on.
async fn hand_on(streams: &mut Streams) {
    let Some((stream, bytes)) = streams.arrived.front() else {
        return;
    };
    if let Some(open) = streams.open.get_mut(stream) {
        match (&open.input, bytes) {
            (Some(input), Some(bytes)) => {
                // If the pod has closed its side, the bytes are dropped.
                if let Ok(permit) = input.reserve().await {
                    permit.send(bytes.clone());
                }
            }
            _ => open.input = None,
        }
    }
    streams.arrived.pop_front();
}

/// Reads the frames of a message.
fn hear(
    message: Message,
    reader: &mut FrameReader,
    streams: &mut Streams,
) -> Result<Vec<Effect>, FrameError> {
    match message {
        Message::Binary(bytes) => reader.push(&bytes),
        Message::Close(_) => return Err(FrameError("the client leaves")),
        _ => {}
    }
    let mut effects = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(frame)) => effects.push(streams.take(frame)),
            Ok(None) => return Ok(effects),
            Err(error) => {
                debug!(error = error.0, "client does not speak SPDY");
                return Err(error);
            }
        }
    }
}

// === impl Streams ===

impl Streams {
    /// Takes a frame of the client.
    fn take(&mut self, frame: Frame) -> Effect {
        let mut effect = Effect::default();
        match frame {
            Frame::Ping { id } => effect.reply.push(frame::pong(id)),
            Frame::Data {
                stream,
                bytes,
                is_last,
            } => {
                if !bytes.is_empty() {
                    self.arrived.push_back((stream, Some(bytes)));
                }
                if is_last {
                    self.arrived.push_back((stream, None));
                }
            }
            Frame::Reset { stream } => {
                self.waiting.retain(|_, half| half.stream != stream);
                if let Some(open) = self.open.remove(&stream) {
                    open.end.cancel();
                }
            }
            Frame::GoAway => {}
            Frame::Open {
                stream, headers, ..
            } => self.begin(stream, &headers, &mut effect),
        }
        effect
    }

    /// Accepts a stream, and connects when both streams of a connection are there.
    fn begin(&mut self, stream: u32, headers: &[(String, String)], effect: &mut Effect) {
        let header = |name: &str| {
            let mut named = headers.iter();
            named
                .find(|(header, _)| header.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let is_data = header("streamtype") == Some("data");
        let is_error = header("streamtype") == Some("error");
        let port = header("port").and_then(|port| port.parse::<u16>().ok());
        let count = self.open.len() + self.waiting.len();
        let (true, Some(port), true) = (is_data || is_error, port, count < CONNECTIONS_MAX) else {
            effect.reply.push(frame::reset(stream));
            return;
        };
        effect.reply.push(frame::reply(stream, !self.has_replied));
        self.has_replied = true;
        // Old clients name no request: the stream of data is the next one of the client.
        let first = if is_data {
            stream.wrapping_sub(2)
        } else {
            stream
        };
        let request = header("requestid").map_or_else(|| first.to_string(), str::to_owned);
        let half = StreamHalf { stream, is_data };
        match self.waiting.remove(&request) {
            Some(other) if other.is_data != is_data => {
                let (data, error) = if is_data {
                    (stream, other.stream)
                } else {
                    (other.stream, stream)
                };
                let (sender, input) = mpsc::channel(pipe::QUEUE);
                let end = CancellationToken::new();
                let open = ForwardedConnection {
                    input: Some(sender),
                    end: end.clone(),
                };
                self.open.insert(data, open);
                effect.connection = Some(Connection {
                    port,
                    streams: StreamPair { data, error },
                    input,
                    end,
                });
            }
            _ => {
                self.waiting.insert(request, half);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(streams: &mut Streams, stream: u32, kind: &str, request: &str) -> Effect {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![header("streamtype", kind), header("port", "80")];
        if !request.is_empty() {
            headers.push(header("requestid", request));
        }
        streams.take(Frame::Open {
            stream,
            headers,
            is_last: false,
        })
    }

    #[test]
    fn two_streams_of_a_request_are_a_connection() {
        let mut streams = Streams::default();
        for (first, request) in [(1, "0"), (5, ""), (9, "2")] {
            let error = open(&mut streams, first, "error", request);
            assert!(error.connection.is_none());
            assert_eq!(error.reply, [frame::reply(first, first == 1)]);
            let data = open(&mut streams, first + 2, "data", request);
            let connection = data.connection.unwrap();
            assert_eq!(connection.port, 80);
            assert_eq!(connection.streams.data, first + 2);
            assert_eq!(connection.streams.error, first);
        }
        assert_eq!(streams.open.len(), 3);
        let unknown = open(&mut streams, 13, "stdin", "3");
        assert_eq!(unknown.reply, [frame::reset(13)]);
    }

    #[test]
    fn a_stream_that_is_reset_before_its_other_half_leaves_its_place() {
        let mut streams = Streams::default();
        for number in 0..2 * u32::try_from(CONNECTIONS_MAX).unwrap() {
            let stream = 2 * number + 1;
            let opened = open(&mut streams, stream, "error", &number.to_string());
            assert_eq!(opened.reply, [frame::reply(stream, number == 0)]);
            streams.take(Frame::Reset { stream });
        }
        assert!(streams.waiting.is_empty());
    }

    #[tokio::test]
    async fn data_is_forwarded_in_order_and_a_reset_ends_the_stream() {
        let mut streams = Streams::default();
        open(&mut streams, 1, "error", "0");
        let mut connection = open(&mut streams, 3, "data", "0").connection.unwrap();
        let data = |bytes: &'static str, is_last| Frame::Data {
            stream: 3,
            bytes: bytes.into(),
            is_last,
        };
        streams.take(data("a", false));
        streams.take(data("b", true));
        while !streams.arrived.is_empty() {
            hand_on(&mut streams).await;
        }
        assert_eq!(connection.input.recv().await.unwrap(), "a");
        assert_eq!(connection.input.recv().await.unwrap(), "b");
        assert_eq!(connection.input.recv().await, None);
        streams.take(Frame::Reset { stream: 3 });
        assert!(connection.end.is_cancelled());
        // What comes for a stream that is gone is dropped.
        streams.take(data("c", false));
        hand_on(&mut streams).await;
        assert!(streams.arrived.is_empty());
    }
}
