//! The usage of containers and nodes, as `metrics.k8s.io` reports it. No container runs here, so it is a share of what was
//! requested, which the pod's uid and the container's name decide, or what stages or the pod's annotations say.

use std::{collections::BTreeMap, fmt};

use fakeserver_value::{
    object::selectors::hash,
    read::items,
    schema::{Quantity, QuantityError},
};
use serde_json::{Value, json};

/// The annotation that sets the processor time of each container of a pod; the same with `.NAME` at its end sets that of one.
const CPU: &str = "fakeserver/usage-cpu";
/// The same for memory.
const MEMORY: &str = "fakeserver/usage-memory";
/// The scale of billionths of a core.
const NANO: i64 = -9;
/// The usage of a container that requests nothing: 5 thousandths of a core and 16 MiB.
const BASE: Usage = Usage {
    nano_cores: 5_000_000,
    bytes: 16 << 20,
};
/// The usage of a node beside its pods: a tenth of a core and 512 MiB.
const NODE: Usage = Usage {
    nano_cores: 100_000_000,
    bytes: 512 << 20,
};

/// An amount of processor time, in billionths of a core, and of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub nano_cores: i64,
    pub bytes: i64,
}

/// An amount of one resource that a container uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Processor time, in billionths of a core.
    NanoCores(i64),
    /// Memory.
    Bytes(i64),
}

/// The usage of a container that stages set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptedUsage {
    pub nano_cores: Option<i64>,
    pub bytes: Option<i64>,
}

/// The usage that stages set, by container.
pub type ScriptedContainers = BTreeMap<Box<str>, ScriptedUsage>;

/// An annotation whose value is no amount.
#[derive(Debug, PartialEq, Eq)]
pub struct UsageError {
    annotation: String,
    value: String,
    /// The parse error; `None` if the amount is negative.
    cause: Option<QuantityError>,
}

/// Returns the usage of each running container of a pod by name, in the order of its spec; empty unless the pod runs.
///
/// Annotations count before what stages say.
pub fn of_pod<'p>(
    pod: &'p Value,
    scripted: &ScriptedContainers,
) -> Result<Vec<(&'p str, Usage)>, UsageError> {
    if pod["status"]["phase"] != "Running" {
        return Ok(Vec::new());
    }
    let spec = &pod["spec"];
    let init = items(&spec["initContainers"]).iter();
    init.chain(items(&spec["containers"]))
        .filter_map(|container| Some((container, container["name"].as_str()?)))
        .filter(|(_, name)| is_running(&pod["status"], name))
        .map(|(container, name)| {
            let scripted = scripted.get(name).copied().unwrap_or_default();
            Ok((name, of_container(pod, container, name, scripted)?))
        })
        .collect()
}

/// Returns the usage of a node whose pods use `pods`.
pub fn of_node(pods: impl IntoIterator<Item = Usage>) -> Usage {
    pods.into_iter().fold(NODE, |sum, pod| Usage {
        nano_cores: sum.nano_cores.saturating_add(pod.nano_cores),
        bytes: sum.bytes.saturating_add(pod.bytes),
    })
}

fn of_container(
    pod: &Value,
    container: &Value,
    name: &str,
    scripted: ScriptedUsage,
) -> Result<Usage, UsageError> {
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
    let requests = &container["resources"]["requests"];
    let amount = |annotation, resource: &str, scale, scripted: Option<i64>, base| {
        let set = annotated(pod, annotation, name, scale)?.or(scripted);
        Ok(set.unwrap_or_else(|| {
            let requested = requests[resource]
                .as_str()
                .and_then(|text| text.parse().ok());
            requested.map_or(base, |requested: Quantity| {
                share(requested.in_units_of(scale), percent(uid, name, resource))
            })
        }))
    };
    Ok(Usage {
        nano_cores: amount(CPU, "cpu", NANO, scripted.nano_cores, BASE.nano_cores)?,
        bytes: amount(MEMORY, "memory", 0, scripted.bytes, BASE.bytes)?,
    })
}

