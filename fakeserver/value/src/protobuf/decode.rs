//! Protobuf into JSON, by the table of Go types.

use serde_json::{Map, Value, json};

use super::{
    envelope,
    error::ProtobufError,
    forms,
    reader::{FieldContext, Reader, Tag, VALUES_MAX},
};
use crate::{
    json::OBJECT_DEPTH_MAX,
    schema::{Field, FieldValue, Form, Shape, TypeId, TypeTable, encode_base64, print_double},
};

/// Reads one message, as it was written: nothing is filled in.
pub(super) fn message(
    id: TypeId,
    reader: Reader<'_>,
    depth: usize,
) -> Result<Value, ProtobufError> {
    let mut decoder = Decoder {
        table: id.table(),
        depth,
        values: 0,
    };
    decoder.message(id, None, reader)
}

struct Decoder {
    table: &'static TypeTable,
    /// The current nesting depth.
    depth: usize,
    /// The number of values read so far.
    values: usize,
}

// === impl Decoder ===

impl Decoder {
    /// Reads a message into the value that was read before: protobuf merges repeated occurrences of a message.
    fn message(
        &mut self,
        id: TypeId,
        before: Option<Value>,
        reader: Reader<'_>,
    ) -> Result<Value, ProtobufError> {
        let form = self.table.get(id).form;
        match form {
            Form::RawExtension | Form::RawJson => return self.raw(id, reader),
            Form::Struct => {}
            _ => {
                let mut fields = Map::new();
                self.fields(id, &mut fields, reader)?;
                let place = FieldContext {
                    message: &self.table.get(id).name,
                    field: "",
                };
                return forms::fold(form, fields).map_err(|what| reader.malformed(place, &what));
            }
        }
        let mut fields = match before {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        self.fields(id, &mut fields, reader)?;
        Ok(fields.into())
    }

    fn fields(
        &mut self,
        id: TypeId,
        out: &mut Map<String, Value>,
        mut reader: Reader<'_>,
    ) -> Result<(), ProtobufError> {
        let ty = self.table.get(id);
        while !reader.is_empty() {
            self.values += 1;
            if self.values > VALUES_MAX {
                return Err(ProtobufError::TooLarge {
                    values_max: VALUES_MAX,
                });
            }
            let tag = reader.tag(&ty.name)?;
            let Some(field) = ty.wire_field(tag.number) else {
                reader.skip(tag, &ty.name)?;
                continue;
            };
            let place = FieldContext {
                message: &ty.name,
                field: &field.name,
            };
            match (field.shape, field.value) {
                (Shape::Single, FieldValue::Message(inner)) if field.inline => {
                    let block = reader.block(tag, place)?;
                    self.nested(place, block, |decoder| decoder.fields(inner, out, block))?;
                }
                (Shape::Single, _) => {
                    let before = out.remove(&field.name);
                    let value = self.value(field, tag, before, &mut reader, place)?;
                    out.insert(field.name.clone(), value);
                }
                (Shape::Repeated, _) => self.repeated(field, tag, out, &mut reader, place)?,
                (Shape::Map, _) => self.entry(field, tag, out, &mut reader, place)?,
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        field: &Field,
        tag: Tag,
        before: Option<Value>,
        reader: &mut Reader<'_>,
        place: FieldContext<'_>,
    ) -> Result<Value, ProtobufError> {
        match field.value {
            FieldValue::Message(id) => {
                let block = reader.block(tag, place)?;
                self.nested(place, block, |decoder| decoder.message(id, before, block))
            }
            FieldValue::String => {
                let block = reader.block(tag, place)?;
                Ok(json!(String::from_utf8_lossy(block.bytes())))
            }
            FieldValue::Bytes => {
                let block = reader.block(tag, place)?;
                Ok(json!(encode_base64(block.bytes())))
            }
            FieldValue::Double => Ok(print_double(reader.double(tag, place)?)),
            FieldValue::Bool | FieldValue::Int32 | FieldValue::Int64 => {
                Ok(integer(field.value, reader.varint(tag, place)?))
            }
        }
    }

    /// One item of a list, or several if they are packed.
    fn repeated(
        &mut self,
        field: &Field,
        tag: Tag,
        out: &mut Map<String, Value>,
        reader: &mut Reader<'_>,
        place: FieldContext<'_>,
    ) -> Result<(), ProtobufError> {
        let is_number = matches!(
            field.value,
            FieldValue::Bool | FieldValue::Int32 | FieldValue::Int64 | FieldValue::Double
        );
        let mut items = Vec::new();
        if is_number && tag.wire_type == prost::encoding::WireType::LengthDelimited {
            let mut packed = reader.block(tag, place)?;
            while !packed.is_empty() {
                self.values += 1;
                items.push(match field.value {
                    FieldValue::Double => print_double(packed.bare_double(place)?),
                    kind => integer(kind, packed.bare_varint(place)?),
                });
            }
        } else {
            items.push(self.value(field, tag, None, reader, place)?);
        }
        let list = out.entry(&field.name).or_insert_with(|| json!([]));
        list.as_array_mut()
            .expect("only this puts lists here")
            .extend(items);
        Ok(())
    }

    /// One entry of a map: a message of a key and a value, either of which may be left out.
    fn entry(
        &mut self,
        field: &Field,
        tag: Tag,
        out: &mut Map<String, Value>,
        reader: &mut Reader<'_>,
        place: FieldContext<'_>,
    ) -> Result<(), ProtobufError> {
        let mut block = reader.block(tag, place)?;
        let mut key = String::new();
        let mut value = None;
        while !block.is_empty() {
            let tag = block.tag(place.message)?;
            match tag.number {
                1 => key = String::from_utf8_lossy(block.block(tag, place)?.bytes()).into_owned(),
                2 => value = Some(self.value(field, tag, None, &mut block, place)?),
                _ => block.skip(tag, place.message)?,
            }
        }
        let value = match value {
            Some(value) => value,
            None => self.absent(field, block)?,
        };
        let map = out.entry(&field.name).or_insert_with(|| json!({}));
        map.as_object_mut()
            .expect("only this puts maps here")
            .insert(key, value);
        Ok(())
    }

    /// A value that is left out, and is an empty one. `end` is where it would be.
    fn absent(&mut self, field: &Field, end: Reader<'_>) -> Result<Value, ProtobufError> {
        Ok(match field.value {
            FieldValue::Message(id) => self.message(id, None, end)?,
            FieldValue::String | FieldValue::Bytes => json!(""),
            FieldValue::Double => print_double(0.0),
            kind => integer(kind, 0),
        })
    }

    /// JSON, or another object in protobuf, that is held as bytes.
    fn raw(&mut self, id: TypeId, mut reader: Reader<'_>) -> Result<Value, ProtobufError> {
        let ty = self.table.get(id);
        let mut value = Value::Null;
        while !reader.is_empty() {
            let tag = reader.tag(&ty.name)?;
            if tag.number != 1 {
                reader.skip(tag, &ty.name)?;
                continue;
            }
            let place = FieldContext {
                message: &ty.name,
                field: "raw",
            };
            let block = reader.block(tag, place)?;
            value = match block.bytes() {
                [] => Value::Null,
                bytes if bytes.starts_with(&envelope::PREFIX) => {
                    self.nested(place, block, |decoder| {
                        envelope::decode(self.table.kubernetes(), block, None, decoder.depth)
                    })?
                }
                bytes => serde_json::from_slice(bytes)
                    .map_err(|error| block.malformed(place, &format!("no json: {error}")))?,
            };
        }
        Ok(value)
    }

    fn nested<T>(
        &mut self,
        place: FieldContext<'_>,
        block: Reader<'_>,
        read: impl FnOnce(&mut Self) -> Result<T, ProtobufError>,
    ) -> Result<T, ProtobufError> {
        if self.depth >= OBJECT_DEPTH_MAX {
            return Err(ProtobufError::TooDeep {
                message: place.message.to_owned(),
                field: place.field.to_owned(),
                offset: block.offset(),
            });
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// Returns the number of a varint, truncated to its size as in Go.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "protobuf writes negative numbers as their two's complement"
)]
fn integer(kind: FieldValue, bits: u64) -> Value {
    match kind {
        FieldValue::Bool => json!(bits != 0),
        FieldValue::Int32 => json!(bits as i32),
        _ => json!(bits as i64),
    }
}
