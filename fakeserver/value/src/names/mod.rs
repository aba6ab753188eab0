//! The forms that names, labels and their keys may have.

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
    with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SEARCH_DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const SERVICE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Returns the problems of a label's value.
pub fn label_value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > LABEL_MAX {
        problems.push(too_many_bytes(LABEL_MAX));
    }
    if !value.is_empty() && !is_word(value, is_name_char) {
        problems.push(LABEL_VALUE.to_owned());
    }
    problems
}

/// Returns the problems of the key of a label or an annotation: `name`, or `prefix/name`.
pub fn qualified_name_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            problems.push(
                "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                 with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                 validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and \
                 '/' (e.g. 'example.com/MyName')"
                    .to_owned(),
            );
            return problems;
        }
        Some(("", name)) => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            if prefix.len() > SUBDOMAIN_MAX {
                problems.push(format!("prefix part {}", too_many_bytes(SUBDOMAIN_MAX)));
            }
            if !is_subdomain(prefix) {
                problems.push(format!("prefix part {SUBDOMAIN}"));
            }
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        problems.push(format!("name part {}", too_many_bytes(LABEL_MAX)));
    }
    if !is_word(name, is_name_char) {
        problems.push(QUALIFIED.to_owned());
    }
    problems
}

/// Returns the problems of the name of most objects.
pub fn subdomain_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > SUBDOMAIN_MAX {
        problems.push(too_long(SUBDOMAIN_MAX));
    }
    if !is_subdomain(name) {
        problems.push(SUBDOMAIN.to_owned());
    }
    problems
}

/// Returns the problems of a domain in which underscores may stand, as those of service records do.
#[doc(alias = "IsDNS1123SubdomainWithUnderscore")]
pub fn search_domain_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > SUBDOMAIN_MAX {
        problems.push(too_long(SUBDOMAIN_MAX));
    }
    let is_valid = |part: &str| {
        let word = part.strip_prefix('_').unwrap_or(part);
        is_word(word, |byte| byte == b'_' || is_dns_char(byte))
    };
    if !name.split('.').all(is_valid) {
        problems.push(SEARCH_DOMAIN.to_owned());
    }
    problems
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(|part| is_word(part, is_dns_char))
}

/// Returns the problems of the name of a namespace and of other objects whose names are single DNS labels.
pub fn dns_label_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > LABEL_MAX {
        problems.push(too_long(LABEL_MAX));
    }
    if !is_word(name, is_dns_char) {
        // A name whose only fault is its dots has a message of its own.
        let is_dotted = subdomain_problems(name).is_empty();
        problems.push(if is_dotted {
            "must not contain dots".to_owned()
        } else {
            LABEL.to_owned()
        });
    }
    problems
}

/// Returns the problems of the name of a service: a DNS label that begins with a letter.
pub fn service_name_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > LABEL_MAX {
        problems.push(too_long(LABEL_MAX));
    }
    let begins_with_letter = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_lowercase());
    if !begins_with_letter || !is_word(name, is_dns_char) {
        problems.push(SERVICE.to_owned());
    }
    problems
}

/// Returns the problems of a name that only has to fit into a path.
pub fn path_segment_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if matches!(name, "." | "..") {
        problems.push(format!("may not be '{name}'"));
    }
    for forbidden in ["/", "%"] {
        if name.contains(forbidden) {
            problems.push(format!("may not contain '{forbidden}'"));
        }
    }
    problems
}

/// Returns whether all characters are allowed inside, and the first and last are letters or digits of that alphabet.
fn is_word(text: &str, is_allowed: fn(u8) -> bool) -> bool {
    let is_end = |byte: &u8| is_allowed(*byte) && byte.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(is_end)
        && bytes.last().is_some_and(is_end)
        && bytes.iter().all(|byte| is_allowed(*byte))
}

fn is_name_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn is_dns_char(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Names are measured in bytes as well: only the words differ.
fn too_long(bytes_max: usize) -> String {
    format!("must be no more than {bytes_max} characters")
}

/// The words about the values and the keys of labels.
fn too_many_bytes(bytes_max: usize) -> String {
    format!("must be no more than {bytes_max} bytes")
}

#[cfg(test)]
mod tests;
