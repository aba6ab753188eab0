//! Requests for devices: what claims and templates of claims have in common.

use std::collections::BTreeMap;

use fakeserver_value::{
    edit::{each, set, within},
    field::Field,
    findings::Findings,
};
use serde_json::{Value, json};

use crate::{
    formats::check_subdomain,
    resource::{
        configuration::{check_configuration, check_selectors},
        names::{
            ITEMS_BY_KEY_ENDED, at_most, check_fully_qualified_name, check_label_name, check_unique,
        },
        taints::check_toleration,
    },
};

/// The change since which updates of specs that may not change check nothing else about them.
pub(super) const FIXED_SPEC_NOT_RECHECKED: &str = "FixedDeviceRequestsNotRechecked";

const REQUESTS_MAX: usize = 32;

const CONSTRAINTS_MAX: usize = 32;

const CONFIGURATIONS_MAX: usize = 32;

const ALTERNATIVES_MAX: usize = 8;

const ALLOCATION_MODES: [&str; 2] = ["All", "ExactCount"];

const NO_REQUEST: &str = "must be the name of a request in the claim or the name of a request and a subrequest \
    separated by '/'";

/// The names of requests, each with those of its alternatives.
#[derive(Debug)]
pub(super) struct RequestNames<'a>(BTreeMap<&'a str, Vec<&'a str>>);

// === impl RequestNames ===

impl<'a> RequestNames<'a> {
    pub(super) fn of(spec: &Field<'a>) -> Self {
        let requests = spec.at("devices").at("requests");
        let names = requests.items().map(|request| {
            let alternatives = request.at("firstAvailable");
            let alternatives = alternatives.items().map(|one| one.at("name").text());
            (request.at("name").text(), alternatives.collect())
        });
        Self(names.collect())
    }

    fn contains(&self, reference: &str) -> bool {
        match reference.split_once('/') {
            None => self.0.contains_key(reference),
            Some((request, alternative)) => self
                .0
                .get(request)
                .is_some_and(|alternatives| alternatives.contains(&alternative)),
        }
    }

    /// Checks references to requests, each of them once.
    pub(super) fn check_references(&self, references: &Field<'_>, found: &mut Findings) {
        let references = at_most(references, REQUESTS_MAX, found);
        for reference in &references {
            self.check_reference(reference, found);
        }
        check_unique(&references, None, found);
    }

    pub(super) fn check_reference(&self, reference: &Field<'_>, found: &mut Findings) {
        let parts: Vec<&str> = reference.text().split('/').collect();
        if parts.len() <= 2 {
            for part in parts {
                let part = json!(part);
                check_label_name(&Field::root(&part).called_at(reference), found);
            }
        }
        if !self.contains(reference.text()) {
            found.invalid_as(reference, &json!(reference.text()), NO_REQUEST);
        }
    }
}

// === Defaults ===

/// Sets the defaults of the spec of a claim.
pub(super) fn set_defaults(spec: &mut Value) {
    let Some(devices) = within(spec, "devices") else {
        return;
    };
    for request in each(devices, "requests") {
        if let Some(exactly) = within(request, "exactly") {
            set_request_defaults(exactly);
        }
        for alternative in each(request, "firstAvailable") {
            set_request_defaults(alternative);
        }
    }
}

fn set_request_defaults(request: &mut Value) {
    set(request, "allocationMode", json!("ExactCount"));
    let has_count = request["count"].as_i64().is_some_and(|count| count != 0);
    if request["allocationMode"] == "ExactCount" && !has_count {
        request["count"] = json!(1);
    }
    for toleration in each(request, "tolerations") {
        set(toleration, "operator", json!("Equal"));
    }
}

// === Validation ===

/// Checks the spec of a claim.
pub(super) fn check_spec(spec: &Field<'_>, found: &mut Findings) {
    let names = RequestNames::of(spec);
    let devices = spec.at("devices");
    let requests = at_most(&devices.at("requests"), REQUESTS_MAX, found);
    for request in &requests {
        check_request(request, found);
    }
    check_unique(&requests, Some("name"), found);
    for constraint in at_most(&devices.at("constraints"), CONSTRAINTS_MAX, found) {
        check_constraint(&names, &constraint, found);
    }
    for configuration in at_most(&devices.at("config"), CONFIGURATIONS_MAX, found) {
        names.check_references(&configuration.at("requests"), found);
        check_configuration(&configuration, found);
    }
}

fn check_request(request: &Field<'_>, found: &mut Findings) {
    check_label_name(&request.at("name"), found);
    let (exactly, alternatives) = (request.at("exactly"), request.at("firstAvailable"));
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => found.required(
            request,
            "exactly one of `exactly` or `firstAvailable` is required",
        ),
        (true, true) => {
            if !found.is_on(ITEMS_BY_KEY_ENDED) {
                check_alternatives(&alternatives, found);
                check_devices(&exactly, found);
            }
            found.invalid_as(
                request,
                &Value::Null,
                "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
            );
        }
        (true, false) => check_devices(&exactly, found),
        (false, true) => check_alternatives(&alternatives, found),
    }
}

fn check_alternatives(alternatives: &Field<'_>, found: &mut Findings) {
    let alternatives = at_most(alternatives, ALTERNATIVES_MAX, found);
    for alternative in &alternatives {
        check_label_name(&alternative.at("name"), found);
        check_devices(alternative, found);
    }
    check_unique(&alternatives, Some("name"), found);
}

/// Checks which devices a request is for, and how many.
fn check_devices(request: &Field<'_>, found: &mut Findings) {
    let class = request.at("deviceClassName");
    if class.has_text() {
        check_subdomain(&class, found);
    } else {
        found.required(&class, "");
    }
    check_selectors(&request.at("selectors"), found);
    let (mode, count) = (request.at("allocationMode"), request.at("count"));
    match mode.text() {
        "All" if count.number() != 0 => {
            found.invalid(&count, "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count.number() <= 0 => {
            found.invalid_as(&count, &json!(count.number()), "must be greater than zero");
        }
        "All" | "ExactCount" => {}
        _ => found.not_supported(&mode, &ALLOCATION_MODES),
    }
    for toleration in request.at("tolerations").items() {
        check_toleration(&toleration, found);
    }
}

fn check_constraint(names: &RequestNames<'_>, constraint: &Field<'_>, found: &mut Findings) {
    names.check_references(&constraint.at("requests"), found);
    let (same, distinct) = (
        constraint.at("matchAttribute"),
        constraint.at("distinctAttribute"),
    );
    if same.is_set() {
        check_fully_qualified_name(&same, found);
    } else if distinct.is_set() {
        check_fully_qualified_name(&distinct, found);
    } else if !found.is_on("DRAConsumableCapacity") {
        found.required(&same, "");
    } else {
        found.required(
            constraint,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
        );
    }
}
