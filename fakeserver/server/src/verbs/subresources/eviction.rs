//! `eviction`: a pod is deleted, unless its disruption budget forbids it.
//!
//! The rules are those of upstream's `EvictionREST` of 1.36, in one transaction.

use axum::response::Response;
use fakeserver_kinds::{
    conditions::{self, PodCondition},
    policy::pod_disruption_budget,
};
use fakeserver_value::{
    object::selectors::{LabelSelector, print_label_selector},
    resource::GroupVersionKind,
    status::{Status, Success},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    edge::{
        request::{delete_options, write_options},
        response::Shape,
    },
    store::{ObjectKey, StoredObject, Transaction},
    verbs::{
        Api, Request,
        answer::{self, add_warnings},
        author::author,
        body::receive_as,
        delete::check_preconditions,
    },
    write::{
        Attempt, AttemptError, ExistingObject, ReceivedObject, Target, admit,
        deletion::{self, DeletionParameters},
    },
};

/// The `Retry-After` for a budget that was not processed yet.
const RETRY_AFTER_SECONDS: u32 = 10;

/// The condition of an evicted pod with the reason of the disruption.
const EVICTED: PodCondition<'static> = PodCondition {
    kind: "DisruptionTarget",
    is_true: true,
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
    observed_generation: None,
};

/// Deletes the pod by the eviction in `body`.
pub(super) async fn create(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding_of(
        api,
        request,
        &GroupVersionKind::new("", "v1", "Status"),
        Shape::Object,
    )?;
    let create_options = write_options(&request.query, "CreateOptions")?;
    let kind = GroupVersionKind::new("policy", "v1", "Eviction");
    let ReceivedObject {
        object: mut eviction,
        mut warnings,
    } = receive_as(request, &kind, body, create_options.validation())?;
    let placed = request.target.set_namespace(&mut eviction);
    placed
        .and_then(|()| check_name(&request.target, &eviction))
        .map_err(|status| status.after(&warnings))?;
    // The parameters are those of a creation: without options in the body, those of the deletion are empty.
    let given = match &eviction["deleteOptions"] {
        Value::Null => &json!({}),
        given => given,
    };
    let mut options = delete_options(&request.query, Some(given))?;
    options.is_dry_run |= create_options.is_dry_run;

    let (target, author) = (&request.target, author(request, &create_options));
    let work = |attempt: &mut Attempt<'_, '_>| {
        // Admission sees the eviction, which a webhook can reject; the deletion below passes no admission of its own.
        admit(attempt, target, author, &kind, eviction.clone())?;
        let ExistingObject { stored, .. } = attempt.existing(target)?;
        // Before the deletion, and in its transaction: two evictions cannot take the same disruption.
        take_from_budget(attempt, &stored, options.is_dry_run)?;
        // After the budget, as upstream, where the deletion checks them.
        check_preconditions(target, &options, &stored)?;
        if !options.is_dry_run {
            announce(attempt, &stored);
        }
        let ExistingObject { stored, object } = attempt.existing(target)?;
        // The deletion itself is not put to admission.
        let (kind, now) = (target.rules(), attempt.now());
        let wanted = DeletionParameters::from(&options);
        Ok(deletion::delete(
            attempt, kind, wanted, &stored, &object, now,
        ))
    };
    let written = api.backend.write(target, &create_options, work).await;
    let (_, admission_warnings) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(admission_warnings);
    let mut response =
        answer::succeeded(request, StatusCode::CREATED, &encoding, &Success::created());
    add_warnings(&mut response, &warnings);
    Ok(response)
}

fn check_name(target: &Target, eviction: &Value) -> Result<(), Status> {
    if eviction["metadata"]["name"] == target.name() {
        return Ok(());
    }
    let why = "name in URL does not match name in Eviction object";
    Err(Status::bad_request(why))
}

/// Adds the eviction's condition to the pod by a separate update: watchers see it before the deletion.
#[doc(alias = "addConditionAndDeletePod")]
fn announce(attempt: &mut Attempt<'_, '_>, pod: &StoredObject) {
    let before = pod.to_value();
    let mut after = before.clone();
    EVICTED.set(&mut after["status"], attempt.now_text());
    if after != before {
        attempt.put(pod.key(), after);
    }
}

/// Takes a disruption from the pod's budget, if the pod counts and has a budget.
fn take_from_budget(
    attempt: &mut Attempt<'_, '_>,
    pod: &StoredObject,
    is_dry_run: bool,
) -> Result<(), AttemptError> {
    let value = pod.to_value();
    let phase = value["status"]["phase"].as_str().unwrap_or_default();
    let is_going = !value["metadata"]["deletionTimestamp"].is_null();
    if is_going || matches!(phase, "Succeeded" | "Failed" | "Pending") {
        return Ok(());
    }
    let mut budgets = budgets_of(attempt, pod);
    let Some((key, mut budget)) = budgets.pop() else {
        return Ok(());
    };
    if !budgets.is_empty() {
        return Err(Status::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        )
        .into());
    }
    let ready = conditions::find(&value["status"], "Ready");
    let is_ready = ready.is_some_and(|ready| ready["status"] == "True");
    // A pod that is not ready serves nobody: it is evicted without a disruption.
    if !is_ready && may_go_unhealthy(&budget) {
        return Ok(());
    }
    check_allows(&budget)?;
    let allowed = count(&budget["status"]["disruptionsAllowed"]);
    budget["status"]["disruptionsAllowed"] = json!(allowed - 1);
    // Until the disruption controller has seen the deletion, this keeps it from allowing the same disruption again.
    budget["status"]["disruptedPods"][pod.name()] = json!(attempt.now_text());
    if !is_dry_run {
        attempt.put(&key, budget);
    }
    Ok(())
}

/// The budgets that select a pod.
fn budgets_of(tx: &Transaction<'_>, pod: &StoredObject) -> Vec<(ObjectKey, Value)> {
    let selects = |budget: &Value| {
        let selector = &budget["spec"]["selector"];
        let parsed = LabelSelector::parse(&print_label_selector(selector));
        !selector.is_null() && parsed.is_ok_and(|selector| selector.matches(pod.labels()))
    };
    tx.list(pod_disruption_budget::KIND.storage(), pod.namespace())
        .iter()
        .map(|budget| (budget.key().clone(), budget.to_value()))
        .filter(|(_, budget)| selects(budget))
        .collect()
}

/// Returns whether a pod that is not ready may be evicted without being counted.
fn may_go_unhealthy(budget: &Value) -> bool {
    let status = &budget["status"];
    let desired = count(&status["desiredHealthy"]);
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        || (desired > 0 && count(&status["currentHealthy"]) >= desired)
}

fn check_allows(budget: &Value) -> Result<(), Status> {
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let status = &budget["status"];
    let generation = count(&budget["metadata"]["generation"]);
    if count(&status["observedGeneration"]) < generation {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(Status::disruption_forbidden(why, RETRY_AFTER_SECONDS));
    }
    if count(&status["disruptionsAllowed"]) <= 0 {
        let why = format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            count(&status["desiredHealthy"]),
            count(&status["currentHealthy"]),
        );
        return Err(Status::disruption_forbidden(why, 0));
    }
    Ok(())
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}
