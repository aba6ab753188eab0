//! A server with `--data` that is killed, or whose disk is full. `scripts/data-rounds.py` does it hundreds of times.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::program::{PATIENCE, get, post};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WRITERS: usize = 4;
const ROUNDS: usize = 3;

/// Starts a server on the state in `folder`, whose files have at most `kilobytes`, if that is limited.
async fn serving(folder: &Path, kilobytes: Option<u32>) -> (Child, String) {
    let limit = kilobytes.map_or("unlimited".to_owned(), |limit| limit.to_string());
    // Without the signal, a write beyond the limit fails as on a full disk. The limit is a soft one, so that it can be raised.
    let command = format!(
        "trap '' XFSZ; ulimit -S -f {limit}; exec {} serve --listen 127.0.0.1:0 --data {}",
        env!("CARGO_BIN_EXE_fakeserver"),
        folder.join("state").display(),
    );
    let mut child = Command::new("bash")
        .args(["-c", &command])
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line()).await.unwrap();
    let first = first.unwrap().expect("it says where it listens");
    let url = first.strip_prefix("listening on ").unwrap().to_owned();
    (child, url)
}

fn map(name: &str) -> String {
    json!({"metadata": {"name": name}, "data": {"x": "x".repeat(2_000)}}).to_string()
}

/// Creates objects until `server` is gone, and returns the names of those that were acknowledged.
async fn create(url: String, prefix: String) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let name = format!("{prefix}-{number}");
        // A server that is killed ends the connection, at any time.
        match crate::program::try_post(&url, MAPS, &map(&name)).await {
            Ok(answer) if answer.starts_with("HTTP/1.1 201") => acknowledged.push(name),
            _ => break,
        }
    }
    acknowledged
}

#[tokio::test]
async fn a_killed_server_has_lost_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let (mut child, url) = serving(folder.path(), None).await;
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(create(url.clone(), format!("r{round}-w{writer}")));
        }
        // Processes are in real time.
        sleep(Duration::from_millis(300)).await;
        child.kill().await.unwrap();
        let written = timeout(PATIENCE, writers.join_all()).await.unwrap();
        acknowledged.extend(written.into_iter().flatten());
        let (mut child, url) = serving(folder.path(), None).await;
        for name in &acknowledged {
            let found = get(&url, &format!("{MAPS}/{name}")).await;
            assert!(found.starts_with("HTTP/1.1 200"), "{name}: {found}");
        }
        child.kill().await.unwrap();
    }
    assert!(!acknowledged.is_empty());
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    // The first snapshot has a length that versions change, so that the limit follows from it.
    let (mut child, _) = serving(folder.path(), None).await;
    child.kill().await.unwrap();
    let length = std::fs::metadata(folder.path().join("state"))
        .unwrap()
        .len();
    let kilobytes = u32::try_from(length / 1_024).unwrap() + 32;
    let (mut child, url) = serving(folder.path(), Some(kilobytes)).await;
    let mut acknowledged = Vec::new();
    let unknown = loop {
        let name = format!("m{}", acknowledged.len());
        let answer = post(&url, MAPS, &map(&name)).await;
        if !answer.starts_with("HTTP/1.1 201") {
            break answer;
        }
        acknowledged.push(name);
        assert!(acknowledged.len() < 2_000, "the disk is never full");
    };
    assert!(unknown.starts_with("HTTP/1.1 500"), "{unknown}");
    assert!(
        unknown.contains("the outcome of this request is unknown"),
        "{unknown}"
    );
    let refused = post(&url, MAPS, &map("refused")).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("File too large"), "{refused}");
    assert!(refused.contains("nothing was written"), "{refused}");
    // Reads go on, with what is on the disk: not with the write whose outcome is unknown.
    let last = format!("{MAPS}/m{}", acknowledged.len() - 1);
    let shown = get(&url, &last).await;
    assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
    let unknown = format!("{MAPS}/m{}", acknowledged.len());
    let hidden = get(&url, &unknown).await;
    assert!(hidden.starts_with("HTTP/1.1 404"), "{hidden}");

    let pid = child.id().unwrap().to_string();
    let raised = Command::new("prlimit")
        .args(["--pid", &pid, "--fsize=unlimited:"])
        .status();
    assert!(raised.await.unwrap().success());
    let goes_on = async {
        while !post(&url, MAPS, &map("goes-on"))
            .await
            .starts_with("HTTP/1.1 201")
        {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, goes_on).await.unwrap();
    acknowledged.push("goes-on".to_owned());
    child.kill().await.unwrap();
    let (_child, url) = serving(folder.path(), None).await;
    for name in acknowledged {
        let found = get(&url, &format!("{MAPS}/{name}")).await;
        assert!(found.starts_with("HTTP/1.1 200"), "{name}: {found}");
    }
}
