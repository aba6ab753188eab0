//! A number of pieces of work, some at a time.

use std::{
    future::Future,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures::future::join_all;
use tokio_util::sync::CancellationToken;

/// Works on the pieces `0..piece_count`, each once, as many as `worker_count` at a time. Once `stop` fires, no further
/// piece is begun, and those under way are waited for.
///
/// There is one worker at least. Each takes `chunk_size_pieces` in a row, one at least, which matters when pieces share what is near each other. The pieces
/// run in the caller's task, so they overlap where they wait; a piece that computes should spawn.
///
/// # Panics
///
/// If a piece panics; the others are dropped then.
///
/// # Cancel safety
///
/// If dropped, the pieces under way are dropped.
#[doc(alias = "ParallelizeUntil")]
#[doc(alias = "WithChunkSize")]
pub async fn parallelize_until<F, R>(
    stop: &CancellationToken,
    worker_count: usize,
    piece_count: usize,
    chunk_size_pieces: usize,
    work_on: F,
) where
    F: Fn(usize) -> R,
    R: Future<Output = ()>,
{
    let chunk_size = chunk_size_pieces.max(1);
    let chunk_count = piece_count.div_ceil(chunk_size);
    let next_chunk = AtomicUsize::new(0);
    let workers = (0..worker_count.max(1).min(chunk_count)).map(async |_| {
        loop {
            let start = next_chunk.fetch_add(1, Ordering::Relaxed) * chunk_size;
            if start >= piece_count {
                return;
            }
            for piece in start..piece_count.min(start + chunk_size) {
                if stop.is_cancelled() {
                    return;
                }
                work_on(piece).await;
            }
        }
    });
    join_all(workers).await;
}
