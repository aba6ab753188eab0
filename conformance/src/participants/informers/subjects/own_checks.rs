//! The comparison of its cache with the server that an informer makes by its own means.

use std::time::Duration;

use informer::SharedInformer;

use crate::trace::{Observation, Part};

/// The time limit of a comparison: a version that the server has forgotten is replaced by its next bookmark, within a minute.
const LIMIT: Duration = Duration::from_mins(5);

/// Has `informer` compare its cache, which equals the server's state or, if not `is_equal`, does not at the server's last
/// version. Describes another outcome.
pub(super) async fn compare<K: Send + Sync + 'static>(
    place: usize,
    informer: &SharedInformer<K>,
    is_equal: bool,
) -> Option<Observation> {
    let report = match informer.check_consistency(LIMIT).await {
        Ok(report) => report,
        Err(error) => return Some(differs(place, format!("not compared: {error}"))),
    };
    let snapshot = informer.indexer().snapshot();
    let held = snapshot.len() + snapshot.undecodable().len();
    let is_of_now = report.resource_version == *snapshot.resource_version();
    let is_true = report.is_consistent() == is_equal
        && informer.metrics().inconsistencies == report.differences.len() as u64
        && *report.resource == *informer.resource()
        && (!is_of_now || !is_equal || report.objects == held);
    let want = if is_equal {
        "no difference"
    } else {
        "differences"
    };
    (!is_true).then(|| {
        let text = format!("want {want} among {held} objects, got {report}");
        differs(place, text)
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
