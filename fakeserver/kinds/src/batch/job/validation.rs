//! Validation of jobs.

use std::collections::BTreeSet;

use fakeserver_value::{
    edit::{copy, each, remove, within},
    field::Field,
    findings::Findings,
    names::{dns_label_problems, qualified_name_problems},
};
use serde_json::Value;

use super::indexes::indexes;
use crate::{
    formats::{LABEL_SELECTOR, SelectionResult, check_domain_path, check_label_selector, selects},
    pod_spec::validation::{check_selected, check_template},
    workload::validation::fix_selector,
};

const TEMPLATE: &str = "io.k8s.api.core.v1.PodTemplateSpec";
const POD: &str = "io.k8s.api.core.v1.PodSpec";
const SUCCESS_POLICY: &str = "io.k8s.api.batch.v1.SuccessPolicy";
const FAILURE_POLICY: &str = "io.k8s.api.batch.v1.PodFailurePolicy";

/// The labels that a job without a selector of its own gives its pods, and the metadata that they repeat.
const GENERATED_LABELS: [(&str, &str); 4] = [
    ("controller-uid", "uid"),
    ("job-name", "name"),
    ("batch.kubernetes.io/controller-uid", "uid"),
    ("batch.kubernetes.io/job-name", "name"),
];

/// The generated labels that older servers did not know.
const PREFIX: &str = "batch.kubernetes.io/";

const COUNTS: [&str; 7] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
];

const INDEXED_MAX: i64 = 100_000;
const MANY_COMPLETIONS_MAX: i64 = 10_000;
const MANAGED_BY_MAX_BYTES: usize = 63;
const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;
const SUCCEEDED_INDEXES_MAX_BYTES: usize = 64 << 10;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const CONDITION_STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Checks a new job.
pub fn check(job: &Field<'_>, found: &mut Findings) {
    check_whole(job, true, found);
}

fn check_whole(job: &Field<'_>, with_prefix: bool, found: &mut Findings) {
    check_generated(job, with_prefix, found);
    check_spec(&job.at("spec"), found);
    let (spec, name) = (job.at("spec"), job.at("metadata").at("name"));
    let completions = spec.at("completions");
    if spec.get("completionMode") == "Indexed" && completions.number() > 0 {
        let hostname = format!("{}-{}", name.text(), completions.number() - 1);
        if !dns_label_problems(&hostname).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {hostname}");
            found.invalid(&name, &why);
        }
    }
}

/// Checks that the labels generated for a job without a selector of its own are still there.
fn check_generated(job: &Field<'_>, with_prefix: bool, found: &mut Findings) {
    let (spec, metadata) = (job.at("spec"), job.at("metadata"));
    let selector = spec.at("selector");
    if spec.at("manualSelector").is_true() || !selector.is_set() {
        return;
    }
    let labels = spec.at("template").at("metadata").at("labels");
    let mut expected = Value::default();
    let generated = GENERATED_LABELS.iter();
    for (label, of) in generated.filter(|(label, _)| with_prefix || !label.starts_with(PREFIX)) {
        let (entry, wanted) = (labels.key(label), metadata.at(of));
        let why = format!("must be '{}'", wanted.text());
        if !entry.is_set() {
            found.required(&entry, &why);
        } else if entry.text() != wanted.text() {
            found.invalid_as(&entry, labels.value(), &why);
        }
        expected[*label] = wanted.text().into();
    }
    if selects(selector.value(), &expected) == SelectionResult::Differs {
        found.invalid_struct(&selector, LABEL_SELECTOR, "`selector` not auto-generated");
    }
}

fn check_spec(spec: &Field<'_>, found: &mut Findings) {
    check_counts(spec, found);
    let selector = spec.at("selector");
    if selector.is_set() {
        check_label_selector(&selector, found);
    } else {
        found.required(&selector, "");
    }
    check_selected(selector.value(), &spec.at("template"), found);
}

