//! DELETE of an object.
//!
//! An object without finalizers is removed at once. One with finalizers, or a pod on a node, is marked. It stays until
//! its finalizers are removed, or the pod is deleted without grace.

use axum::response::Response;
use fakeserver_kinds::Removal;
use fakeserver_value::status::{NamedObject, Status, Success};
use http::StatusCode;

use super::{
    Api, Request,
    answer::{self, add_warnings},
    author::deleter,
    present::present,
};
use crate::{
    edge::{
        request::{delete_options, parse_delete_options},
        response::{Encoding, Shape},
    },
    store::StoredObject,
    write::{
        Attempt, AttemptError, Author, DeleteOptions, Draft, ExistingObject, Outcome,
        Preconditions, Target,
        deletion::{DeletionParameters, is_without_effect, options_for_admission},
        run,
    },
};

/// Deletes the object, or marks it as deleted.
pub(super) async fn delete(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let options = options(request, body)?;
    let (target, author) = (&request.target, deleter(request));
    let work = |attempt: &mut Attempt<'_, '_>| delete_named(target, author, attempt, &options);
    let ((uid, outcome), warnings) = api.backend.write(target, &options, work).await?;
    let outcome = match outcome {
        Outcome::Stored(kept) => Outcome::Stored(present(api, request, &kept).await?),
        other => other,
    };
    let mut response = deleted(request, &encoding, &outcome, uid);
    if options.orphan_dependents == Some(false) && !matches!(outcome, Outcome::Deleted(_)) {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    add_warnings(&mut response, &warnings);
    Ok(response)
}

/// Deletes the object of `target`, and returns its uid.
pub(super) fn delete_named(
    target: &Target,
    author: Author<'_>,
    attempt: &mut Attempt<'_, '_>,
    options: &DeleteOptions,
) -> Result<(String, Outcome), AttemptError> {
    // In the attempt: preconditions and the deletion must see the same version.
    let existing = attempt.existing(target)?;
    check_preconditions(target, options, &existing.stored)?;
    let now = attempt.now();
    attempt.set_options(&options_for_admission(
        target.rules(),
        options,
        &existing,
        now,
    ));
    let uid = existing.stored.uid().to_owned();
    Ok((
        uid,
        delete_existing(target, author, attempt, options, existing)?,
    ))
}

/// Deletes `existing`, which meets the preconditions, or marks it as deleted.
pub(super) fn delete_existing(
    target: &Target,
    author: Author<'_>,
    attempt: &mut Attempt<'_, '_>,
    options: &DeleteOptions,
    existing: ExistingObject,
) -> Result<Outcome, AttemptError> {
    let (now, parameters) = (attempt.now(), DeletionParameters::from(options));
    if is_without_effect(target.rules(), parameters, &existing.object, now) {
        return Ok(Outcome::Stored(existing.stored));
    }
    let draft = Draft::delete(target, author, existing, parameters);
    run(attempt, draft)
}

/// Reads the options of a delete, from the body if there is one.
pub(super) fn options(request: &Request<'_>, body: &[u8]) -> Result<DeleteOptions, Status> {
    let body = parse_delete_options(request.headers, request.media_types, body)?;
    delete_options(&request.query, body.as_ref())
}

/// Answers with the object, or with its uid if it is gone and its kind has it so.
fn deleted(request: &Request<'_>, encoding: &Encoding, outcome: &Outcome, uid: String) -> Response {
    let target = &request.target;
    if matches!(outcome, Outcome::Deleted(_)) && !target.rules().habits.returns_deleted {
        let success = Success::of(target.named(target.name()), uid);
        return answer::succeeded(request, StatusCode::OK, encoding, &success);
    }
    answer::written(request, StatusCode::OK, encoding, outcome, &[])
}

/// Refuses another object than the one that the client means. The kind stands where the resource would.
pub(super) fn check_preconditions(
    target: &Target,
    options: &DeleteOptions,
    existing: &StoredObject,
) -> Result<(), Status> {
    let preconditions = &options.preconditions;
    // Their registries check before the general one does, in their own words.
    if matches!(
        target.rules().habits.removal,
        Removal::AfterContent | Removal::AfterInstances
    ) {
        return check_as_storage(target, preconditions, existing);
    }
    let named = NamedObject {
        resource: &target.resource.kind,
        group: &target.resource.group,
        name: existing.name(),
    };
    if let Some(uid) = &preconditions.uid
        && uid != existing.uid()
    {
        return Err(Status::conflict(
            named,
            &format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                existing.uid()
            ),
        ));
    }
    if let Some(version) = &preconditions.resource_version
        && *version != existing.revision().to_string()
    {
        return Err(Status::conflict(
            named,
            &format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
                 The object might have been modified",
                existing.revision()
            ),
        ));
    }
    Ok(())
}

/// Does the same for a namespace or a definition, in the words of their registries.
fn check_as_storage(
    target: &Target,
    preconditions: &Preconditions,
    existing: &StoredObject,
) -> Result<(), Status> {
    let revision = existing.revision().to_string();
    let checks = [
        ("UID", &preconditions.uid, existing.uid()),
        (
            "ResourceVersion",
            &preconditions.resource_version,
            &revision,
        ),
    ];
    for (field, wanted, present) in checks {
        if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != present) {
            return Err(Status::conflict(
                target.named(existing.name()),
                &format!(
                    "Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {present}"
                ),
            ));
        }
    }
    Ok(())
}
