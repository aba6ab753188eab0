//! Tables of expressions: their values, their types and their errors.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

mod functions;
mod recorded;
mod syntax;

use super::{
    CompileError, Environment, Failure, Program, Type, Value, Variables, from_json, to_json,
};

struct VariableTable(BTreeMap<String, Value>);

impl Variables for VariableTable {
    fn get(&self, name: &str) -> Option<Result<Value, Failure>> {
        self.0.get(name).cloned().map(Ok)
    }
}

fn environment() -> Environment {
    let mut environment = Environment::default();
    environment.declare("object", Type::Dyn);
    environment.declare("request", Type::object("kubernetes.AdmissionRequest"));
    environment.declare("variables.n", Type::Int);
    environment.allow_patches();
    environment
}

fn evaluate(source: &str) -> (Result<Json, String>, u64) {
    let object = json!({
        "metadata": {"name": "a", "labels": {"x": "1", "y": "2"}, "namespace": "n"},
        "spec": {"replicas": 3, "list": [1, 2, 3], "ratio": 0.5, "none": null},
    });
    let variables = VariableTable(BTreeMap::from([
        ("object".to_owned(), from_json(&object)),
        ("variables.n".to_owned(), Value::Int(7)),
    ]));
    let program = Program::compile(source, &environment()).unwrap();
    let (value, cost) = program.evaluate(&variables);
    let value = value.map_err(|failure| failure.message().to_owned());
    (value.and_then(|value| to_json(&value)), cost)
}

#[track_caller]
fn check(source: &str, expected: &Json) {
    assert_eq!(evaluate(source).0, Ok(expected.clone()), "{source}");
}

#[test]
fn expressions_have_values() {
    let table = [
        ("1 + 2 * 3 - 4 / 2", json!(5)),
        ("-(3) + -2", json!(-5)),
        ("2u + 3u", json!(5)),
        ("7 % 3 == 1 && !false", json!(true)),
        ("1 < 2.5 && 3u > 2 && 1.0 <= 1", json!(true)),
        ("'a' + \"b\" + r'\\d' + '\\u00e9\\n'", json!("ab\\dé\n")),
        ("object.spec.replicas > 2 ? 'many' : 'few'", json!("many")),
        ("object.metadata.namespace", json!("n")),
        (
            "has(object.spec.replicas) && !has(object.spec.nope)",
            json!(true),
        ),
        ("has(object.metadata.name.nope)", json!(false)),
        (
            "'x' in object.metadata.labels && !('z' in object.metadata.labels)",
            json!(true),
        ),
        ("object.metadata.labels['y']", json!("2")),
        (
            "2 in object.spec.list && object.spec.list[2] == 3",
            json!(true),
        ),
        (
            "object.spec.list.all(i, i > 0) && object.spec.list.exists(i, i == 3)",
            json!(true),
        ),
        ("object.spec.list.exists_one(i, i > 2)", json!(true)),
        (
            "object.spec.list.filter(i, i > 1).map(i, i * 2)",
            json!([4, 6]),
        ),
        (
            "object.spec.list.map(i, i > 1, string(i))",
            json!(["2", "3"]),
        ),
        (
            "object.metadata.labels.map(k, k + '=' + object.metadata.labels[k])",
            json!(["x=1", "y=2"]),
        ),
        (
            "object.spec.list.transformList(i, v, i + v)",
            json!([1, 3, 5]),
        ),
        (
            "object.metadata.labels.transformMap(k, v, k + v)",
            json!({"x": "x1", "y": "y2"}),
        ),
        ("[3, 1, 2].sortBy(i, -i)", json!([3, 2, 1])),
        ("object.?spec.?nope.orValue(9)", json!(9)),
        ("object.spec.?replicas.hasValue()", json!(true)),
        (
            "object.metadata.labels[?'z'].optMap(v, v + '!').orValue('none')",
            json!("none"),
        ),
        ("[?object.?spec.?nope, object.metadata.name]", json!(["a"])),
        (
            "{'a': object.spec.replicas, ?'b': object.?nope}",
            json!({"a": 3}),
        ),
    ];
    for (source, expected) in table {
        check(source, &expected);
    }
}

#[test]
fn functions_and_constructed_objects_have_values() {
    let table = [
        ("object.spec.none == null", json!(true)),
        (
            "'abc'.startsWith('a') && 'abc'.matches('b') && 'abc'.contains('bc')",
            json!(true),
        ),
        ("size('é') + size([1, 2]) + 'ab'.size()", json!(5)),
        ("string(1.5) + string(true) + string(3u)", json!("1.5true3")),
        ("int('42') + int(2.9)", json!(44)),
        ("type(1) == int && type('a') != int", json!(true)),
        (
            "quantity('1Gi').isGreaterThan(quantity('500Mi'))",
            json!(true),
        ),
        (
            "'%s is %d'.format([object.metadata.name, 3])",
            json!("a is 3"),
        ),
        ("sets.contains([1, 2], [1])", json!(true)),
        (
            "isIP('10.0.0.1') && cidr('10.0.0.0/8').containsIP('10.1.1.1')",
            json!(true),
        ),
        ("url('https://a.b:80/c').getPort()", json!("80")),
        ("'a,b'.split(',').join('-').upperAscii()", json!("A-B")),
        ("duration('90s') > duration('1m')", json!(true)),
        (
            "timestamp('2024-01-02T03:04:05Z').getFullYear()",
            json!(2024),
        ),
        ("false && object.nope || true", json!(true)),
        ("object.nope == 1 || true", json!(true)),
        ("variables.n", json!(7)),
        (
            "Object{spec: Object.spec{items: [Object.spec.items{name: 'a'}], n: 1}}",
            json!({"spec": {"items": [{"name": "a"}], "n": 1}}),
        ),
        (
            "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: {'k': 'v'}}]",
            json!([{"op": "add", "path": "/a/b~1c", "value": {"k": "v"}}]),
        ),
    ];
    for (source, expected) in table {
        check(source, &expected);
    }
}

