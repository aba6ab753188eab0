//! Validation of persistent volumes.

use fakeserver_value::{difference::difference, edit::each, field::Field, findings::Findings};
use serde_json::{Map, Value};

use crate::{
    claim_spec::VOLUME_SOURCES,
    pod_spec::validation::persistent::{SpecHolder, check_volume_spec},
};

const AFFINITY: &str = "io.k8s.api.core.v1.VolumeNodeAffinity";

/// The labels of nodes that have a newer name.
const RENAMED_LABELS: [(&str, &str); 5] = [
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
];

const SOURCE: &str = "io.k8s.api.core.v1.PersistentVolumeSource";

pub(super) fn check(volume: &Field<'_>, found: &mut Findings) {
    let name = volume.at("metadata").at("name");
    check_volume_spec(&volume.at("spec"), SpecHolder::Volume(name.text()), found);
}

pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    // A real server checks the next version twice.
    check(new, found);
    check(new, found);
    let source = |volume: &Field<'_>, value: fn(Field<'_>) -> Value| -> Value {
        let spec = volume.at("spec");
        let given = VOLUME_SOURCES.iter().filter(|kind| spec.at(kind).is_set());
        given
            .map(|kind| ((*kind).to_owned(), value(spec.at(kind))))
            .collect::<Map<_, _>>()
            .into()
    };
    let before = source(old, |source| source.value().clone());
    let settled = |mut after: Value| {
        let secret = "controllerExpandSecretRef";
        let csi = after.get_mut("csi").and_then(Value::as_object_mut);
        if let Some(csi) = csi.filter(|_| before["csi"].is_object())
            && before["csi"][secret].is_null()
        {
            csi.remove(secret);
        }
        after
    };
    if before != settled(source(new, |source| source.value().clone())) {
        let place = new.at("spec").at("persistentvolumesource");
        let after = settled(source(new, |source| source.original().clone()));
        let diff = difference(found.kubernetes(), SOURCE, &before, &after);
        found.forbidden(
            &place,
            &format!("spec.persistentvolumesource is immutable after creation\n{diff}"),
        );
    }
    let (was, is) = (old.at("spec"), new.at("spec"));
    let root = Field::root(new.value());
    found.immutable(
        &is.at("volumeMode").called_within(&root, "volumeMode"),
        &was.at("volumeMode"),
    );
    let nodes = is.at("nodeAffinity");
    if was.at("nodeAffinity").is_set()
        && with_stable_labels(was.get("nodeAffinity"), nodes.value()) != *nodes.value()
    {
        found.invalid_struct(
            &nodes.called_within(&root, "nodeAffinity"),
            AFFINITY,
            "field is immutable, except for updating from beta label to GA",
        );
    }
    let class = is.at("volumeAttributesClassName");
    if was.at("volumeAttributesClassName").is_set() && !class.is_set() {
        found.forbidden(&class, "update from non-nil value to nil is forbidden");
    }
}

/// Returns `old` with the newer names of the labels that `new` calls so.
fn with_stable_labels(old: &Value, new: &Value) -> Value {
    let mut old = old.clone();
    let new_terms = items(&new["required"], "nodeSelectorTerms");
    let terms = each(&mut old["required"], "nodeSelectorTerms");
    for (term, new_term) in terms.zip(new_terms) {
        for list in ["matchExpressions", "matchFields"] {
            let news = items(new_term, list);
            for (requirement, new) in each(term, list).zip(news) {
                let is_renamed = RENAMED_LABELS
                    .iter()
                    .any(|(beta, stable)| requirement["key"] == *beta && new["key"] == *stable);
                if is_renamed {
                    requirement["key"] = new["key"].clone();
                }
            }
        }
    }
    old
}

fn items<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    object[field].as_array().into_iter().flatten()
}
