//! Everything is listed again though nothing has changed: how much more memory that takes for a while.

use std::error::Error;

use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{answer::Answer, job::Job, process, serve::ServerProcess, side::Side, sync::settling};

/// The cost of a relist.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RelistCost {
    /// Resident memory before.
    steady_bytes: u64,
    /// The most that was resident meanwhile.
    peak_bytes: u64,
    answer: Answer,
}

/// By how much the memory of each of `sides` grows while `pods` pods are listed again.
pub(crate) async fn measure(pods: u32, sides: &[Side]) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut server = ServerProcess::start(pods).await?;
    let mut ratios = Vec::new();
    for side in sides {
        let job = Job::Relist {
            side: *side,
            url: server.contents.url.clone(),
            pods: server.contents.answer.objects,
        };
        let mut running = job.start()?;
        running.line().await?;
        server.expire().await?;
        let measured: RelistCost = running.outcome().await?;
        if measured.answer != server.contents.answer {
            return Err(format!("{}: the cache differs from the server", side.title()).into());
        }
        ratios.push(measured.ratio());
    }
    Ok(ratios)
}

/// Syncs, reports it, and waits until everything was listed again.
pub(crate) async fn run_side(
    side: Side,
    url: &str,
    pods: u64,
) -> Result<RelistCost, Box<dyn Error>> {
    let cache = side.cache(url)?;
    cache.wait_for_lists(1).await?;
    sleep(settling(pods)).await;
    process::reset_peak()?;
    let steady_bytes = process::usage()?.resident_bytes;
    println!("synced");
    cache.wait_for_lists(2).await?;
    sleep(settling(pods)).await;
    Ok(RelistCost {
        steady_bytes,
        peak_bytes: process::usage()?.peak_bytes,
        answer: cache.answer(),
    })
}

// === impl RelistCost ===

impl RelistCost {
    #[expect(clippy::cast_precision_loss, reason = "a ratio of two digits")]
    fn ratio(&self) -> f64 {
        self.peak_bytes as f64 / self.steady_bytes as f64
    }
}
