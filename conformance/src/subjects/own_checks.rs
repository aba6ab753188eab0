//! What an informer finds when it compares its cache with the server by its own means.

use std::time::Duration;

use informer::SharedInformer;

use crate::trace::{Observation, Part};

/// The time limit of a comparison: a version that the server has forgotten is replaced by its next bookmark, within a minute.
const LIMIT: Duration = Duration::from_mins(5);

/// Has `informer` compare its cache, which equals the server's state. Describes an outcome other than that.
pub(super) async fn compare<K: Send + Sync + 'static>(
    place: usize,
    informer: &SharedInformer<K>,
) -> Option<Observation> {
    let report = match informer.check_consistency(LIMIT).await {
        Ok(report) => report,
        Err(error) => return Some(differs(place, format!("not compared: {error}"))),
    };
    let counts = informer.metrics();
    let snapshot = informer.indexer().snapshot();
    let held = snapshot.len() + snapshot.undecodable().len();
    let is_of_now = report.resource_version == *snapshot.resource_version();
    let is_true = report.is_consistent()
        && counts.inconsistencies == 0
        && *report.resource == *informer.resource()
        && (!is_of_now || report.objects == held);
    (!is_true).then(|| {
        differs(
            place,
            format!("want {held} objects, all alike, got {report}"),
        )
    })
}

fn differs(informer: usize, text: String) -> Observation {
    Observation::Differs {
        informer,
        part: Part::Report,
        name: "comparison with the server".to_owned(),
        text,
    }
}
