//! The rules of a schema: their forms, their compilation, and their estimated costs.

use fakeserver_value::{
    go_values::JSON_VALUES,
    read::text,
    schema::{go_syntax, types_in},
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::{invalid, printed};
use crate::custom_resources::{
    field_path::{FieldPath, Notation},
    rules::{self, CheckedRule},
};

/// The maximum estimated cost of one rule.
const RULE_COST_MAX: u64 = 10_000_000;
/// The maximum estimated cost of all rules of a schema.
const TOTAL_COST_MAX: u64 = 100_000_000;
/// The reasons that a rule may give.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];
/// The number of rules that are named if all together cost too much.
const NAMED_MAX: usize = 4;

/// The place of a schema, as far as the costs of its rules and their errors depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleScope<'s> {
    kubernetes: KubernetesVersion,
    schema: Option<&'s Value>,
    is_root: bool,
    /// The maximum number of values that the schema describes in one object; `None` if it has no limit.
    cardinality: Option<u64>,
    suppresses_cost: bool,
}

/// The costs of all rules of a schema.
#[derive(Debug, Default)]
pub(super) struct CostTotal {
    total: u64,
    /// The most expensive rules, the first one first.
    expensive: Vec<(String, u64)>,
}

// === impl RuleScope ===

impl RuleScope<'_> {
    pub(super) fn root(kubernetes: KubernetesVersion, suppresses_cost: bool) -> Self {
        Self {
            kubernetes,
            schema: None,
            is_root: true,
            cardinality: Some(1),
            suppresses_cost,
        }
    }

    /// Returns the scope with the schema that it is about.
    pub(super) fn within(self, schema: &Value) -> RuleScope<'_> {
        RuleScope {
            schema: Some(schema),
            ..self
        }
    }

    /// Returns the scope of a part of its schema.
    pub(super) fn child(&self) -> RuleScope<'static> {
        let factor = self.schema.map_or(Some(1), elements_max);
        let cardinality = self.cardinality.zip(factor);
        RuleScope {
            kubernetes: self.kubernetes,
            schema: None,
            is_root: false,
            cardinality: cardinality.map(|(one, other)| one.saturating_mul(other)),
            suppresses_cost: self.suppresses_cost,
        }
    }
}

/// Returns how many parts a value can have, for each of which a rule is evaluated.
fn elements_max(schema: &Value) -> Option<u64> {
    let limit = |keyword: &str| {
        schema[keyword]
            .as_i64()
            .map(|max| max.max(0).cast_unsigned())
    };
    match text(&schema["type"]) {
        "object" if !schema["additionalProperties"].is_null() => limit("maxProperties"),
        "array" => limit("maxItems"),
        _ => Some(1),
    }
}

// === impl CostTotal ===

impl CostTotal {
    fn add(&mut self, path: String, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < TOTAL_COST_MAX / 100 {
            return;
        }
        self.expensive.push((path, cost));
        self.expensive
            .sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.expensive.truncate(NAMED_MAX);
    }

    /// Adds the errors of rules that cost too much together.
    pub(super) fn check(&self, path: &str, errors: &mut Vec<FieldError>) {
        if self.total <= TOTAL_COST_MAX {
            return;
        }
        for (path, _) in &self.expensive {
            errors.push(FieldError::forbidden(
                path.as_str(),
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            ));
        }
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = too_expensive(name, self.total, TOTAL_COST_MAX);
        errors.push(FieldError::forbidden(path, &detail));
    }
}

/// Returns the errors of the forms of a schema's rules.
pub(super) fn expression_errors(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let rules = schema["x-kubernetes-validations"].as_array();
    for (index, rule) in rules.into_iter().flatten().enumerate() {
        let path = format!("{path}.x-kubernetes-validations[{index}]");
        check_message(rule, &path, &mut errors);
        let given = text(&rule["messageExpression"]);
        if !given.is_empty() && given.trim().is_empty() {
            errors.push(FieldError::required(
                format!("{path}.messageExpression"),
                "messageExpression must be non-empty if specified",
            ));
        }
        if let Some(reason) = rule["reason"].as_str()
            && !REASONS.contains(&reason)
        {
            let path = format!("{path}.reason");
            errors.push(FieldError::not_supported(path, &rule["reason"], &REASONS));
        }
        let given = text(&rule["fieldPath"]);
        let mut refuse = |why: &str| {
            errors.push(invalid(&format!("{path}.fieldPath"), &given.into(), why));
        };
        if !given.is_empty() && given.trim().is_empty() {
            refuse("must be non-empty if specified");
        }
        if has_line_break(given) {
            refuse("must not contain line breaks");
        }
        if !given.is_empty()
            && FieldPath::resolve(given, schema, Notation::DotsAndBrackets).is_err()
        {
            refuse("must be a valid path");
        }
    }
    errors
}

