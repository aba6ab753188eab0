//! The log beside a data file: what was acknowledged is there after a crash, and nothing else was seen.

use std::{fs, path::Path};

use axum::body::Body;
use fakeserver::{BuildError, DataSync, FakeServer, Restart};
use http::StatusCode;
use serde_json::json;

use crate::support::{Api, CONFIG_MAPS, version};

/// A server whose state is in `state` in a folder.
fn serving(folder: &Path) -> Api {
    Api {
        server: built(folder).unwrap(),
    }
}

fn built(folder: &Path) -> Result<FakeServer, BuildError> {
    FakeServer::builder()
        .with_data_file(folder.join("state"))
        .with_data_sync(DataSync::Acknowledged)
        .try_build()
}

/// A copy of the files as a crash would leave them.
fn crashed(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["state", "state.log"] {
        fs::copy(folder.join(name), copy.path().join(name)).unwrap();
    }
    copy
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    let created = api.config_map("a").await;
    api.config_map("b").await;
    let changed = json!({"data": {"k": "w"}});
    let updated = api.merge(&format!("{CONFIG_MAPS}/a"), &changed).await.ok();
    api.delete(&format!("{CONFIG_MAPS}/b")).await.ok();
    let next = crashed(folder.path());

    let again = serving(next.path());
    assert_eq!(again.get(&format!("{CONFIG_MAPS}/a")).await.ok(), updated);
    again.get(&format!("{CONFIG_MAPS}/b")).await.refused(404);
    assert_eq!(again.server.revision(), api.server.revision());
    // Revisions and uids go on: none is given twice.
    let new = again.config_map("c").await;
    assert_eq!(version(&new), api.server.revision() + 1);
    assert_ne!(new["metadata"]["uid"], created["metadata"]["uid"]);
    assert_eq!(
        new["metadata"]["uid"],
        api.config_map("c").await["metadata"]["uid"]
    );
}

#[tokio::test]
async fn a_stopped_server_leaves_its_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.config_map("a").await;
    assert_eq!(names(folder.path()), ["state", "state.lock", "state.log"]);
    assert!(api.server.save().unwrap());
    assert!(!api.server.save().unwrap(), "nothing has changed");
    drop(api);
    assert_eq!(names(folder.path()), ["state", "state.lock"]);
    let before = fs::read(folder.path().join("state")).unwrap();
    // Nothing changes, and nothing is written.
    drop(serving(folder.path()));
    assert_eq!(fs::read(folder.path().join("state")).unwrap(), before);
    serving(folder.path())
        .get(&format!("{CONFIG_MAPS}/a"))
        .await
        .ok();
}

#[tokio::test]
async fn a_log_is_read_by_a_server_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.config_map("a").await;
    let next = crashed(folder.path());
    let file = next.path().join("state");
    let second = Api {
        server: FakeServer::builder().with_data_file(&file).build(),
    };
    second.get(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert!(second.server.save().unwrap());
    drop(second);
    assert_eq!(names(next.path()), ["state", "state.lock"]);
    serving(next.path())
        .get(&format!("{CONFIG_MAPS}/a"))
        .await
        .ok();
}

#[tokio::test]
async fn resets_and_rollbacks_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.config_map("before").await;
    let reset = api
        .send("POST", "/_control/reset", &[], Body::empty())
        .await;
    assert_eq!(reset.code, StatusCode::NO_CONTENT);
    api.config_map("a").await;
    api.config_map("b").await;
    api.server.roll_back(1);
    api.config_map("c").await;
    let next = crashed(folder.path());
    let again = serving(next.path());
    for (name, is_there) in [("before", false), ("a", true), ("b", false), ("c", true)] {
        let found = again.get(&format!("{CONFIG_MAPS}/{name}")).await;
        assert_eq!(found.code == StatusCode::OK, is_there, "{name}");
    }
    assert_eq!(again.server.revision(), api.server.revision());
}

#[tokio::test]
async fn an_upgrade_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.server.upgrade("1.35".parse().unwrap());
    api.config_map("a").await;
    let next = crashed(folder.path());
    let file = fs::read_to_string(next.path().join("state")).unwrap();
    assert!(
        file.contains("\"kubernetes\":[\"1.35.6\",\"1.36.2\"]"),
        "{}",
        &file[..200]
    );
    serving(next.path())
        .get(&format!("{CONFIG_MAPS}/a"))
        .await
        .ok();
}

#[tokio::test]
async fn a_restart_that_advances_begins_a_new_log() {
    let folder = tempfile::tempdir().unwrap();
    serving(folder.path()).config_map("a").await;
    let server = FakeServer::builder()
        .with_data_file(folder.path().join("state"))
        .with_data_sync(DataSync::Acknowledged)
        .with_restart(Restart::Advance)
        .build();
    let api = Api { server };
    let created = api.config_map("b").await;
    assert!(version(&created) > 1_000_000);
    let next = crashed(folder.path());
    let again = serving(next.path());
    assert_eq!(again.get(&format!("{CONFIG_MAPS}/b")).await.ok(), created);
}

#[tokio::test]
async fn a_torn_end_is_cut_and_damage_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    for name in ["a", "b", "c"] {
        api.config_map(name).await;
    }
    let next = crashed(folder.path());
    let log = next.path().join("state.log");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() - 20]).unwrap();
    let again = serving(next.path());
    again.get(&format!("{CONFIG_MAPS}/b")).await.ok();
    again.get(&format!("{CONFIG_MAPS}/c")).await.refused(404);
    drop(again);

    let next = crashed(folder.path());
    let log = next.path().join("state.log");
    let place = whole.len() / 2;
    let mut changed = whole.clone();
    changed[place] ^= 1;
    fs::write(&log, &changed).unwrap();
    let Err(BuildError::Data(error)) = built(next.path()) else {
        panic!("damage was taken");
    };
    assert!(error.to_string().contains("state.log, line "), "{error}");
    assert_eq!(fs::read(&log).unwrap(), changed, "it is left alone");
}

#[tokio::test]
async fn logs_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.config_map("a").await;
    let next = crashed(folder.path());
    drop(api);
    let other = FakeServer::builder().with_seed(5).build().snapshot();
    other.write(&next.path().join("state")).unwrap();
    let Err(BuildError::Data(error)) = built(next.path()) else {
        panic!("the log of another file was taken");
    };
    let message = error.to_string();
    assert!(
        message.contains("state.log, line 1 (byte 0): it continues another snapshot"),
        "{message}"
    );
    fs::write(next.path().join("state.log"), "notes").unwrap();
    let Err(BuildError::Data(error)) = built(next.path()) else {
        panic!("a file of somebody else was taken");
    };
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        source.contains("state.log is no log: move it away"),
        "{source}"
    );
}

#[tokio::test]
async fn metrics_tell_what_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let api = serving(folder.path());
    api.config_map("a").await;
    let metrics = api.get("/metrics").await.text;
    let durable = format!(
        "fakeserver_data_log_durable_revision {}\n",
        api.server.revision()
    );
    assert!(metrics.contains(&durable), "{metrics}");
    assert!(
        metrics.contains("fakeserver_data_log_refusals_total 0\n"),
        "{metrics}"
    );
    let without = Api::new().get("/metrics").await.text;
    assert!(!without.contains("fakeserver_data_log"), "{without}");
}
