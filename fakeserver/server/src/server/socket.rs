//! A socket that a fault can silence and break.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tracing::debug;

use crate::faults::{Breakage, Connection};

/// The socket of a connection, below TLS.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    connection: Connection,
}

// === impl Socket ===

impl Socket {
    pub(super) fn new(stream: TcpStream, connection: Connection) -> Self {
        Self { stream, connection }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let filled = buffer.filled().len();
        loop {
            ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
            let is_end = buffer.filled().len() == filled;
            if is_end || !this.connection.is_mute() {
                return Poll::Ready(Ok(()));
            }
            // The bytes are discarded, not left unread, so that the client's FIN behind them is noticed.
            buffer.set_filled(filled);
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.connection.is_broken() {
            return Poll::Ready(Err(Breakage::Reset.into()));
        }
        if this.connection.is_mute() {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.connection.is_broken() {
            return Poll::Ready(Err(Breakage::Reset.into()));
        }
        if this.connection.is_mute() {
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        Pin::new(&mut this.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_flush(context))?;
        this.connection.note_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.is_mute() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Without time to linger, what closes a socket is RST.
        if self.connection.is_broken()
            && let Err(error) = self.stream.set_zero_linger()
        {
            debug!(%error, "connection closed where it should be reset");
        }
    }
}
