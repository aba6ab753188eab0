//! Tests of expressions about values of schemas, without a server.

use std::sync::Arc;

use fakeserver_cel::{Failure, KnownVariables, Program, Value as CelValue};
use serde_json::{Value, json};

use super::{schema_type::SchemaType, values::from_json};

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer"},
        "short": {"type": "string", "maxLength": 10},
        "list": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}},
        "nested": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "in": {"type": "integer"},
        "any": {"x-kubernetes-int-or-string": true},
        "number": {"type": "number"},
        "when": {"type": "string", "format": "date-time"},
        "date": {"type": "string", "format": "date"},
        "duration": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte"},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"},
                "name": {"type": "string"},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            }},
        },
    }})
}

fn compile(text: &str) -> Result<(Program, Arc<SchemaType>), String> {
    let of = SchemaType::of(&schema(), false).unwrap();
    let program = Program::compile(text, &of.environment(false));
    Ok((program.map_err(|why| why.to_string())?, of))
}

/// Returns the first line of the error of an expression.
fn error(text: &str) -> String {
    let error = compile(text).err().unwrap_or_default();
    let error = error.strip_prefix("compilation failed: ").unwrap_or(&error);
    error.lines().next().unwrap_or_default().to_owned()
}

/// Evaluates an expression about an object. Also returns the cost.
fn run(text: &str, object: &Value) -> (Result<CelValue, Failure>, u64) {
    let (program, of) = compile(text).unwrap();
    let mut variables = KnownVariables::default();
    variables.0.insert("self", from_json(object, Some(&of)));
    program.evaluate(&variables)
}

