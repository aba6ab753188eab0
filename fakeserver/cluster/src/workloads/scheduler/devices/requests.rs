//! The requests of claims, with the devices that each of them matches.

use std::collections::BTreeMap;

use fakeserver_kinds::resource::{DeviceSelector, device_class};
use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

use super::pools::{Device, Pool};
use crate::workloads::scheduler::{objects::Objects, taints::Toleration};

/// A claim that needs devices.
#[derive(Debug)]
pub(super) struct Claim {
    /// The namespace and the name.
    pub(super) path: String,
    pub(super) name: String,
    /// The alternatives of each request, the preferred one first.
    pub(super) requests: Vec<Vec<Request>>,
    pub(super) constraints: Vec<Constraint>,
    /// The configuration of the claim.
    config: Vec<Value>,
}

/// A request for devices of a class.
#[derive(Debug)]
pub(super) struct Request {
    /// The name; of an alternative after that of the request and a slash.
    pub(super) name: String,
    class: String,
    /// The configuration of the class.
    class_config: Vec<Value>,
    /// The number of devices; none for all that match.
    pub(super) count: Option<usize>,
    pub(super) has_admin_access: bool,
    pub(super) tolerations: Vec<Toleration>,
    spec: Value,
    /// True for each device of each pool that is selected; an error if that is not known.
    matches: Vec<Vec<Result<bool, String>>>,
}

/// A condition on all devices of some requests: that they have the same value of an attribute.
#[derive(Debug)]
pub(super) struct Constraint {
    /// The requests; empty for all.
    requests: Vec<String>,
    pub(super) attribute: String,
}

/// The selectors of a class or a request, each compiled or with the reason why it cannot be.
struct Selectors {
    /// The beginning of errors.
    of: String,
    all: Vec<Result<DeviceSelector, String>>,
}

// === impl Claim ===

impl Claim {
    /// Reads a claim.
    ///
    /// # Errors
    ///
    /// A class is not there, in upstream's words.
    pub(super) fn of(claim: &Value, pools: &[Pool], objects: &dyn Objects) -> Result<Self, String> {
        let metadata = &claim["metadata"];
        let name = text(&metadata["name"]).to_owned();
        let path = format!("{}/{name}", text(&metadata["namespace"]));
        let devices = &claim["spec"]["devices"];
        let mut requests = Vec::new();
        for request in items(&devices["requests"]) {
            let own = text(&request["name"]);
            let alternatives = items(&request["firstAvailable"]).iter().map(|alternative| {
                let name = format!("{own}/{}", text(&alternative["name"]));
                (name, alternative)
            });
            let exactly = request
                .get("exactly")
                .map(|exactly| (own.to_owned(), exactly));
            let all: Result<Vec<Request>, String> = alternatives
                .chain(exactly)
                .map(|(name, spec)| Request::of(&path, name, spec, pools, objects))
                .collect();
            requests.push(all?);
        }
        let constraints = items(&devices["constraints"])
            .iter()
            .filter_map(|constraint| {
                let attribute = constraint["matchAttribute"].as_str()?;
                let requests = items(&constraint["requests"]).iter();
                Some(Constraint {
                    requests: requests.map(|name| text(name).to_owned()).collect(),
                    attribute: attribute.to_owned(),
                })
            });
        Ok(Self {
            constraints: constraints.collect(),
            config: items(&devices["config"]).to_vec(),
            path,
            name,
            requests,
        })
    }

    /// Returns the configuration of an allocation that chose these alternatives of the requests.
    pub(super) fn config(&self, chosen: &[&Request]) -> Vec<Value> {
        let mut all = Vec::new();
        let mut by_class: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for request in chosen {
            let of_class = by_class.entry(&request.class).or_default();
            of_class.push(&request.name);
        }
        for request in chosen {
            let Some(names) = by_class.remove(&*request.class) else {
                continue;
            };
            for config in &request.class_config {
                all.push(self.configured("FromClass", config, &json!(names)));
            }
        }
        for config in &self.config {
            let names: Vec<&str> = items(&config["requests"]).iter().map(text).collect();
            let is_chosen = |request: &&Request| {
                let parent = request.name.split('/').next().unwrap_or_default();
                names.contains(&&*request.name) || names.contains(&parent)
            };
            if names.is_empty() || chosen.iter().any(is_chosen) {
                all.push(self.configured("FromClaim", config, &config["requests"]));
            }
        }
        all
    }

