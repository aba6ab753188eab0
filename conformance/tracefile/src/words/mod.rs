//! Events in words: a table, read here for people's texts and written as `viewer/src/core/words.ts` for the viewer.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    event::{EventKind, NewState, pairs},
    reader::TraceFile,
};

/// The number of objects of a list that are named.
const NAMED_MAX: usize = 6;
const WRITES: &str = "a string takes what is written";

/// Leaves the layout of a table as it is written: a line a row.
macro_rules! table {
    ($($row:expr,)*) => {
        [$($row),*]
    };
}

/// The words of each kind of event, by its name. All others consist of `say`.
const TABLE: [(&str, &[Piece]); 17] = table! {
    ("operation", &[Field("say"), Text(", answered "), Field("code")]),
    ("change", &[Field("o"), Text(" "), Choice("state", &[("new", "made"), ("gone", "deleted"), ("changed", "changed")])]),
    ("request", &[Text("asks "), Field("q"), Text(": "), Or("say", &[Field("verb"), If("o", &[Text(" "), Field("o")])])]),
    ("answer", &[Text("answers "), Field("q"), Text(": "), Or("code", &[Text("nothing")]), If("say", &[Text(", "), Field("say")])]),
    ("page", &[Text("lists for "), Field("q"), Text(":"), Or("list", &[Text(" nothing")]), If("more", &[Text(", and there is more")])]),
    ("frame", &[Text("sends on "), Field("q"), Text(": "), Field("type"), Text(" "), Field("o")]),
    ("bookmark", &[Text("sends on "), Field("q"), Text(": BOOKMARK"), If("say", &[Text(", "), Field("say")])]),
    ("end", &[Choice("how", &[("clean", "ends"), ("broken", "breaks off"), ("dropped", "gives up"), ("refused", "refuses")]), Text(" "), Field("q")]),
    ("belief", &[Joined(&[
        &[If("set", &[Text("shows"), Field("set")])],
        &[If("gone", &[Text("no longer shows"), Field("gone")])],
        &[If("synced", &[Choice("synced", &[("true", "has synced"), ("false", "has not synced")])])],
    ], "shows the same")]),
    ("mirror", &[Text("mirrors "), Field("resource"), If("namespace", &[Text(" in "), Field("namespace")]), If("selector", &[Text(" with "), Field("selector")])]),
    ("notified", &[Text("is told: "), Field("o"), Text(" "), Field("how"), If("was", &[Text(" from "), Field("was")]), If("initial", &[Text(", initially")])]),
    ("start", &[Or("say", &[Text("starts")])]),
    ("stop", &[Or("say", &[Text("stops: "), Field("how")])]),
    ("fault", &[Text("fault "), Field("f"), Text(" begins: "), Field("say")]),
    ("heal", &[Text("fault "), Field("f"), Text(" ends")]),
    ("lead", &[Or("say", &[Text("leads")])]),
    ("follow", &[Or("say", &[Text("leads no more")])]),
};

/// A piece of an event's words. Fields have the names of trace files; `state` is the kind of a change.
#[derive(Clone, Copy)]
enum Piece {
    Text(&'static str),
    /// The value of a field, if there is one.
    Field(&'static str),
    /// Some pieces, if a field has a value.
    If(&'static str, &'static [Piece]),
    /// The value of a field, or some pieces if there is none.
    Or(&'static str, &'static [Piece]),
    /// A word for each value of a field.
    Choice(&'static str, &'static [(&'static str, &'static str)]),
    /// Clauses with a comma between them, or a text if all are empty.
    Joined(&'static [&'static [Piece]], &'static str),
}

use Piece::{Choice, Field, If, Joined, Or, Text};

/// Returns an event in words.
pub(super) fn words(file: &TraceFile, kind: &EventKind) -> String {
    let row = TABLE.iter().find(|(name, _)| *name == kind.name());
    written(
        file,
        &fields(kind),
        row.map_or(&[Field("say")], |(_, pieces)| pieces),
    )
}

fn written(file: &TraceFile, fields: &Value, pieces: &[Piece]) -> String {
    let value = |name| value(file, fields, name);
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Text(words) => text.push_str(words),
            Field(name) => text.push_str(&value(name).unwrap_or_default()),
            If(name, pieces) if value(name).is_some() => {
                text.push_str(&written(file, fields, pieces));
            }
            If(..) => {}
            Or(name, pieces) => match value(name) {
                Some(value) => text.push_str(&value),
                None => text.push_str(&written(file, fields, pieces)),
            },
            Choice(name, choices) => {
                let value = value(name).unwrap_or_default();
                let word = choices.iter().find(|(own, _)| *own == value);
                text.push_str(word.map_or(&value, |(_, word)| word));
            }
            Joined(clauses, otherwise) => {
                let clauses = clauses.iter().map(|pieces| written(file, fields, pieces));
                let clauses: Vec<String> = clauses.filter(|text| !text.is_empty()).collect();
                text.push_str(&clauses.join(", "));
                text.push_str(if clauses.is_empty() { otherwise } else { "" });
            }
        }
    }
    text
}

/// Returns the fields of an event by their names in files; of a change, its kind in place of the object.
fn fields(kind: &EventKind) -> Value {
    let EventKind::Change { object, state, .. } = kind else {
        return json!(kind);
    };
    let state = match state {
        NewState::New(_) => "new",
        NewState::Merge(_) | NewState::Patch(_) => "changed",
        NewState::Gone(_) => "gone",
    };
    json!({"o": object, "state": state})
}

/// Returns the value of a field in words; `None` if it is missing, false or empty.
fn value(file: &TraceFile, fields: &Value, name: &str) -> Option<String> {
    let numbers = |list: &[Value]| list.iter().filter_map(Value::as_u64).collect::<Vec<u64>>();
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    match (name, &fields[name]) {
        (_, Value::Null | Value::Object(_)) => None,
        ("o", number) => number
            .as_u64()
            .map(|number| file.object_title(place(number))),
        ("gone", Value::Array(list)) => {
            let titles = numbers(list)
                .into_iter()
                .map(|number| file.object_title(place(number)));
            shortened(list.len(), titles)
        }
        (_, Value::Array(list)) => {
            let list = numbers(list);
            let versions = pairs(&list).map(|(own, at)| format!("{}@{at}", file.object_title(own)));
            shortened(list.len() / 2, versions)
        }
        (_, Value::String(text)) => (!text.is_empty()).then(|| text.clone()),
        ("synced", synced) => Some(synced.to_string()),
        (_, Value::Bool(flag)) => flag.then(|| flag.to_string()),
        (_, number) => Some(number.to_string()),
    }
}

/// Returns the first items, each after a space, and the number of the others; `None` if there is none.
fn shortened(count: usize, items: impl Iterator<Item = String>) -> Option<String> {
    let mut text = String::new();
    for item in items.take(NAMED_MAX) {
        write!(text, " {item}").expect(WRITES);
    }
    if count > NAMED_MAX {
        write!(text, " and {} more", count - NAMED_MAX).expect(WRITES);
    }
    (count > 0).then_some(text)
}

#[cfg(test)]
mod typescript;
