//! The stream of a connection, with the heads of its requests written anew where the library would refuse them.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use bytes::{Buf, Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};
use tokio_util::io::poll_read_buf;

use super::{
    body_length::BodyLength,
    head::{self, Arrival},
    heads::Heads,
};
use crate::server::activity::Activity;

/// The time that requests have after the client has closed its half of the connection.
const HALF_CLOSED_LIMIT: Duration = Duration::from_secs(30);

/// The time for which the rest of a refused request is read.
const LINGER_LIMIT: Duration = Duration::from_millis(500);
/// The number of bytes that are read at once.
const READ_BYTES: usize = 8 * 1_024;

/// A stream whose requests are found as they pass.
#[derive(Debug)]
pub(in crate::server) struct RequestStream<S> {
    stream: S,
    heads: Heads,
    activity: Activity,
    /// Bytes that have arrived.
    arrived: BytesMut,
    /// The number of them in which no head ends.
    searched: usize,
    /// A head that was written anew, on its way to the library.
    head: Bytes,
    /// The bytes that are left of a body; none: a head comes.
    body: BodyLength,
    /// The end of the client's half, while requests are answered.
    half_closed: Option<HalfClosed>,
    /// The time for which the rest of a refused request is read, if there is one.
    lingers: Option<Pin<Box<Sleep>>>,
    /// True if bytes were written since the last flush.
    is_unflushed: bool,
}

#[derive(Debug)]
struct HalfClosed {
    limit: Pin<Box<Sleep>>,
    waker: Waker,
}

// === impl RequestStream ===

impl<S> RequestStream<S> {
    pub(in crate::server) fn new(stream: S, heads: Heads, activity: Activity) -> Self {
        Self {
            stream,
            heads,
            activity,
            arrived: BytesMut::new(),
            searched: 0,
            head: Bytes::new(),
            body: BodyLength::Length(0),
            half_closed: None,
            lingers: None,
            is_unflushed: false,
        }
    }

    /// Takes a head out of the bytes that have arrived, if it is whole.
    fn take_head(&mut self) {
        match head::read(&self.arrived, &mut self.searched) {
            Arrival::Partial => {}
            Arrival::Invalid => self.body = BodyLength::Open,
            Arrival::Whole(whole) => {
                self.body = whole.body;
                if whole.rest.is_too_large || whole.rest.has_foreign_encoding {
                    self.lingers = Some(Box::pin(sleep(LINGER_LIMIT)));
                }
                self.heads.push(whole.rest);
                let bytes = self.arrived.split_to(whole.size).freeze();
                self.head = whole.rewritten.map_or(bytes, Bytes::from);
            }
        }
    }

    /// Returns true if the answer to a request is not yet sent.
    fn is_answering(&self) -> bool {
        self.is_unflushed || self.activity.ended() < self.heads.count()
    }

    /// Handles the end of the client's half: it waits for the answers, if they do not take too long.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.body == BodyLength::Open || !self.is_answering() {
            return Poll::Ready(());
        }
        self.activity.half_close();
        let half_closed = self.half_closed.get_or_insert_with(|| HalfClosed {
            limit: Box::pin(sleep(HALF_CLOSED_LIMIT)),
            waker: context.waker().clone(),
        });
        half_closed.waker.clone_from(context.waker());
        half_closed.limit.as_mut().poll(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RequestStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.head.is_empty() {
                let size = this.head.len().min(buffer.remaining());
                buffer.put_slice(&this.head[..size]);
                this.head.advance(size);
                return Poll::Ready(Ok(()));
            }
            let is_head = this.body.is_end();
            if is_head && !this.arrived.is_empty() && this.half_closed.is_none() {
                this.take_head();
                if !this.head.is_empty() || !this.body.is_end() {
                    continue;
                }
            } else if !is_head && !this.arrived.is_empty() {
                let fitting = this.arrived.len().min(buffer.remaining());
                let size = this.body.take(&this.arrived[..fitting]);
                buffer.put_slice(&this.arrived[..size]);
                this.arrived.advance(size);
                return Poll::Ready(Ok(()));
            } else if this.body == BodyLength::Open {
                return Pin::new(&mut this.stream).poll_read(context, buffer);
            }
            if this.half_closed.is_none() {
                this.arrived.reserve(READ_BYTES);
                let stream = Pin::new(&mut this.stream);
                if ready!(poll_read_buf(stream, context, &mut this.arrived))? > 0 {
                    continue;
                }
                // A message that breaks off is for the library.
                if !this.arrived.is_empty() || !this.body.is_end() {
                    this.body = BodyLength::Open;
                    continue;
                }
            }
            ready!(this.poll_end(context));
            return Poll::Ready(Ok(()));
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for RequestStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.is_unflushed = true;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.is_unflushed = true;
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.is_unflushed = false;
        if let Some(half_closed) = &self.half_closed {
            half_closed.waker.wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        // Closing a socket with unread bytes sends a reset, which can discard the answer at the client.
        while let Some(limit) = &mut this.lingers {
            this.arrived.clear();
            this.arrived.reserve(READ_BYTES);
            let read = poll_read_buf(Pin::new(&mut this.stream), context, &mut this.arrived);
            match read {
                Poll::Ready(Ok(1..)) if limit.as_mut().poll(context).is_pending() => {}
                Poll::Pending if limit.as_mut().poll(context).is_pending() => return Poll::Pending,
                _ => this.lingers = None,
            }
        }
        Poll::Ready(Ok(()))
    }
}
