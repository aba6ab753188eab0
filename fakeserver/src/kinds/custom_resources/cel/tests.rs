//! Tests of expressions without a server.

use serde_json::{Value, json};

use super::{Evaluated, Evaluator, ObjectType, Variable, compile};

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
    }})
}

/// Returns the first line of the error of an expression.
fn error(text: &str) -> String {
    let ty = ObjectType::of(&schema(), false).unwrap();
    let Err(error) = compile(text, &ty, &[Variable::Always("self")]) else {
        return String::new();
    };
    error.lines().next().unwrap_or_default().to_owned()
}

/// Evaluates an expression about an object, and returns the cost besides.
fn run(text: &str, object: &Value) -> (Evaluated, u64) {
    let ty = ObjectType::of(&schema(), false).unwrap();
    let this = Variable::Always("self");
    let program = compile(text, &ty, &[this]).unwrap();
    program.evaluate(&Evaluator::new(), &[(this, Some(object))])
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
        let ty = ObjectType::of(&schema(), false).unwrap();
        let program = compile(text, &ty, &[Variable::Always("self")]).unwrap();
        program.cost_max()
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
        assert_eq!(run(text, &object).0, Evaluated::Bool(expected), "{text}");
    }
    assert_eq!(
        run("self.list[5] == 'x'", &object).0,
        Evaluated::Failed("index out of bounds: 5".to_owned())
    );
    assert_eq!(
        run("self.short == 'x'", &object).0,
        Evaluated::Failed("no such key: short".to_owned())
    );
    assert_eq!(run("self.n == 3", &object).1, 3);
    let many: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let object = json!({"list": many});
    let text = "self.list.all(x, self.list.all(y, x != '' && y != ''))";
    assert_eq!(run(text, &object).0, Evaluated::CostLimit);
}
