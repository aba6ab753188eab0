//! The world: one server, copies that come, go, crash, stand still and lose their connections, and objects that change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::Duration,
};

use axum::body::Body;
use fakeserver::FakeServer;
use http::{Method, Request};
use http_body_util::BodyExt;
use informer::shard::ShardField;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::yield_now, time::advance};
use tower::ServiceExt;

use super::{
    copy::{Copy, paused_runtime},
    network::{LinkState, Network},
    oracle::{Counts, Oracle},
};

/// The time within which everything is done after the last failure: leases run out, shards move, and keys that failed often wait.
const CALM_MAX: Duration = Duration::from_mins(4);
const NAMESPACES: [&str; 3] = ["default", "red", "pod"];

/// The shards of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardSetup {
    pub(super) shard_count: u32,
    pub(super) field: ShardField,
    /// True if the server selects them.
    pub(super) selects: bool,
}

pub(super) struct World {
    setting: ShardSetup,
    random: ChaCha8Rng,
    server: FakeServer,
    network: Network,
    oracle: Oracle,
    copies: Vec<Copy>,
    now: Duration,
    copy_count: u32,
    version: u32,
    /// Dropped after all that runs in it.
    runtime: Runtime,
}

// === impl World ===

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let field = match random.random_range(0..3) {
            0 => ShardField::Namespace,
            _ => ShardField::Uid,
        };
        let setting = ShardSetup {
            shard_count: random.random_range(1..7),
            field,
            selects: random.random_range(0..2) == 0,
        };
        let runtime = paused_runtime();
        let oracle = Oracle::default();
        let (server, network) = runtime.block_on(async {
            let builder = FakeServer::builder().with_seed(seed);
            let server = builder.with_shards(setting.selects).build();
            let network = Network::new(&server, oracle.clone(), seed);
            (server, network)
        });
        let mut world = Self {
            setting,
            random,
            server,
            network,
            oracle,
            copies: Vec::new(),
            now: Duration::ZERO,
            copy_count: 0,
            version: 0,
            runtime,
        };
        for namespace in &NAMESPACES[1..] {
            let namespace = json!({"metadata": {"name": namespace}});
            world.send(&Method::POST, "/api/v1/namespaces", &namespace);
        }
        for _ in 0..10 {
            world.make_object();
        }
        for _ in 0..world.random.random_range(1..4) {
            world.start_copy();
        }
        world
    }

    /// Lets things go wrong for a while, then sees whether everything is done; twice.
    pub(super) fn run(mut self) -> Result<Counts, String> {
        for _ in 0..2 {
            let until = self.now + Duration::from_secs(self.random.random_range(20..90));
            while self.now < until {
                self.happen();
                self.step()?;
            }
            self.calm();
            let begun = self.now;
            loop {
                self.step()?;
                match self.unfinished() {
                    None => break,
                    Some(left) if self.now > begun + CALM_MAX => {
                        return Err(format!("after {CALM_MAX:?}: {left}"));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(self.oracle.counts())
    }

    fn one_of(&mut self, count: u32) -> bool {
        self.random.random_range(0..count) == 0
    }

    /// Lets some time pass, and everyone do what there is to do.
    fn step(&mut self) -> Result<(), String> {
        let time = Duration::from_millis(self.random.random_range(20..400));
        self.now += time;
        self.runtime.block_on(advance(time));
        for copy in &mut self.copies {
            copy.pass(time);
        }
        let mut quiet_rounds = 0;
        while quiet_rounds < 2 {
            let before = self.network.passed.load(Ordering::Relaxed);
            self.runtime.block_on(async {
                for _ in 0..3 {
                    self.network.carry();
                    yield_now().await;
                }
            });
            for copy in &mut self.copies {
                copy.poll();
            }
            let is_quiet = self.network.passed.load(Ordering::Relaxed) == before;
            quiet_rounds = if is_quiet { quiet_rounds + 1 } else { 0 };
        }
        self.go_on();
        self.copies.retain(|copy| !copy.has_ended());
        match self.oracle.violation() {
            None => Ok(()),
            Some(violation) => Err(format!("at {:?}: {violation}", self.now)),
        }
    }

    /// Ends what lasts for a time.
    fn go_on(&mut self) {
        for copy in &mut self.copies {
            // It was let go on in the step before this one: by now it has noticed.
            if copy.stands_until.is_none() {
                self.oracle.set_standing(copy.number, false);
            }
            if copy.stands_until.is_some_and(|until| until <= self.now) {
                copy.stands_until = None;
            }
            if copy.cut_until.is_some_and(|until| until <= self.now) {
                copy.cut_until = None;
                copy.link.set(LinkState::Up);
            }
        }
    }

    /// Lets something happen, or nothing.
    fn happen(&mut self) {
        if self.copies.is_empty() || (self.copies.len() < 4 && self.one_of(60)) {
            self.start_copy();
        }
        let at = self.random.random_range(0..self.copies.len());
        let until = self.now + Duration::from_millis(self.random.random_range(1_000..40_000));
        match self.random.random_range(0..600) {
            0..3 => {
                // It crashes.
                let copy = self.copies.swap_remove(at);
                self.oracle.set_standing(copy.number, false);
                drop(copy);
            }
            3..7 => self.copies[at].leave(),
            7..15 => {
                self.copies[at].stands_until = Some(until);
                self.oracle.set_standing(self.copies[at].number, true);
            }
            15..23 => {
                let is_refused = self.one_of(2);
                let copy = &mut self.copies[at];
                copy.cut_until = Some(until);
                copy.link.set(if is_refused {
                    LinkState::Refused
                } else {
                    LinkState::Silent
                });
            }
            23..63 => self.change_object(),
            63..75 => self.make_object(),
            75..85 => self.replace_object(),
            _ => {}
        }
    }

    /// Ends all failures. One copy at least is there to stay.
    fn calm(&mut self) {
        self.network.is_faulty = false;
        for copy in &mut self.copies {
            copy.cut_until = copy.cut_until.map(|_| self.now);
            copy.stands_until = copy.stands_until.map(|_| self.now);
        }
        self.go_on();
        if self.copies.iter().all(Copy::is_ending) {
            self.start_copy();
        }
    }

    fn start_copy(&mut self) {
        self.copy_count += 1;
        let rate = self.random.random_range(950..=1_050);
        let copy = Copy::start(
            self.copy_count,
            rate,
            self.setting,
            &self.network,
            &self.oracle,
        );
        self.copies.push(copy);
    }

    /// Returns the deviations from the expected state.
    fn unfinished(&mut self) -> Option<String> {
        let staying = self.copies.iter().filter(|copy| !copy.is_ending());
        let owned: Vec<_> = staying.map(|copy| (copy.number, copy.shards())).collect();
        if self.copies.len() != owned.len() {
            return Some("a copy has not ended".to_owned());
        }
        let all: BTreeSet<u32> = owned.iter().flat_map(|(_, own)| own).copied().collect();
        let count: usize = owned.iter().map(|(_, own)| own.len()).sum();
        let shares = owned.iter().map(|(_, own)| own.len());
        let (least, most) = (shares.clone().min()?, shares.max()?);
        let expected = self.setting.shard_count as usize;
        if all.len() != expected || count != expected || most - least > 1 {
            return Some(format!("of {expected} shards they own {owned:?}"));
        }
        let objects = self.objects();
        let undone = objects.iter().find(|object| {
            let data = &object["data"];
            data["wanted"] != Value::Null
                && (data["first"] != data["wanted"] || data["second"] != data["wanted"])
        });
        undone.map(|object| {
            format!(
                "{} is not done: {}",
                object["metadata"]["name"], object["data"]
            )
        })
    }

    fn make_object(&mut self) {
        self.version += 1;
        let name = format!("o{}", self.version);
        let namespace = NAMESPACES[self.random.random_range(0..NAMESPACES.len())];
        self.create(namespace, &name);
    }

    fn create(&mut self, namespace: &str, name: &str) {
        let map = json!({"metadata": {"name": name}, "data": {"wanted": self.version.to_string()}});
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        self.send(&Method::POST, &path, &map);
    }

    fn change_object(&mut self) {
        self.version += 1;
        if let Some((path, ..)) = self.some_object() {
            let patch = json!({"data": {"wanted": self.version.to_string()}});
            self.send(&Method::PATCH, &path, &patch);
        }
    }

    /// Deletes an object; makes another one of its name, perhaps, which is in another shard by its uid.
    fn replace_object(&mut self) {
        self.version += 1;
        if let Some((path, namespace, name)) = self.some_object() {
            self.send(&Method::DELETE, &path, &Value::Null);
            if self.one_of(2) {
                self.create(&namespace, &name);
            }
        }
    }

    fn some_object(&mut self) -> Option<(String, String, String)> {
        let objects = self.objects();
        if objects.is_empty() {
            return None;
        }
        let metadata = &objects[self.random.random_range(0..objects.len())]["metadata"];
        let [namespace, name] =
            ["namespace", "name"].map(|field| metadata[field].as_str().unwrap().to_owned());
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        Some((path, namespace, name))
    }

    fn objects(&mut self) -> Vec<Value> {
        let list = self.send(&Method::GET, "/api/v1/configmaps", &Value::Null);
        list["items"].as_array().unwrap().clone()
    }

    /// Sends a request by another way than the copies have.
    fn send(&mut self, method: &Method, path: &str, body: &Value) -> Value {
        let mut request = Request::builder().method(method).uri(path);
        if *method == Method::PATCH {
            request = request.header("content-type", "application/merge-patch+json");
        }
        let body = match body {
            Value::Null => Body::empty(),
            body => Body::from(body.to_string()),
        };
        let request = request.body(body).unwrap();
        let router = self.server.router();
        self.runtime.block_on(async {
            let answer = router.oneshot(request).await.unwrap();
            let status = answer.status();
            let bytes = answer.into_body().collect().await.unwrap().to_bytes();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            assert!(status.is_success(), "{method} {path}: {answer}");
            answer
        })
    }
}

/// Adds the counts of runs up.
pub(super) fn total(counts: impl IntoIterator<Item = Counts>) -> BTreeMap<&'static str, u64> {
    let mut total = BTreeMap::new();
    for counts in counts {
        for (name, count) in [
            ("reconciles", counts.reconciles),
            ("writes", counts.writes),
            ("handovers", counts.handovers),
            ("dropped", counts.dropped),
        ] {
            *total.entry(name).or_default() += count;
        }
    }
    total
}
