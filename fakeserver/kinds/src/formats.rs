//! Checks of formats: ports, addresses, labels, shares and quantities.

use std::{collections::BTreeSet, net::IpAddr};

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{
        dns_label_problems, label_value_problems, qualified_name_problems, subdomain_problems,
    },
    object::selectors::{LabelSelector, print_label_selector},
    schema::Quantity,
};
use serde_json::{Value, json};

use super::addresses::check_ip;

const PORT_NAME_MAX: usize = 15;

const CONFIG_KEY_MAX: usize = 253;

const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
    'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
    must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
    '*.example.com', regex used for validation is \
    '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const DRIVER_NAME_MAX_BYTES: usize = 63;

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
    '93%', regex used for validation is '[0-9]+%')";

const PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

const CONDITION_REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string \
    of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or \
    'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const CONDITION_REASON_MAX_BYTES: usize = 1 << 10;
const CONDITION_MESSAGE_MAX_BYTES: usize = 32 << 10;

/// The rule of a port's number.
const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

/// Transport protocols, as ports name them.
pub const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

pub fn check_port_number(field: &Field<'_>, found: &mut Findings) {
    if !(1..=65_535).contains(&field.number()) {
        found.invalid_as(field, &json!(field.number()), PORT_RANGE);
    }
}

pub fn port_name_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > PORT_NAME_MAX {
        problems.push(format!("must be no more than {PORT_NAME_MAX} characters"));
    }
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_allowed) {
        problems.push(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned(),
        );
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        problems.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        problems.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        problems.push("must not begin or end with a hyphen".to_owned());
    }
    problems
}

/// A port by number or by name.
pub fn check_port(field: &Field<'_>, found: &mut Findings) {
    if let Value::String(name) = field.value() {
        found.problems(field, port_name_problems(name));
    } else {
        check_port_number(field, found);
    }
}

pub fn config_key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if key.len() > CONFIG_KEY_MAX {
        problems.push(format!("must be no more than {CONFIG_KEY_MAX} characters"));
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if key.is_empty() || !key.bytes().all(is_allowed) {
        problems.push(CONFIG_KEY.to_owned());
    }
    match key {
        "." => problems.push("must not be '.'".to_owned()),
        ".." => problems.push("must not be '..'".to_owned()),
        key if key.starts_with("..") => problems.push("must not start with '..'".to_owned()),
        _ => {}
    }
    problems
}

/// The key of an entry that may become a file.
pub fn check_data_key(entry: &Field<'_>, key: &str, found: &mut Findings) {
    for problem in config_key_problems(key) {
        found.invalid_as(entry, &json!(key), &problem);
    }
}

pub fn env_name_problems(name: &str) -> Vec<String> {
    let is_allowed = |letter: char| (' '..='~').contains(&letter) && letter != '=';
    if name.chars().all(is_allowed) {
        return Vec::new();
    }
    vec![
        "a valid environment variable name must consist only of printable ASCII characters other than '='"
            .to_owned(),
    ]
}

pub fn wildcard_problems(host: &str) -> Vec<String> {
    let is_good = host
        .strip_prefix("*.")
        .is_some_and(|rest| subdomain_problems(rest).is_empty());
    if is_good {
        Vec::new()
    } else {
        vec![WILDCARD.to_owned()]
    }
}

/// Checks a path below a domain, such as `example.com/controller`.
pub fn check_domain_path(field: &Field<'_>, found: &mut Findings) {
    if !field.has_text() {
        found.required(field, "");
        return;
    }
    let parts = field.text().split_once('/');
    let parts = parts.filter(|(domain, path)| !domain.is_empty() && !path.is_empty());
    let Some((domain, path)) = parts else {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        found.invalid(field, why);
        return;
    };
    for problem in subdomain_problems(domain) {
        found.invalid_as(field, &json!(domain), &problem);
    }
    let is_of_paths =
        |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !path.bytes().all(is_of_paths) {
        found.invalid_as(field, &json!(path), PATH);
    }
}

pub fn check_label(field: &Field<'_>, found: &mut Findings) {
    found.problems(field, dns_label_problems(field.text()));
}

pub fn check_subdomain(field: &Field<'_>, found: &mut Findings) {
    found.problems(field, subdomain_problems(field.text()));
}

/// The name of a driver of storage or devices.
pub fn check_driver_name(field: &Field<'_>, found: &mut Findings) {
    if !field.has_text() {
        found.required(field, "");
        if found.is_on("MissingDriverNameReportedOnce") {
            return;
        }
    }
    if field.text().len() > DRIVER_NAME_MAX_BYTES {
        found.too_long(field, DRIVER_NAME_MAX_BYTES);
    }
    found.problems(field, subdomain_problems(&field.text().to_lowercase()));
}

