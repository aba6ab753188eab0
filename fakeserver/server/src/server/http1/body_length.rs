//! The length of a request's body: where the next request begins.

/// The framing of the bytes behind a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BodyLength {
    /// So many bytes are left.
    Length(u64),
    Chunked(Chunk),
    /// The bytes to the end of the connection are of another protocol, or of no interest.
    Open,
}

/// A place in a chunked body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the line of a chunk: its size so far, and whether more digits may come.
    Size { size: u64, is_open: bool },
    /// So many bytes are left, the end of their line included.
    Data(u64),
    /// In a line behind the last chunk, which has so many characters so far.
    Trailer(usize),
}

// === impl BodyLength ===

impl BodyLength {
    pub(super) const CHUNKED: Self = Self::Chunked(Chunk::START);

    pub(super) fn is_end(&self) -> bool {
        *self == Self::Length(0)
    }

    /// Returns the number of bytes of the body at the beginning of `bytes`, and goes on behind them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Open => bytes.len(),
            Self::Length(left) => {
                let taken =
                    usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= taken as u64;
                taken
            }
            Self::Chunked(chunk) => {
                let mut at = 0;
                while at < bytes.len() {
                    if let Chunk::Data(left) = chunk {
                        let rest = bytes.len() - at;
                        let taken = usize::try_from(*left).map_or(rest, |left| left.min(rest));
                        *left -= taken as u64;
                        at += taken;
                        if *left == 0 {
                            *chunk = Chunk::START;
                        }
                        continue;
                    }
                    let step = chunk.step(bytes[at]);
                    at += 1;
                    match step {
                        Step::Next => {}
                        Step::End => {
                            *self = Self::Length(0);
                            return at;
                        }
                        // The library finds the error.
                        Step::Invalid => {
                            *self = Self::Open;
                            return bytes.len();
                        }
                    }
                }
                at
            }
        }
    }
}

enum Step {
    Next,
    End,
    Invalid,
}

// === impl Chunk ===

impl Chunk {
    const START: Self = Self::Size {
        size: 0,
        is_open: true,
    };

    fn step(&mut self, byte: u8) -> Step {
        match (&mut *self, byte) {
            (Self::Size { size: 0, .. }, b'\n') => *self = Self::Trailer(0),
            // The data, and the end of its line.
            (Self::Size { size, .. }, b'\n') => *self = Self::Data(*size + 2),
            (
                Self::Size {
                    size,
                    is_open: true,
                },
                _,
            ) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let longer = size.checked_mul(16).map(|size| size + u64::from(digit));
                match longer.filter(|size| *size < u64::MAX - 2) {
                    Some(longer) => *size = longer,
                    None => return Step::Invalid,
                }
            }
            (Self::Size { is_open, .. }, _) => *is_open = false,
            (Self::Trailer(0), b'\n') => return Step::End,
            (Self::Trailer(length), b'\n') => *length = 0,
            (Self::Trailer(_), b'\r') => {}
            (Self::Trailer(length), _) => *length += 1,
            (Self::Data(_), _) => return Step::Invalid,
        }
        Step::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that `body` ends at its end, however it is cut.
    fn ends(start: &BodyLength, body: &[u8]) {
        let mut length = start.clone();
        let behind = [body, b"GET /"].concat();
        assert_eq!(length.take(&behind), body.len());
        assert!(length.is_end());
        let mut length = start.clone();
        for (index, byte) in body.iter().enumerate() {
            assert!(!length.is_end(), "{index}");
            assert_eq!(length.take(&[*byte]), 1);
        }
        assert!(length.is_end());
    }

    #[test]
    fn a_body_ends_where_its_length_says() {
        ends(&BodyLength::Length(5), b"\r\n\r\nx");
        for body in [
            &b"0\r\n\r\n"[..],
            b"5\r\n\r\n\r\nx\r\n0\r\n\r\n",
            b"A;name=\"0\"\r\n0123456789\r\n1\r\nx\r\n00\r\nTrailer: x\r\nb: c\r\n\r\n",
        ] {
            ends(&BodyLength::CHUNKED, body);
        }
    }

    #[test]
    fn what_is_no_length_goes_to_the_library() {
        let mut length = BodyLength::CHUNKED;
        let size = b"ffffffffffffffffff\r\n";
        assert_eq!(length.take(size), size.len());
        assert_eq!(length, BodyLength::Open);
    }
}
