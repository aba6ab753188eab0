//! Random admission policies, a quota, and writes of 8 clients, against a model.

use std::{collections::BTreeMap, env, thread};

use fakeserver::Controllers;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS, at_once, paused, warnings};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
/// Parameters lie where no policy counts.
const PARAMETERS: &str = "/api/v1/namespaces/kube-public/configmaps";
const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";
const CLIENTS: usize = 8;
const ROUNDS: usize = 12;
const SEEDS: u64 = 8;
const POLICIES_MAX: usize = 6;
const TIERS: [&str; 3] = ["a", "b", "c"];
/// The config maps that the quota allows.
const MOST: usize = 12;

/// The config maps of the model, by name.
type Objects = BTreeMap<String, ConfigMap>;

#[derive(Clone, Debug, PartialEq)]
struct ConfigMap {
    tier: &'static str,
    number: i64,
    stamp: Option<String>,
}

#[derive(Clone, Debug)]
struct Policy {
    name: String,
    /// The tier of the config maps that it is about.
    tier: &'static str,
    /// The tier is selected by a condition in CEL, not by a label selector.
    has_condition: bool,
    rule: Rule,
    /// True if it refuses what fails, false if it warns of that.
    denies: bool,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Numbers are at most that of a parameter.
    AtMost(i64),
    /// Numbers do not fall.
    Grows,
    /// Nothing is deleted.
    Stays,
    /// Config maps get a label.
    Stamp(String),
    /// Numbers become greater.
    Raise(i64),
}

/// A write of one client: the config map of a name, as it is sent; nothing to delete it.
#[derive(Clone, Debug)]
struct Write {
    name: String,
    sent: Option<ConfigMap>,
}

/// The effect of all policies on a write.
#[derive(Debug, PartialEq)]
struct Judgement {
    is_denied: bool,
    warning_count: usize,
    stored: Option<ConfigMap>,
}

/// Prints how a failed run is repeated.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self(seed) = self;
            eprintln!("POLICIES_SEED={seed} cargo test -p fakeserver --test it policies_model");
        }
    }
}

// === The model ===

impl Policy {
    fn is_mutating(&self) -> bool {
        matches!(self.rule, Rule::Stamp(_) | Rule::Raise(_))
    }

    fn mutate(&self, object: &mut ConfigMap) {
        if object.tier == self.tier {
            match &self.rule {
                Rule::Stamp(stamp) => object.stamp = Some(stamp.clone()),
                Rule::Raise(by) => object.number += by,
                Rule::AtMost(_) | Rule::Grows | Rule::Stays => {}
            }
        }
    }

    fn accepts(&self, old: Option<&ConfigMap>, new: Option<&ConfigMap>) -> bool {
        let Some(object) = new.or(old).filter(|object| object.tier == self.tier) else {
            return true;
        };
        match (&self.rule, old, new) {
            (Rule::AtMost(most), _, Some(_)) => object.number <= *most,
            (Rule::Grows, Some(old), Some(new)) => old.number <= new.number,
            (Rule::Stays, _, new) => new.is_some(),
            _ => true,
        }
    }
}

fn judge(policies: &[Policy], old: Option<&ConfigMap>, sent: Option<&ConfigMap>) -> Judgement {
    let mut stored = sent.cloned();
    if let Some(object) = &mut stored {
        for policy in policies {
            policy.mutate(object);
        }
    }
    let failed = policies
        .iter()
        .filter(|policy| !policy.accepts(old, stored.as_ref()));
    let (denied, warned): (Vec<_>, Vec<_>) = failed.partition(|policy| policy.denies);
    Judgement {
        is_denied: !denied.is_empty(),
        warning_count: warned.len(),
        stored,
    }
}

// === The requests ===

impl Policy {
    fn draw(number: usize, random: &mut StdRng) -> Self {
        let rule = match random.random_range(0..5) {
            0 => Rule::AtMost(random.random_range(3..12)),
            1 => Rule::Grows,
            2 => Rule::Stays,
            3 => Rule::Stamp(format!("s{number}")),
            _ => Rule::Raise(random.random_range(1..4)),
        };
        Self {
            name: format!("p{number:02}"),
            tier: TIERS.choose(random).unwrap(),
            has_condition: random.random(),
            rule,
            denies: random.random_bool(0.7),
        }
    }

