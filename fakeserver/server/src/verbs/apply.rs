//! PATCH with a configuration: server-side apply.

use axum::response::Response;
use fakeserver_value::{
    apply::{Applier, inconvertible},
    edit::{remove, set_or_remove},
    managed_fields::{KindDescription, Manager},
    status::Status,
    yaml::strict_warnings,
};
use http::StatusCode;
use serde_json::Value;

use super::{Api, Request, answer, author::author, inert::inert_warning};
use crate::{
    edge::{
        request::{PatchType, apply_options, duplicate_key, parse_cbor_config, parse_config},
        response::Shape,
    },
    write::{
        Attempt, AttemptError, Draft, FieldValidation, Source, Target, WriteOptions, data_text, run,
    },
};

/// Applies the configuration in `body`, and creates the object if it does not exist.
pub(super) async fn apply(
    api: &Api,
    request: &Request<'_>,
    patch_type: PatchType,
    body: &[u8],
) -> Result<Response, Status> {
    let options = apply_options(&request.query)?;
    let encoding = answer::encoding(api, request, Shape::Object)?;
    let config = configuration(patch_type, body)?;
    let duplicate = match options.validation() {
        FieldValidation::Warn | FieldValidation::Strict if patch_type == PatchType::Apply => {
            duplicate_key(body)
        }
        // Of CBOR, no key is there twice.
        _ => None,
    };
    let work = |attempt: &mut Attempt<'_, '_>| {
        let (code, draft) = draft(request, attempt, &options, &config, duplicate.as_deref())?;
        Ok((code, run(attempt, draft)?))
    };
    let written = api.backend.write(&request.target, &options, work).await;
    let found: Vec<String> = (duplicate.iter())
        .flat_map(|error| strict_warnings(error))
        .collect();
    let ((code, outcome), admission_warnings) =
        written.map_err(|status| match options.validation() {
            FieldValidation::Warn => status.after(&found),
            FieldValidation::Ignore | FieldValidation::Strict => status,
        })?;
    let warnings: Vec<String> = (found.into_iter())
        .chain(admission_warnings)
        .chain(inert_warning(api, request, &outcome))
        .collect();
    Ok(answer::written(
        request, code, &encoding, &outcome, &warnings,
    ))
}

/// Reads the configuration in `body`.
pub(super) fn configuration(patch_type: PatchType, body: &[u8]) -> Result<Value, Status> {
    match patch_type {
        PatchType::ApplyCbor => parse_cbor_config(body),
        _ => parse_config(body),
    }
}

/// Applies `config` to the object, or creates the object if it does not exist.
pub(super) fn draft<'a>(
    request: &'a Request<'_>,
    attempt: &mut Attempt<'_, '_>,
    options: &'a WriteOptions,
    config: &Value,
    duplicate: Option<&str>,
) -> Result<(StatusCode, Draft<'a>), AttemptError> {
    let (target, author) = (&request.target, author(request, options));
    // In the attempt: the configuration is merged with the version that the write replaces.
    let existing = attempt.find(target)?;
    if existing.is_none() && !target.subresource().is_empty() {
        return Err(Status::not_found(target.named(target.name())).into());
    }
    let live = existing.as_ref().map(|existing| &existing.object);
    let applied = attempt.with_versions(target, |described, now| {
        applied(target, options, described, live, config, now)
    });
    let mut object = applied??;
    // After the merge, whose errors come first in a real server.
    if let Some(duplicate) = duplicate
        && options.validation() == FieldValidation::Strict
    {
        return Err(Status::bad_request(format!("error strict decoding YAML: {duplicate}")).into());
    }
    if existing.is_none() {
        check_no_uid(target, &object)?;
    }
    target.set_namespace(&mut object)?;
    target.check_name(&object)?;
    if let Some(existing) = existing {
        let text = data_text::applied(target, &existing, &object);
        let draft = Draft::update(target, author, existing, object, Source::Apply, attempt)?;
        return Ok((StatusCode::OK, draft.with_data_text(text)));
    }
    request.requester.check_create(target)?;
    // A creation has no base version, so the `resourceVersion` of the configuration is dropped.
    remove(&mut object["metadata"], "resourceVersion");
    let now = attempt.now_text();
    let draft = Draft::create(target, author, object, Source::Apply, now);
    Ok((StatusCode::CREATED, draft))
}

/// Refuses a configuration of one object, by its uid, that would create another one.
fn check_no_uid(target: &Target, object: &Value) -> Result<(), Status> {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    if uid.is_empty() {
        return Ok(());
    }
    Err(Status::conflict(
        target.named(target.name()),
        &format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        ),
    ))
}

/// Returns `live` with the configuration applied, in the form in which objects of the type are held.
fn applied(
    target: &Target,
    options: &WriteOptions,
    described: KindDescription<'_>,
    live: Option<&Value>,
    config: &Value,
    now: &str,
) -> Result<Value, Status> {
    let resource = &*target.resource;
    let api_version = resource.api_version();
    let applier = Applier {
        manager: Manager {
            name: &options.field_manager,
            api_version: &api_version,
            subresource: target.subresource(),
        },
        is_forced: options.is_forced,
        described,
        now,
    };
    applier.check(config, &resource.kind)?;
    let mut wanted = config.clone();
    resource.keep_for_endpoint(target.subresource(), &mut wanted);
    if !target.rules().habits.owns_spec && live.is_some() {
        set_or_remove(&mut wanted, "spec", None);
    }
    let object = applier.apply_part(live, &wanted, config)?;
    let kind = resource.group_version_kind();
    let read = |object| target.read_applied(&kind, object);
    // Fields that the endpoint does not write are validated, too.
    let received = read(config.clone()).and_then(|_| read(object));
    Ok(received.map_err(|why| inconvertible(config, &why))?.object)
}
