//! Validation of cron jobs.

use fakeserver_value::{field::Field, findings::Findings};
use jiff::tz::TimeZoneDatabase;

use crate::batch::{cron_job::schedule::Schedule, job::validation::check_counts};

const NAME_MAX: usize = 52;

pub(super) fn check(cron_job: &Field<'_>, found: &mut Findings) {
    check_spec_of_cron_job(&cron_job.at("spec"), found);
    let name = cron_job.at("metadata").at("name");
    if name.text().len() > NAME_MAX {
        found.invalid(
            &name,
            &format!("must be no more than {NAME_MAX} characters"),
        );
    }
}

pub(super) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_spec_of_cron_job(&new.at("spec"), found);
}

/// Names differ by case, as files do in which they are kept elsewhere.
fn is_time_zone(name: &str) -> bool {
    let zone = TimeZoneDatabase::bundled().get(name);
    zone.is_ok_and(|zone| zone.iana_name() == Some(name))
}

fn check_spec_of_cron_job(spec: &Field<'_>, found: &mut Findings) {
    let schedule = spec.at("schedule");
    if !schedule.has_text() {
        found.required(&schedule, "");
    } else if schedule.text().contains("TZ") {
        found.invalid(
            &schedule,
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
        );
    } else if let Err(problem) = Schedule::parse(schedule.text()) {
        found.invalid(&schedule, &problem);
    }
    found.non_negative(&spec.at("startingDeadlineSeconds"));
    let zone = spec.at("timeZone");
    if zone.is_set() && !zone.has_text() {
        found.invalid(&zone, "timeZone must be nil or non-empty string");
    } else if zone.text().eq_ignore_ascii_case("local") {
        found.invalid(
            &zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    } else if zone.has_text() && !is_time_zone(zone.text()) {
        found.invalid(&zone, &format!("unknown time zone {}", zone.text()));
    }
    found.one_of(
        &spec.at("concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let job = spec.at("jobTemplate").at("spec");
    check_counts(&job, found);
    if job.at("selector").is_set() {
        found.invalid(&job.at("selector"), "`selector` will be auto-generated");
    }
    if job.at("manualSelector").is_true() {
        found.not_supported(&job.at("manualSelector"), &["nil", "false"]);
    }
    for limit in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        found.non_negative(&spec.at(limit));
    }
}
