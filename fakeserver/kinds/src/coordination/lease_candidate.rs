//! Lease candidates: those who would lead, in elections that the server holds.

use fakeserver_value::{field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use semver::Version;
use serde_json::{Value, json};

use super::{OLDEST_EMULATION_VERSION, check_strategy, version};
use crate::{
    Habits, Kind, Validation,
    formats::config_key_problems,
    table::cell::{Cells, age, name},
};

/// The version of a field that says none.
const NO_VERSION: Version = Version::new(0, 0, 0);

/// Lease candidates. They are served if the server holds elections.
pub static KIND: Kind = Kind::new("coordination.k8s.io", "leasecandidates")
    .habits(Habits {
        creates_on_update: true,
        requires_version: true,
        checks_finalizers: false,
        ..Habits::COMMON
    })
    .names(config_key_problems)
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

fn check(candidate: &Field<'_>, found: &mut Findings) {
    let spec = candidate.at("spec");
    let lease_name = spec.at("leaseName");
    if !lease_name.has_text() {
        found.required(&lease_name, "");
    }
    let (emulation, binary) = (spec.at("emulationVersion"), spec.at("binaryVersion"));
    let emulated = checked_version(&emulation, found);
    if !binary.has_text() {
        found.required(&binary, "");
    }
    let built = checked_version(&binary, found);
    if binary.has_text() && emulation.has_text() && built < emulated {
        found.invalid(
            &binary,
            "must be greater than or equal to `emulationVersion`",
        );
    }
    let strategy = spec.at("strategy");
    if !strategy.has_text() {
        found.required(&strategy, "");
        return;
    }
    if strategy.text() == OLDEST_EMULATION_VERSION && emulated == NO_VERSION {
        found.required(
            &emulation,
            "must be specified when `strategy` is 'OldestEmulationVersion'",
        );
    }
    check_strategy(&strategy, found);
}

/// Returns the version that a field says; 0.0.0 if it says nothing, or no version.
fn checked_version(field: &Field<'_>, found: &mut Findings) -> Version {
    let version = version(field.text());
    if field.has_text() && version.is_none() {
        found.invalid(field, "must be a valid semantic version");
    }
    version.unwrap_or(NO_VERSION)
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let [old, new] = [old, new].map(|candidate| candidate.at("spec").at("leaseName"));
    found.immutable_text(&new, &old);
}

// === Cells ===

fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let of = |field: &str| json!(text(&spec[field]));
    vec![
        json!(name(object)),
        of("leaseName"),
        of("binaryVersion"),
        of("emulationVersion"),
        json!(age(object, now)),
    ]
}
