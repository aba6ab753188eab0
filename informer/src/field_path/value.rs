//! Reads a Rust value by a path, as it would be written out: only what is on the path is asked for.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::{ReadFieldError, Step, after_element, after_key};

type Outcome = Result<(), ReadFieldError>;

/// A value to which `steps` are left.
pub(super) struct Walk<'a> {
    steps: &'a [Step],
    found: &'a mut Vec<Arc<str>>,
}

/// The elements of a list; `None` if the path does not lead to it.
pub(super) struct WalkList<'a> {
    steps: Option<&'a [Step]>,
    found: &'a mut Vec<Arc<str>>,
}

/// The fields of a map; `None` if the path does not lead to it.
pub(super) struct WalkMap<'a> {
    steps: Option<&'a [Step]>,
    found: &'a mut Vec<Arc<str>>,
    /// The steps that are left after the last key.
    rest: Option<&'a [Step]>,
}

/// Prints what a map has for a key.
struct KeyText<'a, T: ?Sized>(&'a T);

/// Compares what is printed, without keeping it.
struct Comparison<'a> {
    left: &'a str,
    is_equal: bool,
}

// === impl Walk ===

impl<'a> Walk<'a> {
    pub(super) fn new(steps: &'a [Step], found: &'a mut Vec<Arc<str>>) -> Self {
        Self { steps, found }
    }

    fn text(self, text: impl fmt::Display) {
        if self.steps.is_empty() {
            self.found.push(text.to_string().into());
        }
    }

    fn list(self) -> WalkList<'a> {
        WalkList {
            steps: Some(after_element(self.steps)),
            found: self.found,
        }
    }

    fn map(self) -> WalkMap<'a> {
        WalkMap {
            steps: Some(self.steps),
            found: self.found,
            rest: None,
        }
    }
}

/// Numbers and bools, as they are printed.
macro_rules! texts {
    ($($method:ident: $type:ty),+ $(,)?) => {
        $(fn $method(self, value: $type) -> Outcome {
            self.text(value);
            Ok(())
        })+
    };
}

impl<'a> Serializer for Walk<'a> {
    type Ok = ();
    type Error = ReadFieldError;
    type SerializeSeq = WalkList<'a>;
    type SerializeTuple = WalkList<'a>;
    type SerializeTupleStruct = WalkList<'a>;
    type SerializeTupleVariant = WalkList<'a>;
    type SerializeMap = WalkMap<'a>;
    type SerializeStruct = WalkMap<'a>;
    type SerializeStructVariant = WalkMap<'a>;

    texts! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
    }

    /// JSON has no such thing.
    fn serialize_bytes(self, _value: &[u8]) -> Outcome {
        Ok(())
    }

    fn serialize_none(self) -> Outcome {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Outcome {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Outcome {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Outcome {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Outcome {
        self.text(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Outcome {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Outcome {
        match after_key(self.steps, variant) {
            Some(rest) => value.serialize(Walk::new(rest, self.found)),
            None => Ok(()),
        }
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<WalkList<'a>, ReadFieldError> {
        Ok(self.list())
    }

    fn serialize_tuple(self, _len: usize) -> Result<WalkList<'a>, ReadFieldError> {
        Ok(self.list())
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<WalkList<'a>, ReadFieldError> {
        Ok(self.list())
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<WalkList<'a>, ReadFieldError> {
        Ok(WalkList {
            steps: after_key(self.steps, variant).map(after_element),
            found: self.found,
        })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<WalkMap<'a>, ReadFieldError> {
        Ok(self.map())
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<WalkMap<'a>, ReadFieldError> {
        Ok(self.map())
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<WalkMap<'a>, ReadFieldError> {
        Ok(WalkMap {
            steps: after_key(self.steps, variant),
            found: self.found,
            rest: None,
        })
    }
}

// === impl WalkList ===

impl WalkList<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        match self.steps {
            Some(steps) => value.serialize(Walk::new(steps, self.found)),
            None => Ok(()),
        }
    }
}

/// The ways in which serde writes lists.
macro_rules! lists {
    ($($kind:ident::$method:ident),+ $(,)?) => {
        $(impl $kind for WalkList<'_> {
            type Ok = ();
            type Error = ReadFieldError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
                self.element(value)
            }

            fn end(self) -> Outcome {
                Ok(())
            }
        })+
    };
}

lists! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

// === impl WalkMap ===

impl WalkMap<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Outcome {
        match self.steps.and_then(|steps| after_key(steps, key)) {
            Some(rest) => value.serialize(Walk::new(rest, self.found)),
            None => Ok(()),
        }
    }
}

impl SerializeMap for WalkMap<'_> {
    type Ok = ();
    type Error = ReadFieldError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Outcome {
        let step = self.steps.and_then(<[Step]>::split_first);
        self.rest = step.and_then(|(step, rest)| {
            let is_to = match step {
                Step::Each => true,
                Step::Field(name) => is_printed_as(key, name),
            };
            is_to.then_some(rest)
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        match self.rest.take() {
            Some(rest) => value.serialize(Walk::new(rest, self.found)),
            None => Ok(()),
        }
    }

    fn end(self) -> Outcome {
        Ok(())
    }
}

/// The ways in which serde writes structs.
macro_rules! structs {
    ($($kind:ident),+ $(,)?) => {
        $(impl $kind for WalkMap<'_> {
            type Ok = ();
            type Error = ReadFieldError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Outcome {
                self.field(key, value)
            }

            fn end(self) -> Outcome {
                Ok(())
            }
        })+
    };
}

structs!(SerializeStruct, SerializeStructVariant);

/// Returns true if a map's key is written as `text`.
fn is_printed_as<T: Serialize + ?Sized>(key: &T, text: &str) -> bool {
    let mut comparison = Comparison {
        left: text,
        is_equal: true,
    };
    // What cannot be printed is no key of JSON.
    let is_printed = write!(comparison, "{}", KeyText(key)).is_ok();
    is_printed && comparison.is_equal && comparison.left.is_empty()
}

// === impl KeyText ===

impl<T: Serialize + ?Sized> fmt::Display for KeyText<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A formatter is a serializer of strings, numbers and bools.
        self.0.serialize(f)
    }
}

// === impl Comparison ===

impl Write for Comparison<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.left.strip_prefix(text) {
            Some(left) => self.left = left,
            None => self.is_equal = false,
        }
        Ok(())
    }
}