/// Checks the parts of a spec that a job has in common with the template of one.
pub fn check_counts(spec: &Field<'_>, found: &mut Findings) {
    for count in COUNTS {
        found.non_negative(&spec.at(count));
    }
    let (per_index, failed) = (spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes"));
    if failed.is_set() && !per_index.is_set() {
        found.required(&per_index, "when maxFailedIndexes is specified");
    }
    let manager = spec.at("managedBy");
    if manager.is_set() {
        check_domain_path(&manager, found);
        if manager.text().len() > MANAGED_BY_MAX_BYTES {
            found.too_long(&manager, MANAGED_BY_MAX_BYTES);
        }
    }
    let mode = spec.at("completionMode");
    if mode.is_set() && !matches!(mode.text(), "NonIndexed" | "Indexed") {
        found.not_supported(&mode, &["NonIndexed", "Indexed"]);
    }
    match mode.text() {
        "Indexed" => check_indexed(spec, found),
        mode_name if mode_name == "NonIndexed" || !mode.is_set() => {
            for count in [&per_index, &failed] {
                if count.is_set() {
                    found.invalid(count, "requires indexed completion mode");
                }
            }
        }
        _ => {}
    }
    check_failure_policy(spec, found);
    let success = spec.at("successPolicy");
    if success.is_set() && mode.text() != "Indexed" {
        let why = "requires indexed completion mode";
        found.invalid_struct(&success, SUCCESS_POLICY, why);
    } else if success.is_set() {
        check_success_policy(spec, &success, found);
    }
    let replacement = spec.at("podReplacementPolicy");
    if spec.at("podFailurePolicy").is_set() {
        found.optional_one_of(&replacement, &["Failed"]);
    } else {
        found.optional_one_of(&replacement, &["Failed", "TerminatingOrFailed"]);
    }
    let template = spec.at("template");
    check_template(&template, found);
    let policy = template.at("spec").at("restartPolicy");
    match policy.text() {
        "OnFailure" if spec.at("podFailurePolicy").is_set() => {
            found.invalid(
                &policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            );
        }
        "OnFailure" | "Never" => {}
        "Always" | "" => found.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        _ => found.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

/// Checks the counts of an indexed job.
fn check_indexed(spec: &Field<'_>, found: &mut Findings) {
    let (completions, parallelism) = (spec.at("completions"), spec.at("parallelism"));
    let failed = spec.at("maxFailedIndexes");
    if !completions.is_set() {
        found.required(&completions, "when completion mode is Indexed");
    }
    if parallelism.number() > INDEXED_MAX {
        let why =
            format!("must be less than or equal to {INDEXED_MAX} when completion mode is Indexed");
        found.invalid(&parallelism, &why);
    }
    if completions.is_set() && failed.number() > completions.number() {
        found.invalid(&failed, "must be less than or equal to completions");
    }
    if failed.number() > INDEXED_MAX {
        found.invalid(
            &failed,
            &format!("must be less than or equal to {INDEXED_MAX}"),
        );
    }
    if completions.number() <= INDEXED_MAX || !spec.at("backoffLimitPerIndex").is_set() {
        return;
    }
    if !failed.is_set() {
        let why = format!("must be specified when completions is above {INDEXED_MAX}");
        found.required(&failed, &why);
    }
    for count in [&parallelism, &failed] {
        if count.number() > MANY_COMPLETIONS_MAX {
            let why = format!(
                "must be less than or equal to {MANY_COMPLETIONS_MAX} when completions are above {INDEXED_MAX} and used \
                 with backoff limit per index"
            );
            found.invalid(count, &why);
        }
    }
}

fn check_success_policy(spec: &Field<'_>, policy: &Field<'_>, found: &mut Findings) {
    let (rules, completions) = (policy.at("rules"), spec.at("completions").number());
    if rules.is_empty() {
        found.required(
            &rules,
            "at least one rules must be specified when the successPolicy is specified",
        );
    }
    if rules.len() > RULES_MAX {
        found.too_many(&rules, RULES_MAX);
    }
    for rule in rules.items() {
        let (count, chosen) = (rule.at("succeededCount"), rule.at("succeededIndexes"));
        if !count.is_set() && !chosen.is_set() {
            found.required(
                &rule,
                "at least one of succeededCount or succeededIndexes must be specified",
            );
        }
        if chosen.text().len() > SUCCEEDED_INDEXES_MAX_BYTES {
            found.too_long(&chosen, SUCCEEDED_INDEXES_MAX_BYTES);
        }
        let total = indexes(chosen.text(), completions);
        if let Err(problem) = &total {
            found.invalid(
                &chosen,
                &format!("error parsing succeededIndexes: {problem}"),
            );
        }
        found.non_negative(&count);
        let total = total.unwrap_or_default();
        let limits = [
            (true, completions, "the number of specified completions"),
            (
                chosen.is_set(),
                total,
                "the number of indexes in the specified succeededIndexes field",
            ),
        ];
        for (holds, limit, of) in limits {
            if count.is_set() && holds && count.number() > limit {
                found.invalid(
                    &count,
                    &format!("must be less than or equal to {limit} ({of})"),
                );
            }
        }
    }
}

fn check_failure_policy(spec: &Field<'_>, found: &mut Findings) {
    let rules = spec.at("podFailurePolicy").at("rules");
    if rules.len() > RULES_MAX {
        found.too_many(&rules, RULES_MAX);
    }
    for rule in rules.items() {
        check_failure_rule(spec, &rule, found);
    }
}

fn check_failure_rule(spec: &Field<'_>, rule: &Field<'_>, found: &mut Findings) {
    let action = rule.at("action");
    let has_limit = spec.at("backoffLimitPerIndex").is_set();
    match action.text() {
        "" => found.required(&action, &valid_values(&ACTIONS)),
        "FailIndex" if !has_limit => {
            found.invalid(&action, "requires the backoffLimitPerIndex to be set");
        }
        _ => found.optional_one_of(&action, &ACTIONS),
    }
    let (codes, conditions) = (rule.at("onExitCodes"), rule.at("onPodConditions"));
    if codes.is_set() {
        check_exit_codes(spec, &codes, found);
    }
    if conditions.len() > RULES_MAX {
        found.too_many(&conditions, RULES_MAX);
    }
    for condition in conditions.items() {
        let (kind, status) = (condition.at("type"), condition.at("status"));
        found.problems(&kind, qualified_name_problems(kind.text()));
        if status.has_text() {
            found.optional_one_of(&status, &CONDITION_STATUSES);
        } else {
            found.required(&status, &valid_values(&CONDITION_STATUSES));
        }
    }
    match (codes.is_set(), conditions.is_empty()) {
        (true, false) => found.invalid_printed(
            rule,
            "specifying both OnExitCodes and OnPodConditions is not supported",
            "",
        ),
        (false, true) => found.invalid_printed(
            rule,
            "specifying one of OnExitCodes and OnPodConditions is required",
            "",
        ),
        _ => {}
    }
}

fn check_exit_codes(spec: &Field<'_>, codes: &Field<'_>, found: &mut Findings) {
    let (operator, values) = (codes.at("operator"), codes.at("values"));
    let operators = ["In", "NotIn"];
    if operator.has_text() {
        found.optional_one_of(&operator, &operators);
    } else {
        found.required(&operator, &valid_values(&operators));
    }
    let name = codes.at("containerName");
    let pod = spec.at("template").at("spec");
    let is_known = ["containers", "initContainers"].iter().any(|list| {
        let mut containers = pod.at(list).items();
        containers.any(|container| container.at("name").text() == name.text())
    });
    if name.is_set() && !is_known {
        found.invalid(
            &name,
            "must be one of the container or initContainer names in the pod template",
        );
    }
    if values.is_empty() {
        found.invalid(&values, "at least one value is required");
    } else if values.len() > EXIT_CODES_MAX {
        found.too_many(&values, EXIT_CODES_MAX);
    }
    let mut numbers = Vec::new();
    let mut seen = BTreeSet::new();
    for value in values.items() {
        if operator.text() == "In" && value.number() == 0 {
            found.invalid(&value, "must not be 0 for the In operator");
        }
        if !seen.insert(value.number()) {
            found.duplicate(&value);
        }
        numbers.push(value.number());
    }
    if !numbers.is_sorted() {
        found.invalid(&values, "must be ordered");
    }
}

/// Lists values as findings about an absent one do.
fn valid_values(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("valid values: [{}]", quoted.join(" "))
}

/// Checks an update. A real server checks the spec of the next version twice.
pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("spec"), new.at("spec"));
    let labels = was.at("template").at("metadata").at("labels");
    let with_prefix = GENERATED_LABELS
        .iter()
        .filter(|(label, _)| label.starts_with(PREFIX))
        .all(|(label, _)| labels.key(label).is_set());
    check_whole(new, with_prefix, found);
    check_spec(&is, found);
    let completions = is.at("completions");
    if is.at("completionMode").text() != "Indexed" {
        found.immutable(&completions, &was.at("completions"));
    } else if completions.value() != was.get("completions")
        && completions.is_set()
        && completions.value() != is.get("parallelism")
    {
        found.invalid(
            &completions,
            "can only be modified in tandem with parallelism",
        );
    }
    fix_selector(old, new, found);
    check_template_update(old, new, found);
    found.immutable(&is.at("completionMode"), &was.at("completionMode"));
    immutable_struct(&is.at("podFailurePolicy"), &was, FAILURE_POLICY, found);
    for name in ["backoffLimitPerIndex", "managedBy"] {
        found.immutable(&is.at(name), &was.at(name));
    }
    immutable_struct(&is.at("successPolicy"), &was, SUCCESS_POLICY, found);
}

/// Checks that a policy is the one that the spec had.
fn immutable_struct(policy: &Field<'_>, was: &Field<'_>, definition: &str, found: &mut Findings) {
    let name = match definition {
        SUCCESS_POLICY => "successPolicy",
        _ => "podFailurePolicy",
    };
    let why = "field is immutable";
    if policy.value() == was.get(name) {
        return;
    }
    if policy.is_set() {
        found.invalid_struct(policy, definition, why);
    } else {
        found.invalid(policy, why);
    }
}

/// Checks that the template changes only where that of a waiting job may.
fn check_template_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, status) = (old.at("spec"), old.at("status"));
    let (before, after) = (was.at("template"), new.at("spec").at("template"));
    let is_suspended = was.at("suspend").is_true();
    let mut conditions = status.at("conditions").items();
    let is_stopped = conditions
        .any(|condition| condition.get("type") == "Suspended" && condition.get("status") == "True");
    let has_started = status.at("startTime").is_set();
    let mut comparable = before.value().clone();
    if !found.is_on("MutablePodResourcesForSuspendedJobs") {
        if is_suspended && !has_started {
            release_scheduling(after.value(), &mut comparable);
        }
        if comparable != *after.value() {
            found.invalid_struct(&after, TEMPLATE, "field is immutable");
        }
        return;
    }
    let has_begun = has_started && !is_stopped;
    if is_suspended && !has_begun && status.at("active").number() == 0 {
        release_scheduling(after.value(), &mut comparable);
        release_resources(after.value(), &mut comparable);
        if comparable["spec"] != *after.get("spec") {
            let place = after.at("spec");
            let place = place.called_within(&new.at("spec"), "template.spec");
            found.invalid_struct(&place, POD, "field is immutable");
        }
    } else if comparable != *after.value() {
        found.invalid_struct(&after, TEMPLATE, "field is immutable");
    }
}

/// Changes a template as that of a job that has not begun may change in scheduling.
fn release_scheduling(new: &Value, template: &mut Value) {
    let (after, Some(spec)) = (&new["spec"], within(template, "spec")) else {
        return;
    };
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        copy(after, spec, field);
    }
    let is_none = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
    if !after["affinity"].is_null() && spec["affinity"].is_null() {
        spec["affinity"] = Value::Object(serde_json::Map::new());
    }
    if let Some(affinity) = within(spec, "affinity") {
        copy(&after["affinity"], affinity, "nodeAffinity");
        if is_none(affinity) && after["affinity"].is_null() {
            remove(spec, "affinity");
        }
    }
}

/// Changes the resources of a template's containers, as those of a job that has not begun may change.
fn release_resources(new: &Value, template: &mut Value) {
    let (after, Some(spec)) = (&new["spec"], within(template, "spec")) else {
        return;
    };
    for list in ["containers", "initContainers"] {
        let news = after[list]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if each(spec, list).count() != news.len() {
            continue;
        }
        for (container, new) in each(spec, list).zip(news) {
            if container["name"] == new["name"] {
                copy(new, container, "resources");
            }
        }
    }
}