/// Returns the amount that annotations of a pod set for a container; the container's own annotation takes precedence over the
/// common one.
fn annotated(
    pod: &Value,
    annotation: &str,
    container: &str,
    scale: i64,
) -> Result<Option<i64>, UsageError> {
    let annotations = &pod["metadata"]["annotations"];
    let own = format!("{annotation}.{container}");
    let mut names = [own.as_str(), annotation].into_iter();
    let Some((name, value)) = names.find_map(|name| Some((name, annotations[name].as_str()?)))
    else {
        return Ok(None);
    };
    let error = |cause| UsageError {
        annotation: name.to_owned(),
        value: value.to_owned(),
        cause,
    };
    let quantity: Quantity = value.parse().map_err(|cause| error(Some(cause)))?;
    if quantity.is_negative() {
        return Err(error(None));
    }
    Ok(Some(quantity.in_units_of(scale)))
}

fn is_running(status: &Value, name: &str) -> bool {
    let init = items(&status["initContainerStatuses"]).iter();
    let mut statuses = init.chain(items(&status["containerStatuses"]));
    statuses.any(|status| status["name"] == name && status["state"]["running"].is_object())
}

fn share(requested: i64, percent: i64) -> i64 {
    // Divided first where the product would not fit.
    let product = requested.checked_mul(percent);
    product.map_or_else(|| requested / 100 * percent, |product| product / 100)
}

/// Returns the share of its request that a container uses, from 20 to 79 percent, by the hash of what names it.
fn percent(uid: &str, container: &str, resource: &str) -> i64 {
    let hash = hash(&format!("{uid}{container}{resource}"));
    20 + i64::try_from((hash >> 32) % 60).expect("it is below 60")
}

/// Returns an amount in its canonical form.
fn canonical(amount: i64, suffix: &str) -> String {
    let text = format!("{amount}{suffix}");
    text.parse()
        .map_or(text, |quantity: Quantity| quantity.to_string())
}

// === impl Amount ===

impl Amount {
    /// Reads an amount of processor time, such as `250m`.
    ///
    /// # Errors
    ///
    /// The text is no quantity, or negative.
    pub fn of_cpu(text: &str) -> Result<Self, String> {
        amount(text, NANO, "250m or 2").map(Self::NanoCores)
    }

    /// Reads an amount of memory, such as `64Mi`.
    ///
    /// # Errors
    ///
    /// The text is no quantity, or negative.
    pub fn of_memory(text: &str) -> Result<Self, String> {
        amount(text, 0, "64Mi or 1G").map(Self::Bytes)
    }
}

fn amount(text: &str, scale: i64, such: &str) -> Result<i64, String> {
    let quantity = text.parse::<Quantity>();
    let quantity = quantity.ok().filter(|quantity| !quantity.is_negative());
    let quantity =
        quantity.ok_or_else(|| format!("{text:?} is no usage; write a quantity such as {such}"))?;
    Ok(quantity.in_units_of(scale))
}

// === impl ScriptedUsage ===

impl ScriptedUsage {
    /// Sets the amount of a resource.
    pub fn set(&mut self, amount: Amount) {
        match amount {
            Amount::NanoCores(amount) => self.nano_cores = Some(amount),
            Amount::Bytes(amount) => self.bytes = Some(amount),
        }
    }
}

// === impl Usage ===

impl Usage {
    /// Returns the amounts by resource, as metrics have them: whole KiB of memory.
    pub fn resources(self) -> Value {
        json!({
            "cpu": canonical(self.nano_cores, "n"),
            "memory": canonical(self.bytes / 1024, "Ki"),
        })
    }
}

