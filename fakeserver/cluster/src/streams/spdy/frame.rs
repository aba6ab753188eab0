//! The frames of a connection, cut out of its bytes.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use super::headers::{HeaderReader, no_headers};

/// The bytes before the content of a frame.
const HEAD_BYTES: usize = 8;
/// The size limit of the content of a frame.
const CONTENT_MAX_BYTES: usize = 1 << 20;
/// The first two bytes of a control frame: a bit, and the version.
const CONTROL: u16 = 0x8003;
/// The flag of the last frame of a stream.
const LAST: u8 = 1;

const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GO_AWAY: u16 = 7;
const HEADERS: u16 = 8;

/// A frame of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A stream begins.
    Open {
        stream: u32,
        headers: Vec<(String, String)>,
        is_last: bool,
    },
    Data {
        stream: u32,
        bytes: Bytes,
        is_last: bool,
    },
    /// A stream has ended in both directions.
    Reset {
        stream: u32,
    },
    Ping {
        id: u32,
    },
    /// No more streams begin.
    GoAway,
}

/// Bytes that are no frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameError(pub(super) &'static str);

/// Cuts frames out of bytes.
pub(super) struct FrameReader {
    buffer: BytesMut,
    headers: HeaderReader,
}

// === impl FrameReader ===

impl FrameReader {
    pub(super) fn new() -> Self {
        Self {
            buffer: BytesMut::new(),
            headers: HeaderReader::new(),
        }
    }

    /// Takes bytes that have come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next frame that is complete. Frames that say nothing are left out.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let Some(head) = self.buffer.first_chunk::<HEAD_BYTES>().copied() else {
                return Ok(None);
            };
            let first = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            let flags = head[4];
            let length =
                usize::from(head[5]) << 16 | usize::from(head[6]) << 8 | usize::from(head[7]);
            if length > CONTENT_MAX_BYTES {
                return Err(FrameError("a frame that is too long"));
            }
            if self.buffer.len() < HEAD_BYTES + length {
                return Ok(None);
            }
            self.buffer.advance(HEAD_BYTES);
            let content = self.buffer.split_to(length).freeze();
            let is_last = flags & LAST != 0;
            let version = u16::from_be_bytes([head[0], head[1]]);
            let kind = u16::from_be_bytes([head[2], head[3]]);
            let frame = if version & 0x8000 == 0 {
                Some(Frame::Data {
                    stream: first,
                    bytes: content,
                    is_last,
                })
            } else if version == CONTROL {
                self.control(kind, content, is_last)?
            } else {
                return Err(FrameError("a frame of another version than 3"));
            };
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }

    fn control(
        &mut self,
        kind: u16,
        mut content: Bytes,
        is_last: bool,
    ) -> Result<Option<Frame>, FrameError> {
        let mut number = || {
            content
                .try_get_u32()
                .map_err(|_| FrameError("a short frame"))
        };
        Ok(match kind {
            SYN_STREAM => {
                let stream = number()?;
                // The stream that it belongs to, and its priority.
                number()?;
                content
                    .try_get_u16()
                    .map_err(|_| FrameError("a short frame"))?;
                Some(Frame::Open {
                    stream,
                    headers: self.headers.read(&content)?,
                    is_last,
                })
            }
            SYN_REPLY | HEADERS => {
                number()?;
                // Headers are read even of ignored frames: later headers are compressed against them.
                self.headers.read(&content)?;
                None
            }
            RST_STREAM => Some(Frame::Reset { stream: number()? }),
            PING => Some(Frame::Ping { id: number()? }),
            GO_AWAY => Some(Frame::GoAway),
            _ => None,
        })
    }
}

/// Returns the frame that accepts a stream.
pub(super) fn reply(stream: u32, is_first: bool) -> Bytes {
    let mut content = stream.to_be_bytes().to_vec();
    content.extend(no_headers(is_first));
    control(SYN_REPLY, &content)
}

/// Returns the frame that refuses or ends a stream.
pub(super) fn reset(stream: u32) -> Bytes {
    const REFUSED: u32 = 3;
    control(
        RST_STREAM,
        &[stream.to_be_bytes(), REFUSED.to_be_bytes()].concat(),
    )
}

/// Returns the answer to a ping.
pub(super) fn pong(id: u32) -> Bytes {
    control(PING, &id.to_be_bytes())
}

/// Returns a part of a stream.
pub(super) fn data(stream: u32, bytes: &[u8], is_last: bool) -> Bytes {
    framed(stream, u8::from(is_last), bytes)
}

fn control(kind: u16, content: &[u8]) -> Bytes {
    framed(u32::from(CONTROL) << 16 | u32::from(kind), 0, content)
}

fn framed(first: u32, flags: u8, content: &[u8]) -> Bytes {
    let length = u32::try_from(content.len()).expect("parts are short");
    let mut frame = BytesMut::with_capacity(HEAD_BYTES + content.len());
    frame.put_u32(first);
    frame.put_u32(u32::from(flags) << 24 | length);
    frame.put_slice(content);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Frame>, FrameError> {
        let mut reader = FrameReader::new();
        let mut frames = Vec::new();
        // One byte at a time, so that each boundary is crossed.
        for byte in bytes {
            reader.push(&[*byte]);
            frames.extend(reader.next()?);
        }
        Ok(frames)
    }

    #[test]
    fn frames_are_cut_at_any_boundary() {
        let sent = [
            data(3, b"text", false),
            data(3, b"", true),
            pong(7),
            control(4, b"settings"),
            reset(5),
            control(GO_AWAY, &[0; 8]),
        ];
        let frames = read(&sent.concat()).unwrap();
        assert_eq!(
            frames,
            [
                Frame::Data {
                    stream: 3,
                    bytes: "text".into(),
                    is_last: false
                },
                Frame::Data {
                    stream: 3,
                    bytes: Bytes::new(),
                    is_last: true
                },
                Frame::Ping { id: 7 },
                Frame::Reset { stream: 5 },
                Frame::GoAway,
            ]
        );
    }

    #[test]
    fn invalid_frames_are_errors() {
        assert!(read(&[0x80, 2, 0, 1, 0, 0, 0, 0]).is_err());
        assert!(read(&[0, 0, 0, 1, 0, 0xff, 0xff, 0xff]).is_err());
        assert!(read(&control(PING, b"x")).is_err());
        assert!(read(&control(SYN_STREAM, &[0; 20])).is_err());
    }
}
