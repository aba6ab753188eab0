//! Flow schemas.

use fakeserver_value::{
    edit::within,
    field::Field,
    findings::Findings,
    names::{dns_label_problems, subdomain_problems},
    read::{items, number, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Kind, Validation,
    flowcontrol::{conditions::check_conditions, kind},
    formats::check_subdomain,
    table::cell::{Cells, NONE, age, name, text_or},
};

const DISTINGUISHER_METHOD: &str = "io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod";
const PRECEDENCE: u32 = 1_000;
const PRECEDENCE_MAX: i64 = 10_000;
const VERBS: [&str; 9] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

/// The kinds of subjects: their names, and the fields that describe them.
const SUBJECTS: [(&str, &str); 3] = [
    ("Group", "group"),
    ("ServiceAccount", "serviceAccount"),
    ("User", "user"),
];

/// Flow schemas.
pub static KIND: Kind = kind(
    "flowschemas",
    Validation::new(check, |_, new, found| check(new, found)),
)
.defaults(set_defaults)
.cells(cells);

pub fn set_defaults(schema: &mut Value) {
    if let Some(spec) = within(schema, "spec")
        && spec["matchingPrecedence"].as_i64().unwrap_or_default() == 0
    {
        spec["matchingPrecedence"] = json!(PRECEDENCE);
    }
}

fn check(schema: &Field<'_>, found: &mut Findings) {
    let spec = schema.at("spec");
    check_precedence(schema, &spec.at("matchingPrecedence"), found);
    let method = spec.at("distinguisherMethod");
    let kind = method.at("type");
    if method.is_set() && !["ByNamespace", "ByUser"].contains(&kind.text()) {
        let shown = json!({"type": kind.text()});
        let kind = kind.showing(&shown);
        found.not_supported_struct(&kind, DISTINGUISHER_METHOD, &["ByNamespace", "ByUser"]);
    }
    let level = spec.at("priorityLevelConfiguration").at("name");
    if level.has_text() {
        check_subdomain(&level, found);
    } else {
        found.required(&level, "must reference a priority level");
    }
    for rule in spec.at("rules").items() {
        check_rule(&rule, found);
    }
    check_conditions(schema, found);
}

fn check_precedence(schema: &Field<'_>, precedence: &Field<'_>, found: &mut Findings) {
    let number = precedence.number();
    let number_value = json!(number);
    if number <= 0 {
        found.invalid_as(precedence, &number_value, "must be a positive value");
    }
    if number > PRECEDENCE_MAX {
        let why = format!("must not be greater than {PRECEDENCE_MAX}");
        found.invalid_as(precedence, &number_value, &why);
    }
    if number == 1 && schema.at("metadata").at("name").text() != "exempt" {
        let why = "only the schema named 'exempt' may have matchingPrecedence 1";
        found.invalid_as(precedence, &number_value, why);
    }
}

fn check_rule(rule: &Field<'_>, found: &mut Findings) {
    let subjects = rule.at("subjects");
    if subjects.is_empty() {
        found.required(&subjects, "subjects must contain at least one value");
    }
    for subject in subjects.items() {
        check_subject(&subject, found);
    }
    let (resources, others) = (rule.at("resourceRules"), rule.at("nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        let why = "at least one of resourceRules and nonResourceRules has to be non-empty";
        found.required(rule, why);
    }
    for rule in resources.items() {
        check_resource_rule(&rule, found);
    }
    for rule in others.items() {
        check_verbs(&rule.at("verbs"), found);
        let urls = rule.at("nonResourceURLs");
        if check_list(
            &urls,
            "nonResourceURLs must contain at least one value",
            "non-resource URLs",
            found,
        ) {
            for url in urls.items() {
                if let Some(why) = url_problem(url.text()) {
                    found.invalid(&url, why);
                }
            }
        }
    }
}

fn check_subject(subject: &Field<'_>, found: &mut Findings) {
    let kind = subject.at("kind");
    let Some((kind, own)) = SUBJECTS.into_iter().find(|(name, _)| *name == kind.text()) else {
        found.not_supported(&kind, &SUBJECTS.map(|(name, _)| name));
        return;
    };
    let described = subject.at(own);
    let name = described.at("name");
    if !described.is_set() {
        let why = format!("{own} is required when subject kind is '{kind}'");
        found.required(&described, &why);
    } else if !name.has_text() {
        found.required(&name, "");
    } else if kind == "ServiceAccount" && name.text() != "*" {
        found.problems(&name, subdomain_problems(name.text()));
    }
    if described.is_set() && kind == "ServiceAccount" {
        let namespace = described.at("namespace");
        if namespace.has_text() {
            found.problems(&namespace, dns_label_problems(namespace.text()));
        } else {
            found.required(&namespace, "must specify namespace for service account");
        }
    }
    for (other, field) in SUBJECTS {
        if other != kind && subject.at(field).is_set() {
            let why = format!("{field} is forbidden when subject kind is not '{other}'");
            found.forbidden(&subject.at(field), &why);
        }
    }
}

fn check_resource_rule(rule: &Field<'_>, found: &mut Findings) {
    check_verbs(&rule.at("verbs"), found);
    let groups = rule.at("apiGroups");
    check_list(
        &groups,
        "resource rules must supply at least one api group",
        "api groups",
        found,
    );
    let resources = rule.at("resources");
    check_list(
        &resources,
        "resource rules must supply at least one resource",
        "resources",
        found,
    );
    let namespaces = rule.at("namespaces");
    if namespaces.is_empty() && rule.at("clusterScope").is_true() {
        return;
    }
    let why = "resource rules that are not cluster scoped must supply at least one namespace";
    if !check_list(&namespaces, why, "namespaces", found) {
        return;
    }
    for namespace in namespaces.items() {
        for problem in dns_label_problems(namespace.text()) {
            let why =
                format!("each member of this list must be '*' or a DNS-1123 label; {problem}");
            found.invalid(&namespace, &why);
        }
    }
}

fn check_verbs(verbs: &Field<'_>, found: &mut Findings) {
    let is_listed = check_list(
        verbs,
        "verbs must contain at least one value",
        "verbs",
        found,
    );
    if is_listed && verbs.items().any(|verb| !VERBS.contains(&verb.text())) {
        found.not_supported(verbs, &VERBS);
    }
}

/// Checks that a list is not empty, and that a wildcard stands alone; returns whether its items are to be checked.
fn check_list(list: &Field<'_>, when_empty: &str, called: &str, found: &mut Findings) -> bool {
    let has_wildcard = list.items().any(|item| item.text() == "*");
    if list.is_empty() {
        found.required(list, when_empty);
    } else if has_wildcard && list.len() > 1 {
        let why = format!("if '*' is present, must not specify other {called}");
        found.invalid(list, &why);
    }
    !list.is_empty() && !has_wildcard
}

fn url_problem(url: &str) -> Option<&'static str> {
    let wildcards = url.matches('*').count();
    if url.is_empty() {
        Some("must not be empty")
    } else if !url.starts_with('/') {
        Some("must start with slash")
    } else if url.contains(' ') {
        Some("must not contain white-space")
    } else if url.contains("//") {
        Some("must not contain double slash")
    } else if wildcards > 1 || (wildcards == 1 && !url.ends_with("/*")) {
        Some("wildcard can only do suffix matching")
    } else {
        None
    }
}

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let mut conditions = items(&object["status"]["conditions"]).iter();
    let dangling = conditions.find(|condition| condition["type"] == "Dangling");
    let method = &spec["distinguisherMethod"]["type"];
    vec![
        json!(name(object)),
        json!(text(&spec["priorityLevelConfiguration"]["name"])),
        json!(number(&spec["matchingPrecedence"])),
        json!(text_or(method, NONE)),
        json!(age(object, now)),
        json!(dangling.map_or("?", |condition| text(&condition["status"]))),
    ]
}
