//! One change, told to many: watchers in a process of their own, on a connection each.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::try_join_all;
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::{job::Job, program::Program, task::TaskSet, wire::Connection};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The size of the data in a changing object; an event has 4.2 KB then.
const DATA_BYTES: usize = 3_800;
/// The number of writers, each with an object of its own.
const WRITERS: u32 = 8;
/// The maximum number of changes by which they are ahead of the slowest watcher.
const WINDOW: u64 = 64;
/// The interval at which a writer that is too far ahead checks again.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The time until all changes had reached all watchers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FanOutTime {
    elapsed: Duration,
}

/// Measures the events per second that all watchers receive together.
pub(crate) async fn events_per_second(watchers: u32, changes: u32) -> Result<f64, Box<dyn Error>> {
    let server = Program::serve(&[]).await?;
    let job = Job::FanOut {
        url: server.url.clone(),
        watchers,
        changes,
    };
    let fanned_out: FanOutTime = job.outcome().await?;
    Ok(f64::from(watchers) * f64::from(changes) / fanned_out.elapsed.as_secs_f64())
}

/// Watches and writes in this process.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run(
    url: &str,
    watchers: u32,
    changes: u32,
) -> Result<FanOutTime, Box<dyn Error>> {
    let mut writers = try_join_all((0..WRITERS).map(|_| Connection::open(url))).await?;
    let mut version = String::new();
    for (number, writer) in (0_u32..).zip(&mut writers) {
        let created = writer.ask("POST", MAPS, map(number, 0)).await?;
        let created: serde_json::Value = serde_json::from_slice(&created)?;
        let created_version = created["metadata"]["resourceVersion"].as_str();
        created_version.unwrap_or_default().clone_into(&mut version);
    }
    let path = format!("{MAPS}?watch=1&resourceVersion={version}");
    let seen: Arc<Vec<AtomicU64>> = Arc::new((0..watchers).map(|_| AtomicU64::new(0)).collect());
    let connected = (0..watchers).map(|_| Connection::open(url));
    let mut tasks = TaskSet::new();
    for (number, mut connection) in try_join_all(connected).await?.into_iter().enumerate() {
        let mut body = connection
            .send("GET", &path, Bytes::new())
            .await?
            .into_body();
        let seen = Arc::clone(&seen);
        tasks.spawn(async move {
            // Keeps the connection open while its body is read.
            let _connection = connection;
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(data) = frame.into_data() else {
                    continue;
                };
                let lines = memchr::memchr_iter(b'\n', &data).count() as u64;
                seen[number].fetch_add(lines, Ordering::Relaxed);
            }
        });
    }
    let slowest = || seen.iter().map(|seen| seen.load(Ordering::Relaxed)).min();
    let reaches = |wanted: u64| slowest().is_none_or(|slowest| slowest >= wanted);
    let next = AtomicU64::new(1);
    let start = Instant::now();
    let writing = (0_u32..).zip(writers).map(|(number, mut writer)| {
        let (next, reaches) = (&next, &reaches);
        async move {
            let path = format!("{MAPS}/much-watched-{number}");
            loop {
                let change = next.fetch_add(1, Ordering::Relaxed);
                if change > u64::from(changes) {
                    return Ok::<_, Box<dyn Error>>(());
                }
                while !reaches(change.saturating_sub(WINDOW)) {
                    sleep(LOOK_EVERY).await;
                }
                writer.ask("PUT", &path, map(number, change)).await?;
            }
        }
    });
    try_join_all(writing).await?;
    while !reaches(changes.into()) {
        if tasks.try_join_next().is_some() {
            return Err("a watch ended before it brought everything".into());
        }
        sleep(LOOK_EVERY).await;
    }
    Ok(FanOutTime {
        elapsed: start.elapsed(),
    })
}

fn map(number: u32, change: u64) -> Bytes {
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("much-watched-{number}")},
        "data": {"change": change.to_string(), "padding": "x".repeat(DATA_BYTES)},
    });
    map.to_string().into()
}
