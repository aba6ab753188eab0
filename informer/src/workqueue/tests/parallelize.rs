//! `parallelize_until`, client-go's `parallelizer_test.go`.

use std::cell::Cell;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{super::parallelize_until, MS};

#[tokio::test(start_paused = true)]
async fn each_piece_is_worked_on_once_whatever_the_workers_and_chunks() {
    for (pieces, workers, chunk) in [
        (0, 1, 1),
        (7, 0, 0),
        (1, 2, 1),
        (999, 10, 1),
        (1_000, 10, 10),
        (1_000, 10, 1_001),
        (999, 10, 13),
        (3, usize::MAX, usize::MAX / 2),
    ] {
        let seen: Vec<_> = (0..pieces).map(|_| Cell::new(0)).collect();
        let (seen_ref, stop) = (&seen, CancellationToken::new());
        parallelize_until(&stop, workers, pieces, chunk, async |piece| {
            seen_ref[piece].set(seen_ref[piece].get() + 1);
            tokio::task::yield_now().await;
        })
        .await;
        let case = (pieces, workers, chunk);
        assert!(seen.iter().all(|count| count.get() == 1), "{case:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_pieces_as_workers_overlap() {
    let (start, stop) = (Instant::now(), CancellationToken::new());
    parallelize_until(&stop, 4, 10, 1, async |_| {
        sleep(MS(100)).await;
    })
    .await;
    assert_eq!(start.elapsed(), MS(300));
}

#[tokio::test(start_paused = true)]
async fn once_stopped_no_piece_is_begun_and_those_under_way_are_finished() {
    let (begun, finished) = (Cell::new(0), Cell::new(0));
    let stop = CancellationToken::new();
    parallelize_until(&stop, 4, 100, 10, async |piece| {
        begun.set(begun.get() + 1);
        sleep(MS(100)).await;
        if piece == 1 {
            stop.cancel();
        }
        finished.set(finished.get() + 1);
    })
    .await;
    // Two rounds of four, of which the second stopped it.
    assert_eq!(begun.get(), finished.get());
    assert!((5..=8).contains(&begun.get()), "{}", begun.get());
}
