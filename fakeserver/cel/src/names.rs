//! Names in expressions of CEL: the reserved words, and how properties are called that have other names.

/// The words of the language, and those that it reserves.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The escapes of letters that names of expressions cannot have.
const ESCAPES: [(&str, &str); 4] = [
    ("__underscores__", "__"),
    ("__dot__", "."),
    ("__dash__", "-"),
    ("__slash__", "/"),
];

/// Returns whether nothing can be called `name`.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Returns the name by which expressions name a property; `None` if they cannot.
pub fn escape(name: &str) -> Option<String> {
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
    if name.is_empty()
        || name.starts_with(|first: char| first.is_ascii_digit())
        || !name.chars().all(is_known)
    {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = name.to_owned();
    for (escape, letters) in ESCAPES {
        escaped = escaped.replace(letters, escape);
    }
    Some(escaped)
}

/// Returns the name of the property that expressions call `name`, if a property can be called so.
pub fn unescape(name: &str) -> Option<String> {
    if is_reserved(name) {
        return None;
    }
    let inner = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("__"));
    if let Some(reserved) = inner.filter(|inner| is_reserved(inner)) {
        return Some(reserved.to_owned());
    }
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let found = ESCAPES
            .iter()
            .find_map(|(escape, letters)| Some((*letters, rest.strip_prefix(escape)?)));
        if let Some((letters, after)) = found {
            plain.push_str(letters);
            rest = after;
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_names_are_read_as_the_properties_that_they_stand_for() {
        for (property, name) in [
            ("plain", "plain"),
            ("a.b-c/d", "a__dot__b__dash__c__slash__d"),
            ("a__b", "a__underscores__b"),
            ("a__dot__b", "a__underscores__dot__underscores__b"),
            ("a_b", "a_b"),
            ("namespace", "__namespace__"),
            ("in", "__in__"),
        ] {
            assert_eq!(escape(property).as_deref(), Some(name));
            assert_eq!(unescape(name).as_deref(), Some(property));
        }
        for property in ["", "1a", "a b", "é"] {
            assert_eq!(escape(property), None, "{property}");
        }
        assert_eq!(unescape("while"), None);
    }
}
