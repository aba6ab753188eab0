//! PUT of an object, and what it shares with a patch.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Call, allocation,
    attempt::{Attempt, Halt},
    create::{Draft, create_in},
    escalation, plugins,
    write::{Outcome, Received, Source, remove},
};
use crate::{
    admission::Operation,
    deletion::is_finished,
    managed_fields,
    request::WriteOptions,
    response::Shape,
    status::{FieldError, Named, Status},
    storage::{ObjectKey, StoredObject},
    validation::metadata_update_errors,
};

/// Replaces the object by the one in `body`.
pub(super) async fn update(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let mut received = call.receive(body, options.field_validation)?;
    call.place(&mut received.object)?;
    check_name(call, &received.object)?;
    received.drop_duplicate_owners();
    let Received {
        mut object,
        mut warnings,
    } = received;
    let written = call.write(&options, |tx| {
        let mut object = tx.input(call, &mut object);
        let key = call.key(call.name());
        match tx.get(&key) {
            Some(existing) => {
                let present = tx.shown(call, &existing)?;
                let outcome = replace(
                    call,
                    tx,
                    &options,
                    Existing {
                        key,
                        stored: existing,
                        shown: present,
                    },
                    object,
                    Source::Sent,
                )?;
                Ok((StatusCode::OK, outcome))
            }
            None if call.strategy().creates_on_update() && call.subresource().is_empty() => {
                escalation::check_create(call)?;
                remove(&mut object["metadata"], "resourceVersion");
                let draft = Draft::new(call, &options, object, Source::Sent, tx.now_text());
                let outcome = create_in(call, tx, &options, draft)?;
                Ok((StatusCode::CREATED, outcome))
            }
            None => Err(Status::not_found(call.named(call.name())).into()),
        }
    });
    let written = written.await.map_err(|status| status.after(&warnings));
    let ((code, outcome), said) = written?;
    warnings.extend(said);
    Ok(call.answer(code, &encoding, &outcome, &warnings))
}

