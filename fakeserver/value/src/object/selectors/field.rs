//! Field selectors: equalities over the few fields that a type lets clients select by.

use std::fmt;

use crate::status::Status;

/// A conjunction of requirements on fields. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    field: String,
    is_equal: bool,
    value: String,
}

// === impl FieldSelector ===

impl FieldSelector {
    /// Parses the text of a `fieldSelector` parameter. `supported` decides which fields the type has; its error is returned
    /// in the type's own words.
    pub fn parse(
        text: &str,
        supported: impl Fn(&str) -> Result<(), Status>,
    ) -> Result<Self, Status> {
        let mut selector = Self::default();
        for term in split_terms(text) {
            if term.is_empty() {
                continue;
            }
            let Some((field, is_equal, value)) = split_operator(term) else {
                return Err(Status::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{term}'"
                )));
            };
            let value = unescape(value).map_err(Status::bad_request)?;
            if field.is_empty() && value.is_empty() {
                continue;
            }
            supported(field)?;
            selector.requirements.push(Requirement {
                field: field.to_owned(),
                is_equal,
                value,
            });
        }
        Ok(selector)
    }

    /// The same about fields that are called otherwise.
    pub fn renamed(mut self, name: impl Fn(&str) -> &str) -> Self {
        for requirement in &mut self.requirements {
            requirement.field = name(&requirement.field).to_owned();
        }
        self
    }

    /// The same, and `field` must have this value.
    pub fn and(mut self, field: &str, value: &str) -> Self {
        self.requirements.push(Requirement {
            field: field.to_owned(),
            is_equal: true,
            value: value.to_owned(),
        });
        self
    }

    /// The value that `field` must have, if the selector says it.
    pub fn required(&self, field: &str) -> Option<&str> {
        let mut requirements = self.requirements.iter();
        let found = requirements.find(|own| own.is_equal && own.field == field);
        found.map(|requirement| requirement.value.as_str())
    }

    /// Returns whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object is selected; `value` returns the value of a field.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> &'a str) -> bool {
        self.requirements.iter().all(|requirement| {
            (value(&requirement.field) == requirement.value) == requirement.is_equal
        })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let separator = if index > 0 { "," } else { "" };
            let operator = if requirement.is_equal { "=" } else { "!=" };
            write!(f, "{separator}{}{operator}", requirement.field)?;
            for c in requirement.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// Splits at commas that no backslash stands before.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |c| {
        let splits = c == ',' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        splits
    })
}

/// Splits at the first operator that no backslash stands before.
fn split_operator(term: &str) -> Option<(&str, bool, &str)> {
    let mut is_escaped = false;
    for (at, c) in term.char_indices() {
        if !is_escaped {
            for (operator, is_equal) in [("!=", false), ("==", true), ("=", true)] {
                if let Some(value) = term[at..].strip_prefix(operator) {
                    return Some((&term[..at], is_equal, value));
                }
            }
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

fn unescape(value: &str) -> Result<String, String> {
    let mut unescaped = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => unescaped.push(escaped),
                Some(other) => {
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: \\{other}"
                    ));
                }
                None => {
                    return Err("invalid field selector: invalid escape sequence: \\".to_owned());
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {c}"
                ));
            }
            c => unescaped.push(c),
        }
    }
    Ok(unescaped)
}
