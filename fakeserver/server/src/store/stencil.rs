//! Objects that differ in a few places only: the bytes of one, with placeholders where the others differ.
//!
//! A stencil is cut from an object that was created as any other, with marks in the places to be filled in. So an
//! object that is printed with it has the same bytes as one that came through the API, at the cost of a copy.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;
use fakeserver_kinds::conversion::to_stored;
use fakeserver_value::{object::Pairs, revision::Revision};
use serde_json::Value;

use super::{
    ObjectKey, StoredObject,
    object::{Header, LABELS, SerializedObject},
};

/// The maximum number of placeholders.
const HOLES_MAX: u8 = 100;

/// The first mark inside of texts. These characters are in a private use area.
const TEXT_MARKS: u32 = 0xE100;
/// The first mark that stands for any value, as the only character of a string.
const RAW_MARKS: u32 = 0xE200;
/// The first mark that is a number: all but the last two digits.
const NUMBER_MARKS: i64 = 1_987_654_300;

/// A mark to be put into a text, for the hole of that number.
pub fn text_hole(hole: u8) -> String {
    mark(TEXT_MARKS, hole)
}

/// A mark that is a string, in the place of which any JSON is filled in.
pub fn raw_hole(hole: u8) -> String {
    mark(RAW_MARKS, hole)
}

/// A mark that is a number.
pub fn number_hole(hole: u8) -> i64 {
    NUMBER_MARKS + i64::from(hole)
}

/// A template of serialized objects that differ only in its holes.
#[derive(Debug)]
pub struct Stencil {
    uid: Pattern,
    labels: PairsPattern,
    fields: PairsPattern,
    json: Pattern,
}

/// Names and values with holes in the values.
#[derive(Debug)]
struct PairsPattern {
    marked: Pairs,
    /// Of the values, with a notch at the end of each.
    values: Pattern,
}

/// A text with holes.
#[derive(Debug)]
struct Pattern {
    /// The text between them.
    text: Box<str>,
    /// In the order of the text: up to where it is copied, and what comes then.
    steps: Box<[(usize, Step)]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The value of that hole.
    Fill(u8),
    /// The digits of the revision.
    Version,
    /// Something ends here that is to be found again.
    Notch,
}

// === impl Stencil ===

impl Stencil {
    /// Creates the stencil of a marked object, and of its values for field selectors.
    pub fn new(key: ObjectKey, marked: Value, fields: Pairs) -> Self {
        let prototype = StoredObject::new(key, Revision::FIRST, to_stored(marked), fields);
        let json = prototype.json();
        let text = std::str::from_utf8(&json).expect("JSON is written as UTF-8");
        let (metadata, version) = prototype.places();
        let mut places = holes(text);
        places.push((version, Step::Version));
        places.push((metadata.end..metadata.end, Step::Notch));
        Self {
            uid: Pattern::new(prototype.uid(), holes(prototype.uid())),
            labels: PairsPattern::new(prototype.labels()),
            fields: PairsPattern::new(prototype.fields()),
            json: Pattern::new(text, places),
        }
    }

    /// Creates the object with `values` in its holes, by their numbers. They are copied verbatim: values within strings
    /// must need no escapes.
    pub(super) fn print(
        &self,
        key: ObjectKey,
        revision: Revision,
        values: &[&str],
    ) -> StoredObject {
        let version_text = revision.to_string();
        let mut json = Print::new(values, &version_text);
        json.fill(&self.json);
        let mut uid = Print::new(values, &version_text);
        uid.fill(&self.uid);
        let metadata_end = json.notches.first().copied().unwrap_or_default();
        let header = Header {
            key,
            uid: uid.text.into(),
            labels: LABELS.share(self.labels.print(values)),
            fields: self.fields.print(values),
        };
        let serialized = SerializedObject {
            json: Bytes::from(json.text.into_boxed_str().into_boxed_bytes()),
            metadata_end: metadata_end as usize,
            version_start: json.version_start,
        };
        StoredObject::from_serialized(Arc::new(header), revision, serialized)
    }
}

/// Something that is being printed.
struct Print<'a> {
    values: &'a [&'a str],
    revision: &'a str,
    text: String,
    /// The start of the digits of the revision.
    version_start: usize,
    notches: Vec<u32>,
}

// === impl Print ===