// === impl UsageError ===

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            annotation, value, ..
        } = self;
        write!(f, "annotation {annotation}: {value:?} is no usage: ")?;
        match &self.cause {
            Some(cause) => write!(f, "{cause}; ")?,
            None => f.write_str("it is negative; ")?,
        }
        f.write_str("write a quantity such as 250m or 64Mi")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said_nothing() -> ScriptedContainers {
        ScriptedContainers::new()
    }

    fn pod(annotations: &Value) -> Value {
        let running = json!({"running": {}});
        json!({
            "metadata": {"uid": "a", "annotations": annotations},
            "spec": {"containers": [
                {"name": "web", "resources": {"requests": {"cpu": "1", "memory": "100Mi"}}},
                {"name": "log"},
                {"name": "ended"},
            ]},
            "status": {"phase": "Running", "containerStatuses": [
                {"name": "web", "state": running},
                {"name": "log", "state": running},
                {"name": "ended", "state": {"terminated": {"exitCode": 0}}},
            ]},
        })
    }

    #[test]
    fn a_running_container_uses_a_share_of_its_requests() {
        let pod = pod(&json!({}));
        let usage = of_pod(&pod, &said_nothing()).unwrap();
        assert_eq!(usage, of_pod(&pod.clone(), &said_nothing()).unwrap());
        let [("web", web), ("log", BASE)] = usage[..] else {
            panic!("{usage:?}");
        };
        assert!((200_000_000..800_000_000).contains(&web.nano_cores));
        assert!((20 << 20..80 << 20).contains(&web.bytes));
    }

    #[test]
    fn amounts_are_quantities_in_their_canonical_form() {
        let usage = Usage {
            nano_cores: 250_000_000,
            bytes: (64 << 20) + 1,
        };
        assert_eq!(usage.resources(), json!({"cpu": "250m", "memory": "64Mi"}));
        let usage = Usage {
            nano_cores: 1_234_567,
            bytes: 3 << 10,
        };
        let expected = json!({"cpu": "1234567n", "memory": "3Ki"});
        assert_eq!(usage.resources(), expected);
    }

    #[test]
    fn pods_of_equal_requests_differ() {
        let first = pod(&json!({}));
        let mut second = first.clone();
        second["metadata"]["uid"] = json!("b");
        let first = of_pod(&first, &said_nothing()).unwrap()[0];
        assert_ne!(first, of_pod(&second, &said_nothing()).unwrap()[0]);
    }

    #[test]
    fn annotations_set_the_usage_of_a_container_before_that_of_all() {
        let annotations = json!({
            "fakeserver/usage-cpu": "250m",
            "fakeserver/usage-cpu.log": "2",
            "fakeserver/usage-memory": "64Mi",
        });
        let set = |nano_cores| Usage {
            nano_cores,
            bytes: 64 << 20,
        };
        let pod = pod(&annotations);
        let usage = of_pod(&pod, &said_nothing()).unwrap();
        assert_eq!(
            usage,
            [("web", set(250_000_000)), ("log", set(2_000_000_000))]
        );
    }

    #[test]
    fn annotations_take_precedence_over_stages() {
        let mut usage = ScriptedUsage::default();
        usage.set(Amount::of_cpu("2").unwrap());
        usage.set(Amount::of_memory("1Ki").unwrap());
        let scripted = ScriptedContainers::from([("log".into(), usage)]);
        let pod = pod(&json!({"fakeserver/usage-memory.log": "1Mi"}));
        let usage = of_pod(&pod, &scripted).unwrap()[1];
        let expected = Usage {
            nano_cores: 2_000_000_000,
            bytes: 1 << 20,
        };
        assert_eq!(usage, ("log", expected));
        for wrong in ["much", "-1"] {
            let error = Amount::of_memory(wrong).unwrap_err();
            assert!(error.contains("such as 64Mi"), "{error}");
        }
    }

    #[test]
    fn an_annotation_that_is_no_amount_is_named() {
        for (value, cause) in [
            ("-1", "it is negative"),
            ("1mm", "unable to parse quantity's suffix"),
        ] {
            let pod = pod(&json!({"fakeserver/usage-cpu.log": value}));
            assert_eq!(
                of_pod(&pod, &said_nothing()).unwrap_err().to_string(),
                format!(
                    "annotation fakeserver/usage-cpu.log: {value:?} is no usage: {cause}; write a quantity such as 250m or 64Mi"
                )
            );
        }
    }

    #[test]
    fn a_pod_that_does_not_run_uses_nothing() {
        let mut pod = pod(&json!({}));
        pod["status"]["phase"] = json!("Pending");
        assert_eq!(of_pod(&pod, &said_nothing()), Ok(Vec::new()));
    }

    #[test]
    fn a_node_uses_its_base_and_the_usage_of_its_pods() {
        assert_eq!(of_node([]), NODE);
        let sum = of_node([BASE, BASE]);
        assert_eq!(sum.nano_cores, NODE.nano_cores + 2 * BASE.nano_cores);
        assert_eq!(sum.bytes, NODE.bytes + 2 * BASE.bytes);
    }
}
