//! DELETE of an object.
//!
//! An object without finalizers goes at once. One with finalizers, or a pod on a node, is marked and stays until these are
//! gone, or the pod is deleted without grace.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;

use super::{
    Call,
    attempt::{Attempt, Halt},
    namespaces,
    write::{Outcome, add_warnings},
};
use crate::{
    deletion::{self, Deletion, Wanted},
    request::{DeleteOptions, parse_delete_options},
    response::{Encoding, Shape},
    status::{Named, Status, Success},
    storage::StoredObject,
};

/// Deletes the object, or marks it as deleted.
pub(super) async fn delete(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = options(call, body)?;
    let written = call.write(&options, |tx| delete_named(call, tx, &options));
    let ((uid, deletion), warnings) = written.await?;
    let deletion = match deletion {
        Deletion::Stored(kept) => Deletion::Stored(call.present(&kept).await?),
        other => other,
    };
    let mut response = answer(call, &encoding, &deletion, uid);
    if options.is_cascading && !matches!(deletion, Deletion::Gone(_)) {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    add_warnings(&mut response, &warnings);
    Ok(response)
}

/// Deletes the object for somebody behind the API, without options.
pub(super) fn delete_unreviewed(call: &Call<'_>) -> Result<(), Status> {
    let options = DeleteOptions::default();
    call.write_unreviewed(&options, |tx| delete_named(call, tx, &options))
        .map(drop)
}

/// Deletes the object of the path, and gives its uid.
fn delete_named(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &DeleteOptions,
) -> Result<(String, Deletion), Halt> {
    let named = call.named(call.name());
    if call.strategy().is_namespace() {
        namespaces::check_mortal(named)?;
    }
    let key = call.key(call.name());
    let existing = tx.get(&key).ok_or_else(|| Status::not_found(named))?;
    let uid = existing.uid().to_owned();
    Ok((uid, delete_in(call, tx, options, &existing)?))
}

/// The options of a delete, from the body if there is one.
pub(super) fn options(call: &Call<'_>, body: &[u8]) -> Result<DeleteOptions, Status> {
    let body = parse_delete_options(call.headers, body)?;
    DeleteOptions::parse(&call.query, body.as_ref())
}

fn answer(call: &Call<'_>, encoding: &Encoding, deletion: &Deletion, uid: String) -> Response {
    match deletion {
        Deletion::Stored(object) => {
            let outcome = Outcome::Stored(Arc::clone(object));
            call.answer(StatusCode::OK, encoding, &outcome, &[])
        }
        Deletion::Shown(object) => {
            let outcome = Outcome::Shown(object.clone());
            call.answer(StatusCode::OK, encoding, &outcome, &[])
        }
        Deletion::Gone(object) if call.strategy().returns_deleted() => {
            let outcome = Outcome::Shown(object.clone());
            call.answer(StatusCode::OK, encoding, &outcome, &[])
        }
        Deletion::Gone(_) => {
            let success = Success::of(call.named(call.name()), uid);
            call.succeed(StatusCode::OK, encoding, &success)
        }
    }
}

/// Deletes `existing`, or marks it as deleted.
pub(super) fn delete_in(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &DeleteOptions,
    existing: &Arc<StoredObject>,
) -> Result<Deletion, Halt> {
    check_preconditions(call, options, existing)?;
    // An eviction was put to webhooks as what it is.
    if call.subresource().is_empty() {
        let shown = tx.shown(call, existing)?;
        tx.admit_deletion(call, &shown)?;
    }
    // What is marked is what is stored, in the version in which it is.
    let old = match call.conversion() {
        Some(_) => existing.to_value(),
        None => call.shown(existing),
    };
    let now = tx.now();
    let wanted = Wanted::from(options);
    Ok(deletion::delete(
        tx,
        call.strategy(),
        wanted,
        existing,
        &old,
        now,
    ))
}

/// Whether the object is the one that the client means. The kind stands where the resource would.
fn check_preconditions(
    call: &Call<'_>,
    options: &DeleteOptions,
    existing: &StoredObject,
) -> Result<(), Status> {
    let named = Named {
        resource: &call.resource.kind,
        group: &call.resource.group,
        name: existing.name(),
    };
    let preconditions = &options.preconditions;
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
