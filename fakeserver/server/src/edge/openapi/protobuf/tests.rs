use std::collections::BTreeSet;

use fakeserver_kinds::registry::Registry;
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    encode,
    message::{Kind, Message},
    v2, v3,
};
use crate::edge::openapi::{
    definitions::Dialect, documents::subjects, v2::document as document_v2,
    v3::document as document_v3,
};

/// A field of a message that holds bytes.
fn block(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
    block.extend_from_slice(bytes);
    block
}

/// The same for numbers above 15 and below 32.
fn high_block(number: u8, bytes: &[u8]) -> Vec<u8> {
    let key = u16::from(number) << 3 | 2;
    let mut block = vec![
        u8::try_from(key & 0x7f).unwrap() | 0x80,
        u8::try_from(key >> 7).unwrap(),
    ];
    block.push(u8::try_from(bytes.len()).unwrap());
    block.extend_from_slice(bytes);
    block
}

#[test]
fn a_document_of_version_2_is_written_field_by_field() {
    let document = json!({
        "swagger": "2.0",
        "definitions": {"a.B": {"type": "object", "x-y": [1]}},
    });
    let kind = high_block(22, &block(1, b"object"));
    let any = block(2, b"[1]\n");
    let extension = high_block(31, &[block(1, b"x-y"), block(2, &any)].concat());
    let schema = [kind, extension].concat();
    let named = [block(1, b"a.B"), block(2, &schema)].concat();
    let expected = [block(1, b"2.0"), block(9, &block(1, &named))].concat();
    assert_eq!(encode(Dialect::V2, &document), expected);
}

#[test]
fn a_document_of_version_3_tells_references_from_schemas() {
    let document = json!({
        "openapi": "3.0.0",
        "components": {"schemas": {
            "R": {"$ref": "#/r"},
            "S": {"type": "string", "default": ""},
        }},
    });
    let reference = block(2, &block(1, b"#/r"));
    let one = [block(1, b"R"), block(2, &reference)].concat();
    // A default is encoded even if it is empty; its field number takes two bytes.
    let default = [&[0x8a, 0x02, 0x02][..], &block(3, b"")].concat();
    let schema = block(1, &[high_block(25, b"string"), default].concat());
    let other = [block(1, b"S"), block(2, &schema)].concat();
    let schemas = [block(1, &one), block(1, &other)].concat();
    let expected = [block(1, b"3.0.0"), block(5, &block(1, &schemas))].concat();
    assert_eq!(encode(Dialect::V3, &document), expected);
}

/// The members that the tables do not know, and are lost.
fn lost(message: &Message, value: &Value, found: &mut BTreeSet<String>) {
    let members = || value.as_object().into_iter().flatten();
    match message {
        Message::Struct { fields, .. } => {
            for (name, member) in members().filter(|(name, _)| !name.starts_with("x-")) {
                match fields.iter().find(|(field, ..)| field == name) {
                    Some((_, _, kind)) => lost_in(*kind, member, found),
                    None => {
                        found.insert(name.clone());
                    }
                }
            }
        }
        Message::Pairs { value, .. } => {
            members().for_each(|(_, member)| lost_in(*value, member, found));
        }
        Message::Wrapped(_, kind) => lost_in(*kind, value, found),
        Message::Choice(choose) => {
            if let Some((_, kind)) = choose(value) {
                lost_in(kind, value, found);
            }
        }
    }
}

fn lost_in(kind: Kind, value: &Value, found: &mut BTreeSet<String>) {
    let fits = match kind {
        Kind::Text => value.is_string(),
        Kind::Flag => value.is_boolean(),
        Kind::Integer => value.is_i64(),
        Kind::Double => value.is_number(),
        Kind::Any => true,
        Kind::One(message) => {
            lost(message, value, found);
            true
        }
        Kind::Many(kind) => {
            let items = value.as_array().into_iter().flatten();
            items.for_each(|item| lost_in(*kind, item, found));
            value.is_array()
        }
    };
    if !fits {
        found.insert(value.to_string());
    }
}

#[test]
fn nothing_of_a_document_is_lost() {
    let registry = Registry::builtin(KubernetesVersion::DEFAULT);
    let mut found = BTreeSet::new();
    lost(&v2::DOCUMENT, &document_v2(&registry), &mut found);
    for subject in subjects(&registry) {
        lost(&v3::DOCUMENT, &document_v3(&registry, &subject), &mut found);
    }
    assert_eq!(found, BTreeSet::new());
}

#[test]
fn the_numbers_of_a_message_are_distinct() {
    for message in [&v2::DOCUMENT, &v3::DOCUMENT] {
        let mut open = vec![message];
        let mut seen: Vec<*const Message> = Vec::new();
        while let Some(message) = open.pop() {
            let Message::Struct { fields, extensions } = message else {
                continue;
            };
            if seen.contains(&std::ptr::from_ref(message)) {
                continue;
            }
            seen.push(message);
            let numbers: BTreeSet<u32> = fields.iter().map(|(_, number, _)| *number).collect();
            assert_eq!(numbers.len(), fields.len());
            assert!(!numbers.contains(extensions));
            for (_, _, kind) in *fields {
                if let Kind::One(inner) = kind {
                    open.push(inner);
                }
            }
        }
    }
}
