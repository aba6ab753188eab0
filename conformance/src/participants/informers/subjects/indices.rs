//! The indices of an informer: one for life, and one that comes and goes, each compared with a recount.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use informer::{
    EditIndexError, IndexFn, IndexerError, Metadata, NAMESPACE_INDEX, Object, SharedInformer,
    Snapshot, field_path::Fields,
};
use tokio::time::sleep;

use super::super::forms::INDEX_EDITS_MAX;
use crate::{
    participants::states::key,
    plan::LABEL,
    task::TaskSet,
    trace::{Key, Observation, Part, Recorder},
};

/// The index by label of every informer here.
pub(super) const TIER: &str = "tier";
/// The index for life by the field of the same label, named by its path.
pub(super) const FIELD: &str = ".metadata.labels.tier";
/// The index that comes and goes: by the values of all labels, of which an object may have several.
const PASSING: &str = "values of labels";
/// The one that comes in its place every other time: its function fails for some objects.
pub(crate) const FAILING: &str = "not of all";
/// The label value for which it fails.
const FAILS_FOR: &str = "db";

/// Objects by a value.
type Groups = BTreeMap<String, BTreeSet<Key>>;

/// Creates the function of the index for life.
pub(super) fn by_tier<K: 'static>() -> IndexFn<K> {
    IndexFn::by_label(LABEL)
}

/// Creates the function of the index by field.
pub(super) fn by_field<K: Fields + 'static>() -> IndexFn<K> {
    IndexFn::by_field(FIELD).expect("it is the path of a field")
}

fn by_label_values<K: 'static>() -> IndexFn<K> {
    IndexFn::of_metadata(|metadata: &Metadata| {
        let values = metadata.labels.iter().map(|(_, value)| value.to_owned());
        values.collect::<Vec<_>>()
    })
}

fn failing<K: 'static>() -> IndexFn<K> {
    IndexFn::fallible(|object: &Object<K>| match object.labels().get(LABEL) {
        Some(FAILS_FOR) => Err(format!("not for {FAILS_FOR}")),
        label => Ok(label.map(str::to_owned)),
    })
}

/// Adds the passing index to a running informer and removes it, by turns, until this is dropped or it was done often enough.
pub(super) fn edit<K: Send + Sync + 'static>(
    place: usize,
    informer: SharedInformer<K>,
    period: Duration,
    recorder: Recorder,
) -> TaskSet {
    TaskSet::of(async move {
        let indexer = informer.indexer();
        for turn in 0..INDEX_EDITS_MAX {
            sleep(period).await;
            let adds = turn.is_multiple_of(2);
            let name = if (turn / 2).is_multiple_of(2) {
                PASSING
            } else {
                FAILING
            };
            let edited = match (adds, name) {
                (true, PASSING) => informer.add_index(PASSING, by_label_values()).await,
                (true, _) => informer.add_index(FAILING, failing()).await,
                (false, name) => informer.remove_index(name).await,
            };
            let problem = match edited {
                // It has stopped.
                Err(_) if informer.task_count() == 0 => return,
                Err(error) => Some(error.to_string()),
                Ok(()) if has_index(&indexer.snapshot(), name) == adds => None,
                Ok(()) => {
                    Some("is there after its removal, or is not after it was added".to_owned())
                }
            };
            let problem = match problem {
                None => edit_in_vain(&informer, name, adds).await,
                problem => problem,
            };
            if let Some(text) = problem {
                recorder.record(differs(place, name, text));
            }
        }
    })
}

/// Asks for edits that have to be refused: after `name` was added, or removed. Describes one that was not.
async fn edit_in_vain<K: Send + Sync + 'static>(
    informer: &SharedInformer<K>,
    name: &str,
    is_added: bool,
) -> Option<String> {
    let is_of = |edited: Result<(), EditIndexError>, wanted: fn(&IndexerError) -> bool| match edited
    {
        Err(EditIndexError::Indexer(error)) => wanted(&error),
        // It is stopping.
        Err(_) => true,
        Ok(()) => false,
    };
    let (edited, want): (_, fn(&IndexerError) -> bool) = if is_added {
        let again = informer.add_index(name, failing()).await;
        (again, |error| {
            matches!(error, IndexerError::DuplicateIndex { .. })
        })
    } else {
        let again = informer.remove_index(name).await;
        (again, |error| {
            matches!(error, IndexerError::UnknownIndex { .. })
        })
    };
    let permanent = informer.remove_index(NAMESPACE_INDEX).await;
    let is_refused = is_of(edited, want)
        && is_of(permanent, |error| {
            matches!(error, IndexerError::PermanentIndex { .. })
        });
    (!is_refused).then(|| "an edit was not refused".to_owned())
}

fn has_index<K>(snapshot: &Snapshot<K>, name: &str) -> bool {
    snapshot.index_names().iter().any(|own| &**own == name)
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
    let by_label = group(snapshot, |object| {
        object
            .labels()
            .get(LABEL)
            .map(str::to_owned)
            .into_iter()
            .collect()
    });
    compare(TIER, &by_label);
    compare(FIELD, &by_label);
    compare(
        "namespace",
        &group(snapshot, |object| vec![object.key().namespace().to_owned()]),
    );
    if has_index(snapshot, PASSING) {
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
    if has_index(snapshot, FAILING) {
        let objects = snapshot.iter();
        let want = objects.filter(|object| object.labels().get(LABEL) == Some(FAILS_FOR));
        let got = snapshot.unindexed(FAILING).unwrap_or_default();
        let reasons_are_given = got.iter().all(|(_, reason)| reason.contains(FAILS_FOR));
        if !reasons_are_given || !want.map(Object::key).eq(got.iter().map(|(key, _)| key)) {
            differences.push(differs(place, FAILING, format!("is not made of {got:?}")));
        }
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
