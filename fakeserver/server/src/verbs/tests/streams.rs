//! Watches against a model: each stream is the log of writes, filtered by its selector, for any client behavior.

use proptest::prelude::*;
use tokio::runtime;

use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Step {
    /// A name, and its label, or its deletion.
    Write(usize, Option<&'static str>),
    /// Starts a watch this many revisions ago.
    Watch {
        back: u64,
        is_selective: bool,
    },
    /// A watcher reads at most `frames` frames.
    Read {
        watcher: usize,
        frames: usize,
    },
    Wait {
        seconds: u64,
    },
    Disconnect,
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let app = prop::option::weighted(0.8, prop_oneof![Just("x"), Just("y")]);
    let step = prop_oneof![
        20 => (0..NAMES.len(), app).prop_map(|(name, app)| Step::Write(name, app)),
        4 => (0..6_u64, any::<bool>())
            .prop_map(|(back, is_selective)| Step::Watch { back, is_selective }),
        8 => (any::<prop::sample::Index>(), 0..6_usize)
            .prop_map(|(watcher, frames)| Step::Read { watcher: watcher.index(64), frames }),
        2 => (0..90_u64).prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Disconnect),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..120)
}

/// A write: its revision, its key, and the label before and after it.
struct Entry {
    revision: u64,
    name: &'static str,
    before: Option<&'static str>,
    after: Option<&'static str>,
}

/// A client that resumes from the last version that it has seen whenever its stream ends.
struct Client {
    body: Body,
    is_selective: bool,
    start: u64,
    position: u64,
    seen: Vec<String>,
    /// In the order of arrival: how many events were there at a bookmark, and its version.
    bookmarks: Vec<(usize, u64)>,
}

struct World {
    server: FakeServer,
    log: Vec<Entry>,
    present: [Option<&'static str>; NAMES.len()],
    clients: Vec<Client>,
}

impl World {
    fn write(&mut self, name: usize, after: Option<&'static str>) {
        let before = std::mem::replace(&mut self.present[name], after);
        match (before, after) {
            (None, None) => return,
            (_, Some(app)) => drop(put(&self.server, "default", NAMES[name], app)),
            (Some(_), None) => delete(&self.server, "default", NAMES[name]),
        }
        self.log.push(Entry {
            revision: self.server.revision(),
            name: NAMES[name],
            before,
            after,
        });
    }

    async fn open(&self, start: u64, is_selective: bool) -> Body {
        let selector = if is_selective {
            "&labelSelector=app%3Dx"
        } else {
            ""
        };
        let parameters = format!("allowWatchBookmarks=1&resourceVersion={start}{selector}");
        watch(&self.server, &parameters).await
    }

    /// Reads what is there at once, at most `frames`. Returns whether there may be more.
    async fn read(&mut self, client: usize, frames: usize) -> bool {
        for _ in 0..frames {
            let (start, is_selective) = {
                let client = &self.clients[client];
                (client.position, client.is_selective)
            };
            let read = timeout(Duration::from_millis(1), self.clients[client].body.frame()).await;
            let Ok(frame) = read else {
                return false;
            };
            let Some(frame) = frame else {
                self.clients[client].body = self.open(start, is_selective).await;
                continue;
            };
            let frame = frame.unwrap().into_data().unwrap();
            self.clients[client].take(&serde_json::from_slice(&frame).unwrap());
        }
        true
    }

    /// Returns the events of a client that missed nothing.
    fn expected(&self, client: &Client) -> Vec<(u64, String)> {
        let matches = |app: Option<&str>| match app {
            None => false,
            Some(app) => !client.is_selective || app == "x",
        };
        self.log
            .iter()
            .filter(|entry| entry.revision > client.start)
            .filter_map(|entry| {
                let kind = match (matches(entry.before), matches(entry.after)) {
                    (false, true) => "ADDED",
                    (true, true) => "MODIFIED",
                    (true, false) => "DELETED",
                    (false, false) => return None,
                };
                let text = format!("{kind} {}@{}", entry.name, entry.revision);
                Some((entry.revision, text))
            })
            .collect()
    }

    async fn check(&mut self) {
        for number in 0..self.clients.len() {
            while self.read(number, 16).await {}
            let client = &self.clients[number];
            let expected = self.expected(client);
            let texts: Vec<&String> = expected.iter().map(|(_, text)| text).collect();
            assert_eq!(client.seen.iter().collect::<Vec<_>>(), texts);
            for (seen, bookmark) in &client.bookmarks {
                let promised = expected.iter().filter(|(revision, _)| revision <= bookmark);
                assert_eq!(
                    *seen,
                    promised.count(),
                    "a bookmark is neither early nor late"
                );
            }
        }
        self.clients.clear();
        assert_eq!(self.server.stats().watchers, 0);
    }
}

impl Client {
    fn take(&mut self, event: &Value) {
        let metadata = &event["object"]["metadata"];
        let version = metadata["resourceVersion"].as_str().unwrap();
        let revision = version.parse().unwrap();
        assert!(revision > self.position, "versions only grow: {event}");
        self.position = revision;
        match event["type"].as_str().unwrap() {
            "BOOKMARK" => self.bookmarks.push((self.seen.len(), revision)),
            kind => {
                let name = metadata["name"].as_str().unwrap();
                self.seen.push(format!("{kind} {name}@{version}"));
            }
        }
    }
}

async fn run(steps: Vec<Step>) {
    let mut world = World {
        server: FakeServer::builder().with_watcher_buffer_frames(2).build(),
        log: Vec::new(),
        present: [None; NAMES.len()],
        clients: Vec::new(),
    };
    let built = world.server.revision();
    for step in steps {
        match step {
            Step::Write(name, app) => world.write(name, app),
            Step::Watch { back, is_selective } => {
                let start = world.server.revision().saturating_sub(back).max(built);
                let body = world.open(start, is_selective).await;
                world.clients.push(Client {
                    body,
                    is_selective,
                    start,
                    position: start,
                    seen: Vec::new(),
                    bookmarks: Vec::new(),
                });
            }
            Step::Read { watcher, frames } if !world.clients.is_empty() => {
                let watcher = watcher % world.clients.len();
                world.read(watcher, frames).await;
            }
            Step::Read { .. } => {}
            Step::Wait { seconds } => tokio::time::sleep(Duration::from_secs(seconds)).await,
            Step::Disconnect => world.server.disconnect(),
            Step::Compact => world.server.compact(),
        }
    }
    world.check().await;
}

proptest! {
    #[test]
    fn every_stream_is_the_log_seen_through_its_selector(steps in steps()) {
        let runtime = runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(steps));
    }
}
