//! Validation of events of both groups.

use serde_json::json;

use crate::value::{field::Field, findings::Findings, names::qualified_name_problems};

const TEXT_MAX: usize = 128;

const NOTE_MAX: usize = 1_024;

/// An event, as either of its two groups names its fields.
pub(crate) fn check(event: &Field<'_>, found: &mut Findings) {
    let about = if event.at("regarding").is_set() {
        event.at("regarding")
    } else {
        event.at("involvedObject")
    };
    let place = about
        .at("namespace")
        .called_within(&event.at("involvedObject"), "namespace");
    let own = event.at("metadata").at("namespace").text();
    let is_timed = event.at("eventTime").is_set();
    let is_elsewhere = match (place.text(), is_timed) {
        ("", false) => !matches!(own, "" | "default"),
        ("", true) => !matches!(own, "default" | "kube-system"),
        (said, false) => said != own,
        (_, true) => false,
    };
    if is_elsewhere {
        found.invalid_as(
            &place,
            &json!(place.text()),
            "does not match event.namespace",
        );
    }
    if !is_timed {
        return;
    }
    let core = event.at("reportingComponent");
    let controller = if core.is_set() {
        core
    } else {
        event.at("reportingController")
    };
    let controller = controller.called_at(&event.at("reportingController"));
    if !controller.has_text() {
        found.required(&controller, "");
    }
    for problem in qualified_name_problems(controller.text()) {
        found.invalid_as(&controller, &json!(controller.text()), &problem);
    }
    for name in ["reportingInstance", "action", "reason"] {
        let field = event.at(name);
        if !field.has_text() {
            found.required(&field, "");
        }
        if field.text().len() > TEXT_MAX {
            let why = format!("can have at most {TEXT_MAX} characters");
            found.invalid_as(&field, &json!(""), &why);
        }
    }
    let note = if event.at("note").is_set() {
        event.at("note")
    } else {
        event.at("message")
    };
    if note.text().len() > NOTE_MAX {
        let why = format!("can have at most {NOTE_MAX} characters");
        found.invalid_as(&note.called_at(&event.at("message")), &json!(""), &why);
    }
}

pub(crate) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}
