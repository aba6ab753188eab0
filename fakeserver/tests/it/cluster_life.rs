//! An hour of a cluster in which everything changes and fails: in the end every controller has what it wants.
//!
//! `SEEDS=1000 cargo test -p fakeserver --test it an_hour_of` runs a thousand hours, and `SEED=7` one of them.

use std::{collections::BTreeSet, env, time::Duration};

use fakeserver::{Controllers, FakeServer, Workloads};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::Api;

const PODS: &str = "/api/v1/namespaces/default/pods";
const NODES: &str = "/api/v1/nodes";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const DEVICE_GROUP: &str = "/apis/resource.k8s.io/v1";
/// The number of devices, of which there are enough.
const DEVICES: usize = 100;
/// The kinds whose pods run for ever.
const SETS: [&str; 4] = ["deployments", "statefulsets", "daemonsets", "replicasets"];
/// The number of operations in an hour.
const OPERATIONS: usize = 60;
const SEEDS_DEFAULT: u64 = 4;

/// A cluster, and the generator of what happens to it.
struct ClusterRun {
    seed: u64,
    api: Api,
    random: ChaCha8Rng,
    /// The operations so far, for the message of a failure.
    story: Vec<String>,
}

fn path(plural: &str) -> String {
    format!("/apis/apps/v1/namespaces/default/{plural}")
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// A workload of a kind, whose pods have its name as a label.
fn workload(plural: &str, name: &str, replicas: usize) -> Value {
    let labels = json!({"app": name});
    let mut spec = json!({
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    });
    if plural != "daemonsets" {
        spec["replicas"] = json!(replicas);
    }
    if plural == "deployments" {
        let pods = &mut spec["template"]["spec"];
        pods["resourceClaims"] = json!([{"name": "d", "resourceClaimTemplateName": "t"}]);
    }
    if plural == "statefulsets" {
        spec["serviceName"] = json!(name);
        spec["volumeClaimTemplates"] = json!([{
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }]);
    }
    json!({"metadata": {"name": name}, "spec": spec})
}

// === impl ClusterRun ===

impl ClusterRun {
    fn begin(seed: u64) -> Self {
        let workloads = Workloads::default().with_nodes(3).with_pods_per_node(40);
        let controllers = Controllers::default().with_workloads(workloads);
        let server = FakeServer::builder()
            .with_seed(seed)
            .with_controllers(controllers)
            .build();
        Self {
            seed,
            api: Api { server },
            random: ChaCha8Rng::seed_from_u64(seed),
            story: Vec::new(),
        }
    }

    /// Makes devices that all nodes can use, and a template of claims for one of them.
    async fn offer_devices(&self) {
        let devices: Vec<Value> = (0..DEVICES)
            .map(|number| json!({"name": format!("d-{number}")}))
            .collect();
        let pool = json!({"name": "p", "generation": 1, "resourceSliceCount": 1});
        let request = json!({"name": "r", "exactly": {"deviceClassName": "any"}});
        let spec = json!({"devices": {"requests": [request]}});
        for (path, object) in [
            (
                format!("{DEVICE_GROUP}/deviceclasses"),
                json!({"metadata": {"name": "any"}, "spec": {}}),
            ),
            (
                format!("{DEVICE_GROUP}/resourceslices"),
                json!({"metadata": {"name": "s"}, "spec": {
                    "driver": "d.example.com", "allNodes": true, "pool": pool, "devices": devices,
                }}),
            ),
            (
                format!("{DEVICE_GROUP}/namespaces/default/resourceclaimtemplates"),
                json!({"metadata": {"name": "t"}, "spec": {"spec": spec}}),
            ),
        ] {
            self.api.post(&path, &object).await.created();
        }
    }

    fn draw(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }

    async fn items(&self, path: &str) -> Vec<Value> {
        let list = self.api.get(path).await.ok();
        list["items"].as_array().unwrap().clone()
    }

    /// Returns one object of a list, if there is any.
    async fn one(&mut self, path: &str) -> Option<Value> {
        let items = self.items(path).await;
        if items.is_empty() {
            return None;
        }
        let number = self.draw(items.len());
        Some(items[number].clone())
    }

    /// Tells what is done, and does it. The server may refuse it.
    async fn post(&mut self, path: &str, object: &Value) {
        self.story.push(format!("POST {path} {}", name(object)));
        self.api.post(path, object).await;
    }

    async fn strategic(&mut self, path: &str, change: &Value) {
        self.story.push(format!("PATCH {path} {change}"));
        self.api.strategic(path, change).await;
    }

    async fn delete(&mut self, path: &str) {
        self.story.push(format!("DELETE {path}"));
        self.api.delete(path).await;
    }

    /// Does one thing at random.
    async fn happen(&mut self) {
        let plural = SETS[self.draw(SETS.len())];
        let number = self.draw(4);
        let app = format!("{}-{number}", &plural[..2]);
        let replicas = self.draw(6);
        match self.draw(14) {
            0 | 1 => {
                self.post(&path(plural), &workload(plural, &app, replicas))
                    .await;
            }
            2 => {
                let change = json!({"spec": {"replicas": replicas}});
                let plural = ["deployments", "statefulsets", "replicasets"][self.draw(3)];
                if let Some(set) = self.one(&path(plural)).await {
                    self.strategic(&format!("{}/{}", path(plural), name(&set)), &change)
                        .await;
                }
            }
            3 => {
                let image = format!("i{}", self.draw(3));
                let containers = json!([{"name": "c", "image": image}]);
                let change = json!({"spec": {"template": {"spec": {"containers": containers}}}});
                let plural = ["deployments", "statefulsets", "daemonsets"][self.draw(3)];
                if let Some(set) = self.one(&path(plural)).await {
                    self.strategic(&format!("{}/{}", path(plural), name(&set)), &change)
                        .await;
                }
            }
            4 => {
                if let Some(set) = self.one(&path(plural)).await {
                    self.delete(&format!("{}/{}", path(plural), name(&set)))
                        .await;
                }
            }
            5 => {
                let service = json!({"metadata": {"name": app}, "spec": {
                    "selector": {"app": app}, "ports": [{"port": 80}]}});
                self.post(SERVICES, &service).await;
            }
            6 => {
                let budget = json!({"metadata": {"name": app}, "spec": {
                    "maxUnavailable": 1, "selector": {"matchLabels": {"app": app}}}});
                self.post(BUDGETS, &budget).await;
            }
            7 => self.post(JOBS, &job(&app, replicas)).await,
            8 => {
                if let Some(pod) = self.one(PODS).await {
                    self.delete(&format!("{PODS}/{}", name(&pod))).await;
                }
            }
            9 => self.drain().await,
            _ => self.shake().await,
        }
    }

    /// Does something to a node.
    async fn shake(&mut self) {
        let Some(node) = self.one(NODES).await else {
            return;
        };
        let path = format!("{NODES}/{}", name(&node));
        match self.draw(6) {
            0 | 1 => {
                let status = ["True", "False", "Unknown"][self.draw(3)];
                self.set_ready(&path, status).await;
            }
            2 => {
                let is_cordoned = self.draw(2) == 0;
                self.strategic(&path, &json!({"spec": {"unschedulable": is_cordoned}}))
                    .await;
            }
            3 => {
                let taint = json!({"key": "broken", "effect": "NoExecute"});
                self.strategic(&path, &json!({"spec": {"taints": [taint]}}))
                    .await;
            }
            4 => self.delete(&path).await,
            _ => {
                let number = self.draw(100);
                let node = json!({"metadata": {"name": format!("new-{number}")}});
                self.post(NODES, &node).await;
            }
        }
    }

    async fn set_ready(&mut self, node: &str, status: &str) {
        let condition = json!({"type": "Ready", "status": status});
        let change = json!({"status": {"conditions": [condition]}});
        self.strategic(&format!("{node}/status"), &change).await;
    }

    /// Drains a node, as kubectl does: what a budget does not allow stays.
    async fn drain(&mut self) {
        let Some(node) = self.one(NODES).await else {
            return;
        };
        let node = name(&node).to_owned();
        self.strategic(
            &format!("{NODES}/{node}"),
            &json!({"spec": {"unschedulable": true}}),
        )
        .await;
        for pod in self.items(PODS).await {
            let owner = pod["metadata"]["ownerReferences"][0]["kind"].clone();
            if pod["spec"]["nodeName"] == *node && owner != "DaemonSet" {
                let eviction = json!({"metadata": {"name": name(&pod)}});
                let path = format!("{PODS}/{}/eviction", name(&pod));
                self.post(&path, &eviction).await;
            }
        }
    }

    /// Heals all nodes, and gives the controllers time.
    async fn rest(&mut self) {
        let spare = json!({"metadata": {"name": "spare"}});
        self.post(NODES, &spare).await;
        for node in self.items(NODES).await {
            let path = format!("{NODES}/{}", name(&node));
            let healed = json!({"spec": {"unschedulable": null, "taints": null}});
            self.strategic(&path, &healed).await;
            self.set_ready(&path, "True").await;
        }
        sleep(Duration::from_mins(30)).await;
    }

    /// Checks what has to be true of a cluster at rest.
    async fn check(&self) {
        let pods = self.items(PODS).await;
        let nodes: BTreeSet<String> = self
            .items(NODES)
            .await
            .iter()
            .map(|node| name(node).to_owned())
            .collect();
        for pod in &pods {
            assert!(
                nodes.contains(text(pod, "/spec/nodeName")),
                "{pod} is on no node"
            );
            assert_eq!(text(pod, "/metadata/deletionTimestamp"), "", "{pod} stays");
        }
        let mut owners = BTreeSet::new();
        for plural in SETS {
            for set in self.items(&path(plural)).await {
                check_set(plural, &set, &pods, nodes.len());
                owners.insert(text(&set, "/metadata/uid").to_owned());
            }
        }
        for job in self.items(JOBS).await {
            let conditions = job["status"]["conditions"].as_array().unwrap();
            let mut ends = conditions
                .iter()
                .filter(|it| it["type"] == "Complete" || it["type"] == "Failed");
            assert!(ends.next().is_some(), "{job} has not ended");
            owners.insert(text(&job, "/metadata/uid").to_owned());
        }
        for pod in &pods {
            let owner = text(pod, "/metadata/ownerReferences/0/uid");
            assert!(owners.contains(owner), "{pod} has a dead owner");
        }
        for claim in self.items(CLAIMS).await {
            assert_eq!(text(&claim, "/status/phase"), "Bound", "{claim}");
        }
        self.check_devices(&pods).await;
        self.check_services(&pods).await;
        self.check_budgets(&pods).await;
    }

    /// Checks that each claim of devices is that of a pod which is there, and has a device that no other has.
    async fn check_devices(&self, pods: &[Value]) {
        let mut wanted = BTreeSet::new();
        for pod in pods {
            let claims = pod["status"]["resourceClaimStatuses"].as_array();
            for claim in claims.into_iter().flatten() {
                wanted.insert((text(claim, "/resourceClaimName").to_owned(), name(pod)));
            }
            let refers = pod["spec"]["resourceClaims"].is_array();
            assert_eq!(refers, claims.is_some(), "{pod} has no claim");
        }
        let path = format!("{DEVICE_GROUP}/namespaces/default/resourceclaims");
        let claims = self.items(&path).await;
        let reserved = claims.iter().map(|claim| {
            let consumers = claim["status"]["reservedFor"].as_array();
            assert_eq!(consumers.map(Vec::len), Some(1), "{claim}");
            let pod = text(claim, "/status/reservedFor/0/name");
            (name(claim).to_owned(), pod)
        });
        assert_eq!(reserved.collect::<BTreeSet<_>>(), wanted);
        let device = "/status/allocation/devices/results/0/device";
        let devices: BTreeSet<&str> = claims.iter().map(|claim| text(claim, device)).collect();
        assert_eq!(devices.len(), claims.len(), "a device has two claims");
    }

    /// Checks that the slices of each service have its ready pods, and no others.
    async fn check_services(&self, pods: &[Value]) {
        let slices = self.items(SLICES).await;
        for service in self.items(SERVICES).await {
            if service["spec"]["selector"].is_null() {
                continue;
            }
            let selected = pods.iter().filter(|pod| {
                pod["metadata"]["labels"]["app"] == service["spec"]["selector"]["app"]
                    && is_ready(pod)
            });
            let wanted: BTreeSet<&str> = selected.map(name).collect();
            let own = slices.iter().filter(|slice| {
                text(slice, "/metadata/labels/kubernetes.io~1service-name") == name(&service)
            });
            let endpoints =
                own.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
            let ready = endpoints.filter(|endpoint| endpoint["conditions"]["ready"] == true);
            let found: BTreeSet<&str> = ready.map(|it| text(it, "/targetRef/name")).collect();
            assert_eq!(found, wanted, "{}", name(&service));
        }
    }

    /// Checks that each budget knows how many of its pods are healthy.
    async fn check_budgets(&self, pods: &[Value]) {
        for budget in self.items(BUDGETS).await {
            // Daemon sets do not say how many pods are expected, so that such a budget is not kept.
            if budget["status"]["conditions"][0]["reason"] == "SyncFailed" {
                continue;
            }
            let app = &budget["spec"]["selector"]["matchLabels"]["app"];
            let own = pods
                .iter()
                .filter(|pod| pod["metadata"]["labels"]["app"] == *app);
            let healthy = own.filter(|pod| is_ready(pod)).count();
            assert_eq!(budget["status"]["currentHealthy"], healthy, "{budget}");
        }
    }
}

fn job(name: &str, number: usize) -> Value {
    let exit_code = if number == 0 { "1" } else { "0" };
    json!({
        "metadata": {"name": name},
        "spec": {
            "completions": number + 1,
            "completionMode": if number.is_multiple_of(2) { "Indexed" } else { "NonIndexed" },
            "parallelism": 2,
            "backoffLimit": 40,
            "template": {
                "metadata": {"annotations": {"fakeserver/exit-code": exit_code}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
            },
            "activeDeadlineSeconds": 1_200,
        },
    })
}

/// Checks that a set has the pods that it wants, and says so.
fn check_set(plural: &str, set: &Value, pods: &[Value], nodes: usize) {
    let status = &set["status"];
    let wanted = if plural == "daemonsets" {
        json!(nodes)
    } else {
        set["spec"]["replicas"].clone()
    };
    let fields: &[&str] = match plural {
        "daemonsets" => &[
            "desiredNumberScheduled",
            "numberReady",
            "updatedNumberScheduled",
        ],
        "replicasets" => &["replicas", "readyReplicas"],
        _ => &["replicas", "readyReplicas", "updatedReplicas"],
    };
    for field in fields {
        let count = status[*field].as_u64().unwrap_or_default();
        assert_eq!(json!(count), wanted, "{field} of {set}");
    }
    assert_eq!(
        status["observedGeneration"], set["metadata"]["generation"],
        "{set}"
    );
    if plural != "deployments" {
        let uid = &set["metadata"]["uid"];
        let own = pods
            .iter()
            .filter(|pod| pod["metadata"]["ownerReferences"][0]["uid"] == *uid);
        assert_eq!(json!(own.count()), wanted, "pods of {set}");
    }
}

async fn live(seed: u64) {
    let mut life = ClusterRun::begin(seed);
    life.offer_devices().await;
    for _ in 0..OPERATIONS {
        life.happen().await;
        let seconds = life.draw(120);
        sleep(Duration::from_secs(u64::try_from(seconds).unwrap())).await;
    }
    life.rest().await;
    life.check().await;
}

impl Drop for ClusterRun {
    /// Prints what had happened, and the line that repeats it, if a check fails.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let (seed, story) = (self.seed, self.story.join("\n"));
            eprintln!(
                "{story}\nreplay it: SEED={seed} cargo test -p fakeserver --test it an_hour_of"
            );
        }
    }
}

#[test]
fn an_hour_of_changes_and_failures_converges() {
    let number = |name: &str| {
        env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().expect("a number"))
    };
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(SEEDS_DEFAULT),
    };
    for seed in seeds {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(live(seed));
    }
}
