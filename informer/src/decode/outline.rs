//! Finds the parts of an object that are read on arrival, without reading the rest or checking it; and measures its arrays.

use memchr::memchr2;

use crate::serde_layer::{ArrayLength, Lengths};

/// Which bytes begin or end what is nested, or hide that.
pub(super) const NESTS: [bool; 256] = {
    let mut nests = [false; 256];
    nests[b'"' as usize] = true;
    nests[b'{' as usize] = true;
    nests[b'}' as usize] = true;
    nests[b'[' as usize] = true;
    nests[b']' as usize] = true;
    nests
};

/// The JSON of the parts of an object; `None` for a part that is not there.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    pub(super) api_version: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
    pub(super) metadata: MetadataOutline<'a>,
    pub(super) lengths: Lengths,
}

/// The same of its metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MetadataOutline<'a> {
    pub(super) namespace: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) uid: Option<&'a str>,
    pub(super) resource_version: Option<&'a str>,
    pub(super) labels: Option<&'a str>,
    pub(super) owner_references: Option<&'a str>,
    pub(super) deletion_timestamp: Option<&'a str>,
}

struct Scan<'a> {
    json: &'a str,
    at: usize,
    /// Of each nested value that has begun, the array that it is; an object is none.
    open: Vec<Option<usize>>,
    arrays: Vec<ArrayLength>,
}

/// The outline of the object that `json` is; `None` if a scan does not suffice: if it is not an object, has a part
/// twice, or escapes in a key. What is not JSON may have an outline all the same.
pub(super) fn outline(json: &str) -> Option<Outline<'_>> {
    let mut found = Outline::default();
    let mut scan = Scan {
        json,
        at: 0,
        open: Vec::new(),
        arrays: Vec::new(),
    };
    let mut has_metadata = false;
    scan.members(|scan, key| {
        let part = match key {
            "apiVersion" => &mut found.api_version,
            "kind" => &mut found.kind,
            "metadata" => {
                found.metadata = scan.metadata()?;
                return (!std::mem::replace(&mut has_metadata, true)).then_some(());
            }
            _ => return scan.value().map(drop),
        };
        scan.part(part)
    })?;
    scan.skip_spaces();
    found.lengths = Lengths::new(json, scan.arrays);
    (scan.at == json.len()).then_some(found)
}

// === impl Scan ===

