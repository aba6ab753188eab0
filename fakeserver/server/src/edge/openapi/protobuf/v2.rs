//! The messages of version 2.

use serde_json::Value;

use super::message::{
    Kind::{self, Any, Double, Flag, Integer, Many, One, Text},
    Message::{self, Choice, Pairs, Struct, Wrapped},
};

const TEXTS: Kind = Many(&Text);

pub(super) static DOCUMENT: Message = Struct {
    fields: &[
        ("swagger", 1, Text),
        ("info", 2, One(&INFO)),
        ("paths", 8, One(&PATHS)),
        ("definitions", 9, One(&SCHEMAS)),
        ("security", 12, Many(&One(&SECURITY))),
        ("securityDefinitions", 13, One(&SECURITY_DEFINITIONS)),
    ],
    extensions: 16,
};

static INFO: Message = Struct {
    fields: &[("title", 1, Text), ("version", 2, Text)],
    extensions: 7,
};

static SECURITY: Message = Pairs {
    number: 1,
    value: One(&Wrapped(1, TEXTS)),
};

static SECURITY_DEFINITIONS: Message = Pairs {
    number: 1,
    value: One(&Wrapped(2, One(&API_KEY))),
};

static API_KEY: Message = Struct {
    fields: &[
        ("type", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("description", 4, Text),
    ],
    extensions: 5,
};

static PATHS: Message = Pairs {
    number: 2,
    value: One(&PATH_ITEM),
};

static PATH_ITEM: Message = Struct {
    fields: &[
        ("get", 2, One(&OPERATION)),
        ("put", 3, One(&OPERATION)),
        ("post", 4, One(&OPERATION)),
        ("delete", 5, One(&OPERATION)),
        ("options", 6, One(&OPERATION)),
        ("head", 7, One(&OPERATION)),
        ("patch", 8, One(&OPERATION)),
        ("parameters", 9, Many(&One(&PARAMETERS_ITEM))),
    ],
    extensions: 10,
};

static OPERATION: Message = Struct {
    fields: &[
        ("tags", 1, TEXTS),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("produces", 6, TEXTS),
        ("consumes", 7, TEXTS),
        ("parameters", 8, Many(&One(&PARAMETERS_ITEM))),
        ("responses", 9, One(&RESPONSES)),
        ("schemes", 10, TEXTS),
    ],
    extensions: 13,
};

static PARAMETERS_ITEM: Message = Wrapped(1, One(&PARAMETER));

static PARAMETER: Message = Choice(|parameter| {
    Some(match parameter["in"].as_str()? {
        "body" => (1, One(&BODY_PARAMETER)),
        _ => (2, One(&OTHER_PARAMETER)),
    })
});

static BODY_PARAMETER: Message = Struct {
    fields: &[
        ("description", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("required", 4, Flag),
        ("schema", 5, One(&SCHEMA)),
    ],
    extensions: 6,
};

static OTHER_PARAMETER: Message = Choice(|parameter| {
    Some(match parameter["in"].as_str()? {
        "query" => (3, One(&QUERY_PARAMETER)),
        _ => (4, One(&PATH_PARAMETER)),
    })
});

static QUERY_PARAMETER: Message = Struct {
    fields: &[
        ("required", 1, Flag),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 6, Text),
        ("uniqueItems", 20, Flag),
    ],
    extensions: 23,
};

static PATH_PARAMETER: Message = Struct {
    fields: &[
        ("required", 1, Flag),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 5, Text),
        ("uniqueItems", 19, Flag),
    ],
    extensions: 22,
};

static RESPONSES: Message = Pairs {
    number: 1,
    value: One(&Wrapped(1, One(&RESPONSE))),
};

static RESPONSE: Message = Struct {
    fields: &[
        ("description", 1, Text),
        ("schema", 2, One(&Wrapped(1, One(&SCHEMA)))),
    ],
    extensions: 5,
};

static SCHEMAS: Message = Pairs {
    number: 1,
    value: One(&SCHEMA),
};

static SCHEMA: Message = Struct {
    fields: &[
        ("$ref", 1, Text),
        ("format", 2, Text),
        ("title", 3, Text),
        ("description", 4, Text),
        ("default", 5, Any),
        ("multipleOf", 6, Double),
        ("maximum", 7, Double),
        ("exclusiveMaximum", 8, Flag),
        ("minimum", 9, Double),
        ("exclusiveMinimum", 10, Flag),
        ("maxLength", 11, Integer),
        ("minLength", 12, Integer),
        ("pattern", 13, Text),
        ("maxItems", 14, Integer),
        ("minItems", 15, Integer),
        ("uniqueItems", 16, Flag),
        ("maxProperties", 17, Integer),
        ("minProperties", 18, Integer),
        ("required", 19, TEXTS),
        ("enum", 20, Many(&Any)),
        ("additionalProperties", 21, One(&ADDITIONAL_PROPERTIES)),
        ("type", 22, One(&Wrapped(1, Text))),
        ("items", 23, One(&Wrapped(1, One(&SCHEMA)))),
        ("properties", 25, One(&SCHEMAS)),
        ("externalDocs", 29, One(&EXTERNAL_DOCS)),
        ("example", 30, Any),
    ],
    extensions: 31,
};

static EXTERNAL_DOCS: Message = Struct {
    fields: &[("description", 1, Text), ("url", 2, Text)],
    extensions: 3,
};

static ADDITIONAL_PROPERTIES: Message = Choice(|additional| {
    Some(match additional {
        Value::Bool(_) => (2, Flag),
        _ => (1, One(&SCHEMA)),
    })
});
