//! The indices of an informer: one for life, and one that comes and goes, each compared with a recount.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use informer::{IndexFn, Indexer, Metadata, Object, SharedInformer, Snapshot};
use tokio::time::sleep;

use super::heard::key;
use crate::{
    plan::LABEL,
    task::TaskSet,
    trace::{Key, Observation, Part, Recorder},
};

/// The index by label of every informer here.
pub(super) const TIER: &str = "tier";
/// The index that comes and goes: by the values of all labels, of which an object may have several.
const PASSING: &str = "values of labels";

/// Objects by a value.
type Groups = BTreeMap<String, BTreeSet<Key>>;

/// Creates the function of the index for life.
pub(super) fn by_tier<K: 'static>() -> IndexFn<K> {
    IndexFn::by_label(LABEL)
}

fn by_label_values<K: 'static>() -> IndexFn<K> {
    IndexFn::of_metadata(|metadata: &Metadata| {
        let values = metadata.labels.iter().map(|(_, value)| value.to_owned());
        values.collect::<Vec<_>>()
    })
}

/// Adds the passing index to a running informer and removes it, by turns, until this is dropped.
pub(super) fn edit<K: Send + Sync + 'static>(
    place: usize,
    informer: SharedInformer<K>,
    period: Duration,
    recorder: Recorder,
) -> TaskSet {
    let is_there = |indexer: &Indexer<K>| {
        let names = indexer.snapshot().index_names();
        names.iter().any(|name| &**name == PASSING)
    };
    TaskSet::of(async move {
        let indexer = informer.indexer();
        for turn in 0_u32.. {
            sleep(period).await;
            let adds = turn.is_multiple_of(2);
            let edited = if adds {
                informer.add_index(PASSING, by_label_values()).await
            } else {
                informer.remove_index(PASSING).await
            };
            let problem = match edited {
                // It has stopped.
                Err(_) if informer.task_count() == 0 => return,
                Err(error) => Some(error.to_string()),
                Ok(()) if is_there(&indexer) == adds => None,
                Ok(()) => {
                    Some("is there after its removal, or is not after it was added".to_owned())
                }
            };
            if let Some(text) = problem {
                recorder.record(differs(place, PASSING, text));
            }
        }
    })
}

/// Compares all indices with the objects, and returns the differences.
pub(super) fn recount<K>(place: usize, snapshot: &Snapshot<K>) -> Vec<Observation> {
    let mut differences = Vec::new();
    let mut compare = |name: &str, want: &Groups| {
        let got = groups_of(snapshot, name);
        if *want != got {
            differences.push(differs(place, name, format!("want {want:?}, got {got:?}")));
        }
    };
    compare(
        TIER,
        &group(snapshot, |object| {
            object
                .labels()
                .get(LABEL)
                .map(str::to_owned)
                .into_iter()
                .collect()
        }),
    );
    compare(
        "namespace",
        &group(snapshot, |object| vec![object.key().namespace().to_owned()]),
    );
    if snapshot.index_names().iter().any(|name| &**name == PASSING) {
        compare(
            PASSING,
            &group(snapshot, |object| {
                object
                    .labels()
                    .iter()
                    .map(|(_, value)| value.to_owned())
                    .collect()
            }),
        );
    }
    if let Err(error) = snapshot.recount() {
        differences.push(differs(place, "all", error.to_string()));
    }
    differences
}

fn differs(informer: usize, name: &str, text: String) -> Observation {
    Observation::Differs {
        informer,
        part: Part::Index,
        name: name.to_owned(),
        text,
    }
}

fn group<K>(snapshot: &Snapshot<K>, values: impl Fn(&Object<K>) -> Vec<String>) -> Groups {
    let mut groups = Groups::new();
    for object in snapshot.iter() {
        for value in values(object) {
            groups.entry(value).or_default().insert(key(object));
        }
    }
    groups
}

/// Returns what an index says, by each of its ways to say it: a group is empty if they differ.
fn groups_of<K>(snapshot: &Snapshot<K>, name: &str) -> Groups {
    let values = snapshot.list_index_values(name).unwrap_or_default();
    let group_of = |value: &str| {
        let objects = snapshot.by_index(name, value).unwrap_or_default();
        let keys = snapshot.index_keys(name, value).unwrap_or_default();
        let is_same = objects.iter().map(Object::key).eq(&keys);
        let found = objects.iter().filter(|_| is_same);
        found.map(key).collect()
    };
    values
        .iter()
        .map(|value| (value.to_string(), group_of(value)))
        .collect()
}
