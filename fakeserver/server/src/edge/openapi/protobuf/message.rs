//! Encoding of JSON as protobuf, driven by tables.

use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Map, Value};

/// The message that a value of JSON is written as.
pub(super) enum Message {
    /// An object with known members. Members whose names begin with `x-` are extensions: pairs in the last field.
    Struct {
        fields: &'static [Field],
        extensions: u32,
    },
    /// An object with any members: a field of pairs, each a name and a value.
    Pairs { number: u32, value: Kind },
    /// A message with one field, which is the value.
    Wrapped(u32, Kind),
    /// A message of which one field is there, depending on the value. It is written even if it is zero.
    Choice(fn(&Value) -> Option<(u32, Kind)>),
}

/// A member of an object, the number of its field, and what it is.
pub(super) type Field = (&'static str, u32, Kind);

/// The kind of a field.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Flag,
    Integer,
    Double,
    /// Any value, as YAML in a message of its own.
    Any,
    One(&'static Message),
    /// The items of an array.
    Many(&'static Kind),
}

/// The field of `Any` that holds a value as YAML.
const YAML: u32 = 2;
/// The fields of a pair.
const NAME: u32 = 1;
const VALUE: u32 = 2;

/// `value` as a message, without a length before it.
pub(super) fn encode(message: &Message, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    message.put(value, &mut out);
    out
}

// === impl Message ===

impl Message {
    fn put(&self, value: &Value, out: &mut Vec<u8>) {
        let empty = Map::new();
        let members = value.as_object().unwrap_or(&empty);
        match self {
            Self::Struct { fields, extensions } => {
                for (name, number, kind) in *fields {
                    // A zero scalar is not written: absence means zero.
                    let is_written = |member: &&Value| kind.is_message() || !is_zero(member);
                    if let Some(member) = members.get(*name).filter(is_written) {
                        kind.put(*number, member, out);
                    }
                }
                for (name, member) in members.iter().filter(|(name, _)| name.starts_with("x-")) {
                    put_pair(*extensions, name, Kind::Any, member, out);
                }
            }
            Self::Pairs { number, value } => {
                for (name, member) in members {
                    put_pair(*number, name, *value, member, out);
                }
            }
            Self::Wrapped(number, kind) => kind.put(*number, value, out),
            Self::Choice(choose) => {
                if let Some((number, kind)) = choose(value) {
                    kind.put(number, value, out);
                }
            }
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn put_pair(number: u32, name: &str, kind: Kind, value: &Value, out: &mut Vec<u8>) {
    let mut pair = Vec::new();
    put_block(NAME, name.as_bytes(), &mut pair);
    kind.put(VALUE, value, &mut pair);
    put_block(number, &pair, out);
}

fn put_block(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

// === impl Kind ===

impl Kind {
    fn is_message(self) -> bool {
        matches!(self, Self::Any | Self::One(_))
    }

    /// Writes a field. A value of another type than that of the field is left out.
    fn put(self, number: u32, value: &Value, out: &mut Vec<u8>) {
        match self {
            Self::Text => {
                if let Some(text) = value.as_str() {
                    put_block(number, text.as_bytes(), out);
                }
            }
            Self::Flag => {
                if let Some(flag) = value.as_bool() {
                    encode_key(number, WireType::Varint, out);
                    encode_varint(u64::from(flag), out);
                }
            }
            Self::Integer => {
                if let Some(integer) = value.as_i64() {
                    encode_key(number, WireType::Varint, out);
                    encode_varint(integer.cast_unsigned(), out);
                }
            }
            Self::Double => {
                if let Some(double) = value.as_f64() {
                    encode_key(number, WireType::SixtyFourBit, out);
                    out.extend_from_slice(&double.to_le_bytes());
                }
            }
            Self::Any => {
                let mut any = Vec::new();
                put_block(YAML, format!("{value}\n").as_bytes(), &mut any);
                put_block(number, &any, out);
            }
            Self::One(message) => put_block(number, &encode(message, value), out),
            Self::Many(kind) => {
                for item in value.as_array().into_iter().flatten() {
                    kind.put(number, item, out);
                }
            }
        }
    }
}