impl<'a> Print<'a> {
    fn new(values: &'a [&'a str], revision: &'a str) -> Self {
        Self {
            values,
            revision,
            text: String::new(),
            version_start: 0,
            notches: Vec::new(),
        }
    }

    fn fill(&mut self, pattern: &Pattern) {
        let added = pattern.steps.iter().map(|(_, step)| match step {
            Step::Fill(hole) => self.values[usize::from(*hole)].len(),
            Step::Version => self.revision.len(),
            Step::Notch => 0,
        });
        self.text
            .reserve_exact(pattern.text.len() + added.sum::<usize>());
        let mut copied = 0;
        for (end, step) in &pattern.steps {
            self.text.push_str(&pattern.text[copied..*end]);
            copied = *end;
            let start = self.text.len();
            match step {
                Step::Fill(hole) => self.text.push_str(self.values[usize::from(*hole)]),
                Step::Version => {
                    self.text.push_str(self.revision);
                    self.version_start = start;
                }
                Step::Notch => {
                    let end = u32::try_from(start).expect("an object is smaller than that");
                    self.notches.push(end);
                }
            }
        }
        self.text.push_str(&pattern.text[copied..]);
    }
}

// === impl Pattern ===

impl Pattern {
    /// The pattern of `text`, without what is at these places.
    fn new(text: &str, mut places: Vec<(Range<usize>, Step)>) -> Self {
        places.sort_by_key(|(place, _)| (place.start, place.end));
        let mut rest = String::with_capacity(text.len());
        let mut copied = 0;
        let mut steps = Vec::with_capacity(places.len());
        for (place, step) in places {
            rest.push_str(&text[copied..place.start]);
            copied = place.end;
            steps.push((rest.len(), step));
        }
        rest.push_str(&text[copied..]);
        Self {
            text: rest.into(),
            steps: steps.into(),
        }
    }
}

// === impl PairsPattern ===

impl PairsPattern {
    fn new(marked: &Pairs) -> Self {
        let (text, ends) = marked.values();
        let mut places = holes(&text);
        places.extend(ends.into_iter().map(|end| {
            let end = end as usize;
            (end..end, Step::Notch)
        }));
        Self {
            marked: marked.clone(),
            values: Pattern::new(&text, places),
        }
    }

    fn print(&self, values: &[&str]) -> Pairs {
        let mut print = Print::new(values, "");
        print.fill(&self.values);
        self.marked.with_values(&print.text, &print.notches)
    }
}

fn mark(first: u32, hole: u8) -> String {
    debug_assert!(hole < HOLES_MAX, "there are not so many holes");
    char::from_u32(first + u32::from(hole))
        .expect("it is a character for private use")
        .to_string()
}

/// Finds the marks in a text, and their placeholders.
fn holes(text: &str) -> Vec<(Range<usize>, Step)> {
    let number = (NUMBER_MARKS / 100).to_string();
    let mut found: Vec<(Range<usize>, Step)> = text
        .match_indices(&number)
        .filter_map(|(at, _)| {
            let digits = at + number.len()..at + number.len() + 2;
            let hole = text.get(digits.clone())?.parse().ok()?;
            Some((at..digits.end, Step::Fill(hole)))
        })
        .collect();
    for (at, c) in text.char_indices() {
        let place = at..at + c.len_utf8();
        let hole = |first: u32| {
            let offset = u32::from(c).checked_sub(first)?;
            u8::try_from(offset).ok().filter(|hole| *hole < HOLES_MAX)
        };
        if let Some(hole) = hole(TEXT_MARKS) {
            found.push((place, Step::Fill(hole)));
        } else if let Some(hole) = hole(RAW_MARKS) {
            // With the quotes around it.
            found.push((place.start - 1..place.end + 1, Step::Fill(hole)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use fakeserver_value::resource::GroupResource;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stencil_prints_the_objects_of_put() {
        let key = |name: &str| ObjectKey::namespaced(GroupResource::new("", "pods"), "n", name);
        let object = |[name, uid, count, list]: [Value; 4]| {
            let at = format!("on {}", name.as_str().unwrap());
            json!({
                "metadata": {
                    "name": name,
                    "uid": uid,
                    "labels": {"a": "x", "of": name, "z": uid},
                    "annotations": {"at": at},
                },
                "spec": {"count": count, "list": list},
                "status": {"name": name},
            })
        };
        let marked = object([
            text_hole(0).into(),
            text_hole(1).into(),
            number_hole(2).into(),
            raw_hole(3).into(),
        ]);
        let fields = |name: &str| Pairs::from_iter([("metadata.name", name), ("other", "")]);
        let stencil = Stencil::new(key("p"), marked, fields(&text_hole(0)));
        for (revision, name, uid, count, list) in [
            (9, "a", "u", "0", "[]"),
            (1_234_567, "a-long-name", "", "-12", r#"[{"b":"c"}]"#),
        ] {
            let revision = Revision::new(revision);
            let printed = stencil.print(key(name), revision, &[name, uid, count, list]);
            let value = |text: &str| serde_json::from_str(text).unwrap();
            let values = [name.into(), uid.into(), value(count), value(list)];
            let put = StoredObject::new(key(name), revision, object(values), fields(name));
            assert_eq!(format!("{printed:?}"), format!("{put:?}"));
            assert_eq!(printed.around_version(), put.around_version());
            assert_eq!(printed.metadata_json(), put.metadata_json());
        }
    }
}
