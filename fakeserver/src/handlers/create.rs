//! POST to a collection.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Call, allocation,
    attempt::{Attempt, Halt},
    escalation,
    load::Brought,
    namespaces, plugins,
    write::{Outcome, Received, Source, remove},
};
use crate::{
    admission::Operation, request::WriteOptions, response::Shape, status::Status,
    validation::metadata_errors,
};

/// How long a generated name may be, without what is generated.
const BASE_MAX_BYTES: usize = 58;
/// How often another name is generated when one is taken.
const NAMES_TRIED: usize = 8;

/// What only the server sets.
const SERVER_SET: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// Creates the object in `body`.
pub(super) async fn create(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let mut received = call.receive(body, options.field_validation)?;
    call.place(&mut received.object)?;
    received.drop_duplicate_owners();
    let Received {
        mut object,
        mut warnings,
    } = received;
    let written = call.write(&options, |tx| {
        let object = tx.input(call, &mut object);
        create_in(call, tx, &options, object, Source::Sent)
    });
    let written = written.await.map_err(|status| status.after(&warnings));
    let (outcome, said) = written?;
    warnings.extend(said);
    Ok(call.answer(StatusCode::CREATED, &encoding, &outcome, &warnings))
}

/// Creates `object`, which is in the namespace of the request.
pub(super) fn create_in(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &WriteOptions,
    mut object: Value,
    source: Source,
) -> Result<Outcome, Halt> {
    let strategy = call.strategy();
    let mut given_name = text(&object, "name").to_owned();
    if let Some(namespace) = &call.path.namespace {
        namespaces::check_accepts(tx, namespace, call.named(&given_name))?;
    }
    let mut brought = (source == Source::Loaded).then(|| Brought::of(call, &object));
    object = complete(call, object);
    if source != Source::Apply {
        call.record_managers(options, None, &mut object, tx.now_text());
    }
    if let Some(mutated) = tx.mutate(call, Operation::Create, Some(&object), None)? {
        object = complete(call, mutated);
        call.place(&mut object)?;
        text(&object, "name").clone_into(&mut given_name);
    }
    escalation::check(call, None, &object)?;
    if source != Source::Loaded {
        plugins::admit(call, tx, &mut object)?;
        call.requester.sign(&call.resource, &mut object);
    }

    object["metadata"]["uid"] = json!(tx.uid());
    object["metadata"]["creationTimestamp"] = json!(tx.now_text());
    let prefix = text(&object, "generateName").to_owned();
    let is_generated = given_name.is_empty() && !prefix.is_empty();
    let tries = if is_generated { NAMES_TRIED } else { 1 };
    for attempt in 0..tries {
        if is_generated {
            let name = format!("{}{}", base(&prefix), tx.name_suffix(attempt));
            object["metadata"]["name"] = name.into();
        }
        if attempt == 0 {
            strategy.prepare_create(&mut object);
            if let Some(brought) = brought.take() {
                brought.restore(&mut object);
            }
            allocation::allocate(call, tx, None, &mut object, source)?;
        }
        let name = text(&object, "name");
        check(call, &object)?;
        if source != Source::Loaded {
            tx.warn(call.object_warnings(&object, None));
        }
        tx.validate(call, Operation::Create, Some(&object), None)?;
        let key = call.key(name);
        match tx.get(&key) {
            None => {
                remove(&mut object["metadata"], "resourceVersion");
                return tx.store(call, options, &key, object);
            }
            Some(existing) if !is_generated => {
                let is_terminating =
                    !existing.to_value()["metadata"]["deletionTimestamp"].is_null();
                return Err(Status::already_exists(call.named(name), is_terminating).into());
            }
            Some(_) => {}
        }
    }
    let last_name = call.named(text(&object, "name"));
    Err(Status::name_not_generated(last_name).into())
}

/// Refuses an object that may not be, or that says that it is not new.
fn check(call: &Call<'_>, object: &Value) -> Result<(), Status> {
    let mut errors = metadata_errors(call.strategy(), &object["metadata"]);
    errors.extend(call.type_errors(object, None));
    if !errors.is_empty() {
        return Err(call.invalid(text(object, "name"), &errors));
    }
    match text(object, "resourceVersion") {
        "" | "0" => Ok(()),
        _ => Err(Status::unclassified(
            "resourceVersion should not be set on objects to be created",
        )),
    }
}

/// A new object without what only the server sets, and with what a client may leave out.
fn complete(call: &Call<'_>, mut object: Value) -> Value {
    for field in SERVER_SET {
        remove(&mut object["metadata"], field);
    }
    if !call.strategy().is_created_with_status() {
        remove(&mut object, "status");
        object = call.canonical(object);
    }
    call.strategy().set_defaults(&mut object);
    object
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// The part of a prefix that leaves room for what is generated.
fn base(prefix: &str) -> &str {
    let mut end = prefix.len().min(BASE_MAX_BYTES);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    &prefix[..end]
}
