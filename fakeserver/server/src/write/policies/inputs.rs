//! The variables of a policy's expressions.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
};

use fakeserver_cel::{
    Authorize, Check, Failure, KnownVariables as KnownValues, Value as CelValue, Variables,
    authorizer, from_json, request_resource,
};
use fakeserver_kinds::{
    admission::match_conditions::OUT_OF_BUDGET,
    rbac::{
        policy as rbac,
        policy::{Access, ResourceAttributes},
    },
};
use fakeserver_value::user::UserInfo;
use serde_json::{Map, Value};

use super::policy::{CompiledExpression, Policy};
use crate::write::{
    Attempt, Author,
    admission::{Attributes, Invocation, cel_request},
    namespace_key,
};

/// The maximum cost of the expressions of a policy for one write and one set of parameters.
const BUDGET: u64 = 10_000_000;

/// The members of the metadata of `namespaceObject`.
const NAMESPACE_METADATA: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
];

/// The values of the variables that do not depend on the policy.
#[derive(Clone)]
pub(super) struct RequestVariables(KnownValues);

/// The variables of one policy. Those that it composes are evaluated when they are read first.
pub(super) struct Inputs<'a> {
    variables: RequestVariables,
    composed: &'a [(String, CompiledExpression)],
    values: RefCell<BTreeMap<String, Result<CelValue, Failure>>>,
    /// The cost of the composed variables since it was read last.
    composed_cost: Cell<u64>,
    budget: Cell<u64>,
}

/// The budget is spent.
#[derive(Debug)]
pub(super) struct OutOfBudget;

/// The authorizer of a server, for the user who writes.
struct ServerAuthorizer {
    user: UserInfo,
    access: Access,
}

// === impl RequestVariables ===

impl RequestVariables {
    /// Returns the variables of a write that is in the version of `invocation`.
    pub(super) fn new(
        attempt: &Attempt<'_, '_>,
        author: &Author<'_>,
        attributes: &Attributes,
        invocation: &Invocation,
    ) -> Self {
        let side = |object: &Option<Value>| object.as_ref().map_or(CelValue::Null, from_json);
        let by: Arc<dyn Authorize> = Arc::new(ServerAuthorizer {
            user: author.user.clone(),
            access: author.access.clone(),
        });
        let resource = Check {
            group: attributes.resource.group.to_string(),
            resource: attributes.resource.plural.to_string(),
            subresource: attributes.subresource.clone(),
            namespace: attributes.namespace.clone(),
            name: attributes.name.clone(),
            ..Check::default()
        };
        Self(KnownValues(BTreeMap::from([
            ("object", side(&attributes.object)),
            ("oldObject", side(&attributes.old_object)),
            ("request", from_json(&cel_request(attributes, invocation))),
            ("namespaceObject", namespace_object(attempt, attributes)),
            ("params", CelValue::Null),
            (
                "authorizer.requestResource",
                request_resource(Arc::clone(&by), resource),
            ),
            ("authorizer", authorizer(by)),
        ])))
    }

    /// Returns the variables with these parameters.
    pub(super) fn with_params(&self, params: Option<&Value>) -> Self {
        let mut variables = self.clone();
        variables
            .0
            .0
            .insert("params", params.map_or(CelValue::Null, from_json));
        variables
    }

    /// Returns the variables with this object.
    pub(super) fn with_object(&self, object: &Value) -> Self {
        let mut variables = self.clone();
        variables.0.0.insert("object", from_json(object));
        variables
    }

    /// Returns the variables of match conditions, which do not see the namespace.
    pub(super) fn without_namespace(&self) -> Self {
        let mut variables = self.clone();
        variables.0.0.insert("namespaceObject", CelValue::Null);
        variables
    }
}

// === impl Inputs ===

impl<'a> Inputs<'a> {
    /// Begins evaluations of expressions of a policy, with the whole budget.
    pub(super) fn new(variables: RequestVariables, policy: &'a Policy) -> Self {
        Self {
            variables,
            composed: &policy.variables,
            values: RefCell::default(),
            composed_cost: Cell::new(0),
            budget: Cell::new(BUDGET),
        }
    }

