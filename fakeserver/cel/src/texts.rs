//! Functions of texts.

use super::{
    interpreter::{EvaluationResult, Failure},
    operations::no_overload,
    value::{Value, list, string},
};

/// Calls a function of texts, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    if let ("contains" | "startsWith" | "endsWith", [text, part]) = (name, operands) {
        let (Value::String(text), Value::String(part)) = (text, part) else {
            return Some(Err(no_overload()));
        };
        return Some(Ok(Value::Bool(match name {
            "contains" => text.contains(&**part),
            "startsWith" => text.starts_with(&**part),
            _ => text.ends_with(&**part),
        })));
    }
    let (Value::String(text), rest) = operands.split_first()? else {
        return None;
    };
    let count = text.chars().count();
    Some(match (name, rest) {
        ("charAt", [Value::Int(at)]) => match usize::try_from(*at) {
            Ok(at) if at <= count => Ok(string(&text.chars().skip(at).take(1).collect::<String>())),
            _ => Err(out_of_range(*at)),
        },
        ("indexOf", [Value::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Value::String(part)]) => {
            let length = i64::try_from(count).unwrap_or(i64::MAX);
            match part.is_empty() {
                true => Ok(Value::Int(length)),
                false if text.len() < part.len() => Ok(Value::Int(-1)),
                false => last_index_of(text, part, length - 1),
            }
        }
        ("lastIndexOf", [Value::String(part), Value::Int(from)]) => {
            last_index_of(text, part, *from)
        }
        ("lowerAscii", []) => Ok(string(&text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(string(&text.to_ascii_uppercase())),
        ("trim", []) => Ok(string(text.trim())),
        ("replace", [Value::String(old), Value::String(new)]) => {
            Ok(string(&text.replace(&**old, new)))
        }
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            Ok(string(&match usize::try_from(*count) {
                Ok(count) => text.replacen(&**old, new, count),
                Err(_) => text.replace(&**old, new),
            }))
        }
        ("split", [Value::String(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Value::String(separator), Value::Int(count)]) => {
            Ok(split(text, separator, *count))
        }
        ("substring", [Value::Int(from)]) => substring(text, *from, None),
        ("substring", [Value::Int(from), Value::Int(to)]) => substring(text, *from, Some(*to)),
        ("strings.quote", []) => Ok(string(&quote(text))),
        ("jsonpatch.escapeKey", []) => Ok(string(&text.replace('~', "~0").replace('/', "~1"))),
        _ => return None,
    })
}

fn out_of_range(at: i64) -> Failure {
    Failure::error(format!("index out of range: {at}"))
}

/// Returns the positions at which a part stands in a text.
fn positions(text: &str, part: &str) -> Vec<i64> {
    let text: Vec<char> = text.chars().collect();
    let part: Vec<char> = part.chars().collect();
    let windows = (0..).zip(text.windows(part.len().max(1)));
    let found = windows.filter(|(_, window)| **window == part);
    found.map(|(at, _)| at).collect()
}

fn index_of(text: &str, part: &str, from: i64) -> EvaluationResult {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let mut found = positions(text, part).into_iter();
    Ok(Value::Int(found.find(|at| *at >= from).unwrap_or(-1)))
}

fn last_index_of(text: &str, part: &str, from: i64) -> EvaluationResult {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let is_beyond = usize::try_from(from).is_ok_and(|from| from >= text.chars().count());
    let mut found = positions(text, part).into_iter().rev();
    let found = found.find(|at| *at <= from).filter(|_| !is_beyond);
    Ok(Value::Int(found.unwrap_or(-1)))
}

fn split(text: &str, separator: &str, count: i64) -> Value {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    if separator.is_empty() {
        // Each character is a part; the last part has the rest.
        let mut starts = text.char_indices().map(|(at, _)| at).take(limit).peekable();
        let mut parts = Vec::new();
        while let Some(from) = starts.next() {
            let to = starts.peek().copied().unwrap_or(text.len());
            parts.push(string(&text[from..to]));
        }
        return list(parts);
    }
    list(text.splitn(limit, separator).map(string))
}

fn substring(text: &str, from: i64, to: Option<i64>) -> EvaluationResult {
    if let Some(to) = to.filter(|to| from > *to) {
        let why = format!("invalid substring range. start: {from}, end: {to}");
        return Err(Failure::error(why));
    }
    let letters: Vec<char> = text.chars().collect();
    let within = |at: i64| {
        let index = usize::try_from(at).ok();
        let index = index.filter(|index| *index <= letters.len());
        index.ok_or_else(|| out_of_range(at))
    };
    let from = within(from)?;
    let to = to.map_or(Ok(letters.len()), within)?;
    Ok(string(&letters[from..to].iter().collect::<String>()))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' | '"' => quoted.extend(['\\', letter]),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
