//! The messages of version 3.

use serde_json::Value;

use super::message::{
    Kind::{self, Any, Double, Flag, Integer, Many, One, Text},
    Message::{self, Choice, Pairs, Struct, Wrapped},
};

const TEXTS: Kind = Many(&Text);

pub(super) static DOCUMENT: Message = Struct {
    fields: &[
        ("openapi", 1, Text),
        ("info", 2, One(&INFO)),
        ("paths", 4, One(&PATHS)),
        ("components", 5, One(&COMPONENTS)),
    ],
    extensions: 9,
};

static INFO: Message = Struct {
    fields: &[("title", 1, Text), ("version", 6, Text)],
    extensions: 7,
};

static COMPONENTS: Message = Struct {
    fields: &[
        ("schemas", 1, One(&SCHEMAS)),
        ("securitySchemes", 7, One(&SECURITY_SCHEMES)),
    ],
    extensions: 10,
};

static SECURITY_SCHEMES: Message = Pairs {
    number: 1,
    value: One(&Wrapped(1, One(&SECURITY_SCHEME))),
};

static SECURITY_SCHEME: Message = Struct {
    fields: &[
        ("type", 1, Text),
        ("description", 2, Text),
        ("name", 3, Text),
        ("in", 4, Text),
    ],
    extensions: 9,
};

static PATHS: Message = Pairs {
    number: 1,
    value: One(&PATH_ITEM),
};

static PATH_ITEM: Message = Struct {
    fields: &[
        ("get", 4, One(&OPERATION)),
        ("put", 5, One(&OPERATION)),
        ("post", 6, One(&OPERATION)),
        ("delete", 7, One(&OPERATION)),
        ("options", 8, One(&OPERATION)),
        ("head", 9, One(&OPERATION)),
        ("patch", 10, One(&OPERATION)),
        ("parameters", 13, Many(&One(&PARAMETER_OR_REFERENCE))),
    ],
    extensions: 14,
};

static OPERATION: Message = Struct {
    fields: &[
        ("tags", 1, TEXTS),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("parameters", 6, Many(&One(&PARAMETER_OR_REFERENCE))),
        ("requestBody", 7, One(&Wrapped(1, One(&REQUEST_BODY)))),
        ("responses", 8, One(&RESPONSES)),
    ],
    extensions: 13,
};

static PARAMETER_OR_REFERENCE: Message = Wrapped(1, One(&PARAMETER));

static PARAMETER: Message = Struct {
    fields: &[
        ("name", 1, Text),
        ("in", 2, Text),
        ("description", 3, Text),
        ("required", 4, Flag),
        ("schema", 10, One(&SCHEMA_OR_REFERENCE)),
    ],
    extensions: 14,
};

static REQUEST_BODY: Message = Struct {
    fields: &[("content", 2, One(&MEDIA_TYPES)), ("required", 3, Flag)],
    extensions: 4,
};

static MEDIA_TYPES: Message = Pairs {
    number: 1,
    value: One(&MEDIA_TYPE),
};

static MEDIA_TYPE: Message = Struct {
    fields: &[("schema", 1, One(&SCHEMA_OR_REFERENCE))],
    extensions: 5,
};

static RESPONSES: Message = Pairs {
    number: 2,
    value: One(&Wrapped(1, One(&RESPONSE))),
};

static RESPONSE: Message = Struct {
    fields: &[("description", 1, Text), ("content", 3, One(&MEDIA_TYPES))],
    extensions: 5,
};

static SCHEMAS: Message = Pairs {
    number: 1,
    value: One(&SCHEMA_OR_REFERENCE),
};

static SCHEMA_OR_REFERENCE: Message = Choice(|schema| {
    Some(match schema["$ref"] {
        Value::String(_) => (2, One(&REFERENCE)),
        _ => (1, One(&SCHEMA)),
    })
});

static REFERENCE: Message = Struct {
    fields: &[("$ref", 1, Text)],
    extensions: 0,
};

const ALTERNATIVES: Kind = Many(&One(&SCHEMA_OR_REFERENCE));

static SCHEMA: Message = Struct {
    fields: &[
        ("nullable", 1, Flag),
        ("externalDocs", 6, One(&EXTERNAL_DOCS)),
        ("example", 7, Any),
        ("title", 9, Text),
        ("multipleOf", 10, Double),
        ("maximum", 11, Double),
        ("exclusiveMaximum", 12, Flag),
        ("minimum", 13, Double),
        ("exclusiveMinimum", 14, Flag),
        ("maxLength", 15, Integer),
        ("minLength", 16, Integer),
        ("pattern", 17, Text),
        ("maxItems", 18, Integer),
        ("minItems", 19, Integer),
        ("uniqueItems", 20, Flag),
        ("maxProperties", 21, Integer),
        ("minProperties", 22, Integer),
        ("required", 23, TEXTS),
        ("enum", 24, Many(&Any)),
        ("type", 25, Text),
        ("allOf", 26, ALTERNATIVES),
        ("oneOf", 27, ALTERNATIVES),
        ("anyOf", 28, ALTERNATIVES),
        ("not", 29, One(&SCHEMA)),
        ("items", 30, One(&Wrapped(1, One(&SCHEMA_OR_REFERENCE)))),
        ("properties", 31, One(&SCHEMAS)),
        ("additionalProperties", 32, One(&ADDITIONAL_PROPERTIES)),
        ("default", 33, One(&DEFAULT)),
        ("description", 34, Text),
        ("format", 35, Text),
    ],
    extensions: 36,
};

static EXTERNAL_DOCS: Message = Struct {
    fields: &[("description", 1, Text), ("url", 2, Text)],
    extensions: 3,
};

static ADDITIONAL_PROPERTIES: Message = Choice(|additional| {
    Some(match additional {
        Value::Bool(_) => (2, Flag),
        _ => (1, One(&SCHEMA_OR_REFERENCE)),
    })
});

/// A default that is no scalar cannot be expressed: its message is empty.
static DEFAULT: Message = Choice(|default| {
    Some(match default {
        Value::Number(_) => (1, Double),
        Value::Bool(_) => (2, Flag),
        Value::String(_) => (3, Text),
        _ => return None,
    })
});
