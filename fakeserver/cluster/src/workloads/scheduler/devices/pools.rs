//! The devices that slices offer, by pool.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

use crate::workloads::{
    objects::number,
    scheduler::{
        node::Node,
        node_affinity::NodeSelector,
        taints::{Taint, Toleration, repel},
    },
};

/// The driver, the pool and the name of a device.
pub(super) type DeviceId = [Arc<str>; 3];

/// The driver and the name of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolId {
    driver: Arc<str>,
    name: Arc<str>,
}

/// The devices of a pool in its newest generation.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) id: PoolId,
    pub(super) state: PoolState,
    pub(super) devices: Vec<Device>,
}

/// The state of the slices of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolState {
    Complete,
    /// Some of its slices are not there.
    Incomplete,
    /// Two devices have the same name.
    Invalid,
}

/// A device.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) id: DeviceId,
    /// The device as its slice has it.
    pub(super) value: Value,
    taints: Vec<Taint>,
    nodes: Nodes,
}

/// The nodes that can use a device.
#[derive(Debug)]
enum Nodes {
    All,
    Named(String),
    Selected(NodeSelector, Value),
    /// A node selection that this server does not support.
    None,
}

/// Returns the pools that slices offer, in the order of their drivers and names.
pub(super) fn gather(slices: &[Value]) -> Vec<Pool> {
    let mut by_pool: BTreeMap<PoolId, (i64, Vec<&Value>)> = BTreeMap::new();
    for slice in slices {
        let spec = &slice["spec"];
        let generation = number(&spec["pool"]["generation"], 0);
        let id = PoolId {
            driver: text(&spec["driver"]).into(),
            name: text(&spec["pool"]["name"]).into(),
        };
        let (newest, of_pool) = by_pool.entry(id).or_default();
        if of_pool.is_empty() || generation > *newest {
            (*newest, *of_pool) = (generation, vec![slice]);
        } else if generation == *newest {
            of_pool.push(slice);
        }
    }
    let pools = by_pool.into_iter();
    pools
        .map(|(id, (_, slices))| Pool::of(id, &slices))
        .collect()
}

// === impl PoolId ===

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.driver, self.name)
    }
}

// === impl Pool ===

impl Pool {
    fn of(id: PoolId, slices: &[&Value]) -> Self {
        let devices: Vec<Device> = slices
            .iter()
            .flat_map(|slice| {
                let spec = &slice["spec"];
                items(&spec["devices"])
                    .iter()
                    .map(|device| Device::of(&id, spec, device))
            })
            .collect();
        let wanted = slices.first().map_or(0, |slice| {
            number(&slice["spec"]["pool"]["resourceSliceCount"], 0)
        });
        let names: BTreeSet<&DeviceId> = devices.iter().map(|device| &device.id).collect();
        let state = if usize::try_from(wanted) != Ok(slices.len()) {
            PoolState::Incomplete
        } else if names.len() < devices.len() {
            PoolState::Invalid
        } else {
            PoolState::Complete
        };
        Self { id, state, devices }
    }

    /// Returns whether a node can use some device of it.
    pub(super) fn serves(&self, node: &Node) -> bool {
        self.devices.iter().any(|device| device.is_on(node))
    }
}

// === impl Device ===

impl Device {
    fn of(pool: &PoolId, slice: &Value, device: &Value) -> Self {
        let is_by_device = slice["perDeviceNodeSelection"] == true;
        Self {
            id: [
                Arc::clone(&pool.driver),
                Arc::clone(&pool.name),
                text(&device["name"]).into(),
            ],
            value: device.clone(),
            taints: items(&device["taints"]).iter().map(Taint::of).collect(),
            nodes: Nodes::of(if is_by_device { device } else { slice }),
        }
    }

    pub(super) fn driver(&self) -> &str {
        &self.id[0]
    }

    /// Returns whether a node can use it.
    pub(super) fn is_on(&self, node: &Node) -> bool {
        match &self.nodes {
            Nodes::All => true,
            Nodes::Named(name) => *name == *node.name,
            Nodes::Selected(selector, _) => selector.matches(&node.name, &node.labels),
            Nodes::None => false,
        }
    }

    /// Returns whether a taint keeps a request with these tolerations away.
    pub(super) fn repels(&self, tolerations: &[Toleration]) -> bool {
        repel(&self.taints, tolerations)
    }

    /// Returns an attribute by its full name.
    pub(super) fn attribute(&self, name: &str) -> Option<&Value> {
        let attributes = &self.value["attributes"];
        attributes.get(name).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            (domain == self.driver()).then(|| attributes.get(id))?
        })
    }
}

// === impl Nodes ===

impl Nodes {
    fn of(source: &Value) -> Self {
        let selector = &source["nodeSelector"];
        match source["nodeName"].as_str() {
            Some(name) if !name.is_empty() => Self::Named(name.to_owned()),
            _ if source["allNodes"] == true => Self::All,
            _ if selector.is_object() => {
                Self::Selected(NodeSelector::of(selector), selector.clone())
            }
            _ => Self::None,
        }
    }
}

/// Returns the nodes that can use all of these devices, as an allocation says it; null for all nodes.
pub(super) fn nodes_of(devices: &[&Device]) -> Value {
    let mut term: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for device in devices {
        match &device.nodes {
            Nodes::Named(name) => {
                let field = json!({"key": "metadata.name", "operator": "In", "values": [name]});
                return json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
            }
            Nodes::Selected(_, selector) => {
                let first = &selector["nodeSelectorTerms"][0];
                for field in ["matchExpressions", "matchFields"] {
                    for requirement in items(&first[field]) {
                        let all = term.entry(field).or_default();
                        if !all.contains(&requirement) {
                            all.push(requirement);
                        }
                    }
                }
            }
            Nodes::All | Nodes::None => {}
        }
    }
    if term.is_empty() {
        return Value::Null;
    }
    json!({"nodeSelectorTerms": [term]})
}
