//! What the admission plugins of a real server add to a new object, and refuse of it, where they look at other objects.
//!
//! What needs no other objects is in `defaults`; whom webhooks are asked about a write is in `admission`.

use serde_json::{Value, json};

use super::Call;
use crate::{
    deletion::{CLAIM_PROTECTION, VOLUME_PROTECTION},
    status::{Named, Status},
    storage::{GroupResource, ObjectKey, Transaction},
};

/// The classes that a cluster has from its beginning.
const SYSTEM_CLASSES: [&str; 2] = ["system-node-critical", "system-cluster-critical"];
const DEFAULT_STORAGE_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const DEFAULT_INGRESS_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

/// Adds to a new object, or refuses it.
pub(super) fn admit(
    call: &Call<'_>,
    tx: &Transaction<'_>,
    object: &mut Value,
) -> Result<(), Status> {
    let name = said_name(object);
    let named = call.named(&name);
    match (&*call.resource.group, &*call.resource.plural) {
        ("", "pods") => {
            set_priority(tx, named, &mut object["spec"])?;
            check_runtime_class(tx, named, &mut object["spec"])
        }
        ("", "persistentvolumeclaims") => {
            set_storage_class(tx, object);
            add_finalizer(object, CLAIM_PROTECTION);
            Ok(())
        }
        ("", "persistentvolumes") => {
            add_finalizer(object, VOLUME_PROTECTION);
            Ok(())
        }
        ("networking.k8s.io", "ingresses") => set_ingress_class(tx, named, object),
        _ => Ok(()),
    }
}

/// Adds to what replaces `old`: when a volume came into its phase, unless that is said.
pub(super) fn admit_update(call: &Call<'_>, now: &str, old: &Value, new: &mut Value) {
    let is_volume = (&*call.resource.group, &*call.resource.plural) == ("", "persistentvolumes");
    if !is_volume || old["status"]["phase"] == new["status"]["phase"] {
        return;
    }
    let field = "lastPhaseTransitionTime";
    let (was, is) = (&old["status"], &mut new["status"]);
    if is[field].is_null() || is[field] == was[field] {
        is[field] = json!(now);
    }
}

/// The name of an object that may get one only later.
fn said_name(object: &Value) -> String {
    let metadata = &object["metadata"];
    let mut said = ["name", "generateName"]
        .into_iter()
        .filter_map(|field| metadata[field].as_str())
        .filter(|text| !text.is_empty());
    said.next().unwrap_or("Unknown").to_owned()
}

fn cluster_key(group: &str, plural: &str, name: &str) -> ObjectKey {
    ObjectKey::cluster(GroupResource::new(group, plural), name)
}

/// Gives a pod the priority of its class, or of the class for pods without one.
fn set_priority(tx: &Transaction<'_>, pod: Named<'_>, spec: &mut Value) -> Result<(), Status> {
    let name = spec["priorityClassName"].as_str().unwrap_or_default();
    let found = match name {
        "" => default_priority(tx),
        name => tx
            .get(&cluster_key("scheduling.k8s.io", "priorityclasses", name))
            .map(|class| class.to_value()),
    };
    if found.is_none() && SYSTEM_CLASSES.contains(&name) {
        return Ok(());
    }
    let Some(class) = found else {
        if name.is_empty() {
            return check_computed(pod, spec, "priority", &json!(0), PRIORITY_GIVEN);
        }
        let why = format!("no PriorityClass with name {name} was found");
        return Err(Status::forbidden(pod, &why, Vec::new()));
    };
    spec["priorityClassName"] = class["metadata"]["name"].clone();
    check_computed(pod, spec, "priority", &class["value"], PRIORITY_GIVEN)?;
    let policy = &class["preemptionPolicy"];
    if !policy.is_null() {
        check_computed(pod, spec, "preemptionPolicy", policy, POLICY_GIVEN)?;
    }
    Ok(())
}

const PRIORITY_GIVEN: &str = "the integer value of priority";
const POLICY_GIVEN: &str = "the string value of PreemptionPolicy";

