//! Finds the parts of an object that are read on arrival, in JSON that was checked, without reading the rest.

use memchr::memchr2;

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
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline<'a> {
    pub(super) api_version: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
    pub(super) metadata: Option<&'a str>,
}

/// The outline of the object that `json` is, which must be valid JSON; `None` where that takes more than a look: for what is
/// not an object, has a part twice, or escapes in a key.
pub(super) fn outline(json: &str) -> Option<Outline<'_>> {
    let mut found = Outline::default();
    let mut scan = Scan {
        bytes: json.as_bytes(),
        at: 0,
    };
    scan.expect(b'{')?;
    if scan.peek()? == b'}' {
        return Some(found);
    }
    loop {
        let key = scan.plain_key()?;
        scan.expect(b':')?;
        scan.skip_spaces();
        let begin = scan.at;
        scan.skip_value()?;
        let value = json.get(begin..scan.at)?;
        let part = match key {
            b"apiVersion" => Some(&mut found.api_version),
            b"kind" => Some(&mut found.kind),
            b"metadata" => Some(&mut found.metadata),
            _ => None,
        };
        if part.is_some_and(|part| part.replace(value).is_some()) {
            return None;
        }
        match scan.next()? {
            b',' => {}
            b'}' => return Some(found),
            _ => return None,
        }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

// === impl Scan ===

impl<'a> Scan<'a> {
    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_spaces();
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn plain_key(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let begin = self.at;
        loop {
            match self.bytes.get(self.at)? {
                b'\\' => return None,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        let key = &self.bytes[begin..self.at];
        self.at += 1;
        Some(key)
    }

    /// Goes behind the value that begins here.
    fn skip_value(&mut self) -> Option<()> {
        match self.bytes.get(self.at)? {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let rest = &self.bytes[self.at..];
            self.at += rest.iter().position(|byte| NESTS[usize::from(*byte)])?;
            match self.bytes[self.at] {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let step = memchr2(b'"', b'\\', rest)?;
            let is_end = rest[step] == b'"';
            self.at += step + if is_end { 1 } else { 2 };
            if is_end {
                return Some(());
            }
        }
    }

    fn skip_scalar(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
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
            r#" { "kind" : "Pod" ,"spec":{"metadata":"}\"{","a":[1,{"b":[]}]},"metadata":{"name":"x"} , "n":-1.5e3 }"#,
        );
        let expected = Outline {
            api_version: None,
            kind: Some(r#""Pod""#),
            metadata: Some(r#"{"name":"x"}"#),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(outline("{}"), Some(Outline::default()));
    }

    #[test]
    fn what_takes_more_than_a_look_is_left_to_others() {
        for json in [
            "[]",
            "null",
            r#"{"kind":"a","kind":"b"}"#,
            r#"{"kin\u0064":"a"}"#,
        ] {
            assert_eq!(outline(json), None, "{json}");
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

    proptest! {
        #[test]
        fn parts_are_what_a_parser_finds(
            values in prop::collection::vec(any_json(), 5),
            is_pretty in any::<bool>(),
        ) {
            let [a, metadata, b, kind, c] = &values[..] else { unreachable!() };
            let object = json!({"a": a, "metadata": metadata, "b": b, "kind": kind, "z": c});
            let json = if is_pretty {
                serde_json::to_string_pretty(&object)
            } else {
                serde_json::to_string(&object)
            };
            let json = json.unwrap();
            let found = outline(&json).unwrap();
            prop_assert_eq!(found.api_version, None);
            let read = |json: Option<&str>| serde_json::from_str::<Value>(json.unwrap()).unwrap();
            prop_assert_eq!(&read(found.metadata), metadata);
            prop_assert_eq!(&read(found.kind), kind);
        }
    }
}
