//! Printed cells of stateful sets.

use fakeserver_value::read::number;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{Cells, age, containers, name};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    );
    let mut cells = vec![json!(name(object)), json!(ready), json!(age(object, now))];
    cells.extend(containers(&spec["template"]["spec"]));
    cells
}
