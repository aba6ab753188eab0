//! Validation of the status of jobs.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};

use super::indexes::{first_common, indexes};

use crate::table::age::parse;

/// The conditions that stay true.
const TERMINAL: [&str; 3] = ["Failed", "Complete", "FailureTarget"];

/// A job and its next version, for questions about both.
struct Change<'a> {
    old: &'a Field<'a>,
    new: &'a Field<'a>,
    was: Field<'a>,
    is: Field<'a>,
}

/// Checks an update of the status. Most rules hold for what changes only.
pub(super) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let change = Change {
        old,
        new,
        was: old.at("status"),
        is: new.at("status"),
    };
    for count in ["active", "succeeded", "failed", "ready", "terminating"] {
        found.non_negative(&change.is.at(count));
    }
    change.check_uncounted(found);
    change.check_end(found);
    change.check_finished(found);
    change.check_indexes(found);
    change.check_ready(found);
    change.check_success(found);
    change.check_course(found);
}

// === impl Change ===

impl Change<'_> {
    fn has_changed(&self, field: &str) -> bool {
        self.was.get(field) != self.is.get(field)
    }

    fn is_true(&self, kind: &str) -> bool {
        is_true(&self.is, kind)
    }

    fn was_true(&self, kind: &str) -> bool {
        is_true(&self.was, kind)
    }

    fn turns(&self, kind: &str) -> bool {
        self.is_true(kind) != self.was_true(kind)
    }

    fn is_finished(&self) -> bool {
        self.is_true("Complete") || self.is_true("Failed")
    }

    fn finishes(&self) -> bool {
        self.is_finished() != (self.was_true("Complete") || self.was_true("Failed"))
    }

    fn refuse(&self, found: &mut Findings, why: &str) {
        found.invalid_printed(&self.is.at("conditions"), why, "");
    }

    fn check_uncounted(&self, found: &mut Findings) {
        let uncounted = self.is.at("uncountedTerminatedPods");
        let mut seen = BTreeSet::new();
        for list in ["succeeded", "failed"] {
            for uid in uncounted.at(list).items() {
                let is_new = seen.insert(uid.text());
                if !uid.has_text() {
                    found.invalid(&uid, "must not be empty");
                } else if !is_new {
                    found.duplicate(&uid);
                }
            }
        }
    }

    /// Checks the conditions of an end, and its time.
    fn check_end(&self, found: &mut Findings) {
        let (complete, failed) = (self.is_true("Complete"), self.is_true("Failed"));
        if (self.turns("Complete") || self.turns("Failed")) && complete && failed {
            self.refuse(found, "cannot set Complete=True and Failed=true conditions");
        }
        let targets = self.turns("Complete") || self.turns("FailureTarget");
        if targets && complete && self.is_true("FailureTarget") {
            self.refuse(
                found,
                "cannot set Complete=True and FailureTarget=true conditions",
            );
        }
        let (start, end) = (self.is.at("startTime"), self.is.at("completionTime"));
        if self.turns("Complete") || self.has_changed("completionTime") {
            if end.is_set() && !complete {
                found.invalid(
                    &end,
                    "cannot set completionTime when there is no Complete=True condition",
                );
            }
            if !end.is_set() && complete {
                found.required(&end, "completionTime is required for Complete jobs");
            }
        }
        let is_moved = self.has_changed("startTime") || self.has_changed("completionTime");
        let times = parse(start.value()).zip(parse(end.value()));
        if is_moved && times.is_some_and(|(start, end)| end < start) {
            found.invalid(&end, "must be equal to or after `startTime`");
        }
        let fails = self.turns("Failed") || self.has_changed("failedIndexes");
        if fails && failed && !self.is_true("FailureTarget") {
            self.refuse(
                found,
                "cannot set Failed=True condition without the FailureTarget=true condition",
            );
        }
        let completes = self.turns("Complete") || self.turns("SuccessCriteriaMet");
        if completes && complete && !self.is_true("SuccessCriteriaMet") {
            self.refuse(
                found,
                "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            );
        }
    }

    /// Checks that a job that has ended has no pods any more.
    fn check_finished(&self, found: &mut Findings) {
        if !self.is_finished() {
            return;
        }
        let (active, start) = (self.is.at("active"), self.is.at("startTime"));
        if (self.finishes() || self.has_changed("active")) && active.number() > 0 {
            found.invalid(&active, "active>0 is invalid for finished job");
        }
        let spec = self.new.at("spec");
        let completions = spec.at("completions");
        let never_runs =
            spec.at("suspend").is_true() && completions.is_set() && completions.number() == 0;
        let begins = self.finishes() || self.has_changed("startTime");
        if begins && !never_runs && !start.is_set() {
            found.required(&start, "startTime is required for finished job");
        }
        let uncounted = self.is.at("uncountedTerminatedPods");
        let has_some = ["failed", "succeeded"]
            .iter()
            .any(|list| !uncounted.at(list).is_empty());
        let counts = self.finishes() || self.has_changed("uncountedTerminatedPods");
        if counts && has_some {
            found.invalid_struct(
                &uncounted,
                "io.k8s.api.batch.v1.UncountedTerminatedPods",
                "must be empty for finished job",
            );
        }
    }

    fn check_indexes(&self, found: &mut Findings) {
        let spec = self.new.at("spec");
        let completions = spec.at("completions");
        let (completed, failed) = (self.is.at("completedIndexes"), self.is.at("failedIndexes"));
        let is_new = completed.text() != self.was.at("completedIndexes").text();
        let fails = self.has_changed("failedIndexes");
        let has_limit = spec.at("backoffLimitPerIndex").is_set();
        for (field, name, is_checked) in [
            (&completed, "completedIndexes", is_new),
            (
                &failed,
                "failedIndexes",
                fails && has_limit && failed.is_set(),
            ),
        ] {
            if !is_checked || !completions.is_set() {
                continue;
            }
            if let Err(problem) = indexes(field.text(), completions.number()) {
                found.invalid_text(field, &format!("error parsing {name}: {problem}"));
            }
        }
        if is_new && completed.has_text() && spec.get("completionMode") != "Indexed" {
            found.invalid(
                &completed,
                "cannot set non-empty completedIndexes when non-indexed completion mode",
            );
        }
        if fails && failed.is_set() && !has_limit {
            found.invalid(
                &failed,
                "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
            );
        }
        if !(is_new || fails) || !completions.is_set() {
            return;
        }
        if let Some(index) = first_common(completed.text(), failed.text(), completions.number()) {
            let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
            found.invalid(&failed, &why);
        }
    }

    fn check_ready(&self, found: &mut Findings) {
        let (ready, terminating) = (self.is.at("ready"), self.is.at("terminating"));
        let ends = self.finishes() || self.has_changed("terminating");
        if ends && terminating.number() > 0 && self.is_finished() {
            found.invalid(&terminating, "terminating>0 is invalid for finished job");
        }
        let counts = self.has_changed("ready") || self.has_changed("active");
        if counts && ready.is_set() && ready.number() > self.is.at("active").number() {
            found.invalid(&ready, "cannot set more ready pods than active");
        }
    }

    fn check_success(&self, found: &mut Findings) {
        let succeeds = self.is_true("SuccessCriteriaMet");
        if succeeds && self.is_true("Failed") {
            self.refuse(
                found,
                "cannot set SuccessCriteriaMet=True and Failed=true conditions",
            );
        }
        if succeeds && self.is_true("FailureTarget") {
            self.refuse(
                found,
                "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
            );
        }
        let has_policy = self.new.at("spec").at("successPolicy").is_set();
        if has_policy && !succeeds && self.is_true("Complete") {
            self.refuse(
                found,
                "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
            );
        }
    }

    /// Checks that an end stays, and that counts and times do not go back.
    fn check_course(&self, found: &mut Findings) {
        for kind in TERMINAL {
            if self.was_true(kind) && !self.is_true(kind) {
                let why = format!("cannot disable the terminal {kind}=True condition");
                self.refuse(found, &why);
            }
        }
        let spec = self.new.at("spec");
        let is_elastic = spec.get("completionMode") == "Indexed"
            && spec.get("completions") == spec.get("parallelism");
        for (count, is_checked) in [("failed", true), ("succeeded", !is_elastic)] {
            let now = self.is.at(count);
            if is_checked && now.number() < self.was.at(count).number() {
                found.invalid_number(&now, &format!("cannot decrease the {count} counter"));
            }
        }
        let (start, end) = (self.is.at("startTime"), self.is.at("completionTime"));
        let had_end = self.was.at("completionTime").is_set();
        if end.is_set() && had_end && self.has_changed("completionTime") {
            found.invalid(&end, "field is immutable");
        }
        let resumes = self.was_true("Suspended") && is(&self.is, "Suspended", "False");
        let had_start = self.was.at("startTime").is_set();
        let is_suspended = spec.at("suspend").is_true();
        if had_start && self.has_changed("startTime") && !resumes && !is_suspended {
            if found.is_on("ChangedStartTimesInvalid") {
                found.invalid(&start, "field is immutable for unsuspended job once set");
            } else {
                let why = "startTime cannot be removed for unsuspended job";
                found.required(&start, why);
            }
        }
        let (before, after) = (
            self.was_true("SuccessCriteriaMet"),
            self.is_true("SuccessCriteriaMet"),
        );
        if before && !after {
            self.refuse(
                found,
                "cannot disable the SuccessCriteriaMet=True condition",
            );
        }
        if is_true(&self.old.at("status"), "Complete") && !before && after {
            self.refuse(
                found,
                "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
            );
        }
    }
}

fn is_true(status: &Field<'_>, kind: &str) -> bool {
    is(status, kind, "True")
}

fn is(status: &Field<'_>, kind: &str, value: &str) -> bool {
    let mut conditions = status.at("conditions").items();
    conditions.any(|condition| condition.get("type") == kind && condition.get("status") == value)
}