    /// Begins evaluations with what is left of the budget.
    pub(super) fn again(&self) -> Self {
        Self {
            variables: self.variables.clone(),
            composed: self.composed,
            values: RefCell::default(),
            composed_cost: Cell::new(0),
            budget: self.budget.clone(),
        }
    }

    /// Evaluates an expression. The inner error is in a real server's words.
    pub(super) fn evaluate(
        &self,
        expression: &str,
        program: &CompiledExpression,
    ) -> Result<Result<CelValue, String>, OutOfBudget> {
        let program = match program {
            Ok(program) => program,
            Err(why) => return Ok(Err(format!("compilation error: {why}"))),
        };
        let (value, cost) = program.evaluate(self);
        let cost = cost.saturating_add(self.composed_cost.take());
        let Some(left) = self.budget.get().checked_sub(cost) else {
            return Err(OutOfBudget);
        };
        self.budget.set(left);
        Ok(value.map_err(|failure| {
            format!(
                "expression '{expression}' resulted in error: {}",
                failure.message()
            )
        }))
    }

    fn composed(&self, name: &str) -> Option<Result<CelValue, Failure>> {
        if let Some(value) = self.values.borrow().get(name) {
            return Some(value.clone());
        }
        let (_, compiled) = self.composed.iter().find(|(own, _)| own == name)?;
        let value = match compiled {
            Ok(program) => {
                let (value, cost) = program.evaluate(self);
                self.composed_cost
                    .set(self.composed_cost.get().saturating_add(cost));
                value.map_err(|failure| {
                    let why = failure.message();
                    format!("composited variable {name:?} fails to evaluate: {why}")
                })
            }
            Err(why) => Err(format!(
                "composited variable {name:?} fails to compile: {why}"
            )),
        };
        let value = value.map_err(Failure::Error);
        self.values
            .borrow_mut()
            .insert(name.to_owned(), value.clone());
        Some(value)
    }
}

impl Variables for Inputs<'_> {
    fn get(&self, name: &str) -> Option<Result<CelValue, Failure>> {
        match name.strip_prefix("variables.") {
            Some(name) => self.composed(name),
            None => self.variables.0.get(name),
        }
    }
}

// === impl OutOfBudget ===

impl OutOfBudget {
    /// Returns the words for it.
    pub(super) fn message() -> &'static str {
        OUT_OF_BUDGET
    }
}

// === impl ServerAuthorizer ===

impl Authorize for ServerAuthorizer {
    fn decide(&self, check: &Check) -> (bool, String) {
        let account = check
            .account
            .as_ref()
            .map(|(namespace, name)| UserInfo::service_account(namespace, name));
        let user = account.as_ref().unwrap_or(&self.user);
        let attributes = if check.resource.is_empty() {
            rbac::Attributes::path(&check.verb, &check.path)
        } else {
            rbac::Attributes::resource(
                &check.verb,
                ResourceAttributes {
                    group: check.group.clone(),
                    version: "*".to_owned(),
                    resource: check.resource.clone(),
                    subresource: check.subresource.clone(),
                    namespace: check.namespace.clone(),
                    name: check.name.clone(),
                },
            )
        };
        let decision = self.access.decide(user, &attributes);
        (decision.is_allowed, decision.reason)
    }
}

/// Returns what expressions see of the namespace; null for an object of the cluster.
fn namespace_object(attempt: &Attempt<'_, '_>, attributes: &Attributes) -> CelValue {
    if attributes.namespace.is_empty() || attributes.is_namespace() {
        return CelValue::Null;
    }
    let Some(stored) = attempt.get(&namespace_key(&attributes.namespace)) else {
        return CelValue::Null;
    };
    let stored = stored.to_value();
    let mut metadata = stored["metadata"].clone();
    if let Some(members) = metadata.as_object_mut() {
        members.retain(|name, _| NAMESPACE_METADATA.contains(&name.as_str()));
    }
    let parts = [
        ("metadata", metadata),
        ("spec", stored["spec"].clone()),
        ("status", stored["status"].clone()),
    ];
    let parts: Map<String, Value> = parts
        .map(|(name, part)| (name.to_owned(), part))
        .into_iter()
        .collect();
    from_json(&Value::Object(parts))
}