#[test]
fn names_fields_and_types_are_checked() {
    for (text, expected) in [
        ("self.a == 'x'", ""),
        (
            "self.a + 1",
            "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(string, int)'",
        ),
        ("self.b", "ERROR: <input>:1:5: undefined field 'b'"),
        (
            "Bogus",
            "ERROR: <input>:1:1: undeclared reference to 'Bogus' (in container '')",
        ),
        (
            "self.a.foo()",
            "ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')",
        ),
        (
            "self.a.size(1)",
            "ERROR: <input>:1:12: found no matching overload for 'size' applied to 'string.(int)'",
        ),
        (
            "self.n && true",
            "ERROR: <input>:1:5: expected type 'bool' but found 'int'",
        ),
        (
            "self.n.x",
            "ERROR: <input>:1:7: type 'int' does not support field selection",
        ),
        (
            "[1, 'a']",
            "ERROR: <input>:1:5: expected type 'int' but found 'string'",
        ),
        (
            "self.list.all(x, x > 1)",
            "ERROR: <input>:1:20: found no matching overload for '_>_' applied to '(string, int)'",
        ),
        (
            "self.n.all(x, true)",
            "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        (
            "self.a.matches('[')",
            "ERROR: <input>:1:16: invalid matches argument",
        ),
        (
            "duration('x') == duration('1s')",
            "ERROR: <input>:1:10: invalid duration argument",
        ),
        ("self.any == 5 || self.any == 'x'", ""),
        ("has(self.a) && self.__in__ < 5 && self.map['x'] > 1", ""),
        ("self.?a.orValue('') == '' && optional.of(1).hasValue()", ""),
        ("self.map.all(k, v, k != '' && v > 0)", ""),
        ("quantity('1').isLessThan(quantity('2')) && isIP('::1')", ""),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn costs_are_estimated_by_the_limits_of_the_schema() {
    let cost = |text: &str| {
        let (program, of) = compile(text).unwrap();
        program.cost_max(&*of)
    };
    // Two selections, and no characters to compare beyond the literal's one.
    assert_eq!(cost("self.a == 'x'"), 3);
    assert_eq!(cost("self.n < 10"), 3);
    // A step has a condition of 2, an accumulator of 1, a variable of 1, and a comparison of 1; five of them.
    assert!(cost("self.list.all(x, x == 'a')") < 50);
    assert!(
        cost("self.nested.all(x, x.all(y, self.nested.all(z, z.all(w, w == y))))") > 1_000_000_000
    );
}

#[test]
fn expressions_are_evaluated_with_their_cost() {
    let object = json!({"a": "xyz", "n": 3, "list": ["a", "b"], "map": {"k": 1}, "in": 1});
    for (text, expected) in [
        ("self.a.startsWith('x') && self.n >= 3", true),
        ("has(self.short)", false),
        ("self.list.exists(x, x == 'b')", true),
        ("self.list.map(x, x + '!') == ['a!', 'b!']", true),
        ("self.list.filter(x, x != 'a').size() == 1", true),
        ("self.map.all(k, self.map[k] == 1)", true),
        ("self.map.exists(k, v, k == 'k' && v == 2)", false),
        ("self.?short.hasValue() || self.__in__ == 1", true),
        ("self.list[5] == 'x' || true", true),
        ("self.list.exists_one(x, x == 'a')", true),
        (
            "'a,b'.split(',').size() == 2 && sets.contains(self.list, ['a'])",
            true,
        ),
        ("optional.of(5).optMap(x, x + 1).orValue(0) == 6", true),
    ] {
        assert_eq!(run(text, &object).0, Ok(CelValue::Bool(expected)), "{text}");
    }
    assert_eq!(
        run("self.list[5] == 'x'", &object).0,
        Err(Failure::Error("index out of bounds: 5".to_owned()))
    );
    assert_eq!(
        run("self.short == 'x'", &object).0,
        Err(Failure::Error("no such key: short".to_owned()))
    );
    assert_eq!(run("self.n == 3", &object).1, 3);
    let many: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let object = json!({"list": many});
    let text = "self.list.all(x, self.list.all(y, x != '' && y != ''))";
    assert_eq!(run(text, &object).0, Err(Failure::Cancelled));
}

#[test]
fn associative_lists_are_equal_in_any_order() {
    let object = json!({
        "list": ["a", "b"],
        "set": ["a", "b"],
        "ports": [
            {"port": 1, "name": "x", "tags": ["s", "t"]},
            {"port": 2, "name": "y"},
        ],
    });
    for (text, expected) in [
        ("self.set == ['b', 'a']", true),
        ("self.set == ['b', 'b']", true),
        ("self.set == ['b', 'c']", false),
        ("self.set == ['b']", false),
        ("['b', 'a'] == self.set", false),
        ("self.list == ['b', 'a']", false),
        ("self.set + ['b', 'c'] == ['c', 'b', 'a']", true),
        ("self.list + ['b'] == ['a', 'b', 'b']", true),
        ("self.ports == [self.ports[1], self.ports[0]]", true),
        ("self.ports == [self.ports[0], self.ports[0]]", true),
        ("(self.ports + [self.ports[0]]).size() == 2", true),
        (
            "self.ports[0].tags == ['t', 's'] && self.set[1] == 'b'",
            true,
        ),
        (
            "self.set.size() == 2 && 'a' in self.set && self.set.all(x, x < 'c')",
            true,
        ),
        ("self.set.map(x, x + '!') == ['a!', 'b!']", true),
        (
            "self.set.join(',') == 'a,b' && sets.equivalent(self.set, ['b', 'a'])",
            true,
        ),
        ("'%s'.format([self.set]) == '[\"a\", \"b\"]'", true),
        ("type(self.set) == list", true),
    ] {
        assert_eq!(run(text, &object).0, Ok(CelValue::Bool(expected)), "{text}");
    }
}

#[test]
fn values_have_the_types_of_their_schemas() {
    let object = json!({
        "n": 3,
        "number": 1,
        "when": "2024-01-02T03:04:05Z",
        "date": "2024-01-02",
        "duration": "90s",
        "bytes": "YWJj",
        "any": "x",
        "map": {"a": 1, "b": null},
    });
    for (text, expected) in [
        ("self.number + 1.0 == 2.0", Ok(true)),
        (
            "self.when.getFullYear() == 2024 && self.date.getMonth() == 0",
            Ok(true),
        ),
        ("self.when.getHours('+01:00') == 4", Ok(true)),
        (
            "self.duration.getSeconds() == 90 && string(self.duration) == '90s'",
            Ok(true),
        ),
        ("self.bytes == b'abc'", Ok(true)),
        (
            "self.map.transformMap(k, v, v).size() == 2 && self.map.a == 1",
            Ok(true),
        ),
        ("self.any + 1 == 2", Err("no such overload")),
        ("self.any.foo == 1", Err("no such key: foo")),
        ("self.n / 0 == 1", Err("division by zero")),
        (
            "duration(self.n) == self.duration",
            Err("type conversion error from 'int' to 'google.protobuf.Duration'"),
        ),
    ] {
        let (value, _) = run(text, &object);
        let expected = match expected {
            Ok(value) => Ok(CelValue::Bool(value)),
            Err(why) => Err(Failure::Error(why.to_owned())),
        };
        assert_eq!(value, expected, "{text}");
    }
}

#[test]
fn constants_are_evaluated_once() {
    for (text, expected) in [
        (
            "int('x') == 1",
            "program instantiation failed: type conversion error from 'string' to 'int'",
        ),
        (
            "self.a.find('[') == ''",
            "program instantiation failed: error parsing regexp: missing closing ]: `[`",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let object = json!({"a": "b"});
    assert_eq!(run("self.a in ['a', 'b', 'c']", &object).1, 2);
    assert_eq!(
        run(
            "self.a in self.list",
            &json!({"a": "b", "list": ["a", "b"]})
        )
        .1,
        6
    );
}
