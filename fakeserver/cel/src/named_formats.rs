//! The formats of names and texts, as values: `format.dns1123Label()` and others.

use std::sync::Arc;

use super::{
    interpreter::EvaluationResult,
    value::{Opaque, Value, downcast, list, optional, string},
};
use fakeserver_value::{
    go_url::GoUrl,
    names::{
        dns_label_problems, label_value_problems, qualified_name_problems, service_name_problems,
        subdomain_problems,
    },
    string_formats::{is_base64, is_date, is_date_time, is_uuid},
};

/// A format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedFormat(&'static Format);

/// A format with the length of its pattern, on which costs depend.
#[derive(Debug, PartialEq, Eq)]
struct Format {
    name: &'static str,
    pattern: u64,
    /// The error of a text that does not have the format; empty for formats of names, which have several.
    problem: &'static str,
}

const fn format(name: &'static str, pattern: u64, problem: &'static str) -> Format {
    Format {
        name,
        pattern,
        problem,
    }
}

static FORMATS: [Format; 13] = [
    format("dns1123Label", 30, ""),
    format("dns1123Subdomain", 60, ""),
    format("dns1035Label", 30, ""),
    format("qualifiedName", 60, ""),
    format("dns1123LabelPrefix", 30, ""),
    format("dns1123SubdomainPrefix", 60, ""),
    format("dns1035LabelPrefix", 30, ""),
    format("labelValue", 40, ""),
    format("uri", 1103, "invalid URI for request"),
    format("uuid", 70, "does not match the UUID format"),
    format("byte", 84, "invalid base64"),
    format("date", 71, "invalid date"),
    format("datetime", 71, "invalid datetime"),
];

impl Opaque for NamedFormat {
    fn type_name(&self) -> &'static str {
        "kubernetes.NamedFormat"
    }
}

/// Calls a function of formats, if `name` is one.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    match (name, operands) {
        ("format.named", [Value::String(name)]) => Some(Ok(optional(find(name)))),
        ("validate", [format, Value::String(text)]) => {
            let format = as_format(format)?.0;
            let problems = format.problems(text);
            let problems = problems.iter().map(|problem| string(problem));
            let found = (problems.len() > 0).then(|| list(problems));
            Some(Ok(optional(found)))
        }
        (name, []) => Some(Ok(find(name.strip_prefix("format.")?)?)),
        _ => None,
    }
}

/// Returns the length of the pattern of the format that a value is.
pub(super) fn pattern_length(value: &Value) -> Option<u64> {
    Some(as_format(value)?.0.pattern)
}

fn find(name: &str) -> Option<Value> {
    let found = FORMATS.iter().find(|format| format.name == name)?;
    Some(Value::Opaque(Arc::new(NamedFormat(found))))
}

fn as_format(value: &Value) -> Option<&NamedFormat> {
    downcast(value)
}

// === impl Format ===

impl Format {
    fn problems(&self, text: &str) -> Vec<String> {
        // The last letter of a prefix may be a dash, since another one follows.
        let whole = match text.strip_suffix('-') {
            Some(text) if self.name.ends_with("Prefix") && !text.is_empty() => {
                let count = text.chars().count();
                text.chars().take(count - 1).chain(['a']).collect()
            }
            _ => text.to_owned(),
        };
        match self.name.trim_end_matches("Prefix") {
            "dns1123Label" => dns_label_problems(&whole),
            "dns1123Subdomain" => subdomain_problems(&whole),
            "dns1035Label" => service_name_problems(&whole),
            "qualifiedName" => qualified_name_problems(text),
            "labelValue" => label_value_problems(text),
            "uri" => GoUrl::parse_request(text)
                .err()
                .map_or_else(Vec::new, |why| vec![format!("parse {text:?}: {why}")]),
            "uuid" if is_uuid(text, None) => Vec::new(),
            "byte" if is_base64(text) => Vec::new(),
            "date" if is_date(text) => Vec::new(),
            "datetime" if is_date_time(text) => Vec::new(),
            _ => vec![self.problem.to_owned()],
        }
    }
}
