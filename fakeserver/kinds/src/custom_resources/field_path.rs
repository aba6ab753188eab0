//! Paths to fields of a schema, as rules and selectable fields name them: `.spec.name`, `.labels['a.b']`.

use serde_json::Value;

/// A path that a schema has, and the schema of the field that it leads to.
#[derive(Clone, Debug)]
pub(super) struct FieldPath<'s> {
    /// The path as errors name it.
    pub(super) path: String,
    pub(super) schema: &'s Value,
}

/// The notation that a path may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// Names behind dots.
    Dots,
    /// Names behind dots, or in quotes and brackets.
    DotsAndBrackets,
}

// === impl FieldPath ===

impl<'s> FieldPath<'s> {
    /// Follows a path through a schema.
    ///
    /// # Errors
    ///
    /// The path cannot be read, or the schema has no such field.
    #[doc(alias = "ValidFieldPath")]
    pub(super) fn resolve(
        text: &str,
        schema: &'s Value,
        notation: Notation,
    ) -> Result<Self, String> {
        const END: &str = "unexpected end of JSON path";
        let mut found = Self {
            path: String::new(),
            schema,
        };
        let mut rest = text;
        while let Some(token) = next_token(&mut rest) {
            match token {
                "." => {
                    let name = next_token(&mut rest).ok_or(END)?;
                    found.step(name)?;
                }
                "[" if notation == Notation::Dots => {
                    return Err("array notation is not allowed".to_owned());
                }
                "[" => {
                    let name = next_token(&mut rest).ok_or(END)?;
                    let quoted = name
                        .strip_prefix('\'')
                        .and_then(|name| name.strip_suffix('\''));
                    let Some(quoted) = quoted.filter(|_| name.len() >= 2) else {
                        return Err(format!("expected single quoted string but got {name}"));
                    };
                    let name =
                        unescape(quoted).map_err(|why| format!("invalid string literal: {why}"))?;
                    found.step(&name)?;
                    match next_token(&mut rest).ok_or(END)? {
                        "]" => {}
                        other => return Err(format!("expected ] but got {other}")),
                    }
                }
                other => return Err(format!("expected [ or . but got: {other}")),
            }
        }
        Ok(found)
    }

    fn step(&mut self, name: &str) -> Result<(), String> {
        const MISSING: &str = "does not refer to a valid field";
        let properties = self.schema["properties"].as_object();
        if let Some(properties) = properties.filter(|all| !all.is_empty()) {
            self.schema = properties.get(name).ok_or(MISSING)?;
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(name);
            return Ok(());
        }
        let additional = &self.schema["additionalProperties"];
        if !additional.is_object() {
            return Err(MISSING.to_owned());
        }
        self.schema = additional;
        self.path.extend(["[", name, "]"]);
        Ok(())
    }
}

/// Takes the next token: a delimiter, a text in quotes, or the text before a delimiter.
fn next_token<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let first = rest.chars().next()?;
    let end = if first == '\'' {
        let bytes = rest.as_bytes();
        let closing = (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[at - 1] != b'\\');
        closing.map_or(rest.len(), |at| at + 1)
    } else if matches!(first, '.' | '[' | ']') {
        1
    } else {
        rest.find(['.', '[', ']']).unwrap_or(rest.len())
    };
    let (token, after) = rest.split_at(end);
    *rest = after;
    Some(token)
}

fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        plain.push(match letters.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(same @ ('\'' | '\\')) => same,
            Some(other) => return Err(format!("invalid escape char \\{other}")),
            None => '\\',
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_follow_properties_and_maps() {
        let schema = json!({"type": "object", "properties": {"a": {
            "type": "object", "additionalProperties": {"type": "string"}
        }}});
        let found = FieldPath::resolve(".a['x.y']", &schema, Notation::DotsAndBrackets).unwrap();
        assert_eq!(found.path, "a[x.y]");
        assert_eq!(found.schema["type"], "string");
        let why = FieldPath::resolve(".b", &schema, Notation::Dots).unwrap_err();
        assert_eq!(why, "does not refer to a valid field");
        let why = FieldPath::resolve("a", &schema, Notation::Dots).unwrap_err();
        assert_eq!(why, "expected [ or . but got: a");
    }
}