/// The object must be the one that the path names.
pub(super) fn check_name(call: &Call<'_>, object: &Value) -> Result<(), Status> {
    let (said, name) = (
        object["metadata"]["name"].as_str().unwrap_or_default(),
        call.name(),
    );
    if said.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if said != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({said}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

/// An object that a write finds.
pub(super) struct Existing {
    pub(super) key: ObjectKey,
    pub(super) stored: Arc<StoredObject>,
    /// As this version of its type shows it.
    pub(super) shown: Value,
}

/// Makes `new` the next version of `existing`, as far as the endpoint allows.
///
/// What changes nothing is not written, and keeps its version. If the last finalizer of a deleted object is gone, so is
/// the object.
pub(super) fn replace(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &WriteOptions,
    existing: Existing,
    mut new: Value,
    source: Source,
) -> Result<Outcome, Halt> {
    let Existing {
        key,
        stored,
        shown: old,
    } = existing;
    check_uid(call, &stored, &new, source)?;
    let strategy = call.strategy();
    // Who applies has already told who owns what, and the endpoint does not take that back.
    let managers = managed_fields::of(&new);
    complete(call, &old, &mut new);
    match source {
        Source::Apply => managed_fields::set(&mut new, managers),
        Source::Sent | Source::Patch | Source::Loaded => {
            call.record_managers(options, Some(&old), &mut new, tx.now_text());
        }
    }
    // Of a scale more is known where it becomes part of the object.
    let is_asked = call.subresource() != "scale";
    if is_asked && let Some(mutated) = tx.mutate(call, Operation::Update, Some(&new), Some(&old))? {
        new = mutated;
        let managers = managed_fields::of(&new);
        complete(call, &old, &mut new);
        managed_fields::set(&mut new, managers);
    }
    check_version(call, &stored, &new)?;
    allocation::allocate(call, tx, Some(&old), &mut new, source)?;
    plugins::admit_update(call, tx.now_text(), &old, &mut new);
    escalation::check(call, Some(&old), &new)?;
    let generation = old["metadata"]["generation"].as_i64();
    if let Some(generation) = generation
        && strategy.has_generation()
        && strategy.is_next_generation(&old, &new)
    {
        new["metadata"]["generation"] = json!(generation + 1);
    }

    let (was, is) = (&old["metadata"], &new["metadata"]);
    let mut errors = metadata_update_errors(strategy, call.subresource(), was, is);
    errors.extend(call.type_errors(&new, Some(&old)));
    if !errors.is_empty() {
        return Err(call.invalid(call.name(), &errors).into());
    }
    if call.subresource().is_empty() {
        tx.warn(call.object_warnings(&new, Some(&old)));
    }

    new["metadata"]["resourceVersion"] = json!(stored.revision().to_string());
    if is_asked {
        tx.validate(call, Operation::Update, Some(&new), Some(&old))?;
    }
    if is_unchanged(&old, &new) {
        if call.conversion().is_some() {
            return Ok(Outcome::Shown(old));
        }
        return Ok(Outcome::Stored(stored));
    }
    if is_finished(strategy, &old, &new) {
        if !options.is_dry_run {
            tx.delete(&key);
        }
        return Ok(Outcome::Shown(new));
    }
    tx.store(call, options, &key, new)
}

/// Takes back what the endpoint may not change, and fills in what a client may leave out.
fn complete(call: &Call<'_>, old: &Value, new: &mut Value) {
    let strategy = call.strategy();
    strategy.reset_for_endpoint(call.subresource(), old, new);
    if matches!(
        call.subresource(),
        "" | "status" | "ephemeralcontainers" | "resize"
    ) {
        strategy.set_defaults(new);
    }
    keep_server_set(&old["metadata"], &mut new["metadata"]);
}

/// Whether the write is about this very object.
fn check_uid(
    call: &Call<'_>,
    stored: &StoredObject,
    new: &Value,
    source: Source,
) -> Result<(), Status> {
    let named = call.named(call.name());
    let uid = new["metadata"]["uid"].as_str().unwrap_or_default();
    if source == Source::Sent && !uid.is_empty() && uid != stored.uid() {
        let path = call.key(call.name());
        return Err(Status::conflict(
            named,
            &format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}/{path}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                call.group_resource(),
                stored.uid(),
            ),
        ));
    }
    Ok(())
}

/// Whether the write was based on the present version of the object.
fn check_version(call: &Call<'_>, stored: &StoredObject, new: &Value) -> Result<(), Status> {
    let named = call.named(call.name());
    let version = new["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default();
    let version = match version {
        "" => 0,
        text => text.parse::<u64>().map_err(|_| {
            Status::unclassified(format!(
                "strconv.ParseUint: parsing {text:?}: invalid syntax"
            ))
        })?,
    };
    if version == 0 {
        return if call.strategy().requires_version() {
            Err(version_required(named))
        } else {
            Ok(())
        };
    }
    if version == stored.revision() {
        Ok(())
    } else {
        Err(Status::stale(named))
    }
}

/// The resource stands where its kind would, as a real server has it.
fn version_required(named: Named<'_>) -> Status {
    let error = FieldError::invalid(
        "metadata.resourceVersion",
        &json!(0),
        "must be specified for an update",
    );
    Status::invalid(named.resource, named.group, named.name, &[error])
}

/// What a client leaves out or may not set stays as it was.
fn keep_server_set(old: &Value, new: &mut Value) {
    let Some(fields) = new.as_object_mut() else {
        return;
    };
    let mut keep = |field: &str, is_forced: bool| match old.get(field) {
        Some(value) if is_forced || fields.get(field).is_none_or(Value::is_null) => {
            fields.insert(field.to_owned(), value.clone());
        }
        None if is_forced => {
            fields.remove(field);
        }
        _ => {}
    };
    keep("uid", false);
    keep("creationTimestamp", true);
    keep("generation", true);
    keep("selfLink", true);
    keep("deletionTimestamp", old.get("deletionTimestamp").is_some());
    keep("deletionGracePeriodSeconds", false);
}

/// Whether nothing differs but when managers were told to have written.
fn is_unchanged(old: &Value, new: &Value) -> bool {
    without_times(old) == without_times(new)
}

fn without_times(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        remove(entry, "time");
    }
    object
}
