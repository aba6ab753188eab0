//! Printed cells of namespaces.

use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{Cells, age, name};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let phase = text(&object["status"]["phase"]);
    vec![json!(name(object)), json!(phase), json!(age(object, now))]
}
