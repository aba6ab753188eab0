//! Tests of definitions without a server.

use std::sync::Arc;

use fakeserver_value::status::FieldError;
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    ColumnPath, Conversion, CustomType, JsonPath, PrinterColumn, compare_versions,
    conditions::{self, TakenNames},
    deprecation, set_definition_defaults,
};

const NOW: &str = "2026-01-01T00:00:00Z";

/// A type whose spec has these properties.
fn custom_type(properties: &Value) -> CustomType {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": properties},
    }});
    let version = json!({"name": "v1", "schema": {"openAPIV3Schema": schema}});
    CustomType::new(&Value::Null, &Arc::default(), &version, false)
}

/// Returns the errors of an object of this `spec`.
fn errors(properties: &Value, spec: &Value) -> Vec<String> {
    let object = json!({"metadata": {"name": "x"}, "spec": spec});
    let errors = custom_type(properties)
        .check(KubernetesVersion::DEFAULT, "", &object, None, Vec::new)
        .errors;
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the errors of `value` by `schema`, in the words of the API.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a table reads better without borrows"
)]
fn check(schema: Value, value: Value, expected: &[&str]) {
    let found = errors(&json!({"x": schema}), &json!({"x": value}));
    assert_eq!(found, expected, "{schema} {value}");
}

#[test]
fn scalars_are_checked_in_the_words_of_the_api() {
    check(json!({"type": "string"}), json!("a"), &[]);
    check(
        json!({"type": "string"}),
        json!(5),
        &["spec.x: Invalid value: \"integer\": spec.x in body must be of type string: \"integer\""],
    );
    check(json!({"type": "integer"}), json!(1.0), &[]);
    check(
        json!({"type": "integer"}),
        json!(1.5),
        &[
            "spec.x: Invalid value: \"number\": spec.x in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.x",
        ],
    );
    check(
        json!({"type": "string", "nullable": true}),
        json!(null),
        &[],
    );
    check(
        json!({"type": "string", "enum": ["a", "b"]}),
        json!("c"),
        &["spec.x: Unsupported value: \"c\": supported values: \"a\", \"b\""],
    );
    check(
        json!({"type": "integer", "minimum": 1}),
        json!(0),
        &["spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
    );
    check(
        json!({"type": "integer", "maximum": 3, "exclusiveMaximum": true}),
        json!(3),
        &["spec.x: Invalid value: 3: spec.x in body should be less than 3"],
    );
    check(
        json!({"type": "string", "maxLength": 2}),
        json!("abc"),
        &["spec.x: Too long: may not be more than 2 bytes"],
    );
    check(
        json!({"type": "string", "minLength": 2, "pattern": "^b"}),
        json!("a"),
        &["spec.x: Invalid value: \"a\": spec.x in body should be at least 2 chars long"],
    );
    check(
        json!({"type": "string", "pattern": "^{a}$"}),
        json!("{a}"),
        &[],
    );
    check(
        json!({"type": "string", "format": "date-time"}),
        json!("yesterday"),
        &[
            "spec.x: Invalid value: \"yesterday\": spec.x in body must be of type date-time: \"yesterday\"",
        ],
    );
}

#[test]
fn lists_objects_and_combinations_are_checked_in_the_words_of_the_api() {
    check(
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 1}),
        json!(["a", 2]),
        &[
            "spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: \"integer\"",
            "spec.x: Too many: 2: must have at most 1 items",
        ],
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
        json!(["a", "b", "a"]),
        &["spec.x[2]: Duplicate value: \"a\""],
    );
    check(
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
        json!({}),
        &["spec.x.a: Required value"],
    );
    check(
        json!({"x-kubernetes-int-or-string": true}),
        json!("10%"),
        &[],
    );
    check(
        json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]}),
        json!(3),
        &[
            "<nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
            "spec.x: Invalid value: 3: spec.x in body should be greater than or equal to 5",
        ],
    );
}

