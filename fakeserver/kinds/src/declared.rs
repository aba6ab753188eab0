//! Checks as the sources of types declare them: unions, formats and fields that stay.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{
        dns_label_problems, path_segment_problems, qualified_name_problems, subdomain_problems,
    },
};
use serde_json::{Value, json};

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A DNS label.
    ShortName,
    /// A DNS subdomain.
    LongName,
    PathSegment,
    LabelKey,
    /// The key of a label with a domain.
    PrefixedKey,
    Uuid,
}

impl Format {
    fn problems(self, text: &str) -> Vec<String> {
        match self {
            Self::ShortName => dns_label_problems(text),
            Self::LongName => subdomain_problems(text),
            Self::PathSegment => path_segment_problems(text),
            Self::LabelKey => qualified_name_problems(text),
            Self::PrefixedKey => {
                let mut problems = qualified_name_problems(text);
                if problems.is_empty() && !text.contains('/') {
                    problems.push("must include a prefix (e.g. 'example.com/key')".to_owned());
                }
                problems
            }
            Self::Uuid if is_uuid(text) => Vec::new(),
            Self::Uuid => vec!["must be a lowercase UUID in 8-4-4-4-12 format".to_owned()],
        }
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Checks a text that has to be there.
pub fn check_required(field: &Field<'_>, format: Format, found: &mut Findings) {
    if field.has_text() {
        found.problems(field, format.problems(field.text()));
    } else {
        found.required(field, "");
    }
}

/// Checks a text if it is there.
pub fn check_optional(field: &Field<'_>, format: Format, found: &mut Findings) {
    if field.has_text() {
        found.problems(field, format.problems(field.text()));
    }
}

/// Checks that one of the members is set.
pub fn check_union(field: &Field<'_>, members: &[&'static str], found: &mut Findings) {
    let all: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
    let set: Vec<&str> = members
        .iter()
        .filter(|name| is_present(&field.at(name)))
        .copied()
        .collect();
    match set.len() {
        0 => {
            let why = format!("must specify one of: {}", all.join(", "));
            found.invalid_as(field, &json!(""), &why);
        }
        1 => {}
        _ => {
            let why = format!("must specify exactly one of: {}", all.join(", "));
            found.invalid_as(field, &json!(format!("{{{}}}", set.join(", "))), &why);
        }
    }
}

/// Checks the number of items and that each has another name.
pub fn check_named_items(list: &Field<'_>, items_max: usize, found: &mut Findings) -> bool {
    if list.len() > items_max {
        found.too_many(list, items_max);
        return false;
    }
    let mut names = Vec::new();
    for item in list.items() {
        let name = item.at("name").text();
        if names.contains(&name) {
            found.duplicate_as(&item, &json!({ "name": name }));
        }
        names.push(name);
    }
    true
}

/// Checks that no item was added or removed, by their names.
pub fn check_same_items(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let has =
        |list: &Field<'_>, name: &str| list.items().any(|item| item.at("name").text() == name);
    for item in new.items() {
        if !has(old, item.at("name").text()) {
            found.forbidden(&item, "item may not be added");
        }
    }
    if old.items().any(|item| !has(new, item.at("name").text())) {
        found.forbidden(new, "item may not be removed");
    }
}

/// Checks that a field is unchanged. What is empty is not there.
pub fn check_immutable(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    if is_present(old) != is_present(new) || (is_present(old) && old.value() != new.value()) {
        found.invalid_as(new, &Value::Null, "field is immutable");
    }
}

/// Checks that what was set is not set anew, nor cleared.
pub fn check_same_presence(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    match (is_present(old), is_present(new)) {
        (false, true) => found.invalid_as(new, &Value::Null, "field cannot be set once created"),
        (true, false) => found.invalid_as(new, &Value::Null, "field cannot be cleared once set"),
        _ => {}
    }
}

/// Checks a number that has to be there and may not be less.
pub fn check_minimum(field: &Field<'_>, minimum: i64, found: &mut Findings) {
    if !field.is_set() || (field.number() == 0 && minimum > 0) {
        found.required(field, "");
    } else if field.number() < minimum {
        found.invalid(
            field,
            &format!("must be greater than or equal to {minimum}"),
        );
    }
}

/// Checks that a field is absent whose gate the version has off, and returns whether its gate is on.
pub fn check_gated(field: &Field<'_>, gate: &str, found: &mut Findings) -> bool {
    let is_on = found.kubernetes().gates().is_on(gate);
    if !is_on && is_present(field) {
        found.forbidden(field, "");
    }
    is_on
}

fn is_present(field: &Field<'_>) -> bool {
    match field.value() {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}
