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

/// A new object before anybody but its writer has a say in it: complete, and his.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    object: Value,
    source: Source,
    /// What it keeps of another server.
    brought: Option<Brought>,
}

// === impl Draft ===

impl Draft {
    /// What `body` is to become, and what its writer should know of it.
    fn read(
        call: &Call<'_>,
        options: &WriteOptions,
        body: &[u8],
    ) -> Result<(Self, Vec<String>), Status> {
        let mut received = call.receive(body, options.field_validation)?;
        call.place(&mut received.object)?;
        received.drop_duplicate_owners();
        let Received { object, warnings } = received;
        let now = call.server.core.clock.now_text();
        let draft = Self::new(call, options, object, Source::Sent, &now);
        Ok((draft, warnings))
    }

    /// Completes `object`, which was sent at `now`.
    pub(super) fn new(
        call: &Call<'_>,
        options: &WriteOptions,
        object: Value,
        source: Source,
        now: &str,
    ) -> Self {
        let brought = (source == Source::Loaded).then(|| Brought::of(call, &object));
        let mut object = complete(call, object);
        if source != Source::Apply {
            call.record_managers(options, None, &mut object, now);
        }
        Self {
            object,
            source,
            brought,
        }
    }
}

/// Creates the object in `body`.
pub(super) async fn create(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let (draft, mut warnings) = Draft::read(call, &options, body)?;
    let at_once = call.write_optimistically(&options, |tx| create_in(call, tx, &options, draft));
    let written = if let Some(written) = at_once {
        written
    } else {
        let (mut draft, _) = Draft::read(call, &options, body)?;
        let written = call.write(&options, |tx| {
            let draft = tx.input(call, &mut draft);
            create_in(call, tx, &options, draft)
        });
        written.await
    };
    let (outcome, said) = written.map_err(|status| status.after(&warnings))?;
    warnings.extend(said);
    Ok(call.answer(StatusCode::CREATED, &encoding, &outcome, &warnings))
}

/// Creates what `draft` is to be, in the namespace of the request.
pub(super) fn create_in(
    call: &Call<'_>,
    tx: &mut Attempt<'_, '_>,
    options: &WriteOptions,
    draft: Draft,
) -> Result<Outcome, Halt> {
    let strategy = call.strategy();
    let Draft {
        mut object,
        source,
        mut brought,
    } = draft;
    let mut given_name = text(&object, "name").to_owned();
    if let Some(namespace) = &call.path.namespace {
        namespaces::check_accepts(tx, namespace, call.named(&given_name))?;
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
        call.complete_field(&mut object, "metadata");
        call.complete_field(&mut object, "status");
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