#[test]
fn rules_in_cel_see_the_new_and_the_old_object() {
    let kind = custom_type(&json!({
        "replicas": {"type": "integer", "x-kubernetes-validations": [
            {"rule": "self <= 5", "message": "at most five"},
            {"rule": "self >= oldSelf", "reason": "FieldValueForbidden", "message": "only up"},
        ]},
    }));
    let object = |replicas: i64| json!({"metadata": {"name": "x"}, "spec": {"replicas": replicas}});
    let errors = |new: &Value, old: Option<&Value>| -> Vec<String> {
        let errors = kind
            .check(KubernetesVersion::DEFAULT, "", new, old, Vec::new)
            .errors;
        errors.iter().map(ToString::to_string).collect()
    };
    assert_eq!(errors(&object(5), None), Vec::<String>::new());
    assert_eq!(
        errors(&object(6), None),
        ["spec.replicas: Invalid value: 6: at most five"]
    );
    assert_eq!(
        errors(&object(1), Some(&object(2))),
        ["spec.replicas: Forbidden: only up"]
    );
}

#[test]
fn an_object_is_pruned_and_completed_when_it_is_read() {
    let kind = custom_type(&json!({
        "size": {"type": "integer", "default": 3},
        "template": {"type": "object", "default": {}, "properties": {"color": {"type": "string", "default": "red"}}},
        "gone": {"type": "string"},
    }));
    let body = json!({"metadata": {"name": "x", "bogus": 1}, "spec": {"bogus": 1, "gone": null}});
    let read = kind
        .read(body.clone(), body.to_string().as_bytes())
        .unwrap();
    assert_eq!(
        read.value["spec"],
        json!({"size": 3, "template": {"color": "red"}})
    );
    let strict: Vec<String> = read.strict.iter().map(ToString::to_string).collect();
    assert_eq!(
        strict,
        [
            "unknown field \"metadata.bogus\"",
            "unknown field \"spec.bogus\""
        ]
    );
    let body = json!({"metadata": {"labels": {"a": 1}}});
    let error = kind
        .read(body.clone(), body.to_string().as_bytes())
        .unwrap_err();
    assert!(error.contains("cannot unmarshal number"), "{error}");
}

/// A definition that is accepted.
fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    })
}

/// Returns the errors of a definition that has recorded the version in which objects are stored.
fn definition_errors(crd: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut crd = crd.clone();
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let names: Vec<Value> = versions.map(|version| version["name"].clone()).collect();
    crd["status"]["storedVersions"] = names.into();
    super::definition_errors(KubernetesVersion::DEFAULT, &crd, old)
}

#[test]
fn a_definition_is_completed() {
    let mut crd = definition();
    set_definition_defaults(&mut crd);
    assert_eq!(
        crd["spec"]["names"],
        json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"})
    );
    assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(definition_errors(&crd, None), []);
}

#[test]
fn errors_of_definitions_have_paths() {
    let check = |pointer: &str, value: Value, expected: &str| {
        let mut crd = definition();
        set_definition_defaults(&mut crd);
        *crd.pointer_mut(pointer).unwrap() = value;
        let errors = definition_errors(&crd, None);
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            errors.iter().any(|error| error.starts_with(expected)),
            "{pointer}: {errors:?}"
        );
    };
    check(
        "/metadata/name",
        json!("other.example.com"),
        "metadata.name: Invalid value: \"other.example.com\": must be spec.names.plural+\".\"+spec.group",
    );
    check(
        "/spec/scope",
        json!("World"),
        "spec.scope: Unsupported value",
    );
    check(
        "/spec/group",
        json!("example"),
        "spec.group: Invalid value: \"example\": should be a domain",
    );
    check(
        "/spec/names/plural",
        json!(""),
        "spec.names.plural: Required value",
    );
    check(
        "/spec/versions/0/storage",
        json!(false),
        "spec.versions: Invalid value",
    );
    check(
        "/spec/versions/0/schema/openAPIV3Schema",
        json!(null),
        "spec.versions[0].schema.openAPIV3Schema: Required value",
    );
    check(
        "/spec/versions/0/schema/openAPIV3Schema",
        json!({"type": "object", "properties": {"spec": {}}}),
        "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified \
         object fields",
    );
    check(
        "/spec/versions/0/schema/openAPIV3Schema",
        json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.("}]}),
        "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value",
    );
}

