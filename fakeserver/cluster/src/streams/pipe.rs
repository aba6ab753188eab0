//! One connection with a port of a pod: bytes from a client to the address that stands for the pod, and back.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    time::timeout,
};

use crate::containers::ForwardTarget;

/// The parts of a stream that wait to be sent, in each direction.
pub(super) const QUEUE: usize = 16;
/// The size limit of a part.
const PART_BYTES: usize = 32 << 10;
/// The time limit for the address to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// A part of a stream to a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StreamChunk {
    pub(super) stream: u32,
    pub(super) bytes: Bytes,
    pub(super) is_last: bool,
}

/// The two streams of a connection to a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamPair {
    pub(super) data: u32,
    pub(super) error: u32,
}

/// Connects with a port, and forwards data from `input` and to `output` until either side has ended.
///
/// # Cancel safety
///
/// If dropped, the connection is closed.
pub(super) async fn forward(
    target: &ForwardTarget,
    port: u16,
    streams: StreamPair,
    input: mpsc::Receiver<Bytes>,
    output: mpsc::Sender<StreamChunk>,
) {
    let piece = |stream, bytes, is_last| StreamChunk {
        stream,
        bytes,
        is_last,
    };
    match connect(target).await {
        Ok(connection) => {
            let (reader, writer) = connection.into_split();
            let downloading = download(reader, streams.data, &output);
            let uploading = async {
                upload(writer, input).await;
                // The pod may still answer.
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = downloading => {}
                () = uploading => {}
            }
        }
        Err(why) => {
            let ForwardTarget { name, uid, .. } = target;
            let text = format!("error forwarding port {port} to pod {name}, uid {uid}: {why}");
            let frame = piece(streams.error, text.into(), false);
            // A client that has left needs no explanation.
            let _ = output.send(frame).await;
        }
    }
    for stream in [streams.data, streams.error] {
        let _ = output.send(piece(stream, Bytes::new(), true)).await;
    }
}

async fn connect(target: &ForwardTarget) -> Result<TcpStream, String> {
    let address = target.address.as_ref()?;
    match timeout(CONNECT_LIMIT, TcpStream::connect(&**address)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(format!("dial tcp {address}: {error}")),
        Err(_) => Err(format!("dial tcp {address}: i/o timeout")),
    }
}

/// Writes the client's data until the client has sent all or the pod takes no more.
async fn upload(mut writer: OwnedWriteHalf, mut input: mpsc::Receiver<Bytes>) {
    while let Some(bytes) = input.recv().await {
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
    // The end of one direction; the pod may have closed both.
    let _ = writer.shutdown().await;
}

/// Sends the pod's data until the pod has written all or the client has left.
async fn download(mut reader: OwnedReadHalf, stream: u32, output: &mpsc::Sender<StreamChunk>) {
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(PART_BYTES);
        match reader.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let part = StreamChunk {
            stream,
            bytes: buffer.split().freeze(),
            is_last: false,
        };
        if output.send(part).await.is_err() {
            return;
        }
    }
}
