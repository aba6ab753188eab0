//! The headers of streams: names and values, compressed with a dictionary that both sides know.

use miniz_oxide::inflate::{
    TINFLStatus,
    core::{
        DecompressorOxide, decompress,
        inflate_flags::{TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF},
    },
};

use super::frame::FrameError;

/// The words at the beginning of the dictionary, each after its length in four bytes.
const WORDS: &str = "options head post put delete trace accept accept-charset accept-encoding accept-language \
                     accept-ranges age allow authorization cache-control connection content-base content-encoding \
                     content-language content-length content-location content-md5 content-range content-type date etag \
                     expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since \
                     last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer \
                     retry-after server te trailer transfer-encoding upgrade user-agent vary via warning \
                     www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin";
/// The end of the dictionary.
const TAIL: &str = "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 \
                    Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 \
                    Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service \
                    UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, \
                    Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,\
                    text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,\
                    utf-,*,enq=0.";
/// The bytes that stand before the first compressed block: how it is compressed, and the checksum of the dictionary.
const PREFIX_BYTES: usize = 6;
/// The bit of the second byte that says that there is a dictionary.
const HAS_DICTIONARY: u8 = 0x20;
/// The distance to which compressed bytes refer.
const WINDOW_BYTES: usize = 32 << 10;
/// The size limit of the headers of one stream.
const HEADERS_MAX_BYTES: usize = 16 << 10;

/// The headers of a connection in one direction, which refer to those before.
pub(super) struct HeaderReader {
    state: Box<DecompressorOxide>,
    /// The dictionary and the bytes read so far, as far back as references reach.
    read: Vec<u8>,
    is_begun: bool,
}

/// Returns the dictionary.
fn dictionary() -> Vec<u8> {
    let mut dictionary = Vec::new();
    for word in WORDS.split(' ') {
        let word = word.replace('_', " ");
        let length = u32::try_from(word.len()).expect("words are short");
        dictionary.extend(length.to_be_bytes());
        dictionary.extend(word.as_bytes());
    }
    dictionary.extend(TAIL.as_bytes());
    dictionary
}

// === impl HeaderReader ===

impl HeaderReader {
    pub(super) fn new() -> Self {
        Self {
            state: Box::default(),
            read: dictionary(),
            is_begun: false,
        }
    }

    /// Reads the compressed headers of one stream.
    pub(super) fn read(&mut self, mut block: &[u8]) -> Result<Vec<(String, String)>, FrameError> {
        if !self.is_begun {
            let has_dictionary = block
                .get(1)
                .is_some_and(|flags| flags & HAS_DICTIONARY != 0);
            if block.len() < PREFIX_BYTES || !has_dictionary {
                return Err(FrameError("headers without the dictionary of SPDY/3"));
            }
            block = &block[PREFIX_BYTES..];
            self.is_begun = true;
        }
        let kept = self.read.len().min(WINDOW_BYTES);
        self.read.drain(..self.read.len() - kept);
        self.read.resize(kept + HEADERS_MAX_BYTES, 0);
        let flags = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, written) =
            decompress(&mut self.state, block, &mut self.read, kept, flags);
        self.read.truncate(kept + written);
        if taken < block.len() || status != TINFLStatus::NeedsMoreInput {
            return Err(FrameError("headers that are too long, or not compressed"));
        }
        parse(&self.read[kept..]).ok_or(FrameError("headers that end too early"))
    }
}

/// Reads headers: their number, and names and values after their lengths.
fn parse(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let count = number(&mut bytes)?;
    let mut headers = Vec::new();
    for _ in 0..count {
        let name = text(&mut bytes)?;
        headers.push((name, text(&mut bytes)?));
    }
    Some(headers)
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number))
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the compressed headers of an answer, which has none. `is_first` says whether it is the first one of a connection.
pub(super) fn no_headers(is_first: bool) -> Vec<u8> {
    let mut block = Vec::new();
    if is_first {
        // Deflate without a dictionary.
        block.extend([0x78, 0x01]);
    }
    // A stored block of four bytes, the number of headers, and an empty one, by which readers know that all is there.
    block.extend([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0]);
    block.extend([0, 0, 0, 0xff, 0xff]);
    block
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::core::{
        CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
    };

    use super::*;

    /// Returns headers as bytes.
    fn plain(headers: &[(&str, &str)]) -> Vec<u8> {
        let number = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
        let mut bytes = number(headers.len()).to_vec();
        for text in headers.iter().flat_map(|(name, value)| [name, value]) {
            bytes.extend(number(text.len()));
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    /// Compresses blocks one after the other. The first is the dictionary, which is not part of the result.
    fn compressed(blocks: &[&[u8]]) -> Vec<Vec<u8>> {
        let flags = create_comp_flags_from_zip_params(6, -15, 0);
        let mut compressor = CompressorOxide::new(flags);
        let compress = |block: &&[u8]| {
            let mut out = Vec::new();
            compress_to_output(&mut compressor, block, TDEFLFlush::Sync, |bytes| {
                out.extend(bytes);
                true
            });
            out
        };
        blocks.iter().map(compress).collect()
    }

    #[test]
    fn the_dictionary_is_that_of_the_protocol() {
        let (mut low, mut high) = (1_u32, 0_u32);
        for byte in dictionary() {
            low = (low + u32::from(byte)) % 65_521;
            high = (high + low) % 65_521;
        }
        assert_eq!((high << 16) | low, 0xe3c6_a7c2);
    }

    #[test]
    fn headers_refer_to_the_dictionary_and_to_those_before() {
        let error = [("streamtype", "error"), ("port", "80"), ("requestid", "0")];
        let data = [("streamtype", "data"), ("port", "80"), ("requestid", "0")];
        let blocks = compressed(&[&dictionary(), &plain(&error), &plain(&data)]);
        let mut reader = HeaderReader::new();
        let mut first = vec![0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2];
        first.extend(&blocks[1]);
        assert!(blocks[2].len() < plain(&data).len() / 2);
        for (block, wanted) in [(&first, error), (&blocks[2], data)] {
            let read = reader.read(block).unwrap();
            let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(read, wanted);
        }
    }

    #[test]
    fn headers_that_cannot_be_read_are_errors() {
        let read = |block: &[u8]| HeaderReader::new().read(block);
        assert!(read(b"").is_err());
        assert!(read(&[0x78, 0x01, 0, 0, 0, 0, 0]).is_err());
        let dictionary = dictionary();
        let beginning = [0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2];
        let bomb = vec![b'x'; HEADERS_MAX_BYTES + 1];
        let short = plain(&[("name", "value")]);
        for block in [&bomb[..], &short[..9], b"\x00\x00"] {
            let blocks = compressed(&[&dictionary, block]);
            assert!(read(&[&beginning[..], &blocks[1]].concat()).is_err());
        }
    }
}