    fn kind(&self) -> &'static str {
        if self.is_mutating() {
            "mutating"
        } else {
            "validating"
        }
    }

    fn paths(&self) -> [String; 2] {
        ["policies", "policybindings"]
            .map(|plural| format!("{GROUP}/{}admission{plural}", self.kind()))
    }

    fn actions(&self) -> Value {
        json!([if self.denies { "Deny" } else { "Warn" }])
    }

    fn to_json(&self) -> Value {
        let operations = match self.rule {
            Rule::Stays => json!(["DELETE"]),
            Rule::Grows => json!(["UPDATE"]),
            _ => json!(["CREATE", "UPDATE"]),
        };
        let mut spec = json!({"matchConstraints": {
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": ["configmaps"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        }});
        if self.has_condition {
            let expression = format!(
                "(object == null ? oldObject : object).metadata.labels.tier == '{}'",
                self.tier
            );
            spec["matchConditions"] = json!([{"name": "tier", "expression": expression}]);
        } else {
            spec["matchConstraints"]["objectSelector"] =
                json!({"matchLabels": {"tier": self.tier}});
        }
        if self.is_mutating() {
            spec["reinvocationPolicy"] = json!("Never");
        }
        match &self.rule {
            Rule::AtMost(_) => {
                spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
                spec["variables"] =
                    json!([{"name": "most", "expression": "int(params.data.most)"}]);
                spec["validations"] =
                    json!([{"expression": "int(object.data.number) <= variables.most"}]);
            }
            Rule::Grows => {
                let expression = "int(oldObject.data.number) <= int(object.data.number)";
                spec["validations"] = json!([{"expression": expression}]);
            }
            Rule::Stays => spec["validations"] = json!([{"expression": "false"}]),
            Rule::Stamp(stamp) => {
                let expression = format!(
                    "Object{{metadata: Object.metadata{{labels: {{'stamp': '{stamp}'}}}}}}"
                );
                spec["mutations"] = json!([
                    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}},
                ]);
            }
            Rule::Raise(by) => {
                let value = format!("string(int(object.data.number) + {by})");
                let expression =
                    format!("[JSONPatch{{op: 'replace', path: '/data/number', value: {value}}}]");
                spec["mutations"] =
                    json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]);
            }
        }
        json!({"metadata": {"name": self.name}, "spec": spec})
    }

    fn binding(&self) -> Value {
        let mut spec = json!({"policyName": self.name});
        if !self.is_mutating() {
            spec["validationActions"] = self.actions();
        }
        if let Rule::AtMost(_) = self.rule {
            spec["paramRef"] = json!({
                "name": self.name, "namespace": "kube-public", "parameterNotFoundAction": "Deny",
            });
        }
        json!({"metadata": {"name": self.name}, "spec": spec})
    }

    /// Stores the policy and its binding, and the parameter first.
    async fn create(&self, api: &Api) {
        if let Rule::AtMost(most) = self.rule {
            let parameter =
                json!({"metadata": {"name": self.name}, "data": {"most": most.to_string()}});
            api.post(PARAMETERS, &parameter).await.created();
        }
        let [policies, bindings] = self.paths();
        api.post(&policies, &self.to_json()).await.created();
        api.post(&bindings, &self.binding()).await.created();
    }

    /// Changes its action, or its parameter.
    async fn change(&mut self, api: &Api, random: &mut StdRng) {
        if let Rule::AtMost(most) = &mut self.rule
            && random.random()
        {
            *most = random.random_range(3..12);
            let change = json!({"data": {"most": most.to_string()}});
            let path = format!("{PARAMETERS}/{}", self.name);
            api.merge(&path, &change).await.ok();
        } else if !self.is_mutating() {
            self.denies = !self.denies;
            let change = json!({"spec": {"validationActions": self.actions()}});
            let [_, bindings] = self.paths();
            let path = format!("{bindings}/{}", self.name);
            api.merge(&path, &change).await.ok();
        }
    }
}

impl ConfigMap {
    fn draw(random: &mut StdRng) -> Self {
        Self {
            tier: TIERS.choose(random).unwrap(),
            number: random.random_range(0..10),
            stamp: None,
        }
    }

    fn read(object: &Value) -> Self {
        let (labels, number) = (&object["metadata"]["labels"], &object["data"]["number"]);
        let tier = TIERS.into_iter().find(|tier| labels["tier"] == **tier);
        Self {
            tier: tier.unwrap(),
            number: number.as_str().unwrap().parse().unwrap(),
            stamp: labels["stamp"].as_str().map(str::to_owned),
        }
    }
}

/// Adds, removes or changes a policy.
async fn change_policies(
    api: &Api,
    policies: &mut Vec<Policy>,
    number: usize,
    random: &mut StdRng,
) {
    let place = (!policies.is_empty()).then(|| random.random_range(0..policies.len()));
    match (random.random_range(0..4), place) {
        (0, Some(place)) => {
            let policy = policies.remove(place);
            for path in policy.paths() {
                api.delete(&format!("{path}/{}", policy.name)).await.ok();
            }
        }
        (1, Some(place)) => policies[place].change(api, random).await,
        _ if policies.len() < POLICIES_MAX => {
            let policy = Policy::draw(number, random);
            policy.create(api).await;
            policies.push(policy);
        }
        _ => {}
    }
}

