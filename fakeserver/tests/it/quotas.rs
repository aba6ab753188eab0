//! Resource quotas: what is charged, counted and given back, against a model too.

use std::{collections::BTreeMap, env, thread};

use fakeserver::{AdmissionPlugins, Controllers, FakeServer, Workloads};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{
    Answer, Api, CONFIG_MAPS, DEPLOYMENTS, PODS, at_once, deployment, paused, pod, version,
};

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";

fn api() -> Api {
    Api::with(Controllers::default().with_quota(true))
}

async fn quota(api: &Api, name: &str, spec: Value) {
    let quota = json!({"metadata": {"name": name}, "spec": spec});
    api.post(QUOTAS, &quota).await.created();
    api.settle().await;
}

async fn status(api: &Api, name: &str) -> Value {
    api.get(&format!("{QUOTAS}/{name}")).await.ok()["status"].clone()
}

async fn used(api: &Api, name: &str) -> Value {
    status(api, name).await["used"].clone()
}

fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

#[tokio::test(start_paused = true)]
async fn the_status_follows_created_deleted_and_ended_objects() {
    let api = api();
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    api.post(definitions, &definition).await.created();
    api.settle().await;
    api.post(CONFIG_MAPS, &config_map("a")).await.created();
    for name in ["p", "q"] {
        api.post(PODS, &pod(name, "")).await.created();
    }
    let hard = json!({
        "configmaps": "3", "count/pods": "9", "pods": "9", "resourcequotas": "1",
        "count/widgets.example.com": "1", "count/nonsense.example.com": "1",
    });
    quota(&api, "q", json!({"hard": hard})).await;
    assert_eq!(
        status(&api, "q").await,
        json!({"hard": hard, "used": {
            "configmaps": "1", "count/pods": "2", "pods": "2", "resourcequotas": "1",
            "count/widgets.example.com": "0",
        }})
    );
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let widget = |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}});
    api.post(widgets, &widget("w")).await.created();
    assert_eq!(
        api.post(widgets, &widget("x")).await.refused(403),
        "widgets.example.com \"x\" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, \
         used: count/widgets.example.com=1, limited: count/widgets.example.com=1"
    );
    let ended = json!({"status": {"phase": "Succeeded"}});
    api.merge(&format!("{PODS}/p/status"), &ended).await.ok();
    api.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    api.delete(&format!("{widgets}/w")).await.ok();
    api.settle().await;
    let after = used(&api, "q").await;
    assert_eq!(
        after,
        json!({
            "configmaps": "0", "count/pods": "2", "pods": "1", "resourcequotas": "1",
            "count/widgets.example.com": "0",
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_not_stored_is_not_charged() {
    let api = api();
    quota(&api, "q", json!({"hard": {"configmaps": "2"}})).await;
    api.post(CONFIG_MAPS, &config_map("a")).await.created();
    api.post(CONFIG_MAPS, &config_map("a")).await.refused(409);
    let dry = format!("{CONFIG_MAPS}?dryRun=All");
    api.post(&dry, &config_map("b")).await.created();
    assert_eq!(used(&api, "q").await, json!({"configmaps": "1"}));
    let generated = json!({"metadata": {"generateName": "g-"}});
    let made = api.post(CONFIG_MAPS, &generated).await.created();
    let charged = api.get(&format!("{QUOTAS}/q")).await.ok();
    assert_eq!(version(&charged) + 1, version(&made), "both are one write");
    let refused = api.post(&dry, &config_map("b")).await.refused(403);
    assert!(refused.contains("exceeded quota: q"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn scopes_select_pods() {
    let api = api();
    let selector = json!({"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]},
    ]});
    quota(
        &api,
        "ends",
        json!({"hard": {"pods": "1"}, "scopes": ["Terminating"]}),
    )
    .await;
    quota(
        &api,
        "high",
        json!({"hard": {"pods": "1"}, "scopeSelector": selector}),
    )
    .await;
    let mut high = pod("high", "");
    high["spec"]["priorityClassName"] = json!("system-node-critical");
    api.post(PODS, &high).await.created();
    let counts = async || (used(&api, "ends").await, used(&api, "high").await);
    let pods = |count: &str| json!({"pods": count});
    assert_eq!(counts().await, (pods("0"), pods("1")));
    // A deadline brings the pod into the other scope, and uses that quota up.
    let deadline = json!({"spec": {"activeDeadlineSeconds": 9}});
    api.merge(&format!("{PODS}/high"), &deadline).await.ok();
    assert_eq!(counts().await, (pods("1"), pods("1")));
    let mut other = pod("other", "");
    other["spec"]["activeDeadlineSeconds"] = json!(5);
    let refused = api.post(PODS, &other).await.refused(403);
    assert!(refused.contains("exceeded quota: ends"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_resize_is_charged_and_given_back() {
    let api = api();
    quota(&api, "q", json!({"hard": {"requests.cpu": "1"}})).await;
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
    let mut sent = pod("p", "");
    sent["spec"]["containers"][0]["resources"] = cpu("100m");
    api.post(PODS, &sent).await.created();
    let resize = async |amount: &str| {
        let containers = json!([{"name": "c", "resources": cpu(amount)}]);
        let path = format!("{PODS}/p/resize");
        api.strategic(&path, &json!({"spec": {"containers": containers}}))
            .await
    };
    resize("600m").await.ok();
    assert_eq!(used(&api, "q").await, cpu_used("600m"));
    let refused = resize("1100m").await.refused(403);
    assert!(
        refused.contains("requested: requests.cpu=500m, used: requests.cpu=600m"),
        "{refused}"
    );
    resize("200m").await.ok();
    api.settle().await;
    assert_eq!(used(&api, "q").await, cpu_used("200m"));
}

fn cpu_used(amount: &str) -> Value {
    json!({"requests.cpu": amount})
}

#[tokio::test(start_paused = true)]
async fn uncharged_objects_are_counted_later() {
    let plugins = AdmissionPlugins::default().with_disabled(["ResourceQuota"]);
    let builder = FakeServer::builder().with_admission(plugins);
    let server = builder.with_controllers(Controllers::default().with_quota(true));
    let api = Api {
        server: server.build(),
    };
    quota(&api, "q", json!({"hard": {"configmaps": "1"}})).await;
    for (name, count) in [("a", "1"), ("b", "2")] {
        api.post(CONFIG_MAPS, &config_map(name)).await.created();
        api.settle().await;
        assert_eq!(used(&api, "q").await, json!({"configmaps": count}));
    }
}

#[tokio::test(start_paused = true)]
async fn controllers_create_no_more_pods_than_a_quota_allows() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    quota(&api, "q", json!({"hard": {"pods": "2"}})).await;
    let mut wanted = deployment("d");
    wanted["spec"]["replicas"] = json!(5);
    api.post(DEPLOYMENTS, &wanted).await.created();
    api.settle().await;
    let count = async || api.get(PODS).await.ok()["items"].as_array().unwrap().len();
    assert_eq!(count().await, 2);
    assert_eq!(used(&api, "q").await, json!({"pods": "2"}));
    let more = json!({"spec": {"hard": {"pods": "4"}}});
    api.merge(&format!("{QUOTAS}/q"), &more).await.ok();
    api.settle().await;
    api.settle().await;
    assert_eq!(count().await, 4);
    assert_eq!(used(&api, "q").await, json!({"pods": "4"}));
}

/// The condition `ReplicaFailure` of an object, without its times.
async fn failure(api: &Api, path: &str) -> Option<Value> {
    let object = api.get(path).await.ok();
    let conditions = object["status"]["conditions"].as_array()?;
    let mut conditions = conditions.iter();
    let mut found = conditions
        .find(|condition| condition["type"] == "ReplicaFailure")?
        .clone();
    let fields = found.as_object_mut()?;
    assert!(fields.remove("lastTransitionTime").is_some());
    fields.remove("lastUpdateTime");
    Some(found)
}

#[tokio::test(start_paused = true)]
async fn sets_report_rejected_pods_until_the_pods_exist() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    quota(&api, "q", json!({"hard": {"pods": "1"}})).await;
    let mut wanted = deployment("d");
    wanted["spec"]["replicas"] = json!(2);
    api.post(DEPLOYMENTS, &wanted).await.created();
    api.settle().await;
    let labels = json!({"c": "d"});
    let controller = json!({
        "metadata": {"name": "r"},
        "spec": {"replicas": 1, "selector": labels, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]},
        }},
    });
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    api.post(controllers, &controller).await.created();
    api.settle().await;
    let sets = api
        .get("/apis/apps/v1/namespaces/default/replicasets")
        .await
        .ok();
    let set = sets["items"][0]["metadata"]["name"].as_str().unwrap();
    let paths = [
        format!("/apis/apps/v1/namespaces/default/replicasets/{set}"),
        format!("{DEPLOYMENTS}/d"),
        format!("{controllers}/r"),
    ];
    let mut messages = Vec::new();
    for path in &paths {
        let found = failure(&api, path).await.expect("the condition is there");
        let message = found["message"].as_str().unwrap().to_owned();
        assert_eq!(
            found,
            json!({
                "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message,
            })
        );
        messages.push(message);
    }
    let end = "is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    for (message, name) in messages.iter().zip([set, set, "r"]) {
        assert!(message.starts_with(&format!("pods \"{name}-")), "{message}");
        assert!(message.ends_with(end), "{message}");
    }
    let more = json!({"spec": {"hard": {"pods": "3"}}});
    api.merge(&format!("{QUOTAS}/q"), &more).await.ok();
    api.settle().await;
    api.settle().await;
    for path in &paths {
        assert_eq!(failure(&api, path).await, None, "{path}");
    }
    let status = api.get(&paths[2]).await.ok()["status"].clone();
    assert_eq!(
        (&status["replicas"], &status["availableReplicas"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn no_quota_is_exceeded_by_64_writers() {
    const MOST: usize = 20;
    let (api, runtime) = (api(), paused());
    runtime.block_on(quota(
        &api,
        "q",
        json!({"hard": {"configmaps": MOST.to_string()}}),
    ));
    let api = &api;
    let codes = at_once((0..64).map(|client| {
        async move || {
            let object = config_map(&format!("c{client}"));
            api.post(CONFIG_MAPS, &object).await.code.as_u16()
        }
    }));
    let created = codes.iter().filter(|code| **code == 201).count();
    let refused = codes.iter().filter(|code| **code == 403).count();
    assert_eq!((created, refused), (MOST, 64 - MOST));
    let used = runtime.block_on(used(api, "q"));
    assert_eq!(used, json!({"configmaps": MOST.to_string()}));
}

// === The model ===

const CLIENTS: usize = 8;
const ROUNDS: usize = 12;
const SEEDS: u64 = 12;
const NAMESPACE: &str = "/api/v1/namespaces/default";
/// The limits of the model's quotas.
const LIMITED: [(&str, i64); 8] = [
    ("pods", 12),
    ("count/pods", 16),
    ("requests.cpu", 3_000),
    ("configmaps", 9),
    ("count/configmaps", 12),
    ("services", 8),
    ("services.nodeports", 9),
    ("requests.storage", 20),
];

/// The usage of an object, in thousandths of processors and in gibibytes.
type ResourceUsage = BTreeMap<&'static str, i64>;

/// The objects of the model, by their paths.
type Objects = BTreeMap<String, Object>;

#[derive(Clone, Debug, PartialEq)]
enum Object {
    ConfigMap,
    Pod {
        milli: i64,
        is_terminating: bool,
        has_ended: bool,
    },
    Service {
        node_ports: i64,
    },
    Claim {
        gibibytes: i64,
    },
}

#[derive(Clone, Debug)]
struct Limits {
    name: String,
    hard: ResourceUsage,
    scope: Option<&'static str>,
}

/// A write of one client: the object at a path, and what it is from then on.
#[derive(Clone, Debug)]
struct Write {
    path: String,
    after: Option<Object>,
}

/// Prints how a failed run is repeated.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self(seed) = self;
            eprintln!("QUOTAS_SEED={seed} cargo test -p fakeserver --test it quotas");
        }
    }
}

impl Object {
    fn share(&self) -> ResourceUsage {
        match *self {
            Self::ConfigMap => ResourceUsage::from([("configmaps", 1), ("count/configmaps", 1)]),
            Self::Pod {
                has_ended: true, ..
            } => ResourceUsage::from([("count/pods", 1)]),
            Self::Pod { milli, .. } => {
                ResourceUsage::from([("count/pods", 1), ("pods", 1), ("requests.cpu", milli)])
            }
            Self::Service { node_ports } => {
                ResourceUsage::from([("services", 1), ("services.nodeports", node_ports)])
            }
            Self::Claim { gibibytes } => ResourceUsage::from([("requests.storage", gibibytes)]),
        }
    }

    fn collection(&self) -> &'static str {
        match self {
            Self::ConfigMap => "configmaps",
            Self::Pod { .. } => "pods",
            Self::Service { .. } => "services",
            Self::Claim { .. } => "persistentvolumeclaims",
        }
    }

    fn draw(random: &mut StdRng) -> Self {
        match random.random_range(0..4) {
            0 => Self::ConfigMap,
            1 => Self::Pod {
                milli: 100 * random.random_range(1..6),
                is_terminating: random.random_bool(0.5),
                has_ended: false,
            },
            2 => Self::Service {
                node_ports: random.random_range(0..3),
            },
            _ => Self::Claim {
                gibibytes: random.random_range(1..5),
            },
        }
    }

    /// Returns another state of the object, or none if it is to be deleted.
    fn changed(&self, random: &mut StdRng) -> Option<Self> {
        match *self {
            Self::Pod {
                milli,
                is_terminating,
                has_ended: false,
            } if random.random_bool(0.5) => Some(Self::Pod {
                milli,
                is_terminating,
                has_ended: true,
            }),
            Self::Service { .. } if random.random_bool(0.7) => Some(Self::Service {
                node_ports: random.random_range(0..4),
            }),
            _ => None,
        }
    }

    fn to_json(&self, name: &str) -> Value {
        let spec = match *self {
            Self::ConfigMap => return config_map(name),
            Self::Pod {
                milli,
                is_terminating,
                ..
            } => {
                let mut sent = pod(name, "");
                let cpu = json!({"cpu": format!("{milli}m")});
                sent["spec"]["containers"][0]["resources"] = json!({"requests": cpu});
                if is_terminating {
                    sent["spec"]["activeDeadlineSeconds"] = json!(60);
                }
                return sent;
            }
            Self::Service { node_ports } => {
                let ports: Vec<Value> = (0..node_ports.max(1))
                    .map(|port| json!({"name": format!("p{port}"), "port": 80 + port}))
                    .collect();
                let kind = if node_ports == 0 {
                    "ClusterIP"
                } else {
                    "NodePort"
                };
                json!({"type": kind, "ports": ports})
            }
            Self::Claim { gibibytes } => json!({
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": format!("{gibibytes}Gi")}},
            }),
        };
        json!({"metadata": {"name": name}, "spec": spec})
    }
}

impl Limits {
    fn draw(number: usize, random: &mut StdRng) -> Self {
        let scope = [None, None, Some("Terminating"), Some("NotTerminating")];
        let scope = scope[random.random_range(0..scope.len())];
        let hard = LIMITED.into_iter().filter(|(name, _)| {
            // Scopes apply to these resources only.
            let is_scoped = matches!(*name, "pods" | "requests.cpu");
            (scope.is_none() || is_scoped) && random.random_bool(0.6)
        });
        Self {
            name: format!("q{number}"),
            hard: hard.collect(),
            scope,
        }
    }

    /// Returns what an object counts in this quota.
    fn share(&self, object: Option<&Object>) -> ResourceUsage {
        let is_in = |object: &Object| match (self.scope, object) {
            (None, _) => true,
            (Some(scope), Object::Pod { is_terminating, .. }) => {
                (scope == "Terminating") == *is_terminating
            }
            (Some(_), _) => false,
        };
        let mut share = object.filter(|object| is_in(object)).map(Object::share);
        let mut share = share.take().unwrap_or_default();
        share.retain(|name, _| self.hard.contains_key(name));
        share
    }

    /// Returns what all objects count.
    fn used(&self, objects: &Objects) -> ResourceUsage {
        let mut used: ResourceUsage = self.hard.keys().map(|name| (*name, 0)).collect();
        for object in objects.values() {
            add(&mut used, &self.share(Some(object)));
        }
        used
    }

    /// Returns what a write adds.
    fn added(&self, before: Option<&Object>, after: Option<&Object>) -> ResourceUsage {
        let before = self.share(before);
        let mut added = self.share(after);
        for (name, amount) in &mut added {
            *amount = (*amount - before.get(name).unwrap_or(&0)).max(0);
        }
        added
    }

    fn to_json(&self) -> Value {
        let scopes: Vec<&str> = self.scope.into_iter().collect();
        let spec = json!({"hard": written(&self.hard), "scopes": scopes});
        json!({"metadata": {"name": self.name}, "spec": spec})
    }
}

fn add(sum: &mut ResourceUsage, share: &ResourceUsage) {
    for (name, amount) in share {
        *sum.entry(name).or_default() += amount;
    }
}

/// Writes a share as quotas say it, but for the form of its amounts.
fn written(share: &ResourceUsage) -> Value {
    let amounts = share.iter().map(|(name, amount)| {
        let text = match *name {
            "requests.cpu" => format!("{amount}m"),
            "requests.storage" => format!("{amount}Gi"),
            _ => amount.to_string(),
        };
        ((*name).to_owned(), json!(text))
    });
    Value::Object(amounts.collect())
}

/// Reads the amounts of a quota.
fn read(amounts: &Value) -> ResourceUsage {
    let number = |text: &str, suffix: &str, one: i64| match text.strip_suffix(suffix) {
        Some(number) => number.parse().unwrap(),
        None => text.parse::<i64>().unwrap() * one,
    };
    let amount = |name: &str| {
        let text = amounts[name].as_str()?;
        Some(match name {
            "requests.cpu" => number(text, "m", 1_000),
            "requests.storage" => number(text, "Gi", 1),
            _ => text.parse().unwrap(),
        })
    };
    let all = LIMITED.into_iter();
    all.filter_map(|(name, _)| Some((name, amount(name)?)))
        .collect()
}

async fn send(api: &Api, write: &Write, before: Option<&Object>) -> Answer {
    let (collection, name) = write.path.rsplit_once('/').unwrap();
    let path = &write.path;
    match (before, &write.after) {
        (None, Some(object)) => api.post(collection, &object.to_json(name)).await,
        (Some(_), Some(Object::Pod { .. })) => {
            let ended = json!({"status": {"phase": "Failed"}});
            api.merge(&format!("{path}/status"), &ended).await
        }
        (Some(_), Some(object)) => api.merge(path, &object.to_json(name)).await,
        (_, None) => {
            api.delete_with(path, &json!({"gracePeriodSeconds": 0}))
                .await
        }
    }
}

/// Draws a write of each client, each of an object of its own.
fn draw(objects: &Objects, round: usize, random: &mut StdRng) -> Vec<Write> {
    let count = random.random_range(1..=CLIENTS);
    let mut candidates: Vec<(&String, &Object)> = objects.iter().collect();
    let write = |client: usize| {
        if !candidates.is_empty() && random.random_bool(0.45) {
            let (path, object) = candidates.swap_remove(random.random_range(0..candidates.len()));
            let after = object.changed(random);
            return Write {
                path: path.clone(),
                after,
            };
        }
        let object = Object::draw(random);
        let path = format!("{NAMESPACE}/{}/o{round}-{client}", object.collection());
        Write {
            path,
            after: Some(object),
        }
    };
    (0..count).map(write).collect()
}

/// Checks the answers of a round, and takes the writes that were accepted into the model.
fn judge(
    quotas: &[Limits],
    objects: &mut Objects,
    answers: &[(Write, u16, String)],
    after: &[ResourceUsage],
) {
    let is_accepted = |code: u16| matches!(code, 200 | 201);
    for (quota, after) in quotas.iter().zip(after) {
        let mut charged = quota.used(objects);
        for (write, code, _) in answers {
            if is_accepted(*code) {
                let before = objects.get(&write.path);
                add(&mut charged, &quota.added(before, write.after.as_ref()));
            }
        }
        assert_eq!(*after, charged, "{quota:?}: each accepted write is charged");
        let is_exceeded = |name: &str| charged[name] > quota.hard[name];
        assert!(
            !quota.hard.keys().any(|name| is_exceeded(name)),
            "{quota:?}: {charged:?}"
        );
    }
    for (write, code, text) in answers {
        let before = objects.get(&write.path);
        let exceeds = |(quota, after): (&Limits, &ResourceUsage)| {
            let added = quota.added(before, write.after.as_ref());
            let mut added = added.iter();
            added.any(|(name, added)| *added > 0 && after[name] + added > quota.hard[name])
        };
        let is_refused = *code == 403;
        assert!(is_refused || is_accepted(*code), "{write:?}: {text}");
        let is_justified = quotas.iter().zip(after).any(exceeds);
        assert!(!is_refused || is_justified, "{write:?}: {text}");
    }
    for (write, code, _) in answers {
        match write.after.clone().filter(|_| is_accepted(*code)) {
            Some(object) => drop(objects.insert(write.path.clone(), object)),
            None if is_accepted(*code) => drop(objects.remove(&write.path)),
            None => {}
        }
    }
}

fn run(seed: u64) {
    let _replay = Replay(seed);
    let mut random = StdRng::seed_from_u64(seed);
    // The model counts the services that its clients create, so that there is none of the server's own.
    let controllers = Controllers::default().with_quota(true);
    let builder = FakeServer::builder().with_bootstrap(false);
    let server = builder.with_controllers(controllers).build();
    let (api, runtime) = (&Api { server }, paused());
    let quotas: Vec<Limits> = (0..3)
        .map(|number| Limits::draw(number, &mut random))
        .collect();
    let read_all = || {
        let all = quotas.iter().map(|quota| {
            let status = runtime.block_on(status(api, &quota.name));
            read(&status["used"])
        });
        all.collect::<Vec<ResourceUsage>>()
    };
    runtime.block_on(async {
        let namespace = json!({"metadata": {"name": "default"}});
        api.post("/api/v1/namespaces", &namespace).await.created();
        for quota in &quotas {
            api.post(QUOTAS, &quota.to_json()).await.created();
        }
        api.settle().await;
    });
    let mut objects = Objects::new();
    for round in 0..ROUNDS {
        let writes = draw(&objects, round, &mut random);
        let before = &objects;
        let answers = at_once(writes.into_iter().map(|write| {
            async move || {
                let answer = send(api, &write, before.get(&write.path)).await;
                (write, answer.code.as_u16(), answer.text)
            }
        }));
        judge(&quotas, &mut objects, &answers, &read_all());
        runtime.block_on(api.settle());
        let expected: Vec<ResourceUsage> =
            quotas.iter().map(|quota| quota.used(&objects)).collect();
        assert_eq!(read_all(), expected, "what is removed is given back");
    }
}

#[test]
fn random_writes_of_8_clients_agree_with_a_model() {
    if let Ok(seed) = env::var("QUOTAS_SEED") {
        return run(seed.parse().expect("the seed is a number"));
    }
    for seed in 0..SEEDS {
        run(seed);
    }
}