#[test]
fn the_plural_of_a_definition_is_immutable() {
    let old = definition();
    let mut new = definition();
    new["spec"]["names"]["plural"] = json!("gadgets");
    new["metadata"]["name"] = json!("gadgets.example.com");
    set_definition_defaults(&mut new);
    let errors = definition_errors(&new, Some(&old));
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["spec.names.plural: Invalid value: \"gadgets\": field is immutable"]
    );
}

#[test]
fn names_are_accepted_then_the_definition_is_established() {
    let mut crd = definition();
    set_definition_defaults(&mut crd);
    assert!(!conditions::establish(&mut crd, NOW));
    assert!(conditions::accept_names(
        &mut crd,
        &TakenNames::default(),
        NOW
    ));
    assert!(conditions::is_true(&crd, "NamesAccepted"));
    assert!(!conditions::is_true(&crd, "Established"));
    assert!(conditions::establish(&mut crd, NOW));
    assert!(conditions::is_true(&crd, "Established"));
    assert_eq!(crd["status"]["acceptedNames"], crd["spec"]["names"]);
    // Nothing is left to do.
    assert!(!conditions::accept_names(
        &mut crd,
        &TakenNames::default(),
        NOW
    ));
    assert!(!conditions::establish(&mut crd, NOW));

    let mut taken = TakenNames::default();
    taken.add(&crd);
    let mut other = definition();
    other["metadata"]["name"] = json!("gadgets.example.com");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Widget"});
    set_definition_defaults(&mut other);
    assert!(conditions::accept_names(&mut other, &taken, NOW));
    assert!(!conditions::is_true(&other, "NamesAccepted"));
    assert!(!conditions::establish(&mut other, NOW));
    assert_eq!(other["status"]["acceptedNames"].get("kind"), None);
}

#[test]
fn versions_stand_in_the_order_of_discovery() {
    let mut versions = [
        "v1alpha1", "foo", "v10", "v2", "v1", "v1beta2", "v11beta1", "bar", "v1beta1",
    ];
    versions.sort_by(|a, b| compare_versions(a, b));
    assert_eq!(
        versions,
        [
            "v10", "v2", "v1", "v11beta1", "v1beta2", "v1beta1", "v1alpha1", "bar", "foo"
        ]
    );
}

#[test]
fn paths_are_of_field_names_only() {
    let path = JsonPath::parse(".spec.replicas").unwrap();
    assert_eq!(path.to_string(), "spec.replicas");
    assert_eq!(path.get(&json!({"spec": {"replicas": 2}})), Some(&json!(2)));
    assert_eq!(path.get(&json!({"spec": {"replicas": null}})), None);
    assert_eq!(path.get(&json!({})), None);
    for bad in ["", ".", "spec", ".spec[0]", ".spec..replicas", ".spec.*"] {
        assert_eq!(JsonPath::parse(bad), None, "{bad}");
    }
}