fn check_message(rule: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let (expression, message) = (text(&rule["rule"]).trim(), text(&rule["message"]));
    let message_path = format!("{path}.message");
    if expression.is_empty() {
        let path = format!("{path}.rule");
        errors.push(FieldError::required(path, "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(invalid(&message_path, &message.into(), detail));
    } else if has_line_break(message.trim()) {
        let detail = "must not contain line breaks";
        errors.push(invalid(&message_path, &message.into(), detail));
    } else if has_line_break(expression) && message.trim().is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(message_path, detail));
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Compiles the rules of a schema, and returns their errors.
pub(super) fn check_rules(
    schema: &Value,
    path: &str,
    scope: &RuleScope<'_>,
    uncorrelated: Option<&str>,
    total: &mut CostTotal,
) -> Vec<FieldError> {
    let given = schema["x-kubernetes-validations"].as_array();
    let given = given.map(Vec::as_slice).unwrap_or_default();
    if given.is_empty() {
        return Vec::new();
    }
    let is_object = scope.is_root || schema["x-kubernetes-embedded-resource"] == true;
    let Some(checked) = rules::check(schema, is_object) else {
        let why = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                   convert structural schema to CEL declarations";
        let path = format!("{path}.x-kubernetes-validations");
        return vec![FieldError::internal(path, why)];
    };
    let mut errors = Vec::new();
    for (index, (rule, checked)) in given.iter().zip(checked).enumerate() {
        let path = format!("{path}.x-kubernetes-validations[{index}]");
        check_rule(rule, &checked, &path, scope, total, &mut errors);
        let detail = uncorrelated.filter(|_| checked.uses_old_self).map(|path| {
            format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"
            )
        });
        if let Some(detail) = detail {
            errors.push(invalid(&format!("{path}.rule"), &rule["rule"], &detail));
        } else if !checked.uses_old_self && !rule["optionalOldSelf"].is_null() {
            errors.push(FieldError::invalid(
                format!("{path}.optionalOldSelf"),
                &rule["optionalOldSelf"],
                "may not be set if oldSelf is not used in rule",
            ));
        }
    }
    errors
}

/// Prints a rule as errors of a version show it.
fn print_rule(kubernetes: KubernetesVersion, rule: &Value) -> String {
    const DEFINITION: &str =
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule";
    let table = types_in(kubernetes);
    match table.find(DEFINITION) {
        Some(id) if !kubernetes.gates().is_on(JSON_VALUES) => go_syntax(table, id, rule),
        _ => printed::rule(rule),
    }
}

fn check_rule(
    rule: &Value,
    checked: &CheckedRule,
    path: &str,
    scope: &RuleScope<'_>,
    total: &mut CostTotal,
    errors: &mut Vec<FieldError>,
) {
    let rule_path = format!("{path}.rule");
    let cardinality = scope.cardinality.unwrap_or(checked.cardinality_max);
    let cost = checked.cost.saturating_mul(cardinality);
    if !scope.suppresses_cost && cost > RULE_COST_MAX {
        let detail = too_expensive("estimated rule cost", cost, RULE_COST_MAX);
        errors.push(FieldError::forbidden(rule_path.as_str(), &detail));
    }
    total.add(rule_path.clone(), cost);
    let printed = || print_rule(scope.kubernetes, rule);
    if let Some(why) = &checked.error {
        errors.push(FieldError::invalid_printed(rule_path, &printed(), why));
    }
    let message_path = format!("{path}.messageExpression");
    if let Some(why) = &checked.message_error {
        errors.push(FieldError::invalid_printed(message_path, &printed(), why));
    } else if let Some(cost) = checked.message_cost {
        if !scope.suppresses_cost && cost > RULE_COST_MAX {
            let detail = too_expensive("estimated messageExpression cost", cost, RULE_COST_MAX);
            errors.push(FieldError::forbidden(message_path.as_str(), &detail));
        }
        total.add(message_path, cost);
    }
}

fn too_expensive(name: &str, cost: u64, max: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "only its magnitude is told")]
    let factor = cost as f64 / max as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
