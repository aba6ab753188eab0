//! Compiled rules by the schemas that have them.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_cel::{
    CompileError, Failure, KnownVariables, Program, Type, Value as CelValue, optional,
};
use fakeserver_value::read::text;
use serde_json::Value;

use super::{schema_type::SchemaType, values::from_json};
use crate::custom_resources::field_path::{FieldPath, Notation};

/// The rules of a schema and of all schemas within it.
#[derive(Debug)]
pub(super) struct Node {
    /// The schema without those of its fields, for lists whose items have keys.
    pub(super) schema: Value,
    /// The type of the values; none if expressions cannot see them.
    of: Option<Arc<SchemaType>>,
    pub(super) rules: Vec<Rule>,
    pub(super) items: Option<Box<Node>>,
    pub(super) additional: Option<Box<Node>>,
    pub(super) properties: BTreeMap<String, Node>,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: String,
    pub(super) message: String,
    pub(super) reason: Option<String>,
    pub(super) has_optional_old: bool,
    /// The path of the field that errors name, below the value.
    pub(super) field: String,
    pub(super) program: Result<Program, String>,
    /// The expression that makes the message.
    pub(super) message_program: Option<Program>,
}

pub(super) fn compile_rule(rule: &Value, of: &Arc<SchemaType>) -> Result<Program, String> {
    let environment = of.environment(has_optional_old(rule));
    let program = Program::compile(text(&rule["rule"]), &environment);
    let program = program.map_err(|why| why.to_string())?;
    if *program.output() == Type::Bool {
        Ok(program)
    } else {
        Err("cel expression must evaluate to a bool".to_owned())
    }
}

pub(super) fn compile_message(
    rule: &Value,
    of: &Arc<SchemaType>,
) -> Option<Result<Program, String>> {
    let given = text(&rule["messageExpression"]);
    if given.is_empty() {
        return None;
    }
    let environment = of.environment(has_optional_old(rule));
    let program = Program::compile(given, &environment).map_err(|why| match why {
        CompileError::Check(errors) => format!("messageExpression compilation failed: {errors}"),
        CompileError::Constant(why) => format!("messageExpression instantiation failed: {why}"),
    });
    Some(program.and_then(|program| {
        if *program.output() == Type::String {
            Ok(program)
        } else {
            Err("messageExpression must evaluate to a string".to_owned())
        }
    }))
}

fn has_optional_old(rule: &Value) -> bool {
    rule["optionalOldSelf"] == true
}

pub(super) fn has_rules(schema: &Value) -> bool {
    let own = schema["x-kubernetes-validations"].as_array();
    let properties = schema["properties"].as_object();
    own.is_some_and(|rules| !rules.is_empty())
        || (schema["items"].is_object() && has_rules(&schema["items"]))
        || (schema["additionalProperties"].is_object()
            && has_rules(&schema["additionalProperties"]))
        || properties.is_some_and(|all| all.values().any(has_rules))
}

// === impl Node ===

impl Node {
    pub(super) fn new(schema: &Value, is_object: bool) -> Self {
        let of = SchemaType::of(schema, is_object);
        let rules = schema["x-kubernetes-validations"].as_array();
        let rules = rules.into_iter().flatten();
        let child = |schema: &Value| {
            let is_object = schema["x-kubernetes-embedded-resource"] == true;
            has_rules(schema).then(|| Self::new(schema, is_object))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let part = |keyword: &str| schema.get(keyword).and_then(child).map(Box::new);
        Self {
            rules: rules
                .filter_map(|rule| Rule::new(rule, schema, of.as_ref()?))
                .collect(),
            items: part("items"),
            additional: part("additionalProperties"),
            properties: properties
                .filter_map(|(name, schema)| Some((name.clone(), child(schema)?)))
                .collect(),
            of,
            schema: serde_json::json!({
                "type": schema["type"],
                "x-kubernetes-list-type": schema["x-kubernetes-list-type"],
                "x-kubernetes-list-map-keys": schema["x-kubernetes-list-map-keys"],
            }),
        }
    }

    pub(super) fn ty(&self) -> &str {
        text(&self.schema["type"])
    }

    /// Evaluates an expression of a rule for a value. Also returns the cost.
    pub(super) fn evaluate(
        &self,
        program: &Program,
        rule: &Rule,
        (value, old): (&Value, Option<&Value>),
    ) -> (Result<CelValue, Failure>, u64) {
        let of = |json: &Value| from_json(json, self.of.as_deref());
        let mut variables = KnownVariables::default();
        variables.0.insert("self", of(value));
        let old = old.map(of);
        if rule.has_optional_old {
            variables.0.insert("oldSelf", optional(old));
        } else if let Some(old) = old {
            variables.0.insert("oldSelf", old);
        }
        program.evaluate(&variables)
    }
}

// === impl Rule ===

impl Rule {
    pub(super) fn new(rule: &Value, schema: &Value, of: &Arc<SchemaType>) -> Option<Self> {
        let own = text(&rule["rule"]).trim();
        let path = text(&rule["fieldPath"]);
        let field = FieldPath::resolve(path, schema, Notation::DotsAndBrackets);
        (!own.is_empty()).then(|| Self {
            text: own.to_owned(),
            message: text(&rule["message"]).trim().to_owned(),
            reason: rule["reason"].as_str().map(str::to_owned),
            has_optional_old: has_optional_old(rule),
            field: field.map(|field| field.path).unwrap_or_default(),
            program: compile_rule(rule, of),
            message_program: compile_message(rule, of).and_then(Result::ok),
        })
    }

    /// Returns the text that names the rule in errors.
    pub(super) fn name(&self) -> &str {
        if self.message.is_empty() {
            &self.text
        } else {
            &self.message
        }
    }
}