    /// Returns a configuration as allocations have it, without the names of requests if it is for all of them.
    fn configured(&self, source: &str, config: &Value, names: &Value) -> Value {
        let mut configured = json!({"source": source});
        if let Some(opaque) = config.get("opaque") {
            configured["opaque"] = opaque.clone();
        }
        let count = names.as_array().map_or(0, Vec::len);
        if count > 0 && count != self.requests.len() {
            configured["requests"] = names.clone();
        }
        configured
    }
}

// === impl Request ===

impl Request {
    fn of(
        claim: &str,
        name: String,
        spec: &Value,
        pools: &[Pool],
        objects: &dyn Objects,
    ) -> Result<Self, String> {
        let class_name = text(&spec["deviceClassName"]);
        let class = objects.get(&device_class::KIND, None, class_name);
        let class = class
            .ok_or_else(|| format!("request {name}: device class {class_name} does not exist"))?;
        let selectors = [
            Selectors::of(format!("class {class_name}"), &class["spec"]["selectors"]),
            Selectors::of(format!("claim {claim}"), &spec["selectors"]),
        ];
        let matches = |device: &Device| {
            for selectors in &selectors {
                if !selectors.select(device)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let matches = pools
            .iter()
            .map(|pool| pool.devices.iter().map(matches).collect())
            .collect();
        let is_all = spec["allocationMode"] == "All";
        let count = spec["count"].as_u64().unwrap_or(1);
        Ok(Self {
            class: class_name.to_owned(),
            class_config: items(&class["spec"]["config"]).to_vec(),
            count: (!is_all).then(|| usize::try_from(count).unwrap_or(usize::MAX)),
            has_admin_access: spec["adminAccess"] == true,
            tolerations: Toleration::all(spec),
            spec: spec.clone(),
            matches,
            name,
        })
    }

    /// Returns whether it selects a device, by the places of its pool and of itself in that.
    pub(super) fn selects(&self, (pool, device): (usize, usize)) -> Result<bool, String> {
        self.matches[pool][device].clone()
    }

    /// Returns a device as the result of an allocation.
    pub(super) fn result(&self, device: &Device) -> Value {
        let [driver, pool, name] = &device.id;
        let mut result = json!({
            "request": self.name,
            "driver": &**driver,
            "pool": &**pool,
            "device": &**name,
        });
        for field in ["adminAccess", "tolerations"] {
            if let Some(value) = self.spec.get(field) {
                result[field] = value.clone();
            }
        }
        result
    }
}

// === impl Constraint ===

impl Constraint {
    /// Returns whether it is about a request.
    pub(super) fn concerns(&self, request: &Request) -> bool {
        let parent = request.name.split('/').next();
        let is_meant = |name: &String| *name == request.name || Some(&**name) == parent;
        self.requests.is_empty() || self.requests.iter().any(is_meant)
    }
}

// === impl Selectors ===

impl Selectors {
    fn of(of: String, selectors: &Value) -> Self {
        let expressions = items(selectors)
            .iter()
            .map(|selector| text(&selector["cel"]["expression"]));
        Self {
            of,
            all: expressions.map(DeviceSelector::compile).collect(),
        }
    }

    fn select(&self, device: &Device) -> Result<bool, String> {
        let of = &self.of;
        for (index, selector) in self.all.iter().enumerate() {
            let selector = selector
                .as_ref()
                .map_err(|why| format!("{of}: selector #{index}: CEL compile error: {why}"))?;
            let selects = selector.selects(device.driver(), &device.value);
            let selects = selects
                .map_err(|why| format!("{of}: selector #{index}: CEL runtime error: {why}"))?;
            if !selects {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
