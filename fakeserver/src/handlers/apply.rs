//! PATCH with a configuration: server-side apply.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::{
    Call,
    attempt::{Attempt, Halt},
    create::{Draft, create_in},
    escalation,
    update::{Existing, check_name, replace},
    write::{Outcome, Source, remove},
};
use crate::{
    apply::{Applier, print_object},
    managed_fields::Manager,
    request::{FieldValidation, WriteOptions, duplicate_key, parse_config},
    response::Shape,
    status::Status,
};

/// Applies the configuration in `body`, and creates the object if there is none.
pub(super) async fn apply(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let options = WriteOptions::parse_apply(&call.query)?;
    let encoding = call.encoding(Shape::Object)?;
    let config = parse_config(body)?;
    let duplicate = match options.field_validation {
        FieldValidation::Ignore => None,
        FieldValidation::Warn | FieldValidation::Strict => duplicate_key(body),
    };
    let written = call.write(&options, |tx| {
        apply_in(call, tx, &options, &config, duplicate.as_deref())
    });
    let ((code, outcome), said) = written.await?;
    let warnings: Vec<String> = duplicate.into_iter().chain(said).collect();
    Ok(call.answer(code, &encoding, &outcome, &warnings))
}

pub(super) fn apply_in(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &WriteOptions,
    config: &Value,
    duplicate: Option<&str>,
) -> Result<(StatusCode, Outcome), Halt> {
    let key = call.key(call.name());
    let stored = tx.get(&key);
    if stored.is_none() && !call.subresource().is_empty() {
        return Err(Status::not_found(call.named(call.name())).into());
    }
    let live = stored.as_ref().map(|stored| tx.shown(call, stored));
    let live = live.transpose()?;
    let mut object = applied(call, options, live.as_ref(), config, tx.now_text())?;
    if let Some(duplicate) = duplicate
        && options.field_validation == FieldValidation::Strict
    {
        return Err(
            Status::bad_request(format!("error strict decoding patch: {duplicate}")).into(),
        );
    }
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    if live.is_none() && !uid.is_empty() {
        return Err(Status::conflict(
            call.named(call.name()),
            &format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            ),
        )
        .into());
    }
    check_name(call, &object)?;
    call.place_patched(&mut object)?;
    if let (Some(stored), Some(shown)) = (stored, live) {
        let existing = Existing { key, stored, shown };
        let outcome = replace(call, tx, options, existing, object, Source::Apply)?;
        Ok((StatusCode::OK, outcome))
    } else {
        escalation::check_create(call)?;
        // There is no version yet that it could be based on.
        remove(&mut object["metadata"], "resourceVersion");
        let draft = Draft::new(call, options, object, Source::Apply, tx.now_text());
        let outcome = create_in(call, tx, options, draft)?;
        Ok((StatusCode::CREATED, outcome))
    }
}

/// What `live` is with the configuration applied, in the form in which objects of the type are held.
fn applied(
    call: &Call<'_>,
    options: &WriteOptions,
    live: Option<&Value>,
    config: &Value,
    now: &str,
) -> Result<Value, Status> {
    let resource = &*call.resource;
    let api_version = resource.api_version();
    let applier = Applier {
        manager: Manager {
            name: &options.field_manager,
            api_version: &api_version,
            subresource: call.subresource(),
        },
        is_forced: options.is_forced,
        described: call.described(),
        now,
    };
    applier.check(config, &resource.kind)?;
    let mut wanted = config.clone();
    call.strategy()
        .keep_for_endpoint(call.subresource(), &mut wanted);
    let object = applier.apply(live, &wanted)?;
    let received = call
        .read_as(
            &resource.group_version_kind(),
            object.to_string().as_bytes(),
            FieldValidation::Ignore,
        )
        .map_err(|why| {
            Status::unclassified(format!(
                "failed to convert new object ({}) to proper version: {why}",
                print_object(config)
            ))
        })?;
    Ok(received.object)
}
