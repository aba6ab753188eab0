//! The authorizer as a value: checks that are composed and then asked.

use std::{fmt, sync::Arc};

use super::{
    interpreter::Failure,
    value::{Opaque, Value, string},
};

/// Decides whether a user may do something.
pub trait Authorize: Send + Sync {
    /// Returns whether a question is allowed, and why.
    fn decide(&self, check: &Check) -> (bool, String);
}

/// A question to the authorizer, which may be incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// The service account to ask for, instead of the requester: its namespace and name.
    pub account: Option<(String, String)>,
    pub path: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub verb: String,
}

/// The progress of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Authorizer,
    Path,
    Group,
    Resource,
}

/// The authorizer with a question.
#[derive(Clone)]
struct AuthorizerCheck {
    by: Arc<dyn Authorize>,
    check: Check,
    stage: Stage,
}

/// An answer of the authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AuthorizerDecision {
    is_allowed: bool,
    reason: String,
}

/// Returns the value `authorizer`.
pub fn authorizer(by: Arc<dyn Authorize>) -> Value {
    asking(by, Check::default(), Stage::Authorizer)
}

/// Returns the value `authorizer.requestResource`.
pub fn request_resource(by: Arc<dyn Authorize>, check: Check) -> Value {
    asking(by, check, Stage::Resource)
}

fn asking(by: Arc<dyn Authorize>, check: Check, stage: Stage) -> Value {
    Value::Opaque(Arc::new(AuthorizerCheck { by, check, stage }))
}

/// Calls a method of the authorizer, of a question or of an answer, if `target` is one of them.
pub(super) fn call(name: &str, target: &Value, args: &[Value]) -> Option<Result<Value, Failure>> {
    let Value::Opaque(opaque) = target else {
        return None;
    };
    if let Some(decided) = opaque.downcast_ref::<AuthorizerDecision>() {
        return Some(Ok(match name {
            "allowed" => Value::Bool(decided.is_allowed),
            "reason" => string(&decided.reason),
            "errored" => Value::Bool(false),
            "error" => string(""),
            _ => return None,
        }));
    }
    let asking = opaque.downcast_ref::<AuthorizerCheck>()?;
    let texts: Option<Vec<&str>> = args
        .iter()
        .map(|arg| match arg {
            Value::String(text) => Some(&**text),
            _ => None,
        })
        .collect();
    asking.call(name, &texts?)
}

// === impl AuthorizerCheck ===

impl AuthorizerCheck {
    fn call(&self, name: &str, args: &[&str]) -> Option<Result<Value, Failure>> {
        let mut next = self.clone();
        let check = &mut next.check;
        let fails = |why: &str| Some(Err(Failure::Error(why.to_owned())));
        match (self.stage, name, args) {
            (Stage::Authorizer, "path", [path]) => {
                if path.trim().is_empty() {
                    return fails("path must not be empty");
                }
                (*path).clone_into(&mut check.path);
                next.stage = Stage::Path;
            }
            (Stage::Authorizer, "group", [group]) => {
                (*group).clone_into(&mut check.group);
                next.stage = Stage::Group;
            }
            (Stage::Authorizer, "serviceAccount", [namespace, name]) => {
                check.account = Some(((*namespace).to_owned(), (*name).to_owned()));
            }
            (Stage::Group, "resource", [resource]) => {
                if resource.trim().is_empty() {
                    return fails("resource must not be empty");
                }
                (*resource).clone_into(&mut check.resource);
                next.stage = Stage::Resource;
            }
            (Stage::Resource, "subresource", [text]) => (*text).clone_into(&mut check.subresource),
            (Stage::Resource, "namespace", [text]) => (*text).clone_into(&mut check.namespace),
            (Stage::Resource, "name", [text]) => (*text).clone_into(&mut check.name),
            // The rules of RBAC know no selectors.
            (Stage::Resource, "fieldSelector" | "labelSelector", [_]) => {}
            (Stage::Resource | Stage::Path, "check", [verb]) => {
                (*verb).clone_into(&mut check.verb);
                let (is_allowed, reason) = self.by.decide(check);
                return Some(Ok(Value::Opaque(Arc::new(AuthorizerDecision {
                    is_allowed,
                    reason,
                }))));
            }
            _ => return None,
        }
        Some(Ok(Value::Opaque(Arc::new(next))))
    }
}

impl fmt::Debug for AuthorizerCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking")
            .field("check", &self.check)
            .finish_non_exhaustive()
    }
}

impl PartialEq for AuthorizerCheck {
    fn eq(&self, other: &Self) -> bool {
        self.stage == other.stage && self.check == other.check
    }
}

impl Eq for AuthorizerCheck {}

impl Opaque for AuthorizerCheck {
    fn type_name(&self) -> &'static str {
        match self.stage {
            Stage::Authorizer => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
        }
    }
}

impl Opaque for AuthorizerDecision {
    fn type_name(&self) -> &'static str {
        "kubernetes.authorization.Decision"
    }
}