#[test]
fn paths_of_columns_lead_to_the_first_value() {
    let object = json!({
        "metadata": {"labels": {"app.kubernetes.io/name": "web"}},
        "spec": {"ports": [{"n": 1, "name": "a"}, {"n": 2, "name": "b"}, {"n": 3}], "on": true},
        "status": {"conditions": [
            {"type": "Ready", "status": "True", "age": 3},
            {"type": "Other", "status": "False", "age": 5},
        ]},
    });
    for (path, expected) in [
        (".spec.ports[0].n", json!(1)),
        (".spec.ports[-1].n", json!(3)),
        (".spec.ports[1:].n", json!(2)),
        (".spec.ports[:-1].n", json!(1)),
        (".spec.ports[*].name", json!("a")),
        (".spec['on']", json!(true)),
        (".spec.*.name", Value::Null),
        ("..name", json!("a")),
        (".metadata.labels.app\\.kubernetes\\.io/name", json!("web")),
        (".metadata.labels['app.kubernetes.io/name']", json!("web")),
        (
            ".status.conditions[?(@.type==\"Ready\")].status",
            json!("True"),
        ),
        (
            ".status.conditions[?(@.type == 'Other')].status",
            json!("False"),
        ),
        (
            ".status.conditions[?(@.type!=\"Ready\")].type",
            json!("Other"),
        ),
        (".status.conditions[?(@.age>3)].type", json!("Other")),
        (".status.conditions[?(@.age<=3)].type", json!("Ready")),
        (".status.conditions[?(@.type>3)].type", Value::Null),
        (".spec.ports[?(@.name)].n", json!(1)),
        (".spec.ports[?(@.none)].n", Value::Null),
        (".spec.ports[7].n", Value::Null),
        (".spec.ports[-7].n", Value::Null),
        (".spec.none.deeper", Value::Null),
        (".spec.ports.n", Value::Null),
    ] {
        let parsed = ColumnPath::parse(path).unwrap_or_else(|| panic!("{path} is a path"));
        let found = parsed.first(&object).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn invalid_column_paths_are_rejected() {
    let nested = format!(".a{}1==1{}", "[?(@.a".repeat(40), ")]".repeat(40));
    for path in [
        "spec",
        ".a[",
        ".a[x]",
        ".a[?(@.b==)]",
        ".a[?(b==1)]",
        ".a\\",
        &nested,
    ] {
        assert_eq!(ColumnPath::parse(path), None, "{path}");
    }
}

#[test]
fn a_version_without_columns_shows_the_age() {
    let columns = PrinterColumn::all_of(&json!({"additionalPrinterColumns": []}));
    let actual: Vec<(&str, &str)> = columns
        .iter()
        .map(|column| (column.name.as_str(), column.ty.as_str()))
        .collect();
    assert_eq!(actual, [("Age", "date")]);
}

#[test]
fn columns_and_warnings_of_a_definition_are_checked() {
    let crd = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                "listKind": "WidgetList"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "deprecationWarning": "do not",
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "additionalPrinterColumns": [
                    {"name": "A", "type": "text", "jsonPath": ".a"},
                    {"type": "string", "jsonPath": "a", "format": "long"},
                    {"name": "C", "type": "date", "jsonPath": ".c", "format": "date-time"},
                ],
            }],
        },
    });
    let columns = "spec.additionalPrinterColumns";
    let errors = definition_errors(&crd, None);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "spec.versions[0].deprecationWarning: Invalid value: \"do not\": can only be set for \
             deprecated versions"
                .to_owned(),
            format!(
                "{columns}[0].type: Invalid value: \"text\": must be one of boolean,date,integer,number,string"
            ),
            format!("{columns}[1].name: Required value"),
            format!(
                "{columns}[1].format: Invalid value: \"long\": must be one of \
                 byte,date,date-time,double,float,int32,int64,password"
            ),
            format!(
                "{columns}[1].JSONPath: Invalid value: \"a\": must be a simple json path starting with ."
            ),
        ]
    );
}

#[test]
fn a_deprecated_version_names_the_best_one_that_is_not() {
    let version = |name: &str, deprecated: bool| json!({"name": name, "served": true, "deprecated": deprecated});
    let warning = |versions: &[Value]| {
        let crd = json!({"spec": {"group": "example.com", "names": {"kind": "Widget"},
            "versions": versions}});
        deprecation::warning(&crd, &versions[0])
    };
    let old = version("v1beta1", true);
    let all = [
        old.clone(),
        version("v1alpha1", false),
        version("v1", false),
    ];
    let expected = "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget";
    assert_eq!(warning(&all).as_deref(), Some(expected));
    // What is older is no better.
    let alone = [old.clone(), version("v1alpha1", false), version("v1", true)];
    let expected = "example.com/v1beta1 Widget is deprecated";
    assert_eq!(warning(&alone).as_deref(), Some(expected));
    let mut own = old;
    own["deprecationWarning"] = json!("move on");
    assert_eq!(warning(&[own]).as_deref(), Some("move on"));
    assert_eq!(warning(&[version("v1", false)]), None);
}

