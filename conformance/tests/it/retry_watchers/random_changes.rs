//! Random changes of a server, read by a watch without a list of which some reads are dropped.

use std::time::Duration;

use fakeserver::{ChangeKind, FakeServer};
use fastrand::Rng;
use informer::{ResourceVersion, Scope, watch::RetryWatcher};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{LIMIT, Maps, NAMES, SEEDS, steady, text_of_change};

pub(super) fn small_server() -> FakeServer {
    let builder = FakeServer::builder().with_seed(1);
    builder.with_bootstrap(false).build()
}

/// Creates, changes or deletes an object.
pub(super) fn change(server: &FakeServer, random: &mut Rng) {
    let name = random.choice(NAMES).unwrap();
    let data = json!({"revision": server.revision().to_string()});
    let metadata = json!({"name": name, "namespace": "n"});
    let object =
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data});
    if random.u8(0..3) > 0 || server.delete(&object).is_err() {
        server.apply(&object).unwrap();
    }
}

/// Returns the changes after a revision.
fn history(server: &FakeServer, after: u64) -> Vec<String> {
    let changes = server.history("", "v1", "configmaps", after);
    let changes = changes.iter().map(|change| {
        let sign = match change.kind() {
            ChangeKind::Created => '+',
            ChangeKind::Updated => '~',
            ChangeKind::Deleted => '-',
        };
        let object = change.after().or(change.before()).unwrap();
        format!("{sign}{}@{}", object.name(), change.revision())
    });
    changes.collect()
}

#[tokio::test(start_paused = true)]
async fn a_read_that_is_dropped_loses_no_change_and_asks_for_no_more() {
    let mut expired = 0;
    for seed in 0..SEEDS / 5 {
        let mut random = Rng::with_seed(seed);
        let server = small_server();
        change(&server, &mut random);
        let from = server.revision();
        let maps = Maps::new(server.client(), Scope::All);
        let version = ResourceVersion::new(from.to_string());
        let mut watcher = RetryWatcher::with_options(maps, version, steady(seed)).unwrap();
        let (mut received, mut end, began) = (Vec::new(), None, Instant::now());
        for step in 0..60 {
            let is_last = step == 59;
            match random.u8(0..12) {
                _ if is_last => {}
                0 => server.disconnect(),
                1 if random.u8(0..8) == 0 => {
                    change(&server, &mut random);
                    server.expire();
                    server.disconnect();
                }
                _ => change(&server, &mut random),
            }
            let limit = Duration::from_millis(random.choice([0, 1, 300, 2000]).unwrap());
            let limit = if is_last { LIMIT } else { limit };
            while let Ok(Some(change)) = timeout(limit, watcher.next()).await {
                match change {
                    Ok(change) => received.push(text_of_change(&change).0),
                    Err(error) => end = Some(error),
                }
            }
        }
        let changes = history(&server, from);
        if let Some(end) = end {
            assert!(
                end.is_expired() && watcher.next().await.is_none(),
                "seed {seed}: {end}"
            );
            assert!(
                changes.starts_with(&received),
                "seed {seed}: {changes:?} {received:?}"
            );
            expired += 1;
        } else {
            assert_eq!(received, changes, "seed {seed}");
        }
        let requests = &server.stats().requests["configmaps"];
        assert!(
            requests.keys().all(|verb| verb == "watch"),
            "seed {seed}: {requests:?}"
        );
        assert!(
            requests["watch"] <= began.elapsed().as_secs() + 1,
            "seed {seed}"
        );
    }
    assert!(expired > 0);
}
