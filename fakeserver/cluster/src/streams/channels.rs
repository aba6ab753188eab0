//! The protocols by which messages name their streams.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::{BufMut as _, Bytes, BytesMut};
use tokio_tungstenite::tungstenite::Message;

use crate::containers::OutputStream;

pub(super) const STDIN: u8 = 0;
pub(super) const STDOUT: u8 = 1;
pub(super) const STDERR: u8 = 2;
/// The stream of the status at the end.
pub(super) const ERROR: u8 = 3;
/// The stream that ends others.
const CLOSE: u8 = 255;

/// A protocol of commands in containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    name: &'static str,
    /// True if messages are text, and bytes are base64 in it.
    is_base64: bool,
    /// True if the error stream has a status, and not a text.
    pub(super) has_status: bool,
    /// True if a client can end a stream.
    has_close: bool,
}

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientMessage {
    Data(u8, Bytes),
    /// The client has closed this stream.
    End(u8),
    /// A message without content for the session.
    Nothing,
    /// The client has left.
    Leave,
}

/// The protocols of commands. A client that names none speaks the first.
const OF_COMMANDS: [Protocol; 6] = [
    Protocol::of("", false, false),
    Protocol::of("channel.k8s.io", false, false),
    Protocol::of("base64.channel.k8s.io", true, false),
    Protocol::of("v4.channel.k8s.io", false, true),
    Protocol::of("v4.base64.channel.k8s.io", true, true),
    Protocol {
        has_close: true,
        ..Protocol::of("v5.channel.k8s.io", false, true)
    },
];

/// The protocols of ports, likewise.
const OF_PORTS: [Protocol; 3] = [OF_COMMANDS[0], OF_COMMANDS[3], OF_COMMANDS[4]];

/// Returns the channel of an output.
pub(super) fn channel_of(stream: OutputStream) -> u8 {
    match stream {
        OutputStream::Stdout => STDOUT,
        OutputStream::Stderr => STDERR,
    }
}

/// Returns the protocols that are offered and known, in the order of the offer.
fn supported<'a>(offered: impl Iterator<Item = &'a str>, protocols: &[Protocol]) -> Vec<Protocol> {
    let mut offered = offered.peekable();
    if offered.peek().is_none() {
        return vec![protocols[0]];
    }
    let find = |name: &str| {
        let mut named = protocols[1..].iter();
        named.find(|protocol| protocol.name == name).copied()
    };
    offered.filter_map(find).collect()
}

// === impl Protocol ===

impl Protocol {
    const fn of(name: &'static str, is_base64: bool, has_status: bool) -> Self {
        Self {
            name,
            is_base64,
            has_status,
            has_close: false,
        }
    }

    /// Returns the protocol of commands to speak with a client that offers these: version 5 if it is among them, or else the
    /// first that the server knows.
    pub(super) fn choose_of_commands<'a>(offered: impl Iterator<Item = &'a str>) -> Option<Self> {
        let supported = supported(offered, &OF_COMMANDS);
        let newest = supported.iter().find(|protocol| protocol.has_close);
        newest.or(supported.first()).copied()
    }

    /// Returns the protocol of ports to speak with a client that offers these.
    pub(super) fn choose_of_ports<'a>(offered: impl Iterator<Item = &'a str>) -> Option<Self> {
        supported(offered, &OF_PORTS).first().copied()
    }

    /// Returns the name that the answer to the client has, if there is one.
    pub(super) fn name(self) -> Option<&'static str> {
        (!self.name.is_empty()).then_some(self.name)
    }

    /// Returns the message of `bytes` on a channel.
    pub(super) fn encode(self, channel: u8, bytes: &[u8]) -> Message {
        if self.is_base64 {
            let mut text = char::from(b'0' + channel).to_string();
            STANDARD.encode_string(bytes, &mut text);
            return Message::text(text);
        }
        let mut message = BytesMut::with_capacity(bytes.len() + 1);
        message.put_u8(channel);
        message.put_slice(bytes);
        Message::binary(message.freeze())
    }

    /// Reads a message of the client. What cannot be read says nothing.
    pub(super) fn decode(self, message: Message) -> ClientMessage {
        let mut bytes = match message {
            Message::Text(text) => Bytes::from(text),
            Message::Binary(bytes) => bytes,
            Message::Close(_) => return ClientMessage::Leave,
            _ => return ClientMessage::Nothing,
        };
        if bytes.is_empty() {
            return ClientMessage::Nothing;
        }
        let channel = bytes.split_to(1)[0];
        if self.is_base64 {
            return match STANDARD.decode(&bytes) {
                Ok(decoded) => ClientMessage::Data(channel.wrapping_sub(b'0'), decoded.into()),
                Err(_) => ClientMessage::Nothing,
            };
        }
        match bytes.first() {
            Some(closed) if self.has_close && channel == CLOSE => ClientMessage::End(*closed),
            _ => ClientMessage::Data(channel, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(offered: &[&str]) -> Option<&'static str> {
        let protocol = Protocol::choose_of_commands(offered.iter().copied());
        protocol.map(|protocol| protocol.name)
    }

    #[test]
    fn the_first_known_protocol_is_spoken_unless_there_is_version_5() {
        assert_eq!(choose(&[]), Some(""));
        assert_eq!(
            choose(&["v4.channel.k8s.io", "channel.k8s.io"]),
            Some("v4.channel.k8s.io")
        );
        assert_eq!(
            choose(&["v4.channel.k8s.io", "v5.channel.k8s.io"]),
            Some("v5.channel.k8s.io")
        );
        assert_eq!(
            choose(&["x", "base64.channel.k8s.io"]),
            Some("base64.channel.k8s.io")
        );
        assert_eq!(choose(&["x"]), None);
        let of_ports = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
        let protocol = Protocol::choose_of_ports(of_ports.into_iter()).unwrap();
        assert_eq!(protocol.name(), Some("v4.channel.k8s.io"));
    }

    #[test]
    fn messages_survive_a_round_trip() {
        for protocol in OF_COMMANDS {
            let message = protocol.encode(2, b"\x00text");
            assert_eq!(message.is_text(), protocol.is_base64);
            assert_eq!(
                protocol.decode(message),
                ClientMessage::Data(2, Bytes::from_static(b"\x00text"))
            );
            assert_eq!(
                protocol.decode(Message::binary(Bytes::new())),
                ClientMessage::Nothing
            );
            assert_eq!(protocol.decode(Message::Close(None)), ClientMessage::Leave);
        }
        let close = || Message::binary(Bytes::from_static(&[255, 0]));
        assert_eq!(OF_COMMANDS[5].decode(close()), ClientMessage::End(0));
        assert_eq!(
            OF_COMMANDS[3].decode(close()),
            ClientMessage::Data(255, Bytes::from_static(&[0]))
        );
        assert_eq!(
            OF_COMMANDS[2].decode(Message::text("0???")),
            ClientMessage::Nothing
        );
    }
}
