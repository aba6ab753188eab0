//! Self-subject rules reviews: the requester's own rules in a namespace.

use fakeserver_kinds::rbac::policy::{Access, PolicyRule};
use fakeserver_value::status::Status;
use serde_json::{Value, json};

use super::empty_review;
use crate::verbs::Request;

/// Answers a `SelfSubjectRulesReview`.
pub(super) fn answer(request: &Request<'_>, review: &Value) -> Result<Value, Status> {
    let namespace = review["spec"]["namespace"].as_str().unwrap_or_default();
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let (rules, errors) = match &request.requester.access {
        Access::All => (PolicyRule::everything().into(), Vec::new()),
        Access::Rules(policy) => {
            let (rules, errors) = policy.rules_for(&request.requester.user, namespace);
            (rules.into_iter().cloned().collect::<Vec<_>>(), errors)
        }
    };
    let with_resources = rules.iter().filter(|rule| !rule.resources.is_empty());
    let with_paths = (rules.iter()).filter(|rule| !rule.non_resource_urls.is_empty());
    let mut answer = empty_review(&request.target, &json!({}));
    answer["spec"] = json!({});
    answer["status"] = json!({
        "resourceRules": with_resources.collect::<Vec<_>>(),
        "nonResourceRules": with_paths.collect::<Vec<_>>(),
        "incomplete": false,
    });
    match errors.as_slice() {
        [] => {}
        [error] => answer["status"]["evaluationError"] = json!(error),
        errors => {
            answer["status"]["evaluationError"] = json!(format!("[{}]", errors.join(", ")));
        }
    }
    Ok(answer)
}