#[test]
fn failures_have_the_words_of_a_real_server() {
    let table = [
        ("object.nope > 1", "no such key: nope"),
        ("object.metadata.name.first", "no such key: first"),
        ("object.spec.list[7]", "index out of bounds: 7"),
        ("object.spec.replicas / 0", "division by zero"),
        ("object.metadata.name + 1", "no such overload"),
        ("object.metadata.name <= 5", "no such overload"),
        ("object.metadata > 5", "no such overload: _>_"),
        ("-object.metadata == 5", "no such overload: -_"),
        ("object.spec.replicas.size() > 1", "no such overload: size"),
        (
            "object.spec.replicas.trim() == ''",
            "no such overload: trim(int)",
        ),
        ("int(object.spec.list)", "no such overload: int(list)"),
        (
            "object.spec.list['a']",
            "unsupported index type 'string' in list",
        ),
        (
            "object.spec.list.max() + [].max()",
            "max called on empty list",
        ),
        (
            "'abc'.substring(object.spec.replicas + 1)",
            "index out of range: 4",
        ),
        (
            "9223372036854775807 + object.spec.replicas",
            "integer overflow",
        ),
        (
            "int(object.metadata.name)",
            "type conversion error from 'string' to 'int'",
        ),
        ("object.metadata.name && true", "no such overload"),
        ("object.?nope.value()", "optional.none() dereference"),
    ];
    for (source, expected) in table {
        assert_eq!(evaluate(source).0, Err(expected.to_owned()), "{source}");
    }
}

#[test]
fn costs_are_counted_and_limited() {
    assert!(evaluate("object.spec.replicas == 3").1 < 10);
    let nested = "[1,2,3,4,5,6,7,8,9,10]";
    let mut source = "true".to_owned();
    for name in ["a", "b", "c", "d", "e", "f"] {
        source = format!("{nested}.all({name}, {source})");
    }
    let (value, cost) = evaluate(&source);
    assert_eq!(
        value,
        Err("operation cancelled: actual cost limit exceeded".to_owned())
    );
    assert!(cost > 1_000_000);
}

#[test]
fn expressions_have_types() {
    let table = [
        ("1 + 1", "int"),
        ("object.spec", "dyn"),
        ("[1, 2]", "list(int)"),
        ("[]", "list(dyn)"),
        ("{'a': 1.0}", "map(string, double)"),
        ("null", "null_type"),
        ("request.operation", "string"),
        ("request.userInfo.groups.map(g, g + 'x')", "list(string)"),
        ("object.?spec", "optional_type(dyn)"),
        (
            "timestamp('2024-01-02T03:04:05Z')",
            "google.protobuf.Timestamp",
        ),
        ("Object{}", "Object"),
        ("[JSONPatch{op: 'add'}]", "list(JSONPatch)"),
        ("quantity('1')", "kubernetes.Quantity"),
        ("object.list.all(x, x == 1)", "bool"),
        ("[1].map(x, string(x))", "list(string)"),
        ("true ? object.a : 'x'", "dyn"),
    ];
    for (source, expected) in table {
        let program = Program::compile(source, &environment()).unwrap();
        assert_eq!(program.output().to_string(), expected, "{source}");
    }
}

#[test]
fn errors_have_positions() {
    let table = [
        (
            "1 + 'a'",
            "1:3: found no matching overload for '_+_' applied to '(int, string)'",
        ),
        (
            "'a'.startsWith(1)",
            "1:15: found no matching overload for 'startsWith' applied to 'string.(int)'",
        ),
        (
            "nope(1)",
            "1:5: undeclared reference to 'nope' (in container '')",
        ),
        ("x.y", "1:1: undeclared reference to 'x' (in container '')"),
        ("request.nope", "1:8: undefined field 'nope'"),
        (
            "'a'.b",
            "1:4: type 'string' does not support field selection",
        ),
        ("[1, 'a']", "1:5: expected type 'int' but found 'string'"),
        (
            "object.a && 1",
            "1:13: expected type 'bool' but found 'int'",
        ),
        ("'a'.matches('[')", "1:13: invalid matches argument"),
        (
            "(1).all(x, true)",
            "1:2: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        (
            "Foo{}",
            "1:4: undeclared reference to 'Foo' (in container '')",
        ),
        (
            "JSONPatch{op: 1}",
            "1:13: expected type of field 'op' is 'string' but provided type is 'int'",
        ),
        (
            "object.a >",
            "1:11: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ),
    ];
    for (source, expected) in table {
        let error = Program::compile(source, &environment()).unwrap_err();
        let CompileError::Check(error) = error else {
            panic!("{source}: {error}");
        };
        let first = error.lines().next().unwrap_or_default();
        assert_eq!(first, format!("ERROR: <input>:{expected}"), "{source}");
    }
}