/// Sets a field that only the plugin sets: a client may say nothing else.
fn check_computed(
    pod: Named<'_>,
    spec: &mut Value,
    field: &str,
    computed: &Value,
    what: &str,
) -> Result<(), Status> {
    let print = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let given = &spec[field];
    if !given.is_null() && given != computed {
        let why = format!(
            "{what} ({}) must not be provided in pod spec; priority admission controller computed {} from the given \
             PriorityClass name",
            print(given),
            print(computed),
        );
        return Err(Status::forbidden(pod, &why, Vec::new()));
    }
    spec[field] = computed.clone();
    Ok(())
}

/// The class of pods that name none: of several, the one with the lowest value.
fn default_priority(tx: &Transaction<'_>) -> Option<Value> {
    let classes = tx.list(
        &GroupResource::new("scheduling.k8s.io", "priorityclasses"),
        None,
    );
    let classes = classes.iter().map(|class| class.to_value());
    classes
        .filter(|class| class["globalDefault"] == true)
        .min_by_key(|class| class["value"].as_i64())
}

/// The runtime class of a pod has to be there, and says what pods of it need besides.
fn check_runtime_class(
    tx: &Transaction<'_>,
    pod: Named<'_>,
    spec: &mut Value,
) -> Result<(), Status> {
    let Some(name) = spec["runtimeClassName"].as_str() else {
        return Ok(());
    };
    let found = tx.get(&cluster_key("node.k8s.io", "runtimeclasses", name));
    let Some(class) = found else {
        let why = format!("pod rejected: RuntimeClass {name:?} not found");
        return Err(Status::forbidden(pod, &why, Vec::new()));
    };
    let overhead = class.to_value()["overhead"]["podFixed"].take();
    if !overhead.is_null() {
        spec["overhead"] = overhead;
    }
    Ok(())
}

/// A claim that says nothing of its class gets the default one: of several, the newest.
fn set_storage_class(tx: &Transaction<'_>, claim: &mut Value) {
    if !claim["spec"]["storageClassName"].is_null() {
        return;
    }
    let classes = tx.list(
        &GroupResource::new("storage.k8s.io", "storageclasses"),
        None,
    );
    let classes = classes.iter().map(|class| class.to_value());
    let newest = classes
        .filter(|class| class["metadata"]["annotations"][DEFAULT_STORAGE_CLASS] == "true")
        .max_by_key(|class| {
            let created = class["metadata"]["creationTimestamp"].as_str();
            created.unwrap_or_default().to_owned()
        });
    if let Some(class) = newest {
        claim["spec"]["storageClassName"] = class["metadata"]["name"].clone();
    }
}

/// An ingress that says nothing of its class gets the default one, if there is only one.
fn set_ingress_class(
    tx: &Transaction<'_>,
    ingress: Named<'_>,
    object: &mut Value,
) -> Result<(), Status> {
    let annotated = &object["metadata"]["annotations"]["kubernetes.io/ingress.class"];
    if !object["spec"]["ingressClassName"].is_null() || !annotated.is_null() {
        return Ok(());
    }
    let classes = tx.list(
        &GroupResource::new("networking.k8s.io", "ingressclasses"),
        None,
    );
    let classes = classes.iter().map(|class| class.to_value());
    let defaults: Vec<Value> = classes
        .filter(|class| class["metadata"]["annotations"][DEFAULT_INGRESS_CLASS] == "true")
        .collect();
    match defaults.as_slice() {
        [] => {}
        [class] => object["spec"]["ingressClassName"] = class["metadata"]["name"].clone(),
        several => {
            let why = format!(
                "{} default IngressClasses were found, only 1 allowed",
                several.len()
            );
            return Err(Status::forbidden(ingress, &why, Vec::new()));
        }
    }
    Ok(())
}

fn add_finalizer(object: &mut Value, name: &str) {
    match object["metadata"]["finalizers"].as_array_mut() {
        Some(finalizers) if finalizers.iter().any(|known| known == name) => {}
        Some(finalizers) => finalizers.push(json!(name)),
        None => object["metadata"]["finalizers"] = json!([name]),
    }
}