/// Returns the errors of a definition with these versions.
fn errors_of_versions(versions: &[Value]) -> Vec<String> {
    let crd = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                "listKind": "WidgetList"},
            "versions": versions,
        },
    });
    let errors = definition_errors(&crd, None);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn schemas_that_cannot_be_worked_by_are_refused() {
    let schema = json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}},
        "spec": {"type": "object", "properties": {
            "template": {"type": "object", "x-kubernetes-embedded-resource": true},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "protocol", "number"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string", "nullable": true},
                    "protocol": {"type": "string"},
                    "number": {"type": "integer", "default": 1},
                }},
            },
        }},
    }});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}});
    let root = "spec.validation.openAPIV3Schema";
    let spec = format!("{root}.properties[spec].properties");
    let key = "this property is in x-kubernetes-list-map-keys, so it";
    assert_eq!(
        errors_of_versions(&[version]),
        [
            format!(
                "{root}.properties[metadata]: Forbidden: must not specify anything other than name and \
                 generateName, but metadata is implicitly specified"
            ),
            format!(
                "{spec}[template].properties: Required value: must not be empty if \
                 x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
            ),
            format!(
                "{spec}[ports].items.properties[name].nullable: Forbidden: {key} cannot be nullable"
            ),
            format!(
                "{spec}[ports].items.properties[protocol].default: Required value: {key} must have a \
                 default or be a required property"
            ),
        ]
    );
}

#[test]
fn errors_of_shared_schemas_are_reported_once() {
    let version = |name: &str, storage: bool, column: &str| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {}}}},
            "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": column}]})
    };
    let why = "must be a simple json path starting with .";
    assert_eq!(
        errors_of_versions(&[version("v1", true, "a"), version("v2", false, ".b")]),
        [
            format!(
                "spec.versions[0].additionalPrinterColumns[0].JSONPath: Invalid value: \"a\": {why}"
            ),
            "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be \
             empty for specified object fields"
                .to_owned(),
        ]
    );
}

#[test]
fn embedded_objects_need_kind_and_version() {
    let template = json!({"template": {"type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true}});
    let whole = json!({"template": {"apiVersion": "v1", "kind": "Pod"}});
    assert_eq!(errors(&template, &whole), Vec::<String>::new());
    assert_eq!(
        errors(&template, &json!({"template": {"kind": ""}})),
        [
            "spec.template.apiVersion: Required value",
            "spec.template.kind: Invalid value: \"\": must not be empty",
        ]
    );
}

#[test]
fn unchanged_values_are_let_through_with_a_warning_for_their_rules() {
    let kind = custom_type(&json!({
        "mode": {"type": "string", "enum": ["on", "off"]},
        "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 5"}]},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {
                "k": {"type": "string"}, "v": {"type": "string", "maxLength": 2},
            }}},
    }));
    let object = |mode: &str, list: Value| json!({"spec": {"mode": mode, "n": 1, "list": list}});
    let item = |key: &str, value: &str| json!({"k": key, "v": value});
    let old = object("odd", json!([item("a", "long"), item("b", "x")]));
    let same = object("odd", json!([item("b", "y"), item("a", "long")]));
    let verdict = kind.check(KubernetesVersion::DEFAULT, "", &same, Some(&old), Vec::new);
    assert_eq!(verdict.errors, []);
    let warnings: Vec<String> = verdict.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["spec.n: Invalid value: 1: failed rule: self > 5"]
    );
    let new = object("odder", json!([item("a", "longer")]));
    let errors = kind
        .check(KubernetesVersion::DEFAULT, "", &new, Some(&old), Vec::new)
        .errors;
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["spec.list[0].v", "spec.mode", "<nil>"]);
}

#[test]
fn reviews_have_the_first_version_that_a_webhook_names() {
    let review_version = |versions: Value| {
        let crd = json!({"spec": {
            "group": "example.com",
            "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": versions}},
            "versions": [{"name": "v1", "storage": true}],
        }});
        let conversion = Conversion::of(&crd, &crd["spec"]["versions"][0]);
        conversion.unwrap().review_version
    };
    assert_eq!(review_version(json!(["v1", "v1beta1"])), "v1");
    assert_eq!(review_version(json!(["v2", "v1beta1", "v1"])), "v1beta1");
    assert_eq!(review_version(Value::Null), "v1");
}
