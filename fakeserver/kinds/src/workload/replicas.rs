//! Rules that replica sets and replication controllers share.

use fakeserver_value::{field::Field, findings::Findings, read::number};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::validation::{Counts, check_counts};
use crate::table::cell::{Cells, age, containers, labels, name, selector};

const COUNTS: Counts = Counts {
    all: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    unready: "cannot be greater than readyReplicas",
};

/// Checks an update of the status.
pub(crate) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_counts(&COUNTS, old, new, found);
}

/// Prints the cells of a row. The selector of a replication controller is a map of labels.
pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![
        json!(name(object)),
        json!(number(&spec["replicas"])),
        json!(number(&status["replicas"])),
        json!(number(&status["readyReplicas"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(if object["kind"] == "ReplicationController" {
        labels(&spec["selector"])
    } else {
        selector(&spec["selector"])
    }));
    cells
}
