//! Expressions with the types, values, errors and costs that the libraries of a real server gave them.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::{CompileError, Environment, KnownVariables, Program, Sizes, Type, from_json, to_json};

/// An expression with its outcome.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct RecordedCase {
    expression: String,
    /// The errors of compilation.
    issues: String,
    /// The error of a constant part.
    program: String,
    #[serde(rename = "type")]
    of: String,
    /// The maximum cost; none if it has no limit.
    estimate: Option<u64>,
    error: String,
    value: Json,
    cost: Option<u64>,
}

struct NoSizeLimits;

impl Sizes for NoSizeLimits {
    fn size_max(&self, _: &[String]) -> Option<u64> {
        None
    }
}

fn object() -> Json {
    json!({
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"app": "web", "tier": "front"},
        },
        "spec": {
            "replicas": 3,
            "ratio": 0.5,
            "none": null,
            "list": [3, 1, 2],
            "names": ["b", "a", "c"],
            "nested": [[1, 2], [3]],
            "items": [{"k": "x", "n": 1}, {"k": "y", "n": 2}],
            "url": "https://a.example:8443/p?q=1",
            "image": "registry.example/app:v1.2.3",
            "text": "hello world, this is a text of some length",
        },
    })
}

fn outcome(expression: &str) -> RecordedCase {
    let mut environment = Environment::default();
    environment.declare("object", Type::Dyn);
    let mut found = RecordedCase {
        expression: expression.to_owned(),
        ..RecordedCase::default()
    };
    let program = match Program::compile(expression, &environment) {
        Ok(program) => program,
        Err(CompileError::Check(errors)) => {
            found.issues = errors;
            return found;
        }
        Err(CompileError::Constant(why)) => {
            found.program = why;
            return found;
        }
    };
    found.of = program.output().to_string();
    found.estimate = Some(program.cost_max(&NoSizeLimits)).filter(|max| *max < u64::MAX);
    let variables = KnownVariables([("object", from_json(&object()))].into());
    let (value, cost) = program.evaluate(&variables);
    found.cost = Some(cost);
    match value {
        Ok(value) => found.value = to_json(&value).unwrap_or_default(),
        Err(failure) => failure.message().clone_into(&mut found.error),
    }
    found
}

#[test]
fn expressions_have_the_outcomes_of_a_real_server() {
    let mut differences = Vec::new();
    for line in include_str!("expressions.jsonl").lines() {
        let mut recorded: RecordedCase = serde_json::from_str(line).unwrap();
        let mut found = outcome(&recorded.expression);
        // After a failure only its words count.
        if !recorded.program.is_empty() {
            (recorded.of, recorded.estimate) = (String::new(), None);
        }
        if found.value.as_f64() == recorded.value.as_f64() && found.value.is_number() {
            found.value = recorded.value.clone();
        }
        if found != recorded {
            differences.push(format!("real {recorded:?}\nthis {found:?}\n"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