/// Draws a write of each client, each of a config map of its own.
fn draw(objects: &Objects, round: usize, random: &mut StdRng) -> Vec<Write> {
    let mut candidates: Vec<(&String, &ConfigMap)> = objects.iter().collect();
    let write = |client: usize| {
        if candidates.is_empty() || random.random_bool(0.4) {
            return Write {
                name: format!("c{round}-{client}"),
                sent: Some(ConfigMap::draw(random)),
            };
        }
        let (name, object) = candidates.swap_remove(random.random_range(0..candidates.len()));
        let sent = random.random_bool(0.6).then(|| ConfigMap {
            number: random.random_range(0..10),
            ..object.clone()
        });
        Write {
            name: name.clone(),
            sent,
        }
    };
    (0..CLIENTS).map(write).collect()
}

async fn send(api: &Api, write: &Write, is_there: bool) -> Answer {
    let path = format!("{CONFIG_MAPS}/{}", write.name);
    match &write.sent {
        None => api.delete(&path).await,
        Some(object) => {
            let data = json!({"number": object.number.to_string()});
            if is_there {
                return api.merge(&path, &json!({"data": data})).await;
            }
            let metadata = json!({"name": write.name, "labels": {"tier": object.tier}});
            api.post(CONFIG_MAPS, &json!({"metadata": metadata, "data": data}))
                .await
        }
    }
}

/// Checks the answers of a round, and takes the writes that were accepted into the model.
fn check(policies: &[Policy], objects: &mut Objects, answers: &[(Write, Answer)], used: usize) {
    let before = objects.clone();
    for (write, answer) in answers {
        let old = before.get(&write.name);
        let judgement = judge(policies, old, write.sent.as_ref());
        let is_create = old.is_none();
        let context = format!("{write:?}, {judgement:?}, {policies:?}: {}", answer.text);
        match answer.code.as_u16() {
            422 => assert!(judgement.is_denied, "{context}"),
            403 => assert!(
                is_create && !judgement.is_denied && used == MOST,
                "{context}"
            ),
            200 | 201 => {
                assert!(!judgement.is_denied, "{context}");
                assert_eq!(warnings(answer).len(), judgement.warning_count, "{context}");
                match judgement.stored {
                    Some(object) => {
                        assert_eq!(ConfigMap::read(&answer.json()), object, "{context}");
                        objects.insert(write.name.clone(), object);
                    }
                    None => drop(objects.remove(&write.name)),
                }
            }
            _ => panic!("{context}"),
        }
    }
}

async fn stored(api: &Api) -> Objects {
    let list = api.get(CONFIG_MAPS).await.ok();
    let items = list["items"].as_array().unwrap().iter();
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    items
        .map(|object| (name(object), ConfigMap::read(object)))
        .collect()
}

async fn used(api: &Api) -> usize {
    let quota = api.get(&format!("{QUOTAS}/q")).await.ok();
    let used = quota["status"]["used"]["configmaps"].as_str().unwrap();
    used.parse().unwrap()
}

fn run(seed: u64) {
    let _replay = Replay(seed);
    let mut random = StdRng::seed_from_u64(seed);
    let runtime = paused();
    let api = &Api::with(Controllers::default().with_quota(true));
    runtime.block_on(async {
        let quota =
            json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": MOST.to_string()}}});
        api.post(QUOTAS, &quota).await.created();
        api.settle().await;
    });
    let (mut policies, mut objects) = (Vec::new(), Objects::new());
    for round in 0..ROUNDS {
        runtime.block_on(change_policies(api, &mut policies, round, &mut random));
        let writes = draw(&objects, round, &mut random);
        let before = &objects;
        let answers = at_once(writes.into_iter().map(|write| {
            async move || {
                let answer = send(api, &write, before.contains_key(&write.name)).await;
                (write, answer)
            }
        }));
        // Nothing is given back before the controller works.
        let charged = runtime.block_on(used(api));
        check(&policies, &mut objects, &answers, charged);
        assert!(charged <= MOST, "{charged}");
        runtime.block_on(api.settle());
        assert_eq!(runtime.block_on(stored(api)), objects);
        assert_eq!(runtime.block_on(used(api)), objects.len());
    }
}

#[test]
fn random_policies_and_writes_of_8_clients_agree_with_a_model() {
    if let Ok(seed) = env::var("POLICIES_SEED") {
        return run(seed.parse().expect("the seed is a number"));
    }
    for seed in 0..SEEDS {
        run(seed);
    }
}