/// Returns whether [`check_driver_name`] accepts a name.
pub fn is_driver_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= DRIVER_NAME_MAX_BYTES
        && subdomain_problems(&name.to_lowercase()).is_empty()
}

pub fn check_qualified(field: &Field<'_>, found: &mut Findings) {
    found.problems(field, qualified_name_problems(field.text()));
}

/// An address that endpoints can have: not this host, not this link, not nowhere.
pub fn check_reachable_ip(field: &Field<'_>, found: &mut Findings) {
    let Ok(address) = field.text().parse::<IpAddr>() else {
        found.invalid_text(field, "must be a valid IP address");
        return;
    };
    let (is_link_local, is_link_multicast) = match address {
        IpAddr::V4(address) => (
            address.is_link_local(),
            address.octets()[..3] == [224, 0, 0],
        ),
        IpAddr::V6(address) => (
            address.is_unicast_link_local(),
            address.segments()[0] == 0xff02,
        ),
    };
    if address.is_unspecified() {
        found.invalid(field, &format!("may not be unspecified ({})", field.text()));
    }
    if address.is_loopback() {
        found.invalid(
            field,
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        );
    }
    if is_link_local {
        found.invalid(
            field,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        );
    }
    if is_link_multicast {
        found.invalid(
            field,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// Checks the value of a label, or a value that is compared with labels.
pub fn check_label_value(field: &Field<'_>, found: &mut Findings) {
    found.problems(field, label_value_problems(field.text()));
}

/// The labels of a map.
pub fn check_labels(labels: &Field<'_>, found: &mut Findings) {
    for (key, value) in labels.entries() {
        for problem in qualified_name_problems(key) {
            found.invalid_as(labels, &json!(key), &problem);
        }
        for problem in label_value_problems(value.text()) {
            found.invalid_as(labels, value.value(), &problem);
        }
    }
}

/// The keys of annotations.
pub fn check_annotations(annotations: &Field<'_>, found: &mut Findings) {
    for (key, _) in annotations.entries() {
        for problem in qualified_name_problems(&key.to_lowercase()) {
            found.invalid_as(annotations, &json!(key), &problem);
        }
    }
}

pub fn check_label_selector(selector: &Field<'_>, found: &mut Findings) {
    if !selector.is_set() {
        return;
    }
    check_labels(&selector.at("matchLabels"), found);
    for requirement in selector.at("matchExpressions").items() {
        check_selector_requirement(&requirement, false, found);
    }
}

/// Checks a requirement on labels. `allows_unknown` lets operators pass that are not known.
pub fn check_selector_requirement(
    requirement: &Field<'_>,
    allows_unknown: bool,
    found: &mut Findings,
) {
    check_selector_values(requirement, allows_unknown, found);
    check_qualified(&requirement.at("key"), found);
    for value in requirement.at("values").items() {
        found.problems(&value, label_value_problems(value.text()));
    }
}

/// Checks that a requirement of a selector has values if its operator needs them.
pub fn check_selector_values(requirement: &Field<'_>, allows_unknown: bool, found: &mut Findings) {
    let values = requirement.at("values");
    match requirement.at("operator").text() {
        "In" | "NotIn" if values.is_empty() => found.required(
            &values,
            "must be specified when `operator` is 'In' or 'NotIn'",
        ),
        "Exists" | "DoesNotExist" if !values.is_empty() => found.forbidden(
            &values,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ if allows_unknown => {}
        _ => found.invalid_text(&requirement.at("operator"), "not a valid selector operator"),
    }
}

/// The type of label selectors.
pub const LABEL_SELECTOR: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector";

/// The result of a selector for labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionResult {
    Matches,
    Differs,
    /// The selector cannot be read.
    Unreadable,
}

/// Returns whether a selector can be read: its keys, operators and values are of their form.
pub fn is_readable_selector(selector: &Value) -> bool {
    let mut found = Findings::default();
    check_label_selector(&Field::root(selector), &mut found);
    found.count() == 0
}

/// Matches a selector with these labels; a missing selector matches none.
pub fn selects(selector: &Value, labels: &Value) -> SelectionResult {
    if selector.is_null() {
        return SelectionResult::Differs;
    }
    if !is_readable_selector(selector) {
        return SelectionResult::Unreadable;
    }
    let has = labels
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(label, value)| Some((label.clone(), value.as_str()?.to_owned())))
        .collect();
    match LabelSelector::parse(&print_label_selector(selector)) {
        Ok(selector) if selector.matches(&has) => SelectionResult::Matches,
        Ok(_) => SelectionResult::Differs,
        Err(_) => SelectionResult::Unreadable,
    }
}

/// Returns whether a selector has no requirements.
pub fn is_empty_selector(selector: &Field<'_>) -> bool {
    selector.at("matchLabels").is_empty() && selector.at("matchExpressions").is_empty()
}

/// A number that is not negative, or a share.
pub fn check_share(field: &Field<'_>, found: &mut Findings) {
    if let Value::String(text) = field.value() {
        if percent(text).is_none() {
            found.invalid(field, PERCENT);
        }
    } else {
        found.non_negative(field);
    }
}

/// Checks that a percentage is at most 100 %.
pub fn check_at_most_all(field: &Field<'_>, found: &mut Findings) {
    if percent(field.text()).is_some_and(|percent| percent > 100) {
        found.invalid(field, "must not be greater than 100%");
    }
}

/// Returns whether a number or a share is zero.
pub fn is_zero_share(value: &Value) -> bool {
    match value {
        Value::String(text) => match percent(text) {
            Some(percent) => percent == 0,
            None => text.parse::<i64>().unwrap_or_default() == 0,
        },
        value => value.as_i64().unwrap_or_default() == 0,
    }
}

fn percent(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// A quantity as it was stored; nothing is zero.
pub fn quantity(value: &Value) -> Quantity {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => "0".to_owned(),
    };
    text.parse()
        .unwrap_or_else(|_| "0".parse().expect("zero is a quantity"))
}

/// Checks the entry of a load balancer in a status: an address or a name.
pub fn check_load_balancer_entry(entry: &Field<'_>, found: &mut Findings) {
    if entry.at("ip").has_text() {
        check_ip(&entry.at("ip"), found);
    }
    check_load_balancer_name(entry, found);
}

/// Checks the name in the entry of a load balancer.
pub fn check_load_balancer_name(entry: &Field<'_>, found: &mut Findings) {
    let name = entry.at("hostname");
    if name.has_text() {
        found.problems(&name, subdomain_problems(name.text()));
        if name.text().parse::<IpAddr>().is_ok() {
            found.invalid(&name, "must be a DNS name, not an IP address");
        }
    }
}

/// Warns of an amount that is no whole number of bytes.
pub fn warn_of_fraction(amount: &Field<'_>, warnings: &mut Vec<String>) {
    let quantity = amount.text().parse::<Quantity>();
    // Go counts in thousandths, and the greatest amount is no multiple of a thousand.
    let is_fraction = |quantity: Quantity| {
        let whole = quantity.as_integer();
        whole.is_none_or(|whole| whole.unsigned_abs() > (i64::MAX / 1000).unsigned_abs().into())
    };
    if quantity.is_ok_and(is_fraction) {
        warnings.push(format!(
            "{}: fractional byte value {:?} is invalid, must be an integer",
            amount.path(),
            amount.text()
        ));
    }
}

/// The values of a condition's status.
pub const CONDITION_STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Checks the conditions of a status.
pub fn check_conditions(conditions: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for condition in conditions.items() {
        let kind = condition.at("type");
        if !seen.insert(kind.text()) {
            found.duplicate_as(&kind, &json!(kind.text()));
        }
        for problem in qualified_name_problems(kind.text()) {
            found.invalid_as(&kind, &json!(kind.text()), &problem);
        }
        let status = condition.at("status");
        if !CONDITION_STATUSES.contains(&status.text()) {
            found.not_supported(&status, &CONDITION_STATUSES);
        }
        let generation = condition.at("observedGeneration");
        if generation.number() < 0 {
            found.invalid(&generation, "must be greater than or equal to zero");
        }
        if !condition.at("lastTransitionTime").is_set() {
            found.required(&condition.at("lastTransitionTime"), "");
        }
        let reason = condition.at("reason");
        if !reason.has_text() {
            found.required(&reason, "");
        } else if !is_condition_reason(reason.text()) {
            found.invalid(&reason, CONDITION_REASON);
        }
        for (field, bytes_max) in [
            ("reason", CONDITION_REASON_MAX_BYTES),
            ("message", CONDITION_MESSAGE_MAX_BYTES),
        ] {
            if condition.at(field).text().len() > bytes_max {
                found.too_long(&condition.at(field), bytes_max);
            }
        }
    }
}

fn is_condition_reason(reason: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte);
    reason.starts_with(|first: char| first.is_ascii_alphabetic())
        && reason.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_')
        && reason.bytes().all(is_part)
}
