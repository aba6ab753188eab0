//! Draws values of any type of the table, for property tests.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde_json::{Map, Value, json};

use super::{
    canonical, encode_base64,
    types::{Field, FieldValue, Form, Shape, TypeId},
};

/// Deeper structs are empty. Each type is drawn as a root, too; JSON schemas, which hold one another in many fields, would
/// have millions of parts seven structs deep.
const DEPTH_MAX: u32 = 5;

/// A value of a type, as the API server prints it; the same seed gives the same value.
pub fn arbitrary(id: TypeId, seed: u64) -> Value {
    let mut source = Source {
        generator: ChaCha8Rng::seed_from_u64(seed),
    };
    canonical(id.table(), id, source.message(id, 0))
}

struct Source {
    generator: ChaCha8Rng,
}

// === impl Source ===

impl Source {
    fn message(&mut self, id: TypeId, depth: u32) -> Value {
        match id.table().get(id).form {
            Form::Struct => self.object(id, depth).into(),
            Form::Time => {
                let (day, hour) = (self.upto(27) + 1, self.upto(23));
                json!(format!(
                    "19{}-02-{day:02}T{hour:02}:05:06Z",
                    69 + self.upto(30)
                ))
            }
            Form::MicroTime => {
                let micros = self.upto(999_999);
                json!(format!(
                    "19{}-12-31T23:59:59.{micros:06}Z",
                    69 + self.upto(30)
                ))
            }
            Form::Quantity => {
                json!(["0", "1", "500m", "1Gi", "-3k", "1e3", "7n", "1025Ki"][self.upto(7)])
            }
            Form::IntOrString => match self.upto(2) {
                0 => json!(0),
                1 => json!(self.int32()),
                _ => json!(["", "25%", "http"][self.upto(2)]),
            },
            Form::RawExtension | Form::RawJson => {
                json!({"f:a": {"k:{\"b\":1}": [true, null, 1.5, self.text()]}, "kind": "X"})
            }
            Form::StringList => (0..=self.upto(2)).map(|_| self.text()).collect(),
            Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray => {
                self.schema(id, depth)
            }
        }
    }

    fn object(&mut self, id: TypeId, depth: u32) -> Map<String, Value> {
        let mut out = Map::new();
        for field in id.table().json_fields(id) {
            if self.upto(DEPTH_MAX as usize - 1) >= depth as usize {
                let value = match field.shape {
                    Shape::Single => self.element(field, depth),
                    Shape::Repeated => (0..self.upto(3))
                        .map(|_| self.element(field, depth))
                        .collect(),
                    Shape::Map => {
                        let entries =
                            (0..self.upto(3)).map(|_| (self.text(), self.element(field, depth)));
                        Value::Object(entries.collect())
                    }
                };
                out.insert(field.name.clone(), value);
            }
        }
        out
    }

    fn element(&mut self, field: &Field, depth: u32) -> Value {
        match field.value {
            FieldValue::Message(id) => self.message(id, depth + 1),
            FieldValue::String => json!(self.text()),
            FieldValue::Bool => json!(self.upto(1) == 1),
            FieldValue::Int32 => json!(self.int32()),
            FieldValue::Int64 => {
                json!([0, -1, i64::MIN, i64::MAX, 1_234_567_890_123][self.upto(4)])
            }
            FieldValue::Double => {
                json!([json!(0), json!(-3), json!(0.25), json!(1e300)][self.upto(3)])
            }
            FieldValue::Bytes => json!(encode_base64(self.text().as_bytes())),
        }
    }

    /// Generates a JSON schema, or one of the other types that may stand in its place.
    fn schema(&mut self, id: TypeId, depth: u32) -> Value {
        let schema = id.table().field(id, "schema").map(|field| field.value);
        let Some(FieldValue::Message(schema)) = schema else {
            unreachable!("these types have a schema");
        };
        match (id.table().get(id).form, self.upto(1)) {
            (_, 0) => self.message(schema, depth + 1),
            (Form::SchemaOrBool, _) => json!(self.upto(1) == 1),
            (Form::SchemaOrStringArray, _) => json!([self.text(), self.text()]),
            _ => json!([self.message(schema, depth + 1), {}]),
        }
    }

    fn int32(&mut self) -> i32 {
        [0, 1, -1, 80, i32::MIN, i32::MAX][self.upto(5)]
    }

    fn text(&mut self) -> String {
        ["", "a", "b", "c", "x/y.z", "ünï\n\"", "\u{0}", "k8s\u{0}"][self.upto(7)].to_owned()
    }

    fn upto(&mut self, most: usize) -> usize {
        self.generator.random_range(0..=most)
    }
}
