//! A stream of bytes, cut into frames.

use bytes::Bytes;
use informer::stages::FrameSplitter;

/// The first byte is the largest size of a frame, the second how many come next, each the size of a chunk; the rest is the
/// stream, in chunks of these sizes over and over.
///
/// However the stream is divided into chunks, the frames are its lines, as a plain split gives them.
pub fn run(data: &[u8]) {
    let [size_max, size_count, rest @ ..] = data else {
        return;
    };
    let (sizes, stream) = rest.split_at(rest.len().min(usize::from(size_count % 16)));
    let size_max = usize::from(*size_max);
    assert_eq!(split(stream, sizes, size_max), lines(stream, size_max));
}

/// The frames, and whether all of them were small enough.
type Frames = (Vec<Vec<u8>>, bool);

fn split(stream: &[u8], sizes: &[u8], size_max: usize) -> Frames {
    let mut splitter = FrameSplitter::new(size_max);
    let mut frames = Vec::new();
    let mut rest = stream;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| usize::from(*size));
        let (chunk, left) = rest.split_at(size.clamp(1, rest.len()));
        rest = left;
        splitter.push(Bytes::copy_from_slice(chunk));
        loop {
            match splitter.next_frame() {
                Ok(Some(frame)) => frames.push(frame.to_vec()),
                Ok(None) => break,
                Err(_) => return (frames, false),
            }
        }
    }
    frames.extend(splitter.finish().map(|frame| frame.to_vec()));
    (frames, true)
}

fn lines(stream: &[u8], size_max: usize) -> Frames {
    let mut frames = Vec::new();
    for line in stream.split(|byte| *byte == b'\n') {
        if line.len() > size_max {
            return (frames, false);
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.iter().all(u8::is_ascii_whitespace) {
            frames.push(line.to_vec());
        }
    }
    (frames, true)
}