impl<'a> Scan<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.json.as_bytes()
    }

    fn metadata(&mut self) -> Option<MetadataOutline<'a>> {
        let mut found = MetadataOutline::default();
        self.members(|scan, key| {
            let part = match key {
                "namespace" => &mut found.namespace,
                "name" => &mut found.name,
                "uid" => &mut found.uid,
                "resourceVersion" => &mut found.resource_version,
                "labels" => &mut found.labels,
                "ownerReferences" => &mut found.owner_references,
                "deletionTimestamp" => &mut found.deletion_timestamp,
                _ => return scan.value().map(drop),
            };
            scan.part(part)
        })?;
        Some(found)
    }

    /// Goes through an object that is not empty; `member` goes behind the value of each key.
    fn members(&mut self, mut member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let key = self.plain_key()?;
            self.expect(b':')?;
            member(self, key)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// The value that begins here, as a part that was not there before.
    fn part(&mut self, part: &mut Option<&'a str>) -> Option<()> {
        let before = part.replace(self.value()?);
        before.is_none().then_some(())
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes().get(self.at) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        self.skip_spaces();
        let next = self.bytes().get(self.at).copied()?;
        self.at += 1;
        Some(next)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn plain_key(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let begin = self.at;
        loop {
            match self.bytes().get(self.at)? {
                b'\\' => return None,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        let key = self.json.get(begin..self.at);
        self.at += 1;
        key
    }

    /// The value that begins here, which is then behind.
    fn value(&mut self) -> Option<&'a str> {
        self.skip_spaces();
        let begin = self.at;
        match self.bytes().get(self.at)? {
            b'"' => self.skip_string()?,
            b'{' | b'[' => self.skip_nested()?,
            _ => self.skip_scalar()?,
        }
        self.json.get(begin..self.at)
    }

    fn skip_nested(&mut self) -> Option<()> {
        let outside = self.open.len();
        loop {
            let rest = self.bytes().get(self.at..)?;
            let step = rest.iter().position(|byte| NESTS[usize::from(*byte)])?;
            self.at += step;
            match rest[step] {
                b'"' => {
                    self.count();
                    self.skip_string()?;
                    continue;
                }
                b'{' => {
                    self.count();
                    self.open.push(None);
                }
                b'[' => {
                    self.count();
                    self.open.push(Some(self.arrays.len()));
                    let begin = self.at;
                    self.arrays.push(ArrayLength { begin, len: 0 });
                }
                _ => drop(self.open.pop()?),
            }
            self.at += 1;
            if self.open.len() == outside {
                return Some(());
            }
        }
    }

    /// Counts what begins here, if it is an element of an array.
    fn count(&mut self) {
        if let Some(Some(array)) = self.open.last() {
            self.arrays[*array].len += 1;
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.bytes().get(self.at..)?;
            let step = memchr2(b'"', b'\\', rest)?;
            let is_end = rest[step] == b'"';
            self.at += step + if is_end { 1 } else { 2 };
            if is_end {
                return Some(());
            }
        }
    }

    fn skip_scalar(&mut self) -> Option<()> {
        let rest = self.bytes().get(self.at..)?;
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
        self.at += rest.iter().position(is_end)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn parts_are_found_wherever_they_are() {
        let found = outline(
            r#" { "kind" : "Pod" ,"spec":{"metadata":"}\"{","a":[1,{"b":[]}]},"metadata":{"uid":null , "name":"x"} , "n":-1.5e3 } "#,
        );
        let found = found.unwrap();
        assert_eq!((found.api_version, found.kind), (None, Some(r#""Pod""#)));
        let metadata = MetadataOutline {
            uid: Some("null"),
            name: Some(r#""x""#),
            ..MetadataOutline::default()
        };
        assert_eq!(found.metadata, metadata);
        assert_eq!(found.lengths.arrays(), [1, 0]);
    }

    #[test]
    fn complex_input_is_left_to_the_full_parser() {
        for json in [
            "[]",
            "{}",
            "null",
            r#"{"kind":"a","kind":"b"}"#,
            r#"{"kin\u0064":"a"}"#,
            r#"{"metadata":null}"#,
            r#"{"metadata":{"name":"a","name":"b"}}"#,
            r#"{"metadata":{"name":"a"},"metadata":{"name":"b"}}"#,
            r#"{"kind":"a"} {}"#,
            r#"{"kind":"a""#,
            r#"{"kind":]}"#,
        ] {
            assert!(outline(json).is_none(), "{json}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[\"\\\\{}\\[\\],: a\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Collects the number of strings and nested values of each array, in the order in which they begin.
    fn lengths_in(value: &Value, found: &mut Vec<usize>) {
        if let Value::Array(elements) = value {
            let are_counted = elements
                .iter()
                .filter(|element| element.is_string() || element.is_array() || element.is_object());
            found.push(are_counted.count());
            for element in elements {
                lengths_in(element, found);
            }
        } else if let Value::Object(members) = value {
            for value in members.values() {
                lengths_in(value, found);
            }
        }
    }

    proptest! {
        #[test]
        fn parts_are_what_a_parser_finds(
            values in prop::collection::vec(any_json(), 7),
            is_pretty in any::<bool>(),
        ) {
            let [a, labels, name, owners, b, kind, c] = &values[..] else { unreachable!() };
            let metadata = json!({"labels": labels, "managedFields": a, "name": name, "ownerReferences": owners});
            let object = json!({"a": a, "metadata": metadata, "b": b, "kind": kind, "z": c});
            let json = if is_pretty {
                serde_json::to_string_pretty(&object)
            } else {
                serde_json::to_string(&object)
            };
            let json = json.unwrap();
            let found = outline(&json).unwrap();
            prop_assert_eq!((found.api_version, found.metadata.uid), (None, None));
            let read = |json: Option<&str>| serde_json::from_str::<Value>(json.unwrap()).unwrap();
            prop_assert_eq!(&read(found.kind), kind);
            prop_assert_eq!(&read(found.metadata.labels), labels);
            prop_assert_eq!(&read(found.metadata.name), name);
            prop_assert_eq!(&read(found.metadata.owner_references), owners);
            let mut lengths = Vec::new();
            lengths_in(&object, &mut lengths);
            prop_assert_eq!(found.lengths.arrays(), lengths);
        }

        #[test]
        fn no_text_makes_it_panic(text in "(\\{\"(kind|metadata)\": ?)?[\"\\\\{}\\[\\],: 1aé\n]{0,24}") {
            drop(outline(&text));
        }
    }
}
