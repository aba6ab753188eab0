//! Compiled policies and bindings.

use std::sync::Arc;

use fakeserver_cel::Program;
use fakeserver_kinds::{admission::match_conditions::Conditions, expression::DeclaredVariables};
use fakeserver_value::{
    object::selectors::{LabelSelector, print_label_selector},
    read::items,
};
use serde_json::Value;

use crate::write::admission::Criteria;

/// The policies of a server that have bindings, by name.
#[derive(Debug, Default)]
pub(in crate::write) struct Policies {
    pub(super) mutating: Vec<BoundPolicy>,
    pub(super) validating: Vec<BoundPolicy>,
}

/// A policy with its bindings, by name.
#[derive(Clone, Debug)]
pub(super) struct BoundPolicy {
    pub(super) policy: Arc<Policy>,
    pub(super) bindings: Vec<Arc<Binding>>,
}

/// A compiled expression, or why it cannot be one.
pub(super) type CompiledExpression = Result<Program, String>;

/// A policy.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    /// True if a write continues when the policy fails.
    pub(super) ignores_failure: bool,
    pub(super) criteria: Criteria,
    /// The version and kind of its parameters.
    pub(super) param_kind: Option<(String, String)>,
    pub(super) conditions: Conditions,
    pub(super) variables: Vec<(String, CompiledExpression)>,
    pub(super) validations: Vec<Validation>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) mutations: Vec<Mutation>,
    /// True if it is invoked again when others have changed an object after it.
    pub(super) is_reinvoked: bool,
}

/// A validation of a policy.
#[derive(Debug)]
pub(super) struct Validation {
    pub(super) expression: String,
    pub(super) program: CompiledExpression,
    pub(super) message: String,
    pub(super) message_program: Option<CompiledExpression>,
    /// Empty for the default.
    pub(super) reason: String,
}

/// An annotation of audit events. One that fails rejects a write.
#[derive(Debug)]
pub(super) struct Annotation {
    pub(super) key: String,
    pub(super) expression: String,
    pub(super) program: CompiledExpression,
}

/// A change of writes.
#[derive(Debug)]
pub(super) struct Mutation {
    pub(super) expression: String,
    pub(super) program: CompiledExpression,
    /// True for a list of JSON patch operations, false for an apply configuration.
    pub(super) is_json_patch: bool,
}

/// A binding.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) policy: String,
    pub(super) criteria: Option<Criteria>,
    pub(super) params: Option<ParamRef>,
    /// The consequences of a denial: `Deny`, `Warn`, `Audit`.
    pub(super) actions: Vec<String>,
}

/// The parameters that a binding names.
#[derive(Debug)]
pub(super) struct ParamRef {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) selector: Option<LabelSelector>,
    /// True if a write is rejected when no parameters are found.
    pub(super) must_exist: bool,
}

// === impl Policy ===

impl Policy {
    /// Compiles a policy that was validated when it was written.
    pub(super) fn compile(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let kind = &spec["paramKind"];
        let param_kind = kind
            .is_object()
            .then(|| (text(&kind["apiVersion"]), text(&kind["kind"])));
        let mut declared = DeclaredVariables::new(param_kind.is_some()).with_variables();
        let variables = items(&spec["variables"]).iter().map(|variable| {
            let name = text(&variable["name"]);
            let compiled = declared.add_variable(&name, &text(&variable["expression"]));
            (name, compiled)
        });
        let variables = variables.collect();
        let patches = declared.clone().with_patches();
        Self {
            name: text(&policy["metadata"]["name"]),
            ignores_failure: spec["failurePolicy"] == "Ignore",
            criteria: Criteria::of_policy(&spec["matchConstraints"]),
            conditions: Conditions::compile_with(&spec["matchConditions"], &declared),
            validations: items(&spec["validations"])
                .iter()
                .map(|validation| Validation::compile(validation, &declared))
                .collect(),
            annotations: items(&spec["auditAnnotations"])
                .iter()
                .map(|annotation| Annotation::compile(annotation, &declared))
                .collect(),
            mutations: items(&spec["mutations"])
                .iter()
                .map(|mutation| Mutation::compile(mutation, &patches))
                .collect(),
            is_reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
            param_kind,
            variables,
        }
    }
}

// === impl Validation ===

impl Validation {
    fn compile(validation: &Value, declared: &DeclaredVariables) -> Self {
        let expression = text(&validation["expression"]);
        let message = text(&validation["messageExpression"]);
        let of_message = declared.clone().without_authorizer();
        Self {
            program: declared.compile_to(&expression, &["bool"]),
            expression,
            message: text(&validation["message"]),
            message_program: (!message.is_empty())
                .then(|| of_message.compile_to(&message, &["string"])),
            reason: text(&validation["reason"]),
        }
    }
}

// === impl Annotation ===

impl Annotation {
    fn compile(annotation: &Value, declared: &DeclaredVariables) -> Self {
        let expression = text(&annotation["valueExpression"]);
        Self {
            key: text(&annotation["key"]),
            program: declared.compile_to(&expression, &["string", "null_type"]),
            expression,
        }
    }
}

// === impl Mutation ===

impl Mutation {
    fn compile(mutation: &Value, declared: &DeclaredVariables) -> Self {
        let is_json_patch = mutation["patchType"] == "JSONPatch";
        let (field, result) = if is_json_patch {
            ("jsonPatch", "list(JSONPatch)")
        } else {
            ("applyConfiguration", "Object")
        };
        let expression = text(&mutation[field]["expression"]);
        Self {
            program: declared.compile_to(&expression, &[result]),
            expression,
            is_json_patch,
        }
    }
}

// === impl Binding ===

impl Binding {
    /// Returns whether this follows from a denial.
    pub(super) fn has(&self, action: &str) -> bool {
        self.actions.iter().any(|listed| listed == action)
    }

    /// Reads a binding that was validated when it was written.
    pub(super) fn parse(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let matched = &spec["matchResources"];
        Self {
            name: text(&binding["metadata"]["name"]),
            policy: text(&spec["policyName"]),
            criteria: matched.is_object().then(|| Criteria::of_policy(matched)),
            params: spec["paramRef"]
                .is_object()
                .then(|| ParamRef::parse(&spec["paramRef"])),
            actions: items(&spec["validationActions"]).iter().map(text).collect(),
        }
    }
}

// === impl ParamRef ===

impl ParamRef {
    fn parse(reference: &Value) -> Self {
        let selector = &reference["selector"];
        let parse = || LabelSelector::parse(&print_label_selector(selector)).unwrap_or_default();
        Self {
            name: text(&reference["name"]),
            namespace: text(&reference["namespace"]),
            selector: selector.is_object().then(parse),
            must_exist: reference["parameterNotFoundAction"] == "Deny",
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
